//! The features of processors that a kernel of arm64 or riscv tells apart, out of its own tables:
//! which number its alternatives mean by one, what it is called, and how it is found.
//!
//! ```text
//! arm64_features  26  "LSE atomic instructions"  ID_AA64ISAR0_EL1, bits 20 to 23, is 2 or more
//! arm64_errata    55  "ARM erratum 845719"       the core is a Cortex-A53, r0p0 to r0p4
//! riscv_isa_ext   30  "zbb"                      the core has the extension of this name
//! errata_list      1  "cip-1200"                 SiFive's, as a function of the kernel says
//! ```
//!
//! The numbers are other ones in every version, and so is the layout of the rows, which debug
//! information has. A number without a row is of something that the kernel was built without: it is
//! never found. Source: Linux, `asm/cpufeature.h`, `kernel/cpufeature.c` and
//! `kernel/cpu_errata.c` of arm64, version 6.1; `asm/cpufeature.h`,
//! `kernel/cpufeature.c` and `errata/sifive/errata.c` of riscv, version 6.12.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use machine::Identity;
use object::{File, Object, ObjectSection, ObjectSymbol};

use crate::program::relocate;
use crate::program::tables::{FeatureId, VENDOR_EXTENSIONS, VENDORS};
use crate::program::types::Members;

/// Rows of one table, and ranges of models, are not more than this; only a damaged file has more.
const ROWS_MAX: usize = 1024;

/// As many parts of one extension, and bytes of a name, only a damaged file has.
const PARTS_MAX: u64 = 64;
const NAME_MAX: usize = 256;

/// All of them by number; none of a file that has no such tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities(BTreeMap<FeatureId, Capability>);

/// A feature of a processor, or a fault of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// As the kernel's log has it, where it says it.
    pub name: Option<String>,
    test: Test,
}

/// How a feature is found.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Always,
    /// A number in a register lies in a range.
    Field(Field),
    /// The core's model and revision lie in one of these ranges.
    Models(Vec<Models>),
    /// One of several holds.
    Any(Vec<Test>),
    /// This has to hold, and more that no register says.
    Needs(Box<Test>),
    /// The core has the extension of RISC-V of this name.
    Extension(String),
    /// It has this one, though the kernel may have refused it: its parts stay when it is refused.
    PartOf(String),
    /// It is one of these cores of RISC-V.
    Cores(Cores),
    /// By what the core does not say.
    Other,
}

/// Bits of a register, and which of their values are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Field {
    /// `op0`, `op1`, `CRn`, `CRm`, `op2`.
    register: [u32; 5],
    low_bit: u32,
    n_bits: u32,
    is_signed: bool,
    least: i64,
}

/// From one revision of a model to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Models {
    /// `MIDR_EL1` without variant and revision.
    model: u64,
    first: u64,
    last: u64,
    /// Later masks of it may have it mended, which is not read.
    may_be_mended: bool,
}

/// Cores of RISC-V by what they say of themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cores {
    /// The values of `marchid` that they have.
    architectures: &'static [u64],
    /// Bits of `mimpid`, and the values that they have.
    mask: u64,
    versions: RangeInclusive<u64>,
    /// A `mimpid` among these that is not meant.
    but: Option<u64>,
}

const ISAR1: [u32; 5] = [3, 0, 0, 6, 1];
const ISAR2: [u32; 5] = [3, 0, 0, 6, 2];
const MMFR1: [u32; 5] = [3, 0, 0, 7, 1];
const PFR0: [u32; 5] = [3, 0, 0, 4, 0];
const CTR: [u32; 5] = [3, 3, 0, 0, 1];

/// The functions that say yes only where a field of the row does, and more.
const NEED_FIELD: [&str; 7] = [
    "has_useable_gicv3_cpuif",
    "has_32bit_el0",
    "has_amu",
    "has_hw_dbm",
    "has_useable_cnp",
    "has_address_auth_cpucap",
    "has_nested_virt_support",
];

