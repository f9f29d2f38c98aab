//! Holds words complemented where that saves complements.
//!
//! ```text
//! n = not a                    n' = copy a         n' is not n
//! t = andnot b, n       --->   t = and b, n'
//! y = xor t, c                 y = xor t, c
//! ```
//!
//! General registers of x86-64 have no and-not, so there an `andnot` is two instructions and a
//! copy. Sums hold what their terms hold, so only products choose: whether a product is held
//! complemented decides about all sums that it is in, and a product of which one factor would have
//! to be complemented costs a step. Those choices are changed one by one, first at random and then
//! only for the better, with the same random numbers each time. Words of a key are held as suits
//! those who read them, at the start so that they cancel complements before them, and the key
//! schedule hands them on so.
//!
//! Needs:   executable order, every word written once.
//! Keeps:   what nodes give; the entry for the keys that the schedule makes.
//! Costs:   linear in the products times the sums that each is in.
//! Source:  "Fixslicing AES-like ciphers", Adomnicai and Peyrin, CHES 2021, for the complements at
//!          the end of an S-box; annealing: Kirkpatrick, Gelatt and Vecchi, Science 1983.

use smallvec::smallvec;

use crate::ir::visit::places;
use crate::ir::{Args, Body, Eq, Node, Op, Operand, Program, Ref, Stmt, VarId};

use super::hslice::ZERO;
use super::keys;
use super::order::Cells;

/// Walks over all choices, at most; the last ones take only what is better or equal.
const ROUNDS: u32 = 1000;

/// A word that is the sum of more choices is never held complemented.
const TERMS_MAX: usize = 128;

/// Sums that all walks look at, about. A node of which one walk looks at more is left as it is.
const LOOKS: usize = 10_000_000;

/// Rewrites each node; in the first entry the words of `key_params` may be complemented, too.
pub fn complements(program: &mut Program, key_params: &[usize]) {
    for idx in 0..program.nodes.len() {
        let is_entry = program.entries.first().is_some_and(|entry| entry.idx() == idx);
        let node = &mut program.nodes[idx];
        if node.no_opt || !matches!(node.body, Body::Stmts(_)) {
            continue;
        }
        let own: Vec<VarId> = match is_entry {
            true => key_params.iter().map(|at| node.params[*at]).collect(),
            false => Vec::new(),
        };
        let Some(made) = complement(node, &own) else { continue };
        if made.contains(&true) {
            let ops = made.into_iter().map(|held| if held { Op::Not } else { Op::Copy });
            keys::hand_on(&mut program.nodes[program.entries[1].idx()], ops);
        }
    }
}

/// Rewrites a node if that saves complements; says which words of the keys it wants complemented.
fn complement(node: &mut Node, own: &[VarId]) -> Option<Vec<bool>> {
    let stmts = node.take_stmts()?;
    let mut held = Forms::of(node, &stmts, own);
    let before = n_complements(&stmts);
    let is_small = held.size() <= LOOKS;
    if is_small && held.cost() > 0 {
        held.choose();
    }
    if !is_small || held.cost() >= before {
        node.body = Body::Stmts(stmts);
        return None;
    }
    let key_words = node.words(own);
    let made = key_words.iter().map(|word| held.of_cell(held.cells.of(word, &[]))).collect();
    let mut out = Rewrite { node, held: &held, out: Vec::new() };
    out.stmts(stmts);
    node.body = Body::Stmts(out.out);
    Some(made)
}

/// Complements in the text, each iteration of a loop once.
fn n_complements(stmts: &[Stmt]) -> u32 {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Eq(eq) => u32::from(matches!(eq.op, Op::Not | Op::AndNot)),
        Stmt::Loop(it) => n_complements(&it.body),
        Stmt::Call(_) | Stmt::Unrolled(_) => 0,
    };
    stmts.iter().map(of).sum()
}

/// Whether a word is held complemented: the sum of some choices and a constant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Form {
    choices: Vec<u32>,
    is_turned: bool,
}

impl Form {
    fn plus(&self, other: &Form) -> Form {
        let (a, b) = (&self.choices, &other.choices);
        let once = |own: &[u32], other: &[u32]| -> Vec<u32> {
            own.iter().copied().filter(|it| other.binary_search(it).is_err()).collect()
        };
        let mut choices = once(a, b);
        choices.extend(once(b, a));
        choices.sort_unstable();
        Form { choices, is_turned: self.is_turned ^ other.is_turned }
    }

