//! Usuba in, sliced C out: the front end, the interpreter, the passes and the C back end.

pub mod circuit;
