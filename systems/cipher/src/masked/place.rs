//! Finds the refreshes that a program needs, and no more.
//!
//! Where there is an attack, the operand of the last product that it probes gets new shares, in the
//! text, so at each of its executions. Then, one by one, refreshes that the others make superfluous
//! go again. What is printed is proved once more.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use report::Diagnostic;
use smallvec::smallvec;

use super::circuit::{GadgetCount, SharedCircuit, Site, circuit};
use super::probes::{Attack, Prober};
use super::refusal;
use crate::emit_c::Unit;
use crate::ir::visit::n_equations;
use crate::ir::{Body, Eq, Node, NodeId, Op, Operand, Program, Ref, Stmt};
use crate::syntax::Loc;

/// Columns that the sums of a search may go through: some 50 s on one processor.
const WORK_MAX: u64 = 8_000_000_000;

/// What was proved of a program.
#[derive(Debug, Clone)]
pub struct Proof {
    /// What the key schedule executes.
    pub keys: GadgetCount,
    /// What the node that works on blocks executes.
    pub entry: GadgetCount,
    /// The refreshes in the text, with the products that they are for.
    pub refreshes: Vec<Refreshed>,
}

/// A refresh in the text of a program.
#[derive(Debug, Clone)]
pub struct Refreshed {
    pub site: Site,
    /// The product in the source.
    pub loc: Loc,
}

/// Adds the refreshes that the program of a unit needs, and proves it.
///
/// Errors: an operation that has no masked form.
pub fn place(program: &mut Program, unit: &Unit) -> Result<Proof, Vec<Diagnostic>> {
    let mut sites: HashSet<Site> = HashSet::default();
    loop {
        let more = wanted(program, unit, &sites)?;
        if more.is_empty() {
            break;
        }
        sites.extend(more);
    }
    let all: BTreeSet<Site> = sites.iter().copied().collect();
    for site in all {
        sites.remove(&site);
        if attack(program, unit, &sites)?.is_some() {
            sites.insert(site);
        }
    }
    let refreshes = insert(program, &sites);
    // Without any it is what the loop above found no attack on.
    if !refreshes.is_empty() {
        let found = attack(program, unit, &HashSet::default())?;
        assert!(found.is_none(), "the program with its refreshes is the one that was proved");
    }
    let made = circuit(program, unit, &HashSet::default(), false)?;
    Ok(Proof { keys: made.keys, entry: made.entry, refreshes })
}

/// The first attack on a program with these operands refreshed, and the circuit that it is on.
///
/// Errors: an operation that has no masked form.
pub fn attack(
    program: &Program,
    unit: &Unit,
    sites: &HashSet<Site>,
) -> Result<Option<(Attack, SharedCircuit)>, Vec<Diagnostic>> {
    for is_keyless in views(unit) {
        let circuit = circuit(program, unit, sites, is_keyless)?;
        let mut first = None;
        attacks(&circuit, |attack| {
            first = Some(attack);
            true
        })?;
        if let Some(attack) = first {
            return Ok(Some((attack, circuit)));
        }
    }
    Ok(None)
}

/// One block with its key; and one with a known key if there is a key, since sums over blocks, or
/// over calls with the same round keys, may cancel it.
fn views(unit: &Unit) -> impl Iterator<Item = bool> {
    let has_key = unit.fields.iter().any(|field| field.name != "input");
    [false, true].into_iter().filter(move |is_keyless| has_key || !is_keyless)
}

/// Calls `found` with the attacks on a circuit until it says that they are enough.
///
/// Errors: the search takes too long.
fn attacks(
    circuit: &SharedCircuit,
    mut found: impl FnMut(Attack) -> bool,
) -> Result<(), Vec<Diagnostic>> {
    let mut prober = Prober::new(circuit);
    for number in 0..circuit.products.len() {
        for side in [0, 1] {
            if prober.attack_at((number, side)).is_some_and(&mut found) {
                return Ok(());
            }
            if prober.work() > WORK_MAX {
                let message =
                    "the proof of the masked code takes too long: its words are long sums";
                let help = "another --slicing has shorter ones";
                return Err(vec![refusal(message.into(), Some(help))]);
            }
        }
    }
    Ok(())
}

/// A refresh against each attack, except those that another of them may have ended.
fn wanted(
    program: &Program,
    unit: &Unit,
    sites: &HashSet<Site>,
) -> Result<HashSet<Site>, Vec<Diagnostic>> {
    let mut wanted = HashSet::default();
    let mut products = HashSet::default();
    for is_keyless in views(unit) {
        let circuit = circuit(program, unit, sites, is_keyless)?;
        let at = |(number, _): &(usize, usize)| circuit.products[*number].at;
        attacks(&circuit, |attack| {
            if !attack.probed.iter().any(|probed| products.contains(&at(probed))) {
                let last = attack.probed.last().expect("nothing is free without a product");
                let (node, equation) = at(last);
                products.insert((node, equation));
                wanted.insert(Site { node, equation, side: last.1 });
            }
            false
        })?;
    }
    Ok(wanted)
}

/// Writes the refreshes in front of their products.
fn insert(program: &mut Program, sites: &HashSet<Site>) -> Vec<Refreshed> {
    let mut by_node: HashMap<NodeId, HashSet<(usize, usize)>> = HashMap::default();
    for site in sites {
        by_node.entry(site.node).or_default().insert((site.equation, site.side));
    }
    let mut all = Vec::new();
    for (idx, node) in program.nodes.iter_mut().enumerate() {
        let id = NodeId(idx as u32);
        let Some(sites) = by_node.get(&id) else { continue };
        let stmts = node.take_stmts().expect("products are equations");
        let mut made = Vec::new();
        let stmts = with_refreshes(node, stmts, 0, sites, &mut |equation, side, loc| {
            made.push(Refreshed { site: Site { node: id, equation, side }, loc });
        });
        node.body = Body::Stmts(stmts);
        all.extend(made);
    }
    all
}

fn with_refreshes(
    node: &mut Node,
    stmts: Vec<Stmt>,
    first: usize,
    sites: &HashSet<(usize, usize)>,
    made: &mut impl FnMut(usize, usize, Loc),
) -> Vec<Stmt> {
    let mut number = first;
    let mut out = Vec::with_capacity(stmts.len());
    for mut stmt in stmts {
        let n = n_equations(std::slice::from_ref(&stmt));
        match &mut stmt {
            Stmt::Eq(eq) => {
                for side in [0, 1] {
                    if sites.contains(&(number, side)) {
                        let var = node.var("refreshed", 1, node.ty(&eq.dst));
                        let new = Ref::at(var, 0);
                        let old = std::mem::replace(&mut eq.args[side], Operand::Ref(new.clone()));
                        let args = smallvec![old];
                        out.push(Stmt::Eq(Eq { dst: new, op: Op::Refresh, args, loc: eq.loc }));
                        made(number, side, eq.loc);
                    }
                }
            }
            Stmt::Loop(it) => {
                let body = std::mem::take(&mut it.body);
                it.body = with_refreshes(node, body, number, sites, made);
            }
            Stmt::Call(_) | Stmt::Unrolled(_) => {}
        }
        out.push(stmt);
        number += n;
    }
    out
}
