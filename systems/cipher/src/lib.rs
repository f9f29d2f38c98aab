//! Usuba in, sliced C out: the front end, the interpreter, the passes and the C back end.

pub mod byte_cost;
pub mod cases;
pub mod circuit;
pub mod constant_time;
pub mod counts;
pub mod elaborate;
pub mod emit_c;
pub mod gain;
pub mod inorder;
pub mod interp;
pub mod ir;
pub mod layout;
pub mod library;
pub mod native;
pub mod package;
pub mod passes;
pub mod pipeline;
pub mod recipe;
pub mod run_text;
pub mod speed;
pub mod stream_cost;
pub mod suite;
pub mod syntax;
pub mod transpose;
pub mod unit;
pub mod user_layout;