/// The functions that say yes only for models of the row's list, and ask for more.
const NEED_MODEL: [&str; 2] = ["has_cortex_a76_erratum_1463225", "needs_tx2_tvm_workaround"];

impl Capabilities {
    /// Those of a file; `members` has the members of structures of the unit with an address.
    pub fn read(
        file: &File<'_>,
        members: impl Fn(u64, &str) -> Option<Members>,
    ) -> Option<Capabilities> {
        if file.architecture() == object::Architecture::Riscv64 {
            return of_riscv(file, members);
        }
        let tables = places(file, &["arm64_features", "arm64_errata"]);
        let first = tables.first()?.0;
        let image = Image::new(file, &tables);
        // The functions that look for features are where the structure is declared.
        let matches = image.pointer(first.wrapping_add(MATCHES))?;
        let members = members(matches, "arm64_cpu_capabilities")?;
        let rows = FeatureRows { image: &image, members };
        let mut all = BTreeMap::new();
        for (from, _) in &tables {
            for (row, function) in rows.of_table(*from) {
                let Some(number) = rows.number(row, "capability", 2) else { continue };
                let name = rows.member(row, "desc").and_then(|at| rows.image.text(at));
                let test = rows.test(row, &function);
                let id = FeatureId { vendor: 0, number: number as u16 };
                all.insert(id, Capability { name, test });
            }
        }
        Some(Capabilities(all))
    }

    /// True if the file has such tables.
    pub fn are_known(&self) -> bool {
        !self.0.is_empty()
    }

    pub fn named(&self, id: FeatureId) -> Option<&str> {
        self.0.get(&id)?.name.as_deref()
    }

    /// The feature of this name.
    pub fn id(&self, name: &str) -> Option<FeatureId> {
        let named = self.0.iter().find(|(_, capability)| capability.name.as_deref() == Some(name));
        named.map(|(id, _)| *id)
    }

    /// The names of extensions that a feature is found by.
    pub fn found_by(&self, id: FeatureId) -> Vec<String> {
        self.0.get(&id).map_or(Vec::new(), |capability| capability.test.extensions())
    }

    /// A core has the feature; `None` if what is known of it does not say. `of_name` is what is
    /// known of extensions besides, by their names.
    pub fn has(
        &self,
        id: FeatureId,
        core: &Identity,
        of_name: &dyn Fn(&str) -> Option<bool>,
    ) -> Option<bool> {
        let is_of_another = |vendor: u64| id.is_fault() && vendor != u64::from(id.vendor);
        if core.register("mvendorid").is_some_and(is_of_another) {
            return Some(false);
        }
        match self.0.get(&id) {
            // What the kernel was built without is never found; of faults, and of what vendors add
            // whose lists are not read, it has no whole list.
            None => {
                let is_listed =
                    id.vendor == 0 || VENDORS.iter().any(|(vendor, _)| *vendor == id.vendor);
                (self.are_known() && is_listed && !id.is_fault()).then_some(false)
            }
            Some(capability) => capability.test.holds(core, of_name),
        }
    }
}

impl Test {
    fn extensions(&self) -> Vec<String> {
        match self {
            Test::Extension(name) | Test::PartOf(name) => vec![name.clone()],
            Test::Any(tests) => tests.iter().flat_map(Test::extensions).collect(),
            Test::Needs(test) => test.extensions(),
            Test::Always | Test::Field(_) | Test::Models(_) | Test::Cores(_) | Test::Other => {
                Vec::new()
            }
        }
    }

