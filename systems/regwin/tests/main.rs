//! The tests of regwin. One program: every further one would be compiled and linked for
//! itself, with all that they share.

mod adaptive;
mod agreement;
mod delays;
mod floats;
mod integrity;
mod kernel;
mod libc;
mod masked;
mod ports;
mod refused;
mod schemes;
mod shape;
mod stacks;
mod stranger;
mod support;
mod tls;
mod wcet;
mod xtensa;