    fn turned(&self, by: bool) -> Form {
        Form { choices: self.choices.clone(), is_turned: self.is_turned ^ by }
    }
}

/// What costs a step unless its three bits are equal: of a product, whether its factors are held
/// complemented as an `and` wants them, and whether it is itself as an `and` gives it; of a word
/// that cannot be held complemented, the first bit alone.
type Site = u8;

fn cost_of(site: Site) -> u32 {
    u32::from(site != 0 && site != 7)
}

/// The forms of the words of a node, and the choices that they are made of.
struct Forms {
    cells: Cells,
    of: Vec<Form>,
    is_plain: Vec<bool>,
    sites: Vec<Site>,
    /// The sites that each choice changes, and their bits that it turns.
    meets: Vec<Vec<(u32, Site)>>,
    chosen: Vec<bool>,
    /// The first sum of each word of a key that is held as suits those who read it.
    first: Vec<(u32, Form)>,
}

/// How an operation passes on whether its only word is complemented: `None` if it does not.
fn passed_on(eq: &Eq) -> Option<bool> {
    let is_word = |at: usize| matches!(eq.args.get(at), Some(Operand::Ref(_)));
    match &eq.op {
        Op::Copy | Op::Rotl(_) if is_word(0) => Some(false),
        Op::Shuffle(pattern) if is_word(0) && !pattern.contains(&ZERO) => Some(false),
        Op::Not if is_word(0) => Some(true),
        Op::And | Op::Or | Op::AndNot if is_word(0) && !is_word(1) => Some(false),
        Op::AndNot if is_word(1) && !is_word(0) => Some(true),
        _ => None,
    }
}

/// A product of two words as an `and`: whether the factors and itself are complemented for that.
fn product(eq: &Eq) -> Option<[bool; 3]> {
    let are_words = eq.args.iter().all(|arg| matches!(arg, Operand::Ref(_)));
    match &eq.op {
        Op::And if are_words => Some([false, false, false]),
        Op::Or if are_words => Some([true, true, true]),
        Op::AndNot if are_words => Some([false, true, false]),
        _ => None,
    }
}

impl Forms {
    fn of(node: &Node, stmts: &[Stmt], own: &[VarId]) -> Forms {
        let cells = Cells::new(&node.vars);
        let mut held = Forms {
            of: vec![Form::default(); cells.count()],
            is_plain: vec![false; cells.count()],
            sites: Vec::new(),
            meets: Vec::new(),
            chosen: Vec::new(),
            first: Vec::new(),
            cells,
        };
        for place in node.words(&node.results).iter().chain(&node.words(&node.params)) {
            let is_key = own.contains(&place.var);
            held.is_plain[held.cells.of(place, &[])] = !is_key;
        }
        held.plain(node, stmts);
        for place in node.words(own) {
            let cell = held.cells.of(&place, &[]);
            if !held.is_plain[cell] {
                held.of[cell] = held.choice();
            }
        }
        let n_own = held.chosen.len() as u32;
        held.stmts(stmts, n_own);
        held.take_complements_into_keys();
        held
    }

    /// Starts with no complement behind the first sum of a key, which takes those of the word that
    /// it is added to: such as the complements at the end of an S-box.
    fn take_complements_into_keys(&mut self) {
        for (choice, sum) in std::mem::take(&mut self.first) {
            if self.is_held(&sum) {
                self.turn(choice as usize);
            }
        }
    }

    fn choice(&mut self) -> Form {
        self.chosen.push(false);
        self.meets.push(Vec::new());
        Form { choices: vec![self.chosen.len() as u32 - 1], is_turned: false }
    }

    /// A new site of these forms, with every choice as it was at first.
    fn site(&mut self, forms: &[&Form]) {
        let at = self.sites.len() as u32;
        let mut site = 0;
        for (k, form) in forms.iter().enumerate() {
            site |= Site::from(form.is_turned) << k;
            for choice in &form.choices {
                match self.meets[*choice as usize].last_mut() {
                    Some(last) if last.0 == at => last.1 ^= 1 << k,
                    _ => self.meets[*choice as usize].push((at, 1 << k)),
                }
            }
        }
        self.sites.push(site);
    }

