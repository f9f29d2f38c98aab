//! The tests of overlap. One program: every further one would be compiled and linked for
//! itself, with all that they share.

mod across;
mod agreed;
mod everywhere;
mod examples;
mod first;
mod fortran;
mod handlers;
mod hazards;
mod later;
mod lit;
mod memory;
mod mpi4;
mod package;
mod random;
mod spellings;
mod support;
mod trace;
