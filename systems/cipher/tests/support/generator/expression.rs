//! Expressions: "n words of m bits", from numbers, accesses and constants up to calls.

use super::*;

impl Generator {
    /// A static number that is between the bounds, both included, at every point.
    pub(super) fn number(&mut self, low: i64, high: i64) -> Number {
        for _ in 0..4 {
            if self.node.numbers.is_empty() || self.rng.bool() {
                break;
            }
            let at = self.rng.usize(0..self.node.numbers.len());
            let base = self.node.numbers[at].clone();
            let c = self.rng.i64(1..4);
            let name = base.text.clone();
            let f: Derived = match self.rng.u32(0..8) {
                0 => (format!("{name}+{c}"), Box::new(move |v| v + c), false, "affine index"),
                1 => (format!("{c}*{name}"), Box::new(move |v| c * v), false, "affine index"),
                2 => (format!("{high}-{name}"), Box::new(move |v| high - v), false, "affine index"),
                3 => (
                    format!("{c} * {name} + 1"),
                    Box::new(move |v| c * v + 1),
                    false,
                    "affine index",
                ),
                4 => (
                    format!("({name} + {c}) % {}", high.max(1) + 1),
                    Box::new(move |v| {
                        ((v + c) % (high.max(1) + 1)) + if v + c < 0 { high.max(1) + 1 } else { 0 }
                    }),
                    false,
                    "index that is not affine",
                ),
                5 => (
                    format!("({name}/{c})"),
                    Box::new(move |v| v / c),
                    true,
                    "index that is not affine",
                ),
                _ => (name, Box::new(|v| v), true, "index"),
            };
            let values: Vec<i64> = base.values.iter().map(|v| f.1(*v)).collect();
            if values.iter().all(|v| (low..=high).contains(v)) {
                self.note(f.3);
                return Number { text: f.0, atom: f.2, values };
            }
        }
        let value = self.rng.i64(low..=high);
        let text = if self.chance(8) && value > 0 {
            format!("{}+{}", value - 1, 1)
        } else {
            value.to_string()
        };
        Number { atom: !text.contains('+'), text, values: vec![value; self.node.n_points] }
    }

    /// An access to `n` words of a variable that all have a value; on the left of an equation
    /// no word occurs twice.
    pub(super) fn access_to(&mut self, var: usize, n: usize, is_target: bool) -> Option<String> {
        let dims = self.node.vars[var].dims.clone();
        let mut text = self.node.vars[var].name.clone();
        let mut elements: Vec<Vec<usize>> = vec![vec![0]; self.node.n_points];
        let mut left = n;
        let mut productions = Vec::new();
        for depth in 0..dims.len() {
            let rest: usize = dims[depth..].iter().product();
            if rest == left && self.rng.u32(0..3) > 0 {
                for all in &mut elements {
                    *all = all.iter().flat_map(|e| (0..rest).map(move |i| e * rest + i)).collect();
                }
                left = 1;
                break;
            }
            let d = dims[depth] as i64;
            let factors: Vec<usize> =
                (1..=left.min(6)).filter(|f| left.is_multiple_of(*f)).collect();
            let factor = self.pick(&factors);
            let as_range = self.rng.bool() && factor as i64 <= d;
            let picks: Vec<Number> = if factor > 1 && as_range {
                productions.push("range in an access");
                let first = self.number(0, d - factor as i64);
                let up = self.rng.bool();
                let last = Number {
                    text: format!("{}+{}", first.text, factor - 1),
                    atom: false,
                    values: first.values.iter().map(|v| v + factor as i64 - 1).collect(),
                };
                text += &if up {
                    format!("[{}..{}]", first.text, last.text)
                } else {
                    format!("[{}..{}]", last.text, first.text)
                };
                let at = |i: usize| Number {
                    text: String::new(),
                    atom: true,
                    values: first.values.iter().map(|v| v + i as i64).collect(),
                };
                let mut all: Vec<Number> = (0..factor).map(at).collect();
                if !up {
                    productions.push("range downwards");
                    all.reverse();
                }
                all
            } else {
                let all: Vec<Number> = (0..factor).map(|_| self.number(0, d - 1)).collect();
                productions.push(if factor > 1 { "list in an access" } else { "element" });
                text += &format!(
                    "[{}]",
                    all.iter().map(|a| a.text.clone()).collect::<Vec<_>>().join(",")
                );
                all
            };
            for (point, all) in elements.iter_mut().enumerate() {
                *all = all
                    .iter()
                    .flat_map(|e| {
                        picks.iter().map(move |p| e * d as usize + p.values[point] as usize)
                    })
                    .collect();
            }
            left /= factor;
        }
        let defined = &self.node.vars[var].defined;
        let fits = left == 1 && elements.iter().all(|all| all.iter().all(|e| defined[*e]));
        let unique = |all: &Vec<usize>| all.iter().collect::<BTreeSet<_>>().len() == all.len();
        if !fits || (is_target && !elements.iter().all(unique)) {
            return None;
        }
        productions.into_iter().for_each(|p| self.note(p));
        self.target(var);
        Some(text)
    }

