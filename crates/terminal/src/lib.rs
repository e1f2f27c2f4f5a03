//! What the commands of hyperslab show on a terminal, and what they do at Ctrl-C.

#![forbid(unsafe_code)]

pub mod interrupt;
pub mod message;
pub mod paint;
pub mod progress;
pub mod table;
pub mod text;
pub mod units;
