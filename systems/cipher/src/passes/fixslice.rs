//! Leaves a permutation of the bits of words undone for as many rounds as that pays.
//!
//! ```text
//! s = shuffle([1, 2, 3, 0]) x
//! y = xor s, k                   --->    y' = xor x, k'
//! b = shuffle([1, 0, 3, 2]) y    --->    b' = shuffle([3, 2, 1, 0]) y'
//! ```
//!
//! Here y' is y, b' is b, before the first shuffle: later ones are its conjugates, and where
//! something else has to have the bits in their order, as a result has, a last one brings them
//! there. The key schedule hands on k' instead of k, with `keys` the parameters of the entry that
//! it makes.
//!
//! Words that operations on each bit join have one permutation, that of their class; what moves
//! bits leads from a class to a class. The permutations of the classes are chosen together, class
//! by class in the order of the text, for the fewest steps: of all choices that differ in nothing
//! that later classes meet the cheapest goes on, and of those the [`WIDTH`] cheapest. A chain of
//! rounds meets only the round before, so there the choice is the best there is among products of
//! the program's own permutations.
//!
//! Needs:   the entry in executable order, without loops and calls.
//! Keeps:   what the entry gives for the keys that the schedule makes; another order of bits in
//!          those keys.
//! Costs:   linear in the classes, and shuffles in the key schedule.
//! Source:  "Fixslicing AES-like ciphers", Adomnicai and Peyrin, CHES 2021, who did it by hand.

use std::rc::Rc;

use rustc_hash::FxHashMap as HashMap;
use smallvec::smallvec;

use crate::ir::eval::apply;
use crate::ir::{Args, Body, Eq, Node, Op, Operand, Program, Ref, Stmt, VarId};

use super::hslice::ZERO;
use super::keys;
use super::order::Cells;
use super::turns::rotation;

/// Choices that go on from class to class.
const WIDTH: usize = 64;

/// The steps for moves of bits in a call of the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fixsliced {
    pub before: u64,
    pub after: u64,
    pub others: u64,
}

/// Rewrites the first entry, and the key schedule, which is the second, if the moves of bits then
/// take fewer steps by `steps` and `pays`. Words that are numbers rotate, others are shuffled.
pub fn fixslice(
    program: &mut Program,
    keys: &[usize],
    rotates: bool,
    steps: &dyn Fn(&[u8]) -> u64,
    pays: &dyn Fn(&Fixsliced) -> bool,
) -> Option<Fixsliced> {
    let entry = program.entries[0].idx();
    let node = &program.nodes[entry];
    let Body::Stmts(stmts) = &node.body else { return None };
    let is_straight = stmts.iter().all(|stmt| matches!(stmt, Stmt::Eq(_)));
    if node.no_opt || !is_straight {
        return None;
    }
    let mut patterns = Patterns::new(steps, rotates);
    let classes = Classes::of(node, stmts, keys, &mut patterns);
    if !classes.has_choice(&patterns) {
        return None;
    }
    let before = classes
        .edges
        .iter()
        .map(|edge| edge.n_words * patterns.between(IDENTITY, edge.moves, IDENTITY).1);
    let before = before.sum();
    let (after, chosen) = choose(&classes, &mut patterns);
    let others = stmts.iter().filter(
        |stmt| matches!(stmt, Stmt::Eq(eq) if eq.op != Op::Copy && moves(&eq.op, 1).is_none()),
    );
    let found = Fixsliced { before, after, others: others.count() as u64 };
    if after >= before || !pays(&found) {
        return None;
    }
    let node = &mut program.nodes[entry];
    rewrite(node, &classes, &chosen, &mut patterns);
    let own: Vec<VarId> = keys.iter().map(|at| node.params[*at]).collect();
    let permutation = |word: &Ref| classes.permutation(word, &chosen);
    let made: Vec<Pattern> = node.words(&own).iter().map(permutation).collect();
    if made.iter().any(|permutation| *permutation != IDENTITY) {
        let schedule = program.entries[1].idx();
        let ops: Vec<Op> = made
            .into_iter()
            .map(|permutation| {
                let (pattern, _) = patterns.between(IDENTITY, IDENTITY, permutation);
                patterns.op(pattern)
            })
            .collect();
        keys::hand_on(&mut program.nodes[schedule], ops.into_iter());
    }
    Some(found)
}

/// A pattern by number.
type Pattern = u32;

/// The pattern that moves nothing, of words of any size.
const IDENTITY: Pattern = 0;

