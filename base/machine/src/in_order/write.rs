//! A core as the text of its file: what [`Core::parse`] reads, less what compilers believe and what
//! the core says of itself.

use std::fmt::Write;

use super::{Class, Core, Role, Work};
use crate::UnitSet;

impl Core {
    /// The file; kinds of work with equal rows stand together.
    pub fn text(&self) -> String {
        let sets: Vec<String> = self.sets.iter().map(|set| quoted(set)).collect();
        let units: Vec<String> = self.units.iter().map(|unit| quoted(unit)).collect();
        let mut out = format!(
            "name = {}\ntitle = {}\nsource = {}\nsets = [{}]\n",
            quoted(&self.name),
            quoted(&self.title),
            quoted(&self.source),
            sets.join(", ")
        );
        if let Some(nearest) = &self.nearest {
            let _ = writeln!(out, "nearest = {}", quoted(nearest));
        }
        let source = format!("source = {}\n", quoted(&self.source));
        let _ = write!(out, "\n[issue]\nwidth = {}\n{source}", self.issue_width);
        let _ = write!(out, "\n[units]\nnames = [{}]\n{source}", units.join(", "));
        if !self.forwarding.is_empty() {
            let from: Vec<String> =
                self.forwarding.iter().map(|class| quoted(class.name())).collect();
            let _ = write!(out, "\n[forwarding]\nfrom = [{}]\n{source}", from.join(", "));
        }
        if let Some(pairing) = &self.pairing {
            let names: Vec<String> = pairing.first_only.iter().map(|name| quoted(name)).collect();
            let _ = write!(
                out,
                "\n[pairing]\nfirst_only = [{}]\nwide_immediates_shift = {}\nsource = {}\n",
                names.join(", "),
                pairing.wide_immediates_shift,
                quoted(&pairing.source)
            );
        }
        if let Some(cycles) = self.trap_cycles {
            let _ = write!(out, "\n[trap]\ncycles = {cycles}\n{source}");
        }
        let _ = write!(
            out,
            "\n[compilers]\ngcc = {}\nllvm = {}\nsource = {}\n",
            quoted(&self.compilers.gcc),
            quoted(&self.compilers.llvm),
            quoted(&self.compilers.source)
        );
        let mut written: Vec<Class> = Vec::new();
        for class in Class::ALL {
            if written.contains(&class) {
                continue;
            }
            let rows = |class: Class| (self.work_of(class, false), self.work_of(class, true));
            let same: Vec<Class> =
                Class::ALL.into_iter().filter(|other| rows(*other) == rows(class)).collect();
            out.push_str(&self.row(&same));
            written.extend(same);
        }
        out
    }

    fn row(&self, classes: &[Class]) -> String {
        let names: Vec<String> = classes.iter().map(|class| quoted(class.name())).collect();
        let mut out = format!("\n[[work]]\nclasses = [{}]\n", names.join(", "));
        let work = self.work(classes[0]);
        let mut number = |name: &str, cycles: Option<u32>| {
            if let Some(cycles) = cycles {
                let _ = writeln!(out, "{name} = {cycles}");
            }
        };
        number("issue_cycles", Some(work.issue_cycles).filter(|cycles| *cycles != 1));
        number("unit_cycles", Some(work.unit_cycles).filter(|cycles| *cycles != 1));
        number("register_cycles", Some(work.register_cycles).filter(|cycles| *cycles != 0));
        number("registers_a_cycle", work.registers_a_cycle);
        number("bytes_a_cycle", work.bytes_a_cycle);
        number("jump_cycles", work.jump_cycles);
        number("taken_cycles", work.taken_cycles);
        number("latency_cycles", Some(work.latency_cycles));
        number("address_cycles", work.address_cycles);
        number("high_cycles", work.high_cycles);
        number("base_cycles", work.base_cycles);
        number("base_reuse_cycles", work.base_reuse_cycles);
        number("flags_cycles", work.flags_cycles);
        number("slots", Some(work.slots).filter(|cycles| *cycles != 1));
        number("base_slots", Some(work.base_slots).filter(|cycles| *cycles != 0));
        if work.units != UnitSet::default() {
            let _ = writeln!(out, "units = [{}]", self.unit_names(work.units));
        }
        if let Some(holds) = work.holds {
            let _ = writeln!(out, "holds = {}", self.held(holds));
        }
        for (name, list) in
            [("loaded_cycles", &work.loaded_cycles), ("lock_cycles", &work.lock_cycles)]
        {
            if !list.is_empty() {
                let _ = writeln!(out, "{name} = {list:?}");
            }
        }
        let late: Vec<(Role, i32)> = work.early.iter().map(|(role, it)| (*role, -it)).collect();
        for (name, them) in
            [("early", &work.early), ("late", &late), ("forwarded", &work.forwarded)]
        {
            let each = them.iter().filter(|(_, cycles)| *cycles > 0);
            let each: Vec<String> =
                each.map(|(role, cycles)| format!("{} = {cycles}", role.name())).collect();
            if !each.is_empty() {
                let _ = writeln!(out, "{name} = {{ {} }}", each.join(", "));
            }
        }
        out.push_str(&self.quad(work, self.work_of(classes[0], true)));
        let _ = writeln!(out, "source = {}", quoted(&work.source));
        out
    }

    /// What differs for whole vector registers.
    fn quad(&self, work: &Work, quad: &Work) -> String {
        let mut words = Vec::new();
        if quad.units != work.units {
            words.push(format!("units = [{}]", self.unit_names(quad.units)));
        }
        if let Some(holds) = quad.holds.filter(|_| quad.holds != work.holds) {
            words.push(format!("holds = {}", self.held(holds)));
        }
        if quad.unit_cycles != work.unit_cycles {
            words.push(format!("unit_cycles = {}", quad.unit_cycles));
        }
        if quad.latency_cycles != work.latency_cycles {
            words.push(format!("latency_cycles = {}", quad.latency_cycles));
        }
        if words.is_empty() {
            String::new()
        } else {
            format!("quad = {{ {} }}\n", words.join(", "))
        }
    }

    fn unit_names(&self, units: UnitSet) -> String {
        let names: Vec<String> = units.iter().map(|unit| quoted(&self.units[unit])).collect();
        names.join(", ")
    }

    fn held(&self, (units, cycles): (UnitSet, u32)) -> String {
        let each: Vec<String> =
            units.iter().map(|unit| format!("{} = {cycles}", self.units[unit])).collect();
        format!("{{ {} }}", each.join(", "))
    }
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for name in Core::names() {
            let core = Core::bundled(name).expect("it is listed");
            let again =
                Core::parse("again.toml", &core.text()).unwrap_or_else(|error| panic!("{error}"));
            for class in Class::ALL {
                for is_quad in [false, true] {
                    let (here, there) =
                        (core.work_of(class, is_quad), again.work_of(class, is_quad));
                    let without_zeros = |work: &Work| {
                        let mut work = work.clone();
                        work.early.retain(|(_, cycles)| *cycles != 0);
                        work.early.sort();
                        work.forwarded.retain(|(_, cycles)| *cycles != 0);
                        work.forwarded.sort();
                        work
                    };
                    assert_eq!(
                        without_zeros(here),
                        without_zeros(there),
                        "{name} {}",
                        class.name()
                    );
                }
            }
            assert_eq!(
                (core.issue_width, &core.forwarding),
                (again.issue_width, &again.forwarding)
            );
            assert_eq!((&core.pairing, core.trap_cycles), (&again.pairing, again.trap_cycles));
        }
    }
}
