//! Shared by the tests: random programs, and the comparison of interpreter and compiled program.

#![allow(dead_code, reason = "each test crate uses a part")]

pub mod agree;
pub mod generator;
pub mod inorder;
pub mod shrink;