/// Patterns as in [`Op::Shuffle`], each once, with what was computed of them.
struct Patterns<'a> {
    all: Vec<Rc<[u8]>>,
    ids: HashMap<Rc<[u8]>, Pattern>,
    between: HashMap<[Pattern; 3], (Pattern, u64)>,
    after: HashMap<[Pattern; 2], Pattern>,
    steps: &'a dyn Fn(&[u8]) -> u64,
    /// A word is a number, which rotates; a horizontal one has its bits in lanes, and is shuffled.
    rotates: bool,
}

impl<'a> Patterns<'a> {
    fn new(steps: &'a dyn Fn(&[u8]) -> u64, rotates: bool) -> Self {
        Patterns {
            rotates,
            all: vec![Rc::new([])],
            ids: HashMap::default(),
            between: HashMap::default(),
            after: HashMap::default(),
            steps,
        }
    }

    fn id(&mut self, pattern: Vec<u8>) -> Pattern {
        if pattern.iter().enumerate().all(|(j, from)| j == usize::from(*from)) {
            return IDENTITY;
        }
        let next = self.all.len() as Pattern;
        let pattern: Rc<[u8]> = pattern.into();
        *self.ids.entry(pattern.clone()).or_insert_with(|| {
            self.all.push(pattern);
            next
        })
    }

    fn at(&self, pattern: Pattern, j: usize) -> u8 {
        if pattern == IDENTITY { j as u8 } else { self.all[pattern as usize][j] }
    }

    fn is_permutation(&self, pattern: Pattern) -> bool {
        let list = &self.all[pattern as usize];
        (0..list.len()).all(|j| list.contains(&(j as u8)))
    }

    fn inverse(&mut self, permutation: Pattern) -> Pattern {
        let list = self.all[permutation as usize].clone();
        let mut inverse = vec![0; list.len()];
        list.iter().enumerate().for_each(|(j, from)| inverse[usize::from(*from)] = j as u8);
        self.id(inverse)
    }

    /// The permutation of a class for which `moves` from a class of permutation `first` costs
    /// nothing.
    fn after(&mut self, first: Pattern, moves: Pattern) -> Pattern {
        if moves == IDENTITY || first == IDENTITY {
            return first.max(moves);
        }
        if let Some(known) = self.after.get(&[first, moves]) {
            return *known;
        }
        let list = self.all[moves as usize].clone();
        let made = list.iter().map(|from| self.at(first, usize::from(*from))).collect();
        let made = self.id(made);
        self.after.insert([first, moves], made);
        made
    }

    /// What `moves` becomes from words as they lie in a class of permutation `first` to one of
    /// permutation `last`, and its steps. Word v has its bit j at `permutation[j]` of what it is
    /// held as.
    fn between(&mut self, first: Pattern, moves: Pattern, last: Pattern) -> (Pattern, u64) {
        if let Some(known) = self.between.get(&[first, moves, last]) {
            return *known;
        }
        let m = [first, moves, last].map(|pattern| self.all[pattern as usize].len());
        let mut list = vec![ZERO; m.into_iter().max().unwrap_or(0)];
        for j in 0..list.len() {
            let from = self.at(moves, j);
            if from != ZERO {
                list[usize::from(self.at(last, j))] = self.at(first, usize::from(from));
            }
        }
        let made = self.id(list);
        let steps = if made == IDENTITY { 0 } else { (self.steps)(&self.all[made as usize]) };
        self.between.insert([first, moves, last], (made, steps));
        (made, steps)
    }

    /// The same of a constant of `m` bits.
    fn constant(&self, value: u64, permutation: Pattern, m: u32) -> u64 {
        if permutation == IDENTITY {
            return value;
        }
        let bits = (0..m as usize).filter(|j| value >> (m as usize - 1 - j) & 1 == 1);
        bits.fold(0, |all, j| all | 1 << (m - 1 - u32::from(self.at(permutation, j))))
    }

    /// The operation of this pattern on words of `m` bits.
    fn op(&self, pattern: Pattern) -> Op {
        let list = &self.all[pattern as usize];
        match rotation(list) {
            _ if pattern == IDENTITY => Op::Copy,
            Some(n) if self.rotates => Op::Rotl(n),
            _ => Op::Shuffle(list.iter().copied().collect()),
        }
    }
}

/// The pattern of an operation that only moves bits.
fn moves(op: &Op, m: u32) -> Option<Vec<u8>> {
    let list =
        |op: &Op| (0..m).map(|j| op.source_bit(j, m).map_or(ZERO, |from| from as u8)).collect();
    match op {
        Op::Shuffle(pattern) if pattern.len() < m as usize => None,
        Op::Shuffle(_) | Op::Shl(_) | Op::Shr(_) | Op::Rotl(_) => Some(list(op)),
        _ => None,
    }
}