    fn holds(&self, core: &Identity, of_name: &dyn Fn(&str) -> Option<bool>) -> Option<bool> {
        match self {
            Test::Always => Some(true),
            Test::Field(field) => field.holds(core),
            Test::Models(ranges) => any(ranges.iter().map(|range| range.holds(core))),
            Test::Any(tests) => any(tests.iter().map(|test| test.holds(core, of_name))),
            Test::Needs(test) => match &**test {
                // What is known besides is of after the start, when no more is asked for.
                Test::Extension(name) if of_name(name).is_some() => of_name(name),
                test => test.holds(core, of_name).filter(|holds| !holds),
            },
            Test::Extension(name) => of_name(name).or_else(|| core.extension(name)),
            Test::PartOf(name) => match of_name(name) {
                Some(true) => Some(true),
                _ => core.extension(name).filter(|has| !has),
            },
            Test::Cores(cores) => cores.holds(core),
            Test::Other => None,
        }
    }
}

/// One of them is true; not known if one that is not known decides.
fn any(all: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut found = Some(false);
    for one in all {
        match one {
            Some(true) => return Some(true),
            Some(false) => {}
            None => found = None,
        }
    }
    found
}

impl Field {
    fn holds(&self, core: &Identity) -> Option<bool> {
        let value = core.encoded(self.register)? >> self.low_bit;
        let left_out = 64 - self.n_bits;
        let value = match self.is_signed {
            true => (value << left_out).cast_signed() >> left_out,
            false => (value << left_out >> left_out).cast_signed(),
        };
        Some(value >= self.least)
    }
}

impl Models {
    fn holds(&self, core: &Identity) -> Option<bool> {
        /// Variant and revision of `MIDR_EL1`.
        const REVISION: u64 = 0x00f0_000f;
        let midr = core.register("MIDR_EL1")?;
        let is_it = midr & !REVISION == self.model & !REVISION
            && (self.first..=self.last).contains(&(midr & REVISION));
        if is_it && self.may_be_mended { None } else { Some(is_it) }
    }
}

impl Cores {
    fn holds(&self, core: &Identity) -> Option<bool> {
        let is_one = core.register("marchid").map(|found| self.architectures.contains(&found));
        let version = core.register("mimpid");
        let is_so = version.map(|version| {
            self.versions.contains(&(version & self.mask)) && self.but != Some(version)
        });
        match (is_one, is_so) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            (None | Some(true), None) | (None, Some(true)) => None,
        }
    }
}

/// Where those of these symbols lie that there are, and their sizes.
fn places(file: &File<'_>, names: &[&str]) -> Vec<(u64, u64)> {
    let place = |name: &&str| file.symbols().find(|symbol| symbol.name() == Ok(name));
    let found = names.iter().filter_map(place);
    found.map(|symbol| (symbol.address(), symbol.size())).collect()
}

