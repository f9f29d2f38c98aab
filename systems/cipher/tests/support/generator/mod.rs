//! Random well-typed Usuba programs, small and varied, the same for the same seed.
//!
//! A program is a few tables, permutations and nodes; each may call those above it and the last is
//! the entry. Types come first: an expression is requested as "n words of m bits" and built to be
//! exactly that. Every word is defined before the generator reads it; afterwards equations that may
//! stand anywhere are moved about.

mod expression;

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone)]
pub struct Generated {
    /// Its text; one equation or brace a line, an empty line between definitions.
    pub text: String,
    /// How often each production was used.
    pub coverage: BTreeMap<&'static str, u64>,
}

/// Name of the entry of every program.
pub const ENTRY: &str = "main";

/// The program of this seed.
pub fn program(seed: u64) -> Generated {
    let mut rng = fastrand::Rng::with_seed(seed);
    let choices: [&[u32]; 14] = [
        &[1],
        &[4],
        &[8],
        &[8],
        &[16],
        &[16],
        &[32],
        &[32],
        &[64],
        &[5],
        &[1, 8],
        &[1, 4, 16],
        &[8, 16, 24],
        &[3, 32, 64],
    ];
    let sizes = choices[rng.usize(0..choices.len())].to_vec();
    let dir = ["", "", "", "", "", "", "<'D>", "<'way>", "<V>", "<H>", "<B>"][rng.usize(0..11)];
    let style = Style {
        arith: dir != "<H>" && rng.u32(0..3) == 0,
        products: rng.u32(0..6) == 0,
        quotients: rng.u32(0..25) == 0,
        mixed: sizes.len() > 1 || rng.u32(0..12) == 0,
        open_entry: rng.u32(0..8) == 0,
        sizes,
        dir,
    };
    let mut it = Generator {
        rng,
        style,
        coverage: BTreeMap::new(),
        known: Vec::new(),
        text: String::new(),
        node: Node::default(),
    };
    it.definitions();
    Generated { text: it.text, coverage: it.coverage }
}

/// What a program contains.
struct Style {
    sizes: Vec<u32>,
    dir: &'static str,
    arith: bool,
    products: bool,
    quotients: bool,
    mixed: bool,
    open_entry: bool,
}

/// Bits of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bits {
    Fixed(u32),
    Open,
}

/// A definition that later ones may call.
#[derive(Clone)]
struct Known {
    name: String,
    params: Vec<Param>,
    /// Type of all results, and how many words they are.
    bits: Bits,
    n_results: usize,
    /// Elements of an array of nodes.
    elements: Option<usize>,
}

#[derive(Clone, Copy)]
enum Param {
    Nat,
    Words(Bits, usize),
}

/// A static number, with its value at every point of the enclosing loops.
#[derive(Clone)]
struct Number {
    text: String,
    atom: bool,
    values: Vec<i64>,
}

struct Variable {
    name: String,
    bits: Bits,
    dims: Vec<usize>,
    defined: Vec<bool>,
    /// `:=` may give it new values.
    mutable: bool,
    is_param: bool,
}

/// An expression and how tightly its outermost operator binds.
struct Text {
    text: String,
    level: u8,
}

const SHIFT: u8 = 1;
const NOT: u8 = 5;
const ATOM: u8 = 6;

/// One equation or loop, and the variables that it touches.
struct Item {
    text: String,
    touched: BTreeSet<String>,
}

/// The node under construction.
#[derive(Default)]
struct Node {
    vars: Vec<Variable>,
    /// How many combinations of loop indices and nat parameters there are.
    n_points: usize,
    /// Loop indices and nat parameters.
    numbers: Vec<Number>,
    /// Accesses that are valid inside the loop under construction.
    extra: Vec<(String, Bits, usize)>,
    touched: BTreeSet<String>,
    is_open: bool,
    n_names: usize,
}

