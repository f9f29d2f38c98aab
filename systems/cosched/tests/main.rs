//! The tests of cosched. One program: every further one would be compiled and linked for
//! itself, with all that they share.

mod adaptive;
mod claims;
mod kernels;
mod optimum;
mod pages;
mod policies;
mod scale;