/// Those of a riscv kernel: extensions, those of vendors, and SiFive's faults.
fn of_riscv(
    file: &File<'_>,
    members: impl Fn(u64, &str) -> Option<Members>,
) -> Option<Capabilities> {
    /// The number of an extension that stands for its parts alone.
    const NONE: u64 = u32::MAX as u64;
    let sifive = VENDORS.iter().find(|(_, name)| *name == "SiFive")?.0;
    let of_extensions = *places(file, &["riscv_isa_ext"]).first()?;
    let unit = places(file, &["__riscv_isa_extension_available"]).first()?.0;
    let shape = members(unit, "riscv_isa_ext_data")?;
    let mut tables = vec![(0, 0, of_extensions)];
    for (vendor, name) in VENDORS {
        let name = name.replace('-', "").to_lowercase();
        let found = places(file, &[&format!("riscv_isa_vendor_ext_{name}")]);
        tables.extend(found.first().map(|place| (vendor, VENDOR_EXTENSIONS, *place)));
    }
    let of_faults = places(file, &["errata_list", "sifive_errata_patch_func"]);
    let near: Vec<(u64, u64)> =
        tables.iter().map(|table| table.2).chain(of_faults.first().copied()).collect();
    let image = Image::new(file, &near);
    let mut names: BTreeMap<FeatureId, String> = BTreeMap::new();
    // What each is found by: its own name, and those of others that it is a part of.
    let mut found_by: BTreeMap<FeatureId, Vec<Test>> = BTreeMap::new();
    let mut asks_more = BTreeSet::new();
    let rows = FeatureRows { image: &image, members: shape };
    for (vendor, base, (from, size)) in tables {
        let id = |number: u64| FeatureId { vendor, number: base.wrapping_add(number as u16) };
        for row in rows.within(from, size) {
            let named = rows.member(row, "name").and_then(|at| image.text(at));
            // Without one row no extension is known to be absent.
            let (number, name) = (rows.number(row, "id", 4)?, named?);
            let test = Test::Extension(name.clone());
            let (test, of_part) = match rows.pointer(row, "validate") {
                None => (test.clone(), test),
                Some(_) => (Test::Needs(Box::new(test)), Test::PartOf(name.clone())),
            };
            for part in rows.parts(row) {
                found_by.entry(id(part)).or_default().push(of_part.clone());
            }
            if number != NONE {
                names.insert(id(number), name);
                asks_more.extend(matches!(test, Test::Needs(_)).then(|| id(number)));
                found_by.entry(id(number)).or_default().push(test);
            }
        }
    }
    let with_name = |(id, tests): (FeatureId, Vec<Test>)| {
        let (name, test) = (names.get(&id).cloned(), Test::Any(tests));
        let test = if asks_more.contains(&id) { Test::Needs(Box::new(test)) } else { test };
        (id, Capability { name, test })
    };
    if !names.keys().any(|id| id.vendor == 0) {
        return None;
    }
    let mut all: BTreeMap<FeatureId, Capability> = found_by.into_iter().map(with_name).collect();
    if let [(from, size), (unit, _)] = of_faults[..]
        && let Some(members) = members(unit, "errata_info_t")
    {
        let rows = FeatureRows { image: &image, members };
        for (number, row) in (0..).zip(rows.within(from, size)) {
            let name = rows.member(row, "name").and_then(|at| image.text_at(at));
            let function = rows.pointer(row, "check_func").map(|at| image.function(at));
            let test = sifives(&function.unwrap_or_default()).map_or(Test::Other, Test::Cores);
            all.insert(FeatureId { vendor: sifive, number }, Capability { name, test });
        }
    }
    Some(Capabilities(all))
}

/// The cores that a function of SiFive's looks for.
fn sifives(function: &str) -> Option<Cores> {
    const SERIES_7: u64 = 1 << 63 | 7;
    match function {
        "errata_cip_453_check_func" => Some(Cores {
            architectures: &[SERIES_7],
            mask: u64::MAX,
            versions: 0x2018_1004..=0x2019_1105,
            but: None,
        }),
        "errata_cip_1200_check_func" => Some(Cores {
            architectures: &[SERIES_7, 1],
            mask: 0xff_ffff,
            versions: 0..=0x20_0630,
            but: Some(0x120_0626),
        }),
        _ => None,
    }
}

/// Where the function that looks for a feature stands in a row, in every version since 4.15.
const MATCHES: u64 = 16;

/// The rows of the tables.
struct FeatureRows<'image, 'data> {
    image: &'image Image<'data>,
    members: Members,
}

impl FeatureRows<'_, '_> {
    /// The rows of a table of this length.
    fn within(&self, from: u64, bytes: u64) -> impl Iterator<Item = u64> {
        let length = self.members.bytes.max(1);
        (0..(bytes / length).min(ROWS_MAX as u64)).map(move |nth| from.wrapping_add(nth * length))
    }

    /// The numbers of what an extension of RISC-V has among its parts.
    fn parts(&self, row: u64) -> Vec<u64> {
        let n_parts = self.number(row, "subset_ext_size", 4).unwrap_or(0).min(PARTS_MAX);
        let Some(all) = self.pointer(row, "subset_ext_ids") else { return Vec::new() };
        let places = (0..n_parts).map(|nth| all.wrapping_add(4 * nth));
        places.filter_map(|at| self.image.number(at, 4)).collect()
    }