    /// Marks the words that cannot be complemented: those of arrays that a counter indexes, and what
    /// other operations, calls and loops read and write.
    fn plain<'a>(&mut self, node: &Node, stmts: &'a [Stmt]) {
        let mut marked: Vec<&'a Ref> = Vec::new();
        for stmt in stmts {
            let one = std::slice::from_ref(stmt);
            let is_free = match stmt {
                Stmt::Eq(eq) => {
                    eq.op == Op::Xor || passed_on(eq).is_some() || product(eq).is_some()
                }
                Stmt::Loop(it) => {
                    self.plain(node, &it.body);
                    for carried in &it.carried {
                        let words = [&carried.init, &carried.next];
                        marked.extend(words.into_iter().filter_map(|word| match word {
                            Operand::Ref(place) => Some(place),
                            Operand::Const(_) => None,
                        }));
                        let cell = self.cells.of(&Ref::at(carried.var, 0), &[]);
                        self.is_plain[cell] = true;
                    }
                    continue;
                }
                Stmt::Call(_) | Stmt::Unrolled(_) => false,
            };
            let found: std::cell::RefCell<Vec<&'a Ref>> = Default::default();
            let mut read = |operand: &'a Operand| {
                if let Operand::Ref(place) = operand {
                    found.borrow_mut().push(place);
                }
            };
            places(one, &mut read, &mut |place| found.borrow_mut().push(place));
            let found = found.into_inner().into_iter();
            marked.extend(found.filter(|place| !is_free || !place.index.terms.is_empty()));
        }
        for place in marked {
            if place.index.terms.is_empty() {
                let cell = self.cells.of(place, &[]);
                self.is_plain[cell] = true;
                continue;
            }
            for at in 0..node.vars[place.var.idx()].len as usize {
                let cell = self.cells.of(&Ref::at(place.var, at), &[]);
                self.is_plain[cell] = true;
            }
        }
    }

    /// The form of a word that an equation reads; indexed words have that of plain ones.
    fn form(&self, operand: &Operand) -> Form {
        match operand {
            Operand::Ref(place) if place.index.terms.is_empty() => {
                self.of[self.cells.of(place, &[])].clone()
            }
            _ => Form::default(),
        }
    }

    fn stmts(&mut self, stmts: &[Stmt], n_own: u32) {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => self.equation(eq, n_own),
                Stmt::Loop(it) => self.stmts(&it.body, n_own),
                Stmt::Call(_) | Stmt::Unrolled(_) => {}
            }
        }
    }

    fn equation(&mut self, eq: &Eq, n_own: u32) {
        let is_indexed = !eq.dst.index.terms.is_empty();
        let cell = if is_indexed { None } else { Some(self.cells.of(&eq.dst, &[])) };
        let is_plain = cell.is_none_or(|cell| self.is_plain[cell]);
        let sum = match (&eq.op, passed_on(eq)) {
            (Op::Xor, _) => Some(self.form(&eq.args[0]).plus(&self.form(&eq.args[1]))),
            (_, Some(turned)) => Some(
                self.form(&eq.args[0])
                    .plus(&match eq.args.get(1) {
                        Some(operand) => self.form(operand),
                        None => Form::default(),
                    })
                    .turned(turned),
            ),
            _ => None,
        };
        if let (Op::Xor, Some(sum)) = (&eq.op, &sum) {
            let keys: Vec<u32> = eq
                .args
                .iter()
                .filter_map(|operand| match self.form(operand).choices[..] {
                    [one] if one < n_own => Some(one),
                    _ => None,
                })
                .collect();
            for key in keys {
                if self.first.iter().all(|(choice, _)| *choice != key) {
                    self.first.push((key, sum.clone()));
                }
            }
        }
        let made = match (sum, product(eq)) {
            (Some(sum), _) if is_plain || sum.choices.len() > TERMS_MAX => {
                self.site(&[&sum]);
                Form::default()
            }
            (Some(sum), _) => sum,
            (None, Some([a, b, own])) => {
                let (a, b) = (self.form(&eq.args[0]).turned(a), self.form(&eq.args[1]).turned(b));
                let made = if is_plain { Form::default() } else { self.choice() };
                self.site(&[&a, &b, &made.turned(own)]);
                made
            }
            (None, None) => Form::default(),
        };
        if let Some(cell) = cell {
            self.of[cell] = made;
        }
    }

    fn is_held(&self, form: &Form) -> bool {
        form.choices.iter().fold(form.is_turned, |all, choice| all ^ self.chosen[*choice as usize])
    }

    fn of_cell(&self, cell: usize) -> bool {
        self.is_held(&self.of[cell])
    }

    fn size(&self) -> usize {
        self.meets.iter().map(Vec::len).sum()
    }

    fn cost(&self) -> u32 {
        self.sites.iter().map(|site| cost_of(*site)).sum()
    }

    fn turn(&mut self, choice: usize) {
        self.chosen[choice] ^= true;
        for (at, turned) in &self.meets[choice] {
            self.sites[*at as usize] ^= turned;
        }
    }

    /// Changes choices one by one.
    fn choose(&mut self) {
        let rounds = ROUNDS.min((LOOKS / self.size().max(1)) as u32);
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut best = (self.cost(), self.chosen.clone());
        let mut now = best.0;
        for round in 0..rounds {
            // One in e changes that cost so much is taken.
            let left = 1.0 - f64::from(round) / f64::from(rounds);
            let heat = if left < 0.05 { 0.0 } else { 0.2 + 0.8 * left };
            for choice in 0..self.chosen.len() {
                let (mut before, mut after) = (0, 0);
                for (at, turned) in &self.meets[choice] {
                    let site = self.sites[*at as usize];
                    before += cost_of(site);
                    after += cost_of(site ^ turned);
                }
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let lot = (random >> 11) as f64 / (1u64 << 53) as f64;
                let more = f64::from(after) - f64::from(before);
                if more <= 0.0 || (heat > 0.0 && lot < (-more / heat).exp()) {
                    now = now + after - before;
                    self.turn(choice);
                }
            }
            if now < best.0 {
                best = (now, self.chosen.clone());
            }
        }
        for choice in 0..self.chosen.len() {
            if self.chosen[choice] != best.1[choice] {
                self.turn(choice);
            }
        }
    }
}

