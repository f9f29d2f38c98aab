//! What is proved of a changed function: that its path is the same and takes less on the model.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use similar::{DiffOp, TextDiff};

use report::number::count as counted;

use crate::audit::Audit;
use crate::timing::steady::Steady;

/// The loops of both, one beside the other in their order; none if they are not nested alike.
pub fn loops<'a>(before: &'a Audit, after: &'a Audit) -> Option<Vec<(&'a Steady, &'a Steady)>> {
    let (before, after) = (&before.timed.as_ref()?.loops, &after.timed.as_ref()?.loops);
    let alike =
        |(old, new): (&Steady, &Steady)| old.depth == new.depth && old.has_inner == new.has_inner;
    (before.len() == after.len() && before.iter().zip(after).all(alike))
        .then(|| before.iter().zip(after).collect())
}

/// How the cycles changed: those of iterations where there are loops, since the path passes each
/// once; `None` if some rose and some fell, or nothing can be compared.
pub fn change(before: &Audit, after: &Audit) -> Option<Ordering> {
    let total = |audit: &Audit| audit.timed.as_ref().map(|timed| timed.cycles.total_cycles);
    let loops = loops(before, after)?;
    if loops.is_empty() {
        return Some(total(after)?.cmp(&total(before)?));
    }
    let changes: Vec<Ordering> =
        loops.iter().map(|(old, new)| new.cycles.total_cmp(&old.cycles)).collect();
    let has = |change| changes.contains(&change);
    match (has(Ordering::Less), has(Ordering::Greater)) {
        (true, true) => None,
        (true, false) => Some(Ordering::Less),
        (false, true) => Some(Ordering::Greater),
        (false, false) => Some(Ordering::Equal),
    }
}

/// What the change gains, in words; none if it gains nothing. `apart_cycles` is what a callee takes
/// that was called before and is part of the function now.
pub fn gain(before: &Audit, after: &Audit, apart_cycles: u32) -> Option<String> {
    let instructions = |audit: &Audit| audit.trace.places.len();
    let fewer = instructions(after) < instructions(before);
    let count = changed(instructions(before), instructions(after), "instruction");
    let (Some(old), Some(new)) = (&before.timed, &after.timed) else {
        let all = |audit: &Audit| audit.function.instructions.len();
        return (fewer && all(after) <= all(before)).then(|| format!("{count} on the path"));
    };
    let cycles = (old.cycles.total_cycles + apart_cycles, new.cycles.total_cycles);
    let loops = loops(before, after)?;
    if !loops.iter().all(|(old, new)| is_same_work(before, old, after, new)) {
        return None;
    }
    let change = change(before, after)?;
    // Where no loop changes, the path decides; and where its cycles are the same, their number.
    let is_gain = match change {
        Ordering::Less if !loops.is_empty() => true,
        Ordering::Greater if !loops.is_empty() => false,
        _ => cycles.1 < cycles.0 || cycles.1 == cycles.0 && fewer,
    };
    if !is_gain {
        return None;
    }
    let path = changed(cycles.0 as usize, cycles.1 as usize, "cycle");
    let faster = loops.iter().filter(|(old, new)| new.cycles < old.cycles);
    let of_loops: Vec<String> = faster
        .map(|(old, new)| {
            let [old, new] = [old, new].map(|round| (round.cycles * 100.0).round() / 100.0);
            format!("a loop from {old} to {new} cycles an iteration")
        })
        .collect();
    Some(match (&of_loops[..], cycles.1 > cycles.0) {
        ([], _) => format!("{path} and {count} on the path [model {}]", after.cpu),
        (_, false) => format!("{} [model {}]", of_loops.join(", "), after.cpu),
        (_, true) => format!(
            "{}; {path} on the path, which passes each loop once [model {}]",
            of_loops.join(", "),
            after.cpu
        ),
    })
}

/// An iteration does as much as before: it stores as much, or one of the two that store nothing is
/// not half of the other, as where a compiler unrolls only one of them.
fn is_same_work(before: &Audit, old: &Steady, after: &Audit, new: &Steady) -> bool {
    let stored = |audit: &Audit, round: &Steady| -> u32 {
        let places = round.round.places.iter().map(|idx| &audit.function.instructions[*idx]);
        let accesses = places.flat_map(|instruction| &instruction.accesses);
        accesses.filter(|access| access.is_store).map(|access| u32::from(access.width)).sum()
    };
    let (old_bytes, new_bytes) = (stored(before, old), stored(after, new));
    let (n_old, n_new) = (old.round.places.len(), new.round.places.len());
    old_bytes == new_bytes && (old_bytes > 0 || n_old < 2 * n_new && n_new < 2 * n_old)
}

fn changed(before: usize, after: usize, what: &str) -> String {
    match before == after {
        true => format!("still {}", counted(after, what)),
        false => format!("{before} to {}", counted(after, what)),
    }
}

/// The path after the change passes every line that the path before passes and that still has code:
/// else it is another way that is short. `file` is the name of the file that changed.
pub fn is_same_path(
    before: &Audit,
    after: &Audit,
    source: &str,
    changed: &str,
    file: &str,
) -> bool {
    let diff = TextDiff::from_lines(source, changed);
    let moved = |line: u32| {
        diff.ops().iter().find_map(|op| match *op {
            DiffOp::Equal { old_index, new_index, len } => {
                let at = (line as usize).checked_sub(old_index + 1).filter(|at| *at < len)?;
                Some((new_index + at + 1) as u32)
            }
            // A line that was put in place of another.
            DiffOp::Replace { old_index, old_len, new_index, new_len } if old_len == new_len => {
                let at = (line as usize).checked_sub(old_index + 1).filter(|at| *at < old_len)?;
                Some((new_index + at + 1) as u32)
            }
            _ => None,
        })
    };
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let line_of = |audit: &Audit, idx: usize| {
        let frame = audit.function.frames[idx].first()?;
        (name(&frame.file) == name(file)).then_some(frame.line)
    };
    // Where the function begins, a frame is made: on the way that needs it.
    let beginning = line_of(before, 0);
    let lines_of = before.trace.places.iter().filter_map(|idx| line_of(before, *idx));
    let wanted = lines_of.filter(|line| Some(*line) != beginning).filter_map(moved);
    let lines = |places: &mut dyn Iterator<Item = usize>| -> BTreeSet<u32> {
        places.filter_map(|idx| line_of(after, idx)).collect()
    };
    let on_path = lines(&mut after.trace.places.iter().copied());
    let all = lines(&mut (0..after.function.instructions.len()));
    { wanted }.all(|line| on_path.contains(&line) || !all.contains(&line))
}
