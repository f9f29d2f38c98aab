//! The passes, one file each; `pipeline` calls them in order.

pub mod arrays;
pub mod bitslice;
pub mod carry;
pub mod complements;
pub mod copy_propagation;
pub mod cse;
pub mod dead_code;
pub mod estimate;
pub mod fixslice;
pub mod fold_constants;
pub mod hslice;
pub mod inline;
pub mod interleave;
pub mod keys;
pub mod list;
pub mod loops;
pub mod masked_shuffles;
pub mod order;
pub mod perms;
pub mod schedule_bitslice;
pub mod schedule_depth;
pub mod schedule_mslice;
pub mod tables;
pub mod ternary;
pub mod turns;
pub mod vslice;