/// Moves of bits from words of a class to words of a class.
struct MoveEdge {
    from: usize,
    to: usize,
    moves: Pattern,
    n_words: u64,
}

/// The words of the entry in classes; the first has their bits as the program says.
struct Classes {
    cells: Cells,
    of: Vec<usize>,
    is_param: Vec<bool>,
    is_result: Vec<bool>,
    /// In which order their permutations are chosen.
    order: Vec<usize>,
    edges: Vec<MoveEdge>,
}

/// The class of what has its bits as the program says.
const FIXED: usize = 0;

impl Classes {
    fn of(node: &Node, stmts: &[Stmt], keys: &[usize], patterns: &mut Patterns) -> Classes {
        let cells = Cells::new(&node.vars);
        let mark = |vars: &[VarId]| {
            let mut marked = vec![false; cells.count()];
            node.words(vars).iter().for_each(|word| marked[cells.of(word, &[])] = true);
            marked
        };
        let (is_param, is_result) = (mark(&node.params), mark(&node.results));
        let keys: Vec<VarId> = keys.iter().map(|at| node.params[*at]).collect();
        let is_key = mark(&keys);
        let mut joined = Joined((0..=cells.count()).collect());
        let fixed = cells.count();
        for cell in 0..cells.count() {
            if is_param[cell] && !is_key[cell] {
                joined.join(cell, fixed);
            }
        }
        // From a word to a word, which stands for its class.
        let mut ways: Vec<(usize, usize, Pattern)> = Vec::new();
        for eq in equations(stmts) {
            let (dst, m) = (cells.of(&eq.dst, &[]), node.ty(&eq.dst).m);
            let pattern = moves(&eq.op, m).map(|list| patterns.id(list));
            if pattern.is_none() && !eq.op.is_bitwise() {
                joined.join(dst, fixed);
            }
            for arg in &eq.args {
                let Operand::Ref(place) = arg else { continue };
                let arg = cells.of(place, &[]);
                match pattern {
                    Some(pattern) => ways.push((arg, dst, pattern)),
                    None if is_param[arg] => ways.push((arg, dst, IDENTITY)),
                    None => joined.join(arg, dst),
                }
            }
            if is_result[dst] {
                ways.push((dst, fixed, IDENTITY));
            }
        }
        let mut numbers = HashMap::default();
        numbers.insert(joined.root(fixed), FIXED);
        let of: Vec<usize> = (0..cells.count())
            .map(|cell| {
                let next = numbers.len();
                *numbers.entry(joined.root(cell)).or_insert(next)
            })
            .collect();
        let class = |cell: usize| if cell == fixed { FIXED } else { of[cell] };
        let mut ways: Vec<(usize, usize, Pattern, usize)> = ways
            .into_iter()
            .map(|(from, to, moves)| (class(from), class(to), moves, from))
            .filter(|(from, to, moves, _)| from != to || *moves != IDENTITY)
            .collect();
        ways.sort_unstable();
        ways.dedup();
        let mut edges: Vec<MoveEdge> = Vec::new();
        for (from, to, moves, _) in ways {
            match edges.last_mut() {
                Some(last) if (last.from, last.to, last.moves) == (from, to, moves) => {
                    last.n_words += 1
                }
                _ => edges.push(MoveEdge { from, to, moves, n_words: 1 }),
            }
        }
        let mut classes = Classes { cells, of, is_param, is_result, order: Vec::new(), edges };
        classes.order = classes.order(stmts, numbers.len());
        classes
    }

    /// That of the text, and words of keys after what they meet.
    fn order(&self, stmts: &[Stmt], n: usize) -> Vec<usize> {
        let mut place = vec![usize::MAX; n];
        for (at, eq) in equations(stmts).enumerate() {
            let class = self.of[self.cells.of(&eq.dst, &[])];
            place[class] = place[class].min(at);
        }
        place[FIXED] = 0;
        let mut after = place.clone();
        for edge in &self.edges {
            for (own, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
                if place[own] == usize::MAX && place[other] != usize::MAX {
                    let least = if after[own] == usize::MAX { 0 } else { after[own] };
                    after[own] = least.max(place[other]);
                }
            }
        }
        let mut order: Vec<usize> = (0..n).filter(|class| after[*class] != usize::MAX).collect();
        order.sort_by_key(|class| (*class != FIXED, after[*class], place[*class]));
        order
    }