    fn pointer(&self, row: u64, name: &str) -> Option<u64> {
        self.image.pointer(self.member(row, name)?)
    }

    /// The rows of the table at an address, each with the function that looks for it.
    fn of_table(&self, from: u64) -> Vec<(u64, String)> {
        let length = self.members.bytes.max(1);
        let rows = (0..ROWS_MAX as u64).map(|nth| from.wrapping_add(nth.wrapping_mul(length)));
        let named = rows.map_while(|row| {
            let function = self.image.pointer(self.member(row, "matches")?)?;
            Some((row, self.image.function(function)))
        });
        named.collect()
    }

    /// Where a member of a row lies.
    fn member(&self, row: u64, name: &str) -> Option<u64> {
        Some(row.wrapping_add(*self.members.offsets.get(name)?))
    }

    fn number(&self, row: u64, name: &str, bytes: usize) -> Option<u64> {
        self.image.number(self.member(row, name)?, bytes)
    }

    /// How the row's function looks for the feature.
    fn test(&self, row: u64, function: &str) -> Test {
        let of_bits = |register, low_bit, least| {
            Test::Field(Field { register, low_bit, n_bits: 4, is_signed: false, least })
        };
        let needs = |test: Test| Test::Needs(Box::new(test));
        let found = match function {
            "has_always" => Some(Test::Always),
            "has_cpuid_feature" => self.field(row),
            _ if NEED_FIELD.contains(&function) => self.field(row).map(needs),
            "is_affected_midr_range" => self.member(row, "midr_range").and_then(|at| {
                let may_be_mended = self
                    .member(row, "fixed_revs")
                    .is_some_and(|fixed| self.image.pointer(fixed).is_some());
                let models = Models { may_be_mended, ..self.image.models(at)? };
                Some(Test::Models(vec![models]))
            }),
            "is_affected_midr_range_list" => self.list(row),
            _ if NEED_MODEL.contains(&function) => self.list(row).map(needs),
            "cpucap_multi_entry_cap_matches" => self
                .member(row, "match_list")
                .and_then(|list| self.image.pointer(list))
                .map(|list| {
                    let rows = self.of_table(list).into_iter();
                    // A list in a list there is not.
                    let is_list = |name: &str| name == "cpucap_multi_entry_cap_matches";
                    let test = |(row, name): (u64, String)| match is_list(&name) {
                        true => Test::Other,
                        false => self.test(row, &name),
                    };
                    Test::Any(rows.map(test).collect())
                }),
            // The kernel runs in EL2.
            "runs_at_el2" => Some(needs(of_bits(MMFR1, 8, 1))),
            "has_no_fpsimd" => Some(of_bits(PFR0, 16, 15)),
            "has_cache_dic" => Some(Test::Field(Field {
                register: CTR,
                low_bit: 29,
                n_bits: 1,
                is_signed: false,
                least: 1,
            })),
            "has_address_auth_metacap" => {
                let ways = [(ISAR1, 4), (ISAR1, 8), (ISAR2, 12)];
                Some(needs(Test::Any(ways.map(|(of, bit)| of_bits(of, bit, 1)).to_vec())))
            }
            "has_generic_auth" => {
                let ways = [(ISAR1, 24), (ISAR1, 28), (ISAR2, 8)];
                Some(needs(Test::Any(ways.map(|(of, bit)| of_bits(of, bit, 1)).to_vec())))
            }
            _ => None,
        };
        found.unwrap_or(Test::Other)
    }

