//! Memory of the function that is walked: places with known addresses, cells as wide as granules.

use super::moves::Move;
use super::terms::{Graph, Term, Value};

/// A place in memory.
#[derive(Debug, Clone)]
struct Region {
    name: String,
    base: u64,
    n_bytes: u64,
    /// Terms, or 0 where nothing is known until it is read: memory that is never touched
    /// then takes none here.
    cells: Vec<u32>,
    can_write: bool,
    /// From here on nothing can be written.
    written_below: u64,
}

#[derive(Debug, Clone, Default)]
pub struct MachineMemory {
    regions: Vec<Region>,
}

/// An access that no place allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryFault {
    /// There is nothing at this address, or not so many bytes.
    Outside,
    /// What is there is not to be written; its name.
    ReadOnly(String),
}

/// A cell that holds a term.
fn cell_of(term: Term) -> u32 {
    term.code() + 1
}

/// What a cell holds; what was never written is unknown, and the same each time.
fn term_of(cell: &mut u32, graph: &mut Graph) -> Term {
    if *cell == 0 {
        *cell = cell_of(graph.input());
    }
    Term::from_code(*cell - 1)
}

impl MachineMemory {
    /// Adds a place of so many bytes.
    pub fn add(&mut self, graph: &Graph, name: &str, base: u64, n_bytes: u64, can_write: bool) {
        let n_cells = n_bytes.div_ceil(u64::from(graph.granule() / 8)) as usize;
        self.regions.push(Region {
            name: name.into(),
            base,
            n_bytes,
            cells: vec![0; n_cells],
            can_write,
            written_below: u64::MAX,
        });
    }

    /// Adds a place with these bytes.
    pub fn add_bytes(
        &mut self,
        graph: &mut Graph,
        name: &str,
        base: u64,
        bytes: &[u8],
        can_write: bool,
    ) {
        self.add(graph, name, base, bytes.len() as u64, can_write);
        let step = graph.granule() as usize / 8;
        let number =
            |cell: &[u8]| cell.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
        let cells = bytes.chunks(step).map(|cell| cell_of(graph.constant(number(cell)))).collect();
        self.regions.last_mut().expect("it was added").cells = cells;
    }

    /// What lies at this address and above stays as it is.
    pub fn protect_from(&mut self, address: u64) {
        if let Some(region) =
            self.regions.iter_mut().find(|region| region.base <= address && address < region.end())
        {
            region.written_below = address;
        }
    }

    pub fn load(
        &mut self,
        graph: &mut Graph,
        address: u64,
        n_bytes: u32,
    ) -> Result<Value, MemoryFault> {
        let step = u64::from(graph.granule() / 8);
        let region = self.region(address, n_bytes)?;
        let offset = address - region.base;
        let (first, last) = (offset / step, (offset + u64::from(n_bytes) - 1) / step);
        let mut cells = Value::new();
        for cell in &mut region.cells[first as usize..=last as usize] {
            cells.push(term_of(cell, graph));
        }
        if offset.is_multiple_of(step) && u64::from(n_bytes).is_multiple_of(step) {
            return Ok(cells);
        }
        Ok(graph.bits(&cells, (offset - first * step) as u32 * 8, n_bytes * 8))
    }

    pub fn store(
        &mut self,
        graph: &mut Graph,
        address: u64,
        n_bytes: u32,
        value: &[Term],
    ) -> Result<(), MemoryFault> {
        let step = u64::from(graph.granule() / 8);
        let region = self.region(address, n_bytes)?;
        if !region.can_write || address + u64::from(n_bytes) > region.written_below {
            return Err(MemoryFault::ReadOnly(region.name.clone()));
        }
        let offset = address - region.base;
        let (first, last) = (offset / step, (offset + u64::from(n_bytes) - 1) / step);
        let cells = &mut region.cells[first as usize..=last as usize];
        if offset.is_multiple_of(step) && u64::from(n_bytes).is_multiple_of(step) {
            cells.iter_mut().zip(value).for_each(|(cell, it)| *cell = cell_of(*it));
            return Ok(());
        }
        let old: Value = cells.iter_mut().map(|cell| term_of(cell, graph)).collect();
        let (start, n, total) =
            ((offset - first * step) as u32 * 8, n_bytes * 8, old.len() as u32 * graph.granule());
        let around =
            [Move::first(0, 0, start), Move::first(start + n, start + n, total - start - n)];
        let moves = [around[0], around[1], Move { source: 1, from: 0, to: start, n }];
        let new = graph.assemble(total, &[&old, value], &moves);
        cells.iter_mut().zip(new).for_each(|(cell, it)| *cell = cell_of(it));
        Ok(())
    }

    fn region(&mut self, address: u64, n_bytes: u32) -> Result<&mut Region, MemoryFault> {
        let holds = |region: &&mut Region| {
            region.base <= address && address.saturating_add(u64::from(n_bytes)) <= region.end()
        };
        // What was added last is used most.
        self.regions.iter_mut().rev().find(holds).ok_or(MemoryFault::Outside)
    }
}

impl Region {
    fn end(&self) -> u64 {
        self.base + self.n_bytes
    }
}
