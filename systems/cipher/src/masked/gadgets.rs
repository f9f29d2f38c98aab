//! The gadgets as straight lines of steps, from which their C is printed and of which a test shows
//! that D probes in them and O outputs need no more than D shares of each operand.
//!
//! ```text
//! product (3 shares)          r[i] = a[i] & b[i]
//!   for i < j:                t = random;  u = (t ^ a[i] & b[j]) ^ a[j] & b[i]
//!                             r[i] ^= t;   r[j] ^= u
//! refresh                     r[i] = a[i];  for i < j: t = random; r[i] ^= t; r[j] ^= t
//! ```
//!
//! Source: Ishai, Sahai, Wagner, *Private Circuits* (Crypto 2003); the refresh is the product with
//! 1, 0, 0 ... (Goudarzi and Rivain, Eurocrypt 2017).

/// A step; it makes the value of its number in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GadgetStep {
    /// A share of the first operand.
    Share(usize),
    /// A share of the first operand and one of the second.
    Product(usize, usize),
    Random,
    /// The XOR of the values of two steps.
    Sum(usize, usize),
}

/// Steps, and the values that are the shares of the result.
#[derive(Debug, Clone)]
pub struct Gadget {
    pub steps: Vec<GadgetStep>,
    pub results: Vec<usize>,
}

impl Gadget {
    /// The product of two words of so many shares.
    pub fn product(n_shares: usize) -> Gadget {
        let mut gadget = Gadget { steps: vec![], results: vec![] };
        gadget.results = (0..n_shares).map(|i| gadget.add(GadgetStep::Product(i, i))).collect();
        for (i, j) in pairs(n_shares) {
            let random = gadget.add(GadgetStep::Random);
            let one = gadget.add(GadgetStep::Product(i, j));
            let one = gadget.add(GadgetStep::Sum(random, one));
            let other = gadget.add(GadgetStep::Product(j, i));
            let both = gadget.add(GadgetStep::Sum(one, other));
            gadget.sum_into(i, random);
            gadget.sum_into(j, both);
        }
        gadget
    }

    /// New shares of a word of so many.
    pub fn refresh(n_shares: usize) -> Gadget {
        let mut gadget = Gadget { steps: vec![], results: vec![] };
        gadget.results = (0..n_shares).map(|i| gadget.add(GadgetStep::Share(i))).collect();
        for (i, j) in pairs(n_shares) {
            let random = gadget.add(GadgetStep::Random);
            gadget.sum_into(i, random);
            gadget.sum_into(j, random);
        }
        gadget
    }

    fn add(&mut self, step: GadgetStep) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    fn sum_into(&mut self, result: usize, value: usize) {
        self.results[result] = self.add(GadgetStep::Sum(self.results[result], value));
    }

    /// The C of its body, a statement a step; `random` is the expression of a random register.
    pub fn c(&self, random: &str) -> String {
        let value = |(k, step): (usize, &GadgetStep)| {
            let value = match step {
                GadgetStep::Share(i) => format!("a.of[{i}].v"),
                GadgetStep::Product(i, j) => format!("a.of[{i}].v & b.of[{j}].v"),
                GadgetStep::Random => random.to_owned(),
                GadgetStep::Sum(a, b) => format!("v{a} ^ v{b}"),
            };
            format!("    reg v{k} = KEEP({value});\n")
        };
        let result = |(i, k): (usize, &usize)| format!("    r.of[{i}].v = v{k};\n");
        let steps: String = self.steps.iter().enumerate().map(value).collect();
        let results: String = self.results.iter().enumerate().map(result).collect();
        format!("    shared r;\n{steps}{results}    return r;\n")
    }
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}