    pub(super) fn access(&mut self, bits: Bits, n: usize) -> Option<String> {
        let extra: Vec<String> = self
            .node
            .extra
            .iter()
            .filter(|e| e.1 == bits && e.2 == n)
            .map(|e| e.0.clone())
            .collect();
        if !extra.is_empty() && self.rng.bool() {
            return Some(extra[self.rng.usize(0..extra.len())].clone());
        }
        let vars: Vec<usize> =
            (0..self.node.vars.len()).filter(|v| self.node.vars[*v].bits == bits).collect();
        if vars.is_empty() {
            return None;
        }
        (0..6).find_map(|_| {
            let var = self.pick(&vars);
            self.access_to(var, n, false)
        })
    }

    /// Bits that a constant of `n` words may have.
    pub(super) fn constant_bits(bits: Bits, n: usize) -> u32 {
        match bits {
            Bits::Fixed(m) => m.saturating_mul(n as u32),
            Bits::Open => 1,
        }
    }

    pub(super) fn typed_constant(&mut self, bits: Bits, n: usize) -> Text {
        self.note("typed constant");
        let width = Self::constant_bits(bits, n);
        let value = if width < 4 {
            format!("{}", self.rng.u32(0..1 << width))
        } else {
            let digits: String = (0..width / 4)
                .map(|_| char::from_digit(self.rng.u32(0..16), 16).expect("a digit"))
                .collect();
            format!("0x{digits}")
        };
        let dims = if n == 1 && self.rng.bool() { vec![] } else { vec![n] };
        let ty = self.ty(bits, &dims);
        Text { text: format!("{value}:{ty}"), level: ATOM }
    }

    /// A constant whose type comes from the other operand: one word, or a string of bits.
    pub(super) fn untyped_constant(&mut self, bits: Bits, n: usize) -> Option<Text> {
        if n > 1 && bits != Bits::Fixed(1) {
            return None;
        }
        let width = Self::constant_bits(bits, n).min(63);
        let high = (1i64 << (width - 1)) - 1 + (1i64 << (width - 1));
        if !self.node.numbers.is_empty() && self.rng.bool() {
            let number = self.number(0, high.min(9));
            self.note("loop index or nat as a word");
            return Some(if number.atom {
                Text { text: number.text, level: ATOM }
            } else {
                Text { text: format!("({})", number.text), level: ATOM }
            });
        }
        self.note("untyped constant");
        let value = self.rng.i64(0..=high);
        Some(Text {
            text: if self.rng.bool() { format!("{value:#x}") } else { value.to_string() },
            level: ATOM,
        })
    }

    pub(super) fn leaf(&mut self, bits: Bits, n: usize) -> Text {
        if !self.chance(8)
            && let Some(text) = self.access(bits, n)
        {
            if self.chance(20) {
                self.note("refresh");
                return Text { text: format!("refresh({text})"), level: ATOM };
            }
            return Text { text, level: ATOM };
        }
        if n > 1 && self.rng.bool() {
            return self.tuple(bits, n, 0);
        }
        self.typed_constant(bits, n)
    }

    pub(super) fn tuple(&mut self, bits: Bits, n: usize, depth: u32) -> Text {
        self.note("tuple");
        let mut parts = Vec::new();
        let mut left = n;
        while left > 0 {
            let share =
                self.rng.usize(1..left + 1).min(if left == n { n - 1 } else { left }).max(1);
            parts.push(self.expr(bits, share, depth).text);
            left -= share;
        }
        Text { text: format!("({})", parts.join(", ")), level: ATOM }
    }

