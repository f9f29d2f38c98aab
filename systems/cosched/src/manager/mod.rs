//! Real programs under a policy: started here, frozen and thawed every quantum, kept to the processors they are given.

pub mod canary;
pub mod group;
pub mod real;
pub mod supervisor;
pub mod team;
