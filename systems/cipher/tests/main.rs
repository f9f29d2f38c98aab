//! The tests of cipher. One program: every further one would be compiled and linked for
//! itself, with all that they share.

mod ascon;
mod assembly;
mod byte_interface;
mod byte_order;
mod circuits;
mod constant_time;
mod decryption;
mod digests;
mod emitted;
mod fixslice;
mod interleave;
mod language;
mod masked;
mod properties;
mod schedulers;
mod streams;
mod support;
mod tune;
mod validate;
mod vectors;
mod wiping;
