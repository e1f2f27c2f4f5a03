//! Expressions over blocks of typed elements.

#![forbid(unsafe_code)]