/// A number made from another: its text, its value, whether it needs no
/// parentheses, and its production.
type Derived = (String, Box<dyn Fn(i64) -> i64>, bool, &'static str);

/// Arguments for nat parameters.
const NATS: [i64; 3] = [0, 1, 3];

impl Variable {
    fn n(&self) -> usize {
        self.dims.iter().product()
    }
}

impl Generator {
    fn definitions(&mut self) {
        let n = self.rng.usize(1..5);
        for i in 0..n {
            match self.rng.u32(0..6) {
                0 => self.table(&format!("t{i}")),
                1 => self.perm(&format!("p{i}")),
                _ => self.helper(&format!("f{i}'")),
            }
            self.text.push('\n');
        }
        self.entry();
    }

    fn note(&mut self, production: &'static str) {
        *self.coverage.entry(production).or_default() += 1;
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.rng.u32(0..one_in) == 0
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.rng.usize(0..all.len())]
    }

    fn size(&mut self) -> Bits {
        let sizes = self.style.sizes.clone();
        Bits::Fixed(self.pick(&sizes))
    }

    /// A type of these words, in one of its spellings.
    fn ty(&mut self, bits: Bits, dims: &[usize]) -> String {
        let dir = self.style.dir;
        if !dir.is_empty() {
            self.note("type with a direction");
        }
        let brackets = |dims: &[usize]| dims.iter().map(|d| format!("[{d}]")).collect::<String>();
        let in_base = self.rng.bool();
        match (bits, dims.split_last()) {
            (Bits::Fixed(1), Some((n, outer))) if in_base => {
                self.note("type bN");
                format!("b{dir}{n}{}", brackets(outer))
            }
            (Bits::Open, Some((n, outer))) if in_base => {
                self.note("type vN");
                format!("v{dir}{n}{}", brackets(outer))
            }
            (Bits::Open, _) => {
                self.note("type u'm");
                format!("u{dir}'m{}", brackets(dims))
            }
            (Bits::Fixed(m), Some((n, outer))) if in_base => {
                self.note("type uMxN");
                format!("u{dir}{m}x{n}{}", brackets(outer))
            }
            (Bits::Fixed(m), None) => {
                self.note("type uM");
                format!("u{dir}{m}")
            }
            (Bits::Fixed(m), Some((n, outer))) => {
                self.note("type with array sizes");
                let product = if n % 2 == 0 && self.chance(3) {
                    format!("[{}*2]", n / 2)
                } else {
                    format!("[{n}]")
                };
                format!("u{dir}{m}{}{product}", brackets(outer))
            }
        }
    }

    fn ints(&mut self, n: usize, below: u64, from: u64) -> String {
        let ints: Vec<String> = (0..n)
            .map(|_| {
                let value = from + self.rng.u64(0..below);
                if self.rng.bool() { format!("{value:#x}") } else { value.to_string() }
            })
            .collect();
        format!("{{{}}}", ints.join(", "))
    }

    /// `{..}` or `[{..}; {..}]`, and the number of elements.
    fn lists(&mut self, n: usize, below: u64, from: u64) -> (String, Option<usize>) {
        // Circuits of four inputs take long to find.
        if n == 16 || !self.chance(4) {
            return (self.ints(n, below, from), None);
        }
        let n_elements = self.rng.usize(1..4);
        let lists: Vec<String> = (0..n_elements).map(|_| self.ints(n, below, from)).collect();
        (format!("[ {} ]", lists.join(" ; ")), Some(n_elements))
    }

    /// Words in one parameter or in two.
    fn ports(&mut self, name: &str, bits: Bits, n: usize) -> (String, Vec<Param>) {
        if n < 2 || !self.chance(3) {
            let ty = self.ty(bits, &[n]);
            return (format!("{name}:{ty}"), vec![Param::Words(bits, n)]);
        }
        let first = self.rng.usize(1..n);
        let (a, b) = (self.ty(bits, &[first]), self.ty(bits, &[n - first]));
        (
            format!("{name}a:{a}, {name}b:{b}"),
            vec![Param::Words(bits, first), Param::Words(bits, n - first)],
        )
    }

    fn leaf_bits(&mut self) -> Bits {
        if self.rng.bool() { Bits::Open } else { self.size() }
    }

    fn table(&mut self, name: &str) {
        let bits = self.leaf_bits();
        let n_in = if self.chance(25) { 4 } else { self.rng.usize(1..4) };
        let n_out = self.rng.usize(1..5);
        let attr = self.pick(&["", "", "_msb_first ", "_lsb_first ", "_no_inline "]);
        let (list, elements) = self.lists(1 << n_in, 1 << n_out, 0);
        let array = if elements.is_some() { "[]" } else { "" };
        self.note(if elements.is_some() { "table[]" } else { "table" });
        let (params, ports) = self.ports("x", bits, n_in);
        let (results, _) = self.ports("y", bits, n_out);
        self.text += &format!("{attr}table{array} {name}({params}) returns ({results})\n{list}\n");
        self.known.push(Known {
            name: name.into(),
            params: ports,
            bits,
            n_results: n_out,
            elements,
        });
    }

    fn perm(&mut self, name: &str) {
        let bits = self.leaf_bits();
        let (n_in, n_out) = (self.rng.usize(1..7), self.rng.usize(1..7));
        let (list, elements) = self.lists(n_out, n_in as u64, 1);
        let array = if elements.is_some() { "[]" } else { "" };
        self.note(if elements.is_some() { "perm[]" } else { "perm" });
        let (params, ports) = self.ports("x", bits, n_in);
        let (results, _) = self.ports("y", bits, n_out);
        self.text += &format!("perm{array} {name} ({params}) returns ({results})\n{list}\n");
        self.known.push(Known {
            name: name.into(),
            params: ports,
            bits,
            n_results: n_out,
            elements,
        });
    }

    fn attribute(&mut self) -> &'static str {
        let attr = self.pick(&[
            "",
            "",
            "",
            "_inline ",
            "_no_inline ",
            "_no_opt ",
            "_interleave(2) ",
            "_inline _no_opt ",
        ]);
        if !attr.is_empty() {
            self.note("attribute of a node");
        }
        attr
    }

    fn dims(&mut self) -> Vec<usize> {
        match self.rng.u32(0..10) {
            0..=2 => vec![],
            3 => vec![2, 2],
            4 => vec![self.rng.usize(1..4), self.rng.usize(1..4)],
            5 => vec![2, 1, 2],
            _ => vec![self.rng.usize(1..7)],
        }
    }

    fn declare(&mut self, name: String, bits: Bits, is_param: bool) -> String {
        let dims = self.dims();
        let ty = self.ty(bits, &dims);
        let n: usize = dims.iter().product();
        // Whether a variable is mutable must be known before the first equation.
        let mutable = self.chance(5);
        self.node.vars.push(Variable {
            name: name.clone(),
            bits,
            dims,
            defined: vec![is_param; n],
            mutable,
            is_param,
        });
        format!("{name}:{}{ty}", if is_param { self.qualifier() } else { "" })
    }

    fn qualifier(&mut self) -> &'static str {
        let word = self.pick(&["", "", "", "", "const ", "lazyLift ", "const lazyLift "]);
        if !word.is_empty() {
            self.note("const or lazyLift");
        }
        word
    }

    fn word_bits(&mut self) -> Bits {
        if self.node.is_open { Bits::Open } else { self.size() }
    }

    fn helper(&mut self, name: &str) {
        let is_open = self.rng.bool();
        self.node = Node { n_points: 1, is_open, ..Node::default() };
        let n_params = self.rng.usize(1..4);
        let mut header = Vec::new();
        let mut params = Vec::new();
        for i in 0..n_params {
            if i > 0 && self.chance(4) && self.node.numbers.is_empty() {
                self.note("nat parameter");
                header.push(format!("n{i}:nat"));
                params.push(Param::Nat);
                self.node.n_points = NATS.len();
                self.node.numbers.push(Number {
                    text: format!("n{i}"),
                    atom: true,
                    values: NATS.to_vec(),
                });
            }
            let bits = self.word_bits();
            header.push(self.declare(format!("x{i}"), bits, true));
            params.push(Param::Words(bits, self.node.vars[self.node.vars.len() - 1].n()));
        }
        let bits = self.word_bits();
        let n_results = self.rng.usize(1..3);
        let results: Vec<String> =
            (0..n_results).map(|i| self.declare(format!("y{i}"), bits, false)).collect();
        let n_words =
            self.node.vars[self.node.vars.len() - n_results..].iter().map(Variable::n).sum();
        let elements = self.chance(5).then(|| self.rng.usize(1..4));
        let attr = self.attribute();
        let array = if elements.is_some() { "[]" } else { "" };
        let mut text = format!(
            "{attr}node{array} {name}({}) returns ({})\n",
            header.join(", "),
            results.join(", ")
        );
        if elements.is_some() {
            self.note("node[]");
            text += "[\n";
        } else {
            self.note("node");
        }
        let declared = self.node.vars.len();
        for i in 0..elements.unwrap_or(1) {
            if i > 0 {
                text += ";\n";
            }
            self.node.vars.truncate(declared);
            self.node.vars.iter_mut().filter(|v| !v.is_param).for_each(|v| v.defined.fill(false));
            text += &self.body();
        }
        text += if elements.is_some() { "]\n" } else { "" };
        self.text += &text;
        self.known.push(Known { name: name.into(), params, bits, n_results: n_words, elements });
    }

    fn entry(&mut self) {
        self.node = Node { n_points: 1, is_open: self.style.open_entry, ..Node::default() };
        if self.style.open_entry {
            self.note("open entry");
        }
        let mut header = Vec::new();
        for i in 0..self.rng.usize(1..4) {
            let bits = self.word_bits();
            header.push(self.declare(format!("in{i}"), bits, true));
        }
        let mut results = Vec::new();
        for i in 0..self.rng.usize(1..4) {
            let bits = self.word_bits();
            results.push(self.declare(format!("out{i}"), bits, false));
        }
        let body = self.body();
        self.text += &format!(
            "node {ENTRY}({}) returns ({})\n{body}",
            header.join(", "),
            results.join(", ")
        );
    }

    fn body(&mut self) -> String {
        let mut locals = Vec::new();
        for _ in 0..self.rng.usize(0..4) {
            let name = self.fresh_name();
            let bits = self.word_bits();
            locals.push(self.declare(name, bits, false));
        }
        let mut open: Vec<usize> =
            (0..self.node.vars.len()).filter(|v| !self.node.vars[*v].is_param).collect();
        self.rng.shuffle(&mut open);
        let mut items: Vec<Item> = Vec::new();
        while let Some(var) = open.pop() {
            self.define(var, &mut open, &mut items);
            while self.chance(3) {
                self.reassign(&mut items);
            }
        }
        self.move_about(&mut items);
        let texts: Vec<String> = items.into_iter().map(|i| i.text).collect();
        let vars = if locals.is_empty() && self.rng.bool() {
            String::new()
        } else {
            format!("vars {}\n", locals.join(", "))
        };
        let end = self.pick(&["", ";", ";;"]);
        format!("{vars}let\n{}{end}\ntel\n", texts.join(";\n"))
    }

    fn fresh_name(&mut self) -> String {
        self.node.n_names += 1;
        let names = ["t", "b", "u", "v", "x'", "tmp_"];
        format!("{}{}", self.pick(&names), 10 + self.node.n_names)
    }

    /// Moves equations about, as their order means nothing unless they use a mutable variable.
    fn move_about(&mut self, items: &mut Vec<Item>) {
        let mutable: BTreeSet<String> =
            self.node.vars.iter().filter(|v| v.mutable).map(|v| v.name.clone()).collect();
        for _ in 0..items.len() {
            let at = self.rng.usize(0..items.len());
            if self.rng.bool() && items[at].touched.is_disjoint(&mutable) {
                let item = items.remove(at);
                let to = self.rng.usize(0..items.len() + 1);
                if to < at {
                    self.note("equations out of order");
                }
                items.insert(to, item);
            }
        }
    }

    fn finish_item(&mut self, text: String, items: &mut Vec<Item>) {
        items.push(Item { text, touched: std::mem::take(&mut self.node.touched) });
    }

    fn target(&mut self, var: usize) -> String {
        let name = self.node.vars[var].name.clone();
        self.node.touched.insert(name.clone());
        name
    }

    /// Equations that define all of a variable, and perhaps another one with it.
    fn define(&mut self, var: usize, open: &mut Vec<usize>, items: &mut Vec<Item>) {
        let (bits, dims, n) =
            (self.node.vars[var].bits, self.node.vars[var].dims.clone(), self.node.vars[var].n());
        match self.rng.u32(0..8) {
            0 | 1 if !dims.is_empty() => self.loop_over(var, open, items),
            2 if !dims.is_empty() => self.chain(var, items),
            3 if !dims.is_empty() => {
                self.note("equations for elements");
                for i in 0..dims[0] {
                    let value = self.expr(bits, n / dims[0], 2).text;
                    let name = self.target(var);
                    self.finish_item(format!("  {name}[{i}] = {value}"), items);
                    self.mark(var, i * (n / dims[0]), n / dims[0]);
                }
            }
            4 if !dims.is_empty() && dims[0] > 1 => {
                self.note("range on the left");
                let cut = self.rng.usize(1..dims[0]);
                let inner = n / dims[0];
                let value = self.expr(bits, cut * inner, 2).text;
                let name = self.target(var);
                self.finish_item(format!("  {name}[0..{}] = {value}", cut - 1), items);
                self.mark(var, 0, cut * inner);
                let rest = dims[0] - cut;
                let value = self.expr(bits, rest * inner, 2).text;
                let name = self.target(var);
                let text = if rest > 1 {
                    let list: Vec<String> = (cut..dims[0]).rev().map(|i| i.to_string()).collect();
                    self.note("list on the left");
                    format!("  {name}[{}] = {value}", list.join(","))
                } else {
                    format!("  ({name}[{cut}]) = {value}")
                };
                self.finish_item(text, items);
                self.mark(var, cut * inner, rest * inner);
            }
            5 => {
                let other = open.iter().position(|o| self.node.vars[*o].bits == bits);
                let Some(other) = other.map(|at| open.remove(at)) else {
                    return self.define_whole(var, items);
                };
                self.note("tuple on the left");
                let n_other = self.node.vars[other].n();
                let value = self.expr(bits, n + n_other, 2).text;
                let (a, b) = (self.target(var), self.target(other));
                self.finish_item(format!("  ({a}, {b}) = {value}"), items);
                self.mark(var, 0, n);
                self.mark(other, 0, n_other);
            }
            _ => self.define_whole(var, items),
        }
    }

    fn define_whole(&mut self, var: usize, items: &mut Vec<Item>) {
        self.note("equation");
        let (bits, n) = (self.node.vars[var].bits, self.node.vars[var].n());
        let value = if n > 4 { self.expr(bits, n, 2) } else { self.expr(bits, n, 3) };
        let name = self.target(var);
        let sign = if self.node.vars[var].mutable && self.rng.bool() { ":=" } else { "=" };
        self.finish_item(format!("  {name} {sign} {}", value.text), items);
        self.mark(var, 0, n);
    }

    fn mark(&mut self, var: usize, from: usize, n: usize) {
        self.node.vars[var].defined[from..from + n].fill(true);
    }

    /// Enters a loop with these values of its index; returns the state to restore at its end.
    fn enter(&mut self, index: &str, values: &[i64]) -> (Vec<Number>, usize) {
        let before = (self.node.numbers.clone(), self.node.n_points);
        for number in &mut self.node.numbers {
            number.values = number.values.iter().flat_map(|v| vec![*v; values.len()]).collect();
        }
        let tiled = (0..before.1).flat_map(|_| values.to_vec()).collect();
        self.node.numbers.push(Number { text: index.into(), atom: true, values: tiled });
        self.node.n_points = before.1 * values.len();
        before
    }

    fn leave(&mut self, before: (Vec<Number>, usize)) {
        (self.node.numbers, self.node.n_points) = before;
    }

    fn loop_head(&mut self, index: &str, values: &[i64]) -> String {
        let attr = self.pick(&[
            "",
            "",
            "",
            "_unroll ",
            "_no_unroll ",
            "_pipelined ",
            "_pipelined _unroll ",
        ]);
        if !attr.is_empty() {
            self.note("attribute of a loop");
        }
        let (first, last) = (values[0], values[values.len() - 1]);
        self.note(if first > last { "forall downwards" } else { "forall upwards" });
        let plain = |v: i64| if v < 0 { format!("0-{}", -v) } else { v.to_string() };
        let last =
            if self.chance(4) && last >= 0 { format!("{}-2", last + 2) } else { plain(last) };
        format!("  {attr}forall {index} in [{}, {last}] {{", plain(first))
    }

    fn index_name(&mut self) -> String {
        self.node.n_names += 1;
        format!("i{}", self.node.n_names)
    }

    /// A loop that defines the variable element by element, perhaps another one on the way.
    fn loop_over(&mut self, var: usize, open: &mut Vec<usize>, items: &mut Vec<Item>) {
        let (bits, dims, n) =
            (self.node.vars[var].bits, self.node.vars[var].dims.clone(), self.node.vars[var].n());
        let index = self.index_name();
        let d = dims[0] as i64;
        let offset = self.pick(&[0, 0, 0, 1, -1, 5]);
        let mut values: Vec<i64> = (offset..offset + d).collect();
        if self.rng.bool() {
            values.reverse();
        }
        let head = self.loop_head(&index, &values);
        let before = self.enter(&index, &values);
        let at = match offset {
            0 if self.chance(3) => format!("{}-{index}", d - 1),
            0 => index.clone(),
            o if o < 0 => format!("{index}+{}", -o),
            o => format!("{index} - {o}"),
        };
        let mut body = Vec::new();
        let helper = open
            .iter()
            .position(|o| self.node.vars[*o].dims == dims && !self.node.vars[*o].mutable)
            .filter(|_| self.rng.bool());
        let helper = helper.map(|at| open.remove(at));
        if let Some(helper) = helper {
            self.note("loop with a local equation");
            let helper_bits = self.node.vars[helper].bits;
            let value = self.expr(helper_bits, n / dims[0], 2).text;
            let name = self.target(helper);
            body.push(format!("    {name}[{at}] = {value}"));
            self.node.extra.push((format!("{name}[{at}]"), helper_bits, n / dims[0]));
        }
        if dims.len() == 2 && self.rng.bool() {
            self.note("nested loops");
            let inner = self.index_name();
            let mut values: Vec<i64> = (0..dims[1] as i64).collect();
            if self.rng.bool() {
                values.reverse();
            }
            let inner_head = self.loop_head(&inner, &values);
            let before = self.enter(&inner, &values);
            let value = self.expr(bits, 1, 2).text;
            let name = self.target(var);
            body.push(format!("  {inner_head}\n      {name}[{at}][{inner}] = {value}\n    }}"));
            self.leave(before);
        } else {
            let value = self.expr(bits, n / dims[0], 2).text;
            let name = self.target(var);
            body.push(format!("    {name}[{at}] = {value}"));
            let touches_mutable =
                self.node.vars.iter().any(|v| v.mutable && self.node.touched.contains(&v.name));
            if !touches_mutable && self.rng.bool() {
                body.reverse();
            }
        }
        self.node.extra.clear();
        self.leave(before);
        self.finish_item(format!("{head}\n{}\n  }}", body.join(";\n")), items);
        self.mark(var, 0, n);
        if let Some(helper) = helper {
            self.mark(helper, 0, n);
        }
    }

    /// `x[0] = ..; forall i in .. { x[i+1] = .. x[i] .. }`
    fn chain(&mut self, var: usize, items: &mut Vec<Item>) {
        let (bits, dims, n) =
            (self.node.vars[var].bits, self.node.vars[var].dims.clone(), self.node.vars[var].n());
        let inner = n / dims[0];
        let value = self.expr(bits, inner, 2).text;
        let name = self.target(var);
        self.finish_item(format!("  {name}[0] = {value}"), items);
        self.mark(var, 0, inner);
        if dims[0] == 1 {
            return;
        }
        self.note("loop that reads what it wrote");
        let index = self.index_name();
        let mut values: Vec<i64> = (0..dims[0] as i64 - 1).collect();
        // Only what `:=` never touches may be read before it is written.
        if !self.node.vars[var].mutable && self.chance(3) {
            self.note("loop that reads what a later iteration writes");
            values.reverse();
        }
        let head = self.loop_head(&index, &values);
        let before = self.enter(&index, &values);
        self.node.extra.push((format!("{name}[{index}]"), bits, inner));
        let value = self.expr(bits, inner, 2);
        let text = match self.rng.bool() {
            true => self.operand(&value, 4, true) + &format!(" ^ {name}[{index}]"),
            false => value.text,
        };
        self.target(var);
        self.node.extra.clear();
        self.leave(before);
        self.finish_item(format!("{head}\n    {name}[{index}+1] = {text}\n  }}"), items);
        self.mark(var, 0, n);
    }

    /// `x := e`, `x op= e` or a loop of them, for a mutable variable that has a value.
    fn reassign(&mut self, items: &mut Vec<Item>) {
        let ready: Vec<usize> = (0..self.node.vars.len())
            .filter(|v| self.node.vars[*v].mutable && self.node.vars[*v].defined.iter().all(|d| *d))
            .collect();
        if ready.is_empty() {
            return;
        }
        if self.chance(3) {
            let index = self.index_name();
            let first = self.rng.i64(0..3);
            let last = self.rng.i64(0..4);
            let values: Vec<i64> = if first <= last {
                (first..=last).collect()
            } else {
                (last..=first).rev().collect()
            };
            let head = self.loop_head(&index, &values);
            let before = self.enter(&index, &values);
            self.note("`:=` in a loop");
            let n = self.rng.usize(1..3);
            let body: Vec<String> =
                (0..n).map(|_| format!("  {}", self.reassignment(&ready))).collect();
            self.leave(before);
            return self.finish_item(format!("{head}\n{}\n  }}", body.join(";\n")), items);
        }
        let text = self.reassignment(&ready);
        self.finish_item(text, items);
    }

    fn reassignment(&mut self, ready: &[usize]) -> String {
        let var = self.pick(ready);
        let bits = self.node.vars[var].bits;
        let n = self.node.vars[var].n();
        let left = self.rng.usize(1..n + 1);
        let (left, n) = match self.access_to(var, left, true) {
            Some(text) => (text, left),
            None => (self.target(var), n),
        };
        let value = self.expr(bits, n, 2).text;
        let ops: &[&str] = match bits {
            Bits::Fixed(m) if m > 1 && self.style.arith => &["&", "|", "^", "+", "-"],
            _ => &["&", "|", "^"],
        };
        match self.rng.u32(0..4) {
            0 => {
                self.note("`op=`");
                format!("  {left} {}= {value}", self.pick(ops))
            }
            1 => {
                self.note("`op:=`");
                format!("  {left} {}:= {value}", self.pick(ops))
            }
            _ => {
                self.note("`:=`");
                format!("  {left} {} {value}", self.pick(&[":=", ": ="]))
            }
        }
    }
}

/// The state of a generation.
struct Generator {
    rng: fastrand::Rng,
    style: Style,
    coverage: BTreeMap<&'static str, u64>,
    known: Vec<Known>,
    text: String,
    node: Node,
}