    /// That of a word; unused words have none.
    fn permutation(&self, place: &Ref, chosen: &[Pattern]) -> Pattern {
        let class = self.of[self.cells.of(place, &[])];
        chosen.get(class).copied().unwrap_or(IDENTITY)
    }

    /// There is a permutation that more than words of fixed places meet.
    fn has_choice(&self, patterns: &Patterns) -> bool {
        self.edges.iter().any(|edge| {
            edge.moves != IDENTITY && edge.from != edge.to && patterns.is_permutation(edge.moves)
        })
    }
}

struct Joined(Vec<usize>);

impl Joined {
    fn root(&mut self, mut word: usize) -> usize {
        while self.0[word] != word {
            self.0[word] = self.0[self.0[word]];
            word = self.0[word];
        }
        word
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a] = b;
    }
}

fn equations(stmts: &[Stmt]) -> impl Iterator<Item = &Eq> {
    stmts.iter().map(|stmt| match stmt {
        Stmt::Eq(eq) => eq,
        Stmt::Call(_) | Stmt::Loop(_) | Stmt::Unrolled(_) => {
            panic!("the entry has neither calls nor loops")
        }
    })
}

/// Permutations of the classes so far.
struct PermutationChoice {
    /// Of classes that later ones meet.
    met: Vec<(usize, Pattern)>,
    steps: u64,
    /// The last class and its permutation in `trail`, which leads back to the first.
    last: usize,
}

/// The permutation of each class, and the steps for all moves.
fn choose(classes: &Classes, patterns: &mut Patterns) -> (u64, Vec<Pattern>) {
    let mut at = vec![usize::MAX; classes.order.iter().max().map_or(0, |class| class + 1)];
    classes.order.iter().enumerate().for_each(|(k, class)| at[*class] = k);
    let mut edges: Vec<Vec<&MoveEdge>> = vec![Vec::new(); classes.order.len()];
    // The last class that each meets.
    let mut until: Vec<usize> = (0..classes.order.len()).collect();
    for edge in &classes.edges {
        let (from, to) = (at[edge.from], at[edge.to]);
        edges[from.max(to)].push(edge);
        for own in [from, to] {
            until[own] = until[own].max(from).max(to);
        }
    }
    let mut trail: Vec<(usize, Pattern)> = Vec::new();
    let mut choices = vec![PermutationChoice { met: Vec::new(), steps: 0, last: usize::MAX }];
    for (k, class) in classes.order.iter().enumerate() {
        let mut next: Vec<PermutationChoice> = Vec::new();
        let mut known: HashMap<Vec<(usize, Pattern)>, usize> = HashMap::default();
        for choice in &choices {
            let of = |other: usize| {
                let found = choice.met.iter().find(|pair| pair.0 == other);
                found.expect("it is kept as long as it is met").1
            };
            for own in candidates(*class, &edges[k], &of, patterns) {
                let of = |other: usize| if other == *class { own } else { of(other) };
                let steps = edges[k].iter().map(|edge| {
                    edge.n_words * patterns.between(of(edge.from), edge.moves, of(edge.to)).1
                });
                let steps = choice.steps + steps.sum::<u64>();
                let own = std::iter::once((*class, own));
                let met: Vec<(usize, Pattern)> = choice.met.iter().copied().chain(own).collect();
                let (last, own) = (choice.last, met[met.len() - 1].1);
                let met: Vec<_> = met.into_iter().filter(|pair| until[at[pair.0]] > k).collect();
                let place = *known.entry(met.clone()).or_insert(next.len());
                if place < next.len() && next[place].steps <= steps {
                    continue;
                }
                trail.push((last, own));
                let made = PermutationChoice { met, steps, last: trail.len() - 1 };
                if place < next.len() { next[place] = made } else { next.push(made) }
            }
        }
        next.sort_by_key(|choice| choice.steps);
        next.truncate(WIDTH);
        choices = next;
    }
    let best = &choices[0];
    let mut chosen = vec![IDENTITY; at.len()];
    let mut last = best.last;
    for class in classes.order.iter().rev() {
        (last, chosen[*class]) = trail[last];
    }
    (best.steps, chosen)
}

/// Permutations for a class: none, those that make a move from or to an earlier one free, and those
/// of the earlier ones.
fn candidates(
    class: usize,
    edges: &[&MoveEdge],
    of: &dyn Fn(usize) -> Pattern,
    patterns: &mut Patterns,
) -> Vec<Pattern> {
    let mut all = vec![IDENTITY];
    if class == FIXED {
        return all;
    }
    let mut add = |pattern: Pattern| {
        if !all.contains(&pattern) {
            all.push(pattern);
        }
    };
    for edge in edges.iter().filter(|edge| edge.from != edge.to) {
        let is_from = edge.from == class;
        let other = of(if is_from { edge.to } else { edge.from });
        add(other);
        if patterns.is_permutation(edge.moves) {
            let moves = if is_from { patterns.inverse(edge.moves) } else { edge.moves };
            add(patterns.after(other, moves));
        }
    }
    all
}