    fn field(&self, row: u64) -> Option<Test> {
        let encoded = self.number(row, "sys_reg", 4)? as u32;
        let register = [
            encoded >> 19 & 3,
            encoded >> 16 & 7,
            encoded >> 12 & 15,
            encoded >> 8 & 15,
            encoded >> 5 & 7,
        ];
        // Fields had four bits, before their width was written down.
        let n_bits = self.number(row, "field_width", 1).map_or(4, |width| width as u32);
        let field = Field {
            register,
            low_bit: self.number(row, "field_pos", 1)? as u32,
            n_bits,
            is_signed: self.number(row, "sign", 1)? != 0,
            least: self.number(row, "min_field_value", 1)?.cast_signed(),
        };
        ((1..=64).contains(&n_bits) && field.low_bit < 64).then_some(Test::Field(field))
    }

    /// The models of the list that a row leads to.
    fn list(&self, row: u64) -> Option<Test> {
        let list = self.image.pointer(self.member(row, "midr_range_list")?)?;
        let ranges = (0..ROWS_MAX as u64).map(|nth| self.image.models(list.wrapping_add(12 * nth)));
        let ranges = ranges.take_while(|range| range.is_some_and(|range| range.model != 0));
        Some(Test::Models(ranges.flatten().collect()))
    }
}

/// The data of a linked kernel, with what it writes into its pointers when it is moved.
struct Image<'data> {
    sections: Vec<(u64, &'data [u8])>,
    /// Pointers, by where they stand.
    moved: BTreeMap<u64, u64>,
    functions: BTreeMap<u64, String>,
}

impl<'data> Image<'data> {
    fn new(file: &File<'data>, tables: &[(u64, u64)]) -> Image<'data> {
        let has_data = |section: &object::Section<'data, '_>| section.address() != 0;
        let sections: Vec<(u64, &[u8])> = file
            .sections()
            .filter(has_data)
            .filter_map(|section| Some((section.address(), section.data().ok()?)))
            .collect();
        let mut image = Image { sections, moved: BTreeMap::new(), functions: BTreeMap::new() };
        let near: Vec<u64> =
            tables.iter().filter_map(|(at, _)| image.section(*at)).map(|(base, _)| base).collect();
        let is_near = |at: u64| image.section(at).is_some_and(|(base, _)| near.contains(&base));
        image.moved = relocate::moved_pointers(file, is_near);
        let functions = file.symbols().filter(|it| it.kind() == object::SymbolKind::Text);
        image.functions =
            functions.filter_map(|it| Some((it.address(), it.name().ok()?.to_owned()))).collect();
        image
    }

    /// The section with an address: where it begins, and its bytes.
    fn section(&self, at: u64) -> Option<(u64, &'data [u8])> {
        let has = |(base, bytes): &&(u64, &[u8])| at.wrapping_sub(*base) < bytes.len() as u64;
        self.sections.iter().find(has).copied()
    }

    fn bytes(&self, at: u64) -> Option<&'data [u8]> {
        let (base, bytes) = self.section(at)?;
        bytes.get(usize::try_from(at - base).ok()?..)
    }

    fn number(&self, at: u64, bytes: usize) -> Option<u64> {
        let all = self.bytes(at)?.get(..bytes)?;
        Some(all.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// The pointer that stands at an address; none if it is null.
    fn pointer(&self, at: u64) -> Option<u64> {
        let pointer = self.moved.get(&at).copied().or_else(|| self.number(at, 8))?;
        (pointer != 0).then_some(pointer)
    }

    /// The text that the pointer at an address leads to.
    fn text(&self, at: u64) -> Option<String> {
        self.text_at(self.pointer(at)?)
    }

    /// The text that begins at an address.
    fn text_at(&self, at: u64) -> Option<String> {
        let bytes = self.bytes(at)?;
        let end = bytes.iter().take(NAME_MAX).position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    fn function(&self, at: u64) -> String {
        self.functions.get(&at).cloned().unwrap_or_default()
    }

    fn models(&self, at: u64) -> Option<Models> {
        Some(Models {
            model: self.number(at, 4)?,
            first: self.number(at.wrapping_add(4), 4)?,
            last: self.number(at.wrapping_add(8), 4)?,
            may_be_mended: false,
        })
    }
}