    /// The operand of an operator of this level, in parentheses where they are needed.
    pub(super) fn operand(&mut self, inner: &Text, level: u8, is_left: bool) -> String {
        let bare = if is_left { inner.level >= level } else { inner.level > level };
        if bare && !self.chance(10) { inner.text.clone() } else { format!("({})", inner.text) }
    }

    /// `n` words of `bits` bits each.
    pub(super) fn expr(&mut self, bits: Bits, n: usize, depth: u32) -> Text {
        if depth == 0 || n > 24 {
            return self.leaf(bits, n);
        }
        for _ in 0..6 {
            if let Some(text) = self.operation(bits, n, depth) {
                return text;
            }
        }
        self.leaf(bits, n)
    }

    pub(super) fn operation(&mut self, bits: Bits, n: usize, depth: u32) -> Option<Text> {
        match self.rng.u32(0..20) {
            0..=4 => {
                let op = self.pick(&["&", "|", "^"]);
                self.note("& | ^");
                Some(self.binary(op, 4, bits, n, depth))
            }
            5 => {
                self.note("~ !");
                let inner = self.expr(bits, n, depth - 1);
                let sign = self.pick(&["~", "!"]);
                Some(Text {
                    text: format!("{sign}{}", self.operand(&inner, NOT, true)),
                    level: NOT,
                })
            }
            6..=8 => self.arithmetic(bits, n, depth),
            9..=11 => self.shift(bits, n, depth),
            12 => self.shuffle(bits, n),
            13 => {
                let high = if let Bits::Fixed(m) = bits { i64::from(m) - 1 } else { 0 };
                self.note("Bitmask");
                let inner = self.expr(bits, n, depth - 1).text;
                let bit = self.number(0, high).text;
                Some(Text { text: format!("Bitmask({inner}, {bit})"), level: ATOM })
            }
            14 => self.pack(bits, n, depth),
            15..=17 => self.call(bits, n, depth),
            18 if n > 1 => Some(self.tuple(bits, n, depth - 1)),
            _ => None,
        }
    }

    pub(super) fn binary(&mut self, op: &str, level: u8, bits: Bits, n: usize, depth: u32) -> Text {
        let left = self.expr(bits, n, depth - 1);
        // An operator after the amount of a shift takes the whole shift.
        let takes_shift = level == 4
            && left.level == SHIFT
            && left.text.ends_with(|c: char| c.is_ascii_digit())
            && self.rng.bool();
        let right = match self.rng.u32(0..4) {
            0 => self.untyped_constant(bits, n),
            1 if n > 1 && bits != Bits::Open => {
                self.note("tuple with untyped constants");
                let parts: Vec<String> = (0..n)
                    .map(|_| match self.untyped_constant(bits, 1) {
                        Some(constant) if self.rng.bool() => constant.text,
                        _ => self.leaf(bits, 1).text,
                    })
                    .collect();
                Some(Text { text: format!("({})", parts.join(", ")), level: ATOM })
            }
            _ => None,
        };
        let is_constant = right.is_some();
        let right = right.unwrap_or_else(|| self.expr(bits, n, depth - 1));
        if takes_shift {
            self.note("operator after a shift");
            return Text {
                text: format!("{} {op} {}", left.text, self.operand(&right, level, false)),
                level: SHIFT,
            };
        }
        if is_constant && self.chance(3) {
            self.note("constant on the left");
            let (left, right) =
                (self.operand(&right, level, true), self.operand(&left, level, false));
            return Text { text: format!("{left} {op} {right}"), level };
        }
        let (left, right) = (self.operand(&left, level, true), self.operand(&right, level, false));
        Text { text: format!("{left} {op} {right}"), level }
    }

    pub(super) fn arithmetic(&mut self, bits: Bits, n: usize, depth: u32) -> Option<Text> {
        if !self.style.arith || bits == Bits::Open || bits == Bits::Fixed(1) {
            return None;
        }
        if self.style.quotients && self.chance(3) && n == 1 {
            self.note("/ %");
            let left = self.expr(bits, n, depth - 1);
            let op = self.pick(&["/", "%"]);
            let divisor = self.rng.u64(1..8).min(if let Bits::Fixed(m @ 1..=2) = bits {
                (1 << m) - 1
            } else {
                7
            });
            return Some(Text {
                text: format!("{} {op} {divisor}", self.operand(&left, 3, true)),
                level: 3,
            });
        }
        if self.style.products && self.chance(3) {
            self.note("*");
            return Some(self.binary("*", 3, bits, n, depth));
        }
        self.note("+ -");
        let op = self.pick(&["+", "-"]);
        Some(self.binary(op, 2, bits, n, depth))
    }

