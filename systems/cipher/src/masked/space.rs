//! Linear algebra over GF(2): forms are sorted lists of columns, spaces are in echelon form.

use std::cell::Cell;

use rustc_hash::FxHashMap as HashMap;

/// A sum of variables: their columns, rising.
pub type Form = Vec<u32>;

/// The sum of two forms.
pub fn sum(a: &[u32], b: &[u32]) -> Form {
    let mut out = Form::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => {
                out.push(a[i]);
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                out.push(b[j]);
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                i += 1;
                j += 1;
            }
        }
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
    out
}

/// A space of forms; each form of its basis has a last column of its own.
#[derive(Debug, Clone, Default)]
pub struct Space {
    /// By last column: the form, and the tags of what was summed up to it.
    basis: HashMap<u32, (Form, u64)>,
    /// Columns that its sums went through.
    work: Cell<u64>,
}

impl Space {
    /// The space that these forms span.
    pub fn of(forms: &[Form]) -> Space {
        let mut space = Space::default();
        for form in forms {
            let _ = space.add(form.clone(), 0);
        }
        space
    }

    /// Columns that its sums went through: what it cost.
    pub fn work(&self) -> u64 {
        self.work.get()
    }

    /// Forms that span it, no two with one last column.
    pub fn basis(&self) -> impl Iterator<Item = &Form> {
        self.basis.values().map(|(form, _)| form)
    }

    /// What is left of a form modulo the space, up to columns that are the last of none: empty if
    /// the space has it. The tag gathers those of the forms that were taken away.
    pub fn reduce(&self, mut form: Form, mut tag: u64) -> (Form, u64) {
        while let Some((other, of_other)) = form.last().and_then(|last| self.basis.get(last)) {
            self.work.set(self.work.get() + (form.len() + other.len()) as u64);
            form = sum(&form, other);
            tag ^= of_other;
        }
        (form, tag)
    }

    /// Adds a form, whose last column is then one of the basis; an error, with what `reduce` makes
    /// of the tag, if the space has it already.
    pub fn add(&mut self, form: Form, tag: u64) -> Result<u32, u64> {
        let (form, tag) = self.reduce(form, tag);
        let Some(last) = form.last().copied() else { return Err(tag) };
        self.basis.insert(last, (form, tag));
        Ok(last)
    }

    /// What these forms add to the space, modulo the space: no two of them have one last column,
    /// nor has one that of a form of the basis.
    pub fn residual(&self, forms: &[Form]) -> Vec<Form> {
        let mut own = Space::default();
        for form in forms {
            let mut form = form.clone();
            // Modulo both, by turns, until neither has the last column.
            loop {
                let last = form.last().copied();
                form = own.reduce(self.reduce(form, 0).0, 0).0;
                if form.last().copied() == last {
                    break;
                }
            }
            let _ = own.add(form, 0);
        }
        self.work.set(self.work.get() + own.work.get());
        own.basis.into_values().map(|(form, _)| form).collect()
    }
}
