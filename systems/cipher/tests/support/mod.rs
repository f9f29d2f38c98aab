//! Shared by the tests: random programs, and the comparison of interpreter and compiled program.

pub mod agree;
pub mod generator;
pub mod inorder;
pub mod shrink;