    pub(super) fn shift(&mut self, bits: Bits, n: usize, depth: u32) -> Option<Text> {
        let ops = ["<<", ">>", ">>!", "<<<", ">>>"];
        let high = match bits {
            Bits::Fixed(m) if n == 1 && m > 1 => {
                self.note("shift of a word");
                i64::from(m)
            }
            Bits::Open if n == 1 => return None,
            _ => {
                self.note("shift of a vector");
                n as i64
            }
        };
        let op = self.pick(&ops);
        let inner = self.expr(bits, n, depth - 1);
        let amount = self.number(0, high);
        let inner = if inner.level >= 1 && !self.chance(5) {
            inner.text
        } else {
            format!("({})", inner.text)
        };
        Some(Text { text: format!("{inner} {op} {}", amount.text), level: SHIFT })
    }

    pub(super) fn shuffle(&mut self, bits: Bits, n: usize) -> Option<Text> {
        let length = match bits {
            Bits::Fixed(1) => n,
            Bits::Fixed(m) => m as usize,
            Bits::Open => return None,
        };
        let access = self.access(bits, n)?;
        let pattern: Vec<String> =
            (0..length).map(|_| self.rng.usize(0..length).to_string()).collect();
        let pattern = pattern.join(", ");
        if self.chance(3) {
            self.note("x{..}");
            return Some(Text { text: format!("{access}{{{pattern}}}"), level: ATOM });
        }
        self.note("Shuffle");
        Some(Text { text: format!("Shuffle({access}, [{pattern}])"), level: ATOM })
    }

    pub(super) fn pack(&mut self, bits: Bits, n: usize, depth: u32) -> Option<Text> {
        let Bits::Fixed(m) = bits else { return None };
        if n != 1 || m < 2 || !self.style.mixed {
            return None;
        }
        self.note("Pack");
        let split = if self.rng.bool() { m / 2 } else { self.rng.u32(1..m) };
        let high = self.expr(Bits::Fixed(split), 1, depth - 1).text;
        let low = self.expr(Bits::Fixed(m - split), 1, depth - 1).text;
        let ty = self.ty(bits, &[]);
        Some(Text { text: format!("Pack({high}, {low}) : {ty}"), level: ATOM })
    }

    pub(super) fn call(&mut self, bits: Bits, n: usize, depth: u32) -> Option<Text> {
        let fitting: Vec<usize> = (0..self.known.len())
            .filter(|k| {
                let known = &self.known[*k];
                known.n_results == n && (known.bits == bits || known.bits == Bits::Open)
            })
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let which = self.pick(&fitting);
        let known = self.known[which].clone();
        self.note("call");
        let bound = |b: Bits| if b == Bits::Open { bits } else { b };
        let mut args: Vec<String> = Vec::new();
        let mut at = 0;
        while at < known.params.len() {
            let Param::Words(first, _) = known.params[at] else {
                self.note("nat argument");
                let fits = self
                    .node
                    .numbers
                    .iter()
                    .find(|n| n.values.iter().all(|v| NATS.contains(v)))
                    .cloned();
                args.push(match fits {
                    Some(number) if self.rng.bool() => number.text,
                    _ => self.pick(&NATS).to_string(),
                });
                at += 1;
                continue;
            };
            // Consecutive parameters of one type take their words from arguments of any lengths.
            let mut n_words = 0;
            let mut sizes = Vec::new();
            while let Some(Param::Words(b, n)) = known.params.get(at)
                && *b == first
            {
                n_words += n;
                sizes.push(*n);
                at += 1;
            }
            if self.chance(3) {
                self.note("arguments cut anew");
                let mut left = n_words;
                while left > 0 {
                    let share = self.rng.usize(1..left + 1);
                    args.push(self.expr(bound(first), share, depth - 1).text);
                    left -= share;
                }
            } else {
                for n in sizes {
                    let text = self.expr(bound(first), n, depth - 1).text;
                    args.push(text);
                }
            }
        }
        let which = match known.elements {
            None => String::new(),
            Some(n) => {
                self.note("call of an element");
                format!("<{}>", self.number(0, n as i64 - 1).text)
            }
        };
        Some(Text { text: format!("{}{which}({})", known.name, args.join(", ")), level: ATOM })
    }
}
