//! The tests that need no process of their own, in one program: a program for each file would take minutes to
//! link, and gigabytes of disk.
//!
//! Beside this folder are the programs that have an allocator of their own, change the number of threads of
//! the process, start themselves, or run for minutes in `make soak`.

mod ahead;
mod arrays;
mod blocks;
mod bounds;
mod codec;
mod commit_model;
mod contracts;
mod copy;
mod damage;
mod elements;
mod everywhere;
mod examples;
mod golden;
mod handles;
mod index_choice;
mod indices;
mod layers;
mod life;
mod limits;
mod listed;
mod members;
mod names;
mod objects;
mod parts;
mod ranks;
mod records;
mod resize;
mod routes;
mod some_names;
mod sparse;
mod split;
mod unlinked;
mod vlen_bulk;
mod vlen_write;
mod write_steps;
