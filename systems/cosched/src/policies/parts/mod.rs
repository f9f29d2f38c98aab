//! What several policies are made of: no policy imports another.

mod fitness;
mod gang;
mod links;
mod place;
mod queue;
mod rotation;
mod shares;

pub(super) use fitness::Candidates;
pub(super) use gang::Gang;
pub(super) use links::Links;
pub(super) use place::{place, round_robin};
pub(super) use queue::Queue;
pub(super) use rotation::Rotation;
pub(super) use shares::shares;
