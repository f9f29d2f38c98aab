//! Where the user wants the path: lines that it passes, and functions or lines that it leaves out.

use std::fmt;

use crate::facts::frame::successors;
use crate::program::function::{Function, SourceFrame};

/// A line of a source, as users write it: `FILE:LINE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    file: String,
    line: u32,
}

impl SourceLine {
    /// The line that this text means, if it means one and not a function.
    pub fn parse(text: &str) -> Option<SourceLine> {
        let (file, line) = text.rsplit_once(':')?;
        let is_name = file.is_empty() || file.ends_with(':');
        Some(SourceLine { file: file.to_owned(), line: line.parse().ok().filter(|_| !is_name)? })
    }

    fn is(&self, frame: &SourceFrame) -> bool {
        let is_file = frame.file == self.file || frame.file.ends_with(&format!("/{}", self.file));
        frame.line == self.line && is_file
    }

    /// The instruction comes from it, or from what is inlined there.
    pub fn has(&self, function: &Function, idx: usize) -> bool {
        function.frames[idx].iter().any(|frame| self.is(frame))
    }

    /// The lines of its file with code that are nearest to it, for a message.
    pub fn near(&self, function: &Function) -> Vec<u32> {
        const SHOWN_MAX: usize = 3;
        let same = |frame: &&SourceFrame| {
            frame.file == self.file || frame.file.ends_with(&format!("/{}", self.file))
        };
        let mut lines: Vec<u32> =
            function.frames.iter().flatten().filter(same).map(|frame| frame.line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.sort_by_key(|line| line.abs_diff(self.line));
        lines.truncate(SHOWN_MAX);
        lines.sort_unstable();
        lines
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of `{}`", self.line, self.file)
    }
}

/// One line that the path has to pass.
#[derive(Debug, Clone)]
pub struct Waypoint {
    pub is_there: Vec<bool>,
}

impl Waypoint {
    pub fn of(function: &Function, line: &SourceLine) -> Waypoint {
        let n = function.instructions.len();
        Waypoint { is_there: (0..n).map(|idx| line.has(function, idx)).collect() }
    }

    /// How many of its instructions the function may still come to from here on: compilers leave
    /// single ones of a line where no way through it leads.
    pub fn n_ahead(&self, function: &Function, from: usize) -> usize {
        let mut is_seen = vec![false; self.is_there.len()];
        let mut open = vec![from];
        let mut n = 0;
        while let Some(idx) = open.pop() {
            if is_seen.get(idx) == Some(&false) {
                is_seen[idx] = true;
                n += usize::from(self.is_there[idx]);
                open.extend(successors(function, idx));
            }
        }
        n
    }
}