/// The equations of a node as its words are held.
struct Rewrite<'a> {
    node: &'a mut Node,
    held: &'a Forms,
    out: Vec<Stmt>,
}

impl Rewrite<'_> {
    fn stmts(&mut self, stmts: Vec<Stmt>) {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => self.equation(eq),
                Stmt::Loop(mut it) => {
                    let around = std::mem::take(&mut self.out);
                    self.stmts(std::mem::take(&mut it.body));
                    it.body = std::mem::replace(&mut self.out, around);
                    self.out.push(Stmt::Loop(it));
                }
                Stmt::Call(_) | Stmt::Unrolled(_) => self.out.push(stmt),
            }
        }
    }

    fn is_held(&self, operand: &Operand) -> bool {
        self.held.is_held(&self.held.form(operand))
    }

    fn push(&mut self, dst: Ref, op: Op, args: Args, eq: &Eq) {
        self.out.push(Stmt::Eq(Eq { dst, op, args, loc: eq.loc }));
    }

    fn word(&mut self, like: &Ref) -> Ref {
        let (name, ty) = (self.node.vars[like.var.idx()].name.clone(), self.node.ty(like));
        Ref::at(self.node.var(name, 1, ty), 0)
    }

    /// Writes the operation, whose value is complemented once more if it `is_turned`.
    fn write(&mut self, op: Op, args: Args, is_turned: bool, eq: &Eq) {
        if !is_turned {
            return self.push(eq.dst.clone(), op, args, eq);
        }
        let word = self.word(&eq.dst);
        self.push(word.clone(), op, args, eq);
        self.push(eq.dst.clone(), Op::Not, smallvec![word.into()], eq);
    }

    fn equation(&mut self, eq: Eq) {
        let own = self.is_held(&Operand::Ref(eq.dst.clone()));
        let args: Vec<bool> = eq.args.iter().map(|arg| self.is_held(arg)).collect();
        if let Some([a, b, made]) = product(&eq) {
            return self.product(&eq, [args[0] ^ a, args[1] ^ b, own ^ made]);
        }
        if eq.op == Op::Xor {
            return self.write(Op::Xor, eq.args.clone(), own ^ args[0] ^ args[1], &eq);
        }
        let Some(turned) = passed_on(&eq) else { return self.out.push(Stmt::Eq(eq)) };
        let is_held = args.contains(&true);
        let m = self.node.ty(&eq.dst).mask();
        let (word, value) = match &eq.args[..] {
            [Operand::Const(value), word] | [word, Operand::Const(value)] => (word, Some(*value)),
            _ => (&eq.args[0], None),
        };
        let (op, value) = match (&eq.op, value) {
            (Op::Not, _) => (Op::Copy, None),
            (op, None) => (op.clone(), None),
            // A bit that is masked to 0 is 1 where the word is complemented.
            (op, Some(value)) => {
                let is_first = matches!(eq.args[0], Operand::Const(_));
                let value = if *op == Op::AndNot && !is_first { !value & m } else { value };
                let is_or = (*op == Op::Or) ^ is_held ^ (*op == Op::AndNot && is_first);
                let is_same = is_or == (*op == Op::Or);
                (
                    if is_or { Op::Or } else { Op::And },
                    Some(if is_same { value } else { !value & m }),
                )
            }
        };
        let args = std::iter::once(word.clone()).chain(value.map(Operand::Const)).collect();
        self.write(op, args, own ^ is_held ^ turned, &eq);
    }

    /// An `and` of factors that are complemented or not, as is what it gives.
    fn product(&mut self, eq: &Eq, [a, b, made]: [bool; 3]) {
        let op = |is_or: bool| if is_or { Op::Or } else { Op::And };
        if a == b {
            return self.write(op(a), eq.args.clone(), a != made, eq);
        }
        // The factor to complement is the one that then is as the product wants it.
        let (turned, other) = if a == made { (1, 0) } else { (0, 1) };
        if !made {
            let args = smallvec![eq.args[other].clone(), eq.args[turned].clone()];
            return self.push(eq.dst.clone(), Op::AndNot, args, eq);
        }
        let word = self.word(&eq.dst);
        self.push(word.clone(), Op::Not, smallvec![eq.args[turned].clone()], eq);
        self.push(eq.dst.clone(), Op::Or, smallvec![eq.args[other].clone(), word.into()], eq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::eval::eval;
    use crate::ir::{Dir, Ty};
    use crate::syntax::Loc;

    /// `n = not a`, `t = op b, n`, `y = xor t, c`.
    fn example(op: Op) -> Program {
        let mut node = Node::new("example");
        let ty = Ty { m: 8, dir: Dir::V };
        let [a, b, c, n, t, y] = ["a", "b", "c", "n", "t", "y"].map(|name| node.var(name, 1, ty));
        node.params.extend([a, b, c]);
        node.results.push(y);
        let eq = |dst: VarId, op: Op, args: &[VarId]| {
            let args = args.iter().map(|var| Operand::Ref(Ref::at(*var, 0))).collect();
            Stmt::Eq(Eq { dst: Ref::at(dst, 0), op, args, loc: Loc::default() })
        };
        let stmts = vec![eq(n, Op::Not, &[a]), eq(t, op, &[b, n]), eq(y, Op::Xor, &[t, c])];
        node.body = Body::Stmts(stmts);
        Program { nodes: vec![node], entries: vec![crate::ir::NodeId(0)], ..Program::default() }
    }

    fn complements_of(program: &Program) -> usize {
        let Body::Stmts(stmts) = &program.nodes[0].body else { panic!("it has equations") };
        let is_one =
            |stmt: &&Stmt| matches!(stmt, Stmt::Eq(eq) if matches!(eq.op, Op::Not | Op::AndNot));
        stmts.iter().filter(is_one).count()
    }

    #[test]
    fn a_complement_that_is_complemented_again_goes() {
        let mut program = example(Op::AndNot);
        let before = eval(&program, program.entries[0], &[0x0f, 0x55, 0x33]);
        complements(&mut program, &[]);
        assert_eq!(complements_of(&program), 0, "{program}");
        assert_eq!(eval(&program, program.entries[0], &[0x0f, 0x55, 0x33]), before);
    }

    #[test]
    fn a_complement_that_is_needed_stays() {
        let mut program = example(Op::And);
        complements(&mut program, &[]);
        assert_eq!(complements_of(&program), 1, "{program}");
    }
}
