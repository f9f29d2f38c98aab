//! The text of a machine file; what is wrong with it is said with file and line.

use report::Diagnostic;
use serde::Deserialize;
use toml::Spanned;

use crate::dispute::{Dispute, Other};
use crate::identity::IdentityTable;
use crate::instructions::{BoundsTable, RowTable};
use crate::reader::{Reader, Units};
use crate::{Class, Kind, Machine, Operation, Order, Processors, RegisterCounts};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    source: Spanned<String>,
    issue: Spanned<Issue>,
    units: Spanned<Units>,
    registers: Spanned<Registers>,
    processors: Option<Spanned<ProcessorTable>>,
    identity: Option<IdentityTable>,
    general: Spanned<Operations>,
    vector: Spanned<Operations>,
    vector512: Option<Spanned<Operations>>,
    bounds: Option<Spanned<BoundsTable>>,
    #[serde(default)]
    instructions: Vec<Spanned<RowTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Issue {
    order: OrderWord,
    width: Spanned<u32>,
    window: Spanned<u32>,
    source: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OrderWord {
    InOrder,
    OutOfOrder,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Registers {
    general: Spanned<u32>,
    sse: Option<Spanned<u32>>,
    avx2: Option<Spanned<u32>>,
    avx512: Option<Spanned<u32>>,
    neon: Option<Spanned<u32>>,
    source: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProcessorTable {
    vendor: String,
    family: u32,
    models: Vec<Spanned<[u32; 2]>>,
    source: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Operations {
    logic: Spanned<Row>,
    add: Spanned<Row>,
    mul: Spanned<Row>,
    shift: Spanned<Row>,
    rotate: Spanned<Row>,
    shuffle: Option<Spanned<Row>>,
    ternary: Option<Spanned<Row>>,
    load: Spanned<Row>,
    store: Spanned<Row>,
    r#move: Spanned<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    units: Spanned<Vec<Spanned<String>>>,
    latency_cycles: Spanned<u32>,
    micro_ops: Spanned<u32>,
    #[serde(default)]
    other: Vec<Spanned<Other>>,
    source: Spanned<String>,
}

impl Operations {
    /// The rows that the file has, with their names.
    fn rows(&self) -> impl Iterator<Item = (Class, &Row)> {
        let rows = [
            (Class::Logic, Some(&self.logic)),
            (Class::Add, Some(&self.add)),
            (Class::Mul, Some(&self.mul)),
            (Class::Shift, Some(&self.shift)),
            (Class::Rotate, Some(&self.rotate)),
            (Class::Shuffle, self.shuffle.as_ref()),
            (Class::Ternary, self.ternary.as_ref()),
            (Class::Load, Some(&self.load)),
            (Class::Store, Some(&self.store)),
            (Class::Move, Some(&self.r#move)),
        ];
        rows.into_iter().filter_map(|(class, row)| Some((class, row?.get_ref())))
    }
}

impl Machine {
    /// The machine that `text` describes; `name` is the file's, for messages.
    pub fn parse(name: &str, text: &str) -> Result<Machine, Diagnostic> {
        let reader = Reader::new(name, text);
        let parsed: File = toml::from_str(text).map_err(|error| reader.syntax(&error))?;
        reader.machine(parsed)
    }
}

impl Reader {
    fn machine(mut self, parsed: File) -> Result<Machine, Diagnostic> {
        let source = self.source(&parsed.source)?;
        let issue = parsed.issue.get_ref();
        self.source(&issue.source)?;
        let units = parsed.units.get_ref();
        self.source(&units.source)?;
        self.units(units, parsed.units.span())?;
        let registers = parsed.registers.get_ref();
        self.source(&registers.source)?;
        let general = self.operations(parsed.general.get_ref())?;
        let vector = self.operations(parsed.vector.get_ref())?;
        let vector512 = parsed
            .vector512
            .as_ref()
            .map(|vector512| self.operations(vector512.get_ref()))
            .transpose()?;
        let kinds = [
            (Kind::General, Some(&parsed.general)),
            (Kind::Vector, Some(&parsed.vector)),
            (Kind::Vector512, parsed.vector512.as_ref()),
        ];
        let mut disputes = Vec::new();
        for (kind, rows) in kinds {
            for (class, row) in rows.into_iter().flat_map(|row| row.get_ref().rows()) {
                disputes
                    .extend(self.row_disputes(&format!("{}.{}", kind.name(), class.name()), row)?);
            }
        }
        let count = |option: &Option<Spanned<u32>>| {
            option.as_ref().map(|found| self.number(found, 1)).transpose()
        };
        if let (None, Some(first)) = (&parsed.bounds, parsed.instructions.first()) {
            return Err(self.fault(
                "`[[instructions]]` without `[bounds]`",
                first.span().start..first.span().start,
                "of which instruction set are they?",
            ));
        }
        let instructions = parsed
            .bounds
            .map(|bounds| self.instructions(bounds.get_ref(), &parsed.instructions))
            .transpose()?;
        let processors = parsed
            .processors
            .map(|processor| self.processors(processor.into_inner()))
            .transpose()?;
        let identity = parsed.identity.map(|table| self.identity(&table)).transpose()?;
        Ok(Machine {
            name: parsed.name,
            title: parsed.title,
            source,
            order: match issue.order {
                OrderWord::InOrder => Order::InOrder,
                OrderWord::OutOfOrder => Order::OutOfOrder,
            },
            issue_width: self.number(&issue.width, 1)?,
            window: self.number(&issue.window, 1)?,
            registers: RegisterCounts {
                general: self.number(&registers.general, 1)?,
                sse: count(&registers.sse)?,
                avx2: count(&registers.avx2)?,
                avx512: count(&registers.avx512)?,
                neon: count(&registers.neon)?,
            },
            operations: [general, vector.clone(), vector512.unwrap_or(vector)],
            units: self.units,
            processors,
            disputes,
            instructions,
            identity,
        })
    }

    fn processors(&self, table: ProcessorTable) -> Result<Processors, Diagnostic> {
        self.source(&table.source)?;
        if let Some(range) =
            table.models.iter().find(|model| model.get_ref()[0] > model.get_ref()[1])
        {
            let [first, last] = *range.get_ref();
            return Err(self.fault(
                format!("models from {first} to {last} are none"),
                range.span(),
                "the lower one comes first",
            ));
        }
        let models = table
            .models
            .into_iter()
            .map(|model| model.into_inner())
            .map(|[first, last]| first..=last)
            .collect();
        Ok(Processors { vendor: table.vendor, family: table.family, models })
    }

    /// All operations of a kind, in the order of [`Class::ALL`].
    fn operations(&self, rows: &Operations) -> Result<[Operation; Class::ALL.len()], Diagnostic> {
        let logic = self.row(&rows.logic)?;
        let shift = self.row(&rows.shift)?;
        let shuffle = rows
            .shuffle
            .as_ref()
            .map_or_else(|| Ok(without_shuffle(&logic, &shift)), |row| self.row(row))?;
        let ternary = rows
            .ternary
            .as_ref()
            .map_or_else(|| Ok(without_ternary(&logic)), |row| self.row(row))?;
        Ok([
            logic,
            self.row(&rows.add)?,
            self.row(&rows.mul)?,
            shift,
            self.row(&rows.rotate)?,
            shuffle,
            ternary,
            self.row(&rows.load)?,
            self.row(&rows.store)?,
            self.row(&rows.r#move)?,
        ])
    }

    fn row_disputes(&self, name: &str, row: &Row) -> Result<Vec<Dispute>, Diagnostic> {
        self.disputes(&[name.to_owned()], row.source.get_ref(), &row.other, |figure| match figure {
            "latency_cycles" => Some(*row.latency_cycles.get_ref()),
            "micro_ops" => Some(*row.micro_ops.get_ref()),
            _ => None,
        })
    }

    fn row(&self, row: &Spanned<Row>) -> Result<Operation, Diagnostic> {
        let row = row.get_ref();
        Ok(Operation {
            units: self.unit_set(&row.units)?,
            latency_cycles: self.number(&row.latency_cycles, 0)?,
            micro_ops: self.number(&row.micro_ops, 1)?,
            source: self.source(&row.source)?,
        })
    }
}

/// Without an instruction: two shifts, a mask and an or at the least.
fn without_shuffle(logic: &Operation, shift: &Operation) -> Operation {
    Operation {
        units: shift.units,
        latency_cycles: shift.latency_cycles + 2 * logic.latency_cycles,
        micro_ops: 2 * shift.micro_ops + 2 * logic.micro_ops,
        source: "no instruction: two shifts, a mask and an or".to_owned(),
    }
}

/// Without an instruction: two operations, one after the other.
fn without_ternary(logic: &Operation) -> Operation {
    Operation {
        units: logic.units,
        latency_cycles: 2 * logic.latency_cycles,
        micro_ops: 2 * logic.micro_ops,
        source: "no instruction: two operations".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::Kind;

    const GOOD: &str = include_str!("../machines/cortex-a72.toml");

    /// What is said about a file in which `from` stands for the first `to`.
    fn check(from: &str, to: &str, expected: Expect) {
        assert!(GOOD.contains(from), "{from}");
        let fault =
            Machine::parse("my.toml", &GOOD.replacen(from, to, 1)).expect_err("the file is wrong");
        expected.assert_eq(&format!("{fault}"));
    }

    #[test]
    fn every_bundled_machine_is_right() {
        for name in Machine::names() {
            let machine = Machine::bundled(name).expect("it is listed");
            assert_eq!(machine.name, name);
            for (kind, class) in
                Kind::ALL.into_iter().flat_map(|kind| Class::ALL.map(|class| (kind, class)))
            {
                let row = machine.operation(kind, class);
                assert!(
                    row.units.iter().all(|idx| idx < machine.units.len()),
                    "{name} {kind:?} {class:?}"
                );
                assert!(
                    row.units.count() > 0 && !row.source.is_empty(),
                    "{name} {kind:?} {class:?}"
                );
            }
        }
        assert_eq!(Machine::names().next(), Some(crate::DEFAULT));
        assert_eq!(Machine::bundled("z80"), None);
    }

    #[test]
    fn numbers_arrive_where_they_belong() {
        let machine = Machine::bundled("skylake").expect("it is bundled");
        assert_eq!(
            (machine.order, machine.issue_width, machine.registers.avx512),
            (Order::OutOfOrder, 4, Some(32))
        );
        let names = |kind, class| {
            let row = machine.operation(kind, class);
            let units: Vec<&str> =
                row.units.iter().map(|idx| machine.units[idx].as_str()).collect();
            (units.join(" "), row.latency_cycles, row.micro_ops)
        };
        assert_eq!(names(Kind::General, Class::Shift), ("p0 p6".into(), 1, 1));
        assert_eq!(names(Kind::Vector, Class::Logic), ("p0 p1 p5".into(), 1, 1));
        assert_eq!(names(Kind::Vector, Class::Rotate), ("p0 p1".into(), 2, 3));
        assert_eq!(names(Kind::Vector, Class::Ternary), ("p0 p1 p5".into(), 2, 2));
        assert_eq!(names(Kind::Vector512, Class::Ternary), ("p0 p5".into(), 1, 1));
        assert_eq!(names(Kind::General, Class::Shuffle), ("p0 p6".into(), 3, 4));
    }

    #[test]
    fn a_machine_without_wide_vectors_has_those_of_vector() {
        let machine = Machine::bundled("cortex-a72").expect("it is bundled");
        assert_eq!(
            machine.operation(Kind::Vector512, Class::Load),
            machine.operation(Kind::Vector, Class::Load)
        );
        assert_eq!((machine.registers.avx512, machine.registers.neon), (None, Some(32)));
    }

    #[test]
    fn a_processor_has_the_machine_that_names_it_and_no_other() {
        let name = |vendor: &str, family, model| {
            Machine::of_processor(vendor, family, model).map(|processor| processor.name)
        };
        assert_eq!(name("AuthenticAMD", 25, 17).as_deref(), Some("zen4"));
        assert_eq!(name("AuthenticAMD", 26, 2).as_deref(), Some("zen5"));
        assert_eq!(name("GenuineIntel", 6, 85).as_deref(), Some("skylake"));
        // Zen 3, Sapphire Rapids, and numbers of one vendor from another.
        for (vendor, family, model) in
            [("AuthenticAMD", 25, 1), ("GenuineIntel", 6, 143), ("GenuineIntel", 25, 17)]
        {
            assert_eq!(name(vendor, family, model), None, "{vendor} {family} {model}");
        }
    }

    #[test]
    fn an_instruction_has_the_row_of_its_form_else_of_its_mnemonic() {
        let machine = Machine::bundled("neoverse-n1").expect("it is bundled");
        let rows = machine.instructions.expect("it has rows");
        let latency = |form: &str| rows.row(form).map(|row| row.latency_cycles);
        assert_eq!((latency("mul x, x, x"), latency("mul w, w, w")), (Some(4), Some(2)));
        assert_eq!((latency("udiv x, x, x"), latency("frobnicate x")), (Some(5), None));
        assert_eq!(rows.sets, ["a64"]);
        let units: usize = rows
            .forms()
            .map(|(_, row)| row.uses.iter().map(|(set, _)| set.iter().count()).sum::<usize>())
            .sum();
        assert!(units > 0 && rows.forms().all(|(_, row)| !row.source.is_empty()));
    }

    #[test]
    fn refuses_a_form_in_two_rows_and_rows_of_no_set() {
        let row = "\n[[instructions]]\nforms = [\"nop\"]\nlatency_cycles = 0\nsource = \"s\"\n";
        let fault = Machine::parse("my.toml", &format!("{GOOD}{row}")).expect_err("it is twice");
        assert!(fault.to_string().ends_with("`nop` is in two rows"), "{fault}");
        let bare = &GOOD[..GOOD.find("[bounds]").expect("it has the table")];
        let fault =
            Machine::parse("my.toml", &format!("{bare}{row}")).expect_err("no set is named");
        assert!(fault.to_string().ends_with("`[[instructions]]` without `[bounds]`"), "{fault}");
    }

    #[test]
    fn refuses_models_from_high_to_low() {
        let text = format!(
            "{GOOD}\n[processors]\nvendor = \"A\"\nfamily = 6\nmodels = [[5, 5], [9, 8]]\nsource = \"s\"\n"
        );
        let fault = Machine::parse("my.toml", &text).expect_err("no model is meant");
        assert!(fault.to_string().ends_with("models from 9 to 8 are none"), "{fault}");
    }

    #[test]
    fn an_example_on_paper() {
        let machine = Machine::in_order(2);
        assert_eq!(
            (machine.order, machine.issue_width, machine.units.len()),
            (Order::InOrder, 2, 2)
        );
        let row = machine.operation(Kind::Vector, Class::Rotate);
        assert_eq!((row.units.count(), row.latency_cycles, row.micro_ops), (2, 1, 1));
        assert_eq!(Machine::in_order(32).operation(Kind::General, Class::Add).units.count(), 32);
    }

    #[test]
    fn refuses_a_table_without_source() {
        let row = GOOD.find("[vector.logic]").expect("it has the row");
        let at = row + GOOD[row..].find("source").expect("the row has a source");
        let end = at + GOOD[at..].find('\n').expect("a line ends");
        let text = format!("{}{}", &GOOD[..at], &GOOD[end + 1..]);
        let fault = Machine::parse("my.toml", &text).expect_err("a source is missing");
        expect!["my.toml:87:1: `source` is missing"].assert_eq(&fault.to_string());
        check("source = \"measured chains", "# ", expect!["my.toml:1:1: `source` is missing"]);
    }

    #[test]
    fn refuses_an_empty_source() {
        check(
            "source = \"AArch64 and its",
            "source = \" \" # ",
            expect!["my.toml:18:10: `source` is empty"],
        );
    }

    #[test]
    fn refuses_unknown_keys() {
        check(
            "width = 3",
            "width = 3\nwide = 3",
            expect![
                "my.toml:8:1: unknown field `wide`, expected one of `order`, `width`, `window`, `source`"
            ],
        );
        check(
            "[general.rotate]",
            "[general.turn]",
            expect![
                "my.toml:62:10: unknown field `turn`, expected one of `logic`, `add`, `mul`, `shift`, `rotate`, `shuffle`, `ternary`, `load`, `store`, `move`"
            ],
        );
    }

    #[test]
    fn refuses_a_class_that_is_left_out() {
        let row = GOOD.find("[general.rotate]").expect("it has the row");
        let end = GOOD.find("[general.load]").expect("it has the row");
        let text = format!("{}{}", &GOOD[..row], &GOOD[end..]);
        let fault = Machine::parse("my.toml", &text).expect_err("the row is missing");
        expect!["my.toml:37:2: `rotate` is missing"].assert_eq(&fault.to_string());
    }

    #[test]
    fn refuses_units_that_are_not_there() {
        check(
            "units = [\"f1\"]",
            "units = [\"f2\"]",
            expect!["my.toml:110:10: there is no unit `f2`"],
        );
        check(
            "units = [\"f1\"]",
            "units = []",
            expect!["my.toml:110:9: an operation without a unit"],
        );
        check(
            "\"i0\", \"i1\", \"m\"",
            "\"i0\", \"i0\", \"m\"",
            expect!["my.toml:12:16: the unit `i0` is named twice"],
        );
        check(
            "names = [\"i0\", \"i1\", \"m\", \"l\", \"s\", \"f0\", \"f1\"]",
            "names = []",
            expect!["my.toml:11:1: 0 units, but a machine has 1 to 32"],
        );
    }

    #[test]
    fn refuses_numbers_that_cannot_be() {
        check("width = 3", "width = 0", expect!["my.toml:7:9: 0 is not between 1 and 1000"]);
        check(
            "micro_ops = 1",
            "micro_ops = 0",
            expect!["my.toml:40:13: 0 is not between 1 and 1000"],
        );
        check(
            "latency_cycles = 5",
            "latency_cycles = 5000",
            expect!["my.toml:51:18: 5000 is not between 0 and 1000"],
        );
        check(
            "latency_cycles = 5",
            "latency_cycles = -5",
            expect!["my.toml:51:18: invalid value: integer `-5`, expected u32"],
        );
        check(
            "order = \"out-of-order\"",
            "order = \"any\"",
            expect!["my.toml:6:9: unknown variant `any`, expected `in-order` or `out-of-order`"],
        );
    }

    #[test]
    fn refuses_what_is_not_toml() {
        check(
            "width = 3",
            "width = ",
            expect!["my.toml:7:9: string values must be quoted, expected literal string"],
        );
    }

    #[test]
    fn a_message_shows_the_line() {
        let fault = Machine::parse("my.toml", &GOOD.replace("[\"f1\"]", "[\"ff\"]"))
            .expect_err("there is no unit ff");
        let text = fault.render(false);
        assert!(text.contains("units = [\"ff\"]") && text.contains("not in `[units]`"), "{text}");
    }
}
