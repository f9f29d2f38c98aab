//! The tests of the laboratory. One program: every further one would be compiled and linked for
//! itself, with all that they share.

mod cipher;
mod cosched;
mod overlap;
mod regwin;
mod report_page;
mod studies;
