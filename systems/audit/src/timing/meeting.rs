//! What is known of addresses, and whether two accesses may meet.
//!
//! ```text
//! str r1, [r0, #4]     so far from a value: other bytes than those of
//! ldr r2, [r0, #8]     they never meet
//! ldr r3, [r5]         perhaps: r5 may lead anywhere
//! ldr r4, [sp, #8]     never, if no instruction gives away where the frame lies
//! ```

use crate::decode::code::{Access, Reg};

/// Where a value comes from: an instruction of the trace, or what a register held before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    Written(u32, Reg),
    Before(Reg),
}

/// What an address is known to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryPlace {
    /// Beside the code: never written.
    Constant,
    /// So far from a value.
    At(Origin, i64),
    /// In this slot of the frame: a count and a distance.
    Slot(usize, i64),
    /// Likewise, of the first count, and no pointer leads there: an argument on the stack, too.
    Own(i64),
    /// By an address that the linker knows, perhaps with the distance from it: no
    /// place of the frame.
    Static(Option<(Origin, i64)>),
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlap {
    Never,
    Perhaps,
    Surely,
}

pub(super) fn overlap(
    a: MemoryPlace,
    a_access: &Access,
    b: MemoryPlace,
    b_access: &Access,
) -> Overlap {
    let apart = |a: i64, b: i64| {
        if a.checked_add(a_access.width.into()).is_some_and(|end| end <= b)
            || b.checked_add(b_access.width.into()).is_some_and(|end| end <= a)
        {
            Overlap::Never
        } else {
            Overlap::Surely
        }
    };
    // Among objects an address is one like any other.
    let plain = |place: MemoryPlace| match place {
        MemoryPlace::Static(known) => known
            .map_or(MemoryPlace::Unknown, |(origin, distance)| MemoryPlace::At(origin, distance)),
        _ => place,
    };
    let is_frame =
        |place: MemoryPlace| matches!(place, MemoryPlace::Slot(..) | MemoryPlace::Own(_));
    let is_static = |place: MemoryPlace| matches!(place, MemoryPlace::Static(_));
    if is_static(a) && is_frame(b) || is_frame(a) && is_static(b) {
        return Overlap::Never;
    }
    match (plain(a), plain(b)) {
        (MemoryPlace::Constant, _) | (_, MemoryPlace::Constant) => Overlap::Never,
        (MemoryPlace::Slot(count, a), MemoryPlace::Slot(other, b)) if count == other => apart(a, b),
        (MemoryPlace::Own(a), MemoryPlace::Own(b) | MemoryPlace::Slot(0, b))
        | (MemoryPlace::Slot(0, a), MemoryPlace::Own(b)) => apart(a, b),
        (MemoryPlace::Own(_), MemoryPlace::At(..) | MemoryPlace::Unknown)
        | (MemoryPlace::At(..) | MemoryPlace::Unknown, MemoryPlace::Own(_)) => Overlap::Never,
        (MemoryPlace::At(origin, a), MemoryPlace::At(other, b)) if origin == other => apart(a, b),
        // The frame lies below where the stack pointer stood: what pointed anywhere before points
        // elsewhere.
        (MemoryPlace::Slot(0, slot), MemoryPlace::At(Origin::Before(_), _))
        | (MemoryPlace::At(Origin::Before(_), _), MemoryPlace::Slot(0, slot))
            if slot < 0 =>
        {
            Overlap::Never
        }
        _ => Overlap::Perhaps,
    }
}