fn rewrite(node: &mut Node, classes: &Classes, chosen: &[Pattern], patterns: &mut Patterns) {
    let stmts = node.take_stmts().expect("it has equations");
    let mut held =
        HeldEntry { node, classes, chosen, patterns, moved: HashMap::default(), out: vec![] };
    for stmt in stmts {
        let Stmt::Eq(eq) = stmt else { panic!("the entry has neither calls nor loops") };
        held.equation(eq);
    }
    let out = held.out;
    node.body = Body::Stmts(out);
}

/// The entry as its words are held.
struct HeldEntry<'a, 'b> {
    node: &'a mut Node,
    classes: &'a Classes,
    chosen: &'a [Pattern],
    patterns: &'a mut Patterns<'b>,
    /// Words of parameters and results as they are held elsewhere, by pattern.
    moved: HashMap<(Ref, Pattern), Ref>,
    out: Vec<Stmt>,
}

impl HeldEntry<'_, '_> {
    fn word(&mut self, like: &Ref) -> Ref {
        let (name, ty) = (self.node.vars[like.var.idx()].name.clone(), self.node.ty(like));
        Ref::at(self.node.var(name, 1, ty), 0)
    }

    /// The word that holds a result for those who read it again, else the place itself.
    fn place(&self, place: &Ref) -> Ref {
        self.moved.get(&(place.clone(), IDENTITY)).unwrap_or(place).clone()
    }

    /// An operand of an operation on each bit in a class of this permutation.
    fn operand(&mut self, operand: Operand, last: Pattern, eq: &Eq) -> Operand {
        let place = match operand {
            Operand::Const(value) => {
                let m = self.node.ty(&eq.dst).m;
                return Operand::Const(self.patterns.constant(value, last, m));
            }
            Operand::Ref(place) => place,
        };
        if !self.classes.is_param[self.classes.cells.of(&place, &[])] {
            return self.place(&place).into();
        }
        let (pattern, _) =
            self.patterns.between(self.classes.permutation(&place, self.chosen), IDENTITY, last);
        if pattern == IDENTITY {
            return place.into();
        }
        if let Some(known) = self.moved.get(&(place.clone(), pattern)) {
            return known.clone().into();
        }
        let word = self.word(&place);
        let args = smallvec![place.clone().into()];
        self.push(word.clone(), self.patterns.op(pattern), args, eq);
        self.moved.insert((place, pattern), word.clone());
        word.into()
    }

    fn equation(&mut self, eq: Eq) {
        let m = self.node.ty(&eq.dst).m;
        let own = self.classes.permutation(&eq.dst, self.chosen);
        let (op, args) = match (moves(&eq.op, m), &eq.args[0]) {
            (Some(_), Operand::Const(value)) => {
                let value = apply(&eq.op, &[*value], m);
                let value = self.patterns.constant(value, own, m);
                (Op::Copy, smallvec![Operand::Const(value)])
            }
            (Some(list), Operand::Ref(place)) => {
                let written = self.patterns.id(list);
                let first = self.classes.permutation(place, self.chosen);
                let (pattern, _) = self.patterns.between(first, written, own);
                let op = if pattern == written { eq.op.clone() } else { self.patterns.op(pattern) };
                (op, smallvec![self.place(place).into()])
            }
            (None, _) => {
                let args: Args =
                    eq.args.iter().map(|arg| self.operand(arg.clone(), own, &eq)).collect();
                (eq.op.clone(), args)
            }
        };
        if !self.classes.is_result[self.classes.cells.of(&eq.dst, &[])] || own == IDENTITY {
            return self.push(eq.dst.clone(), op, args, &eq);
        }
        let word = self.word(&eq.dst);
        self.push(word.clone(), op, args, &eq);
        let (pattern, _) = self.patterns.between(own, IDENTITY, IDENTITY);
        let last = self.patterns.op(pattern);
        self.push(eq.dst.clone(), last, smallvec![word.clone().into()], &eq);
        self.moved.insert((eq.dst.clone(), IDENTITY), word);
    }

    fn push(&mut self, dst: Ref, op: Op, args: Args, eq: &Eq) {
        self.out.push(Stmt::Eq(Eq { dst, op, args, loc: eq.loc }));
    }
}
