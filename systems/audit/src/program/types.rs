//! What DWARF says of types: what a function is passed, and which names mean `volatile` objects.

use std::collections::{BTreeMap, BTreeSet};

use gimli::{AttributeValue, EndianArcSlice, Reader, RunTimeEndian, UnitOffset};

pub(super) type Section = EndianArcSlice<RunTimeEndian>;
type Unit<'a> = gimli::UnitRef<'a, Section>;
pub(super) type Die<'a, 'u> = gimli::DebuggingInformationEntry<'a, 'u, Section, usize>;

/// Longer chains of types are cut; only a damaged file has them.
const CHAIN_MAX: usize = 32;

/// Parts of structures in one another without names are not deeper; in a damaged file one may be a
/// part of itself, and more than once.
const NESTED_MAX: usize = 4;

/// What a parameter or a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    Nothing,
    /// Of no bytes: a truth value.
    Integer {
        bytes: u64,
        is_signed: bool,
    },
    Float {
        bytes: u64,
    },
    Pointer {
        is_constant: bool,
    },
    /// A structure, a function's address, an array: in the words for that.
    Other(&'static str),
}

/// What a function is passed, and what it returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub parameters: Vec<Passed>,
    pub result: Passed,
    pub is_variadic: bool,
}

/// The signature of the function of this name, if the unit declares or defines it.
pub(super) fn signature(unit: &Unit<'_>, name: &str) -> Option<Signature> {
    let mut found = None;
    let mut entries = unit.entries();
    while let Ok(Some((_, entry))) = entries.next_dfs() {
        let is_it = entry.tag() == gimli::DW_TAG_subprogram
            && text(unit, entry, gimli::DW_AT_name).as_deref() == Some(name);
        if is_it {
            let one = parameters(unit, entry)?;
            // A declaration without a prototype says less.
            let is_longer = |old: &Signature| one.parameters.len() > old.parameters.len();
            if found.as_ref().is_none_or(is_longer) {
                found = Some(one);
            }
        }
    }
    found
}

/// The line that declares the function whose code begins at `address`, from 1, if the unit has it.
pub(super) fn declared_line(unit: &Unit<'_>, address: u64) -> Option<u32> {
    let mut entries = unit.entries();
    while let Ok(Some((_, entry))) = entries.next_dfs() {
        if entry.tag() == gimli::DW_TAG_subprogram {
            let begins = entry.attr_value(gimli::DW_AT_low_pc).ok().flatten();
            let begins = begins.and_then(|value| unit.attr_address(value).ok().flatten());
            if begins == Some(address) {
                return line_of(unit, entry);
            }
        }
    }
    None
}

/// Its own, or that of the entry that it is a copy or the definition of.
fn line_of(unit: &Unit<'_>, entry: &Die<'_, '_>) -> Option<u32> {
    let own = entry.attr_value(gimli::DW_AT_decl_line).ok().flatten();
    if let Some(line) = own.and_then(|value| value.udata_value()) {
        return u32::try_from(line).ok();
    }
    let others = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification];
    others.into_iter().find_map(|name| match entry.attr_value(name) {
        Ok(Some(AttributeValue::UnitRef(offset))) if offset != entry.offset() => {
            let other = unit.entry(offset).ok()?;
            let line = other.attr_value(gimli::DW_AT_decl_line).ok()??.udata_value()?;
            u32::try_from(line).ok()
        }
        _ => None,
    })
}

fn parameters(unit: &Unit<'_>, entry: &Die<'_, '_>) -> Option<Signature> {
    let mut tree = unit.entries_tree(Some(entry.offset())).ok()?;
    let root = tree.root().ok()?;
    let mut signature = Signature {
        parameters: Vec::new(),
        // Assemblers give each function the same type, or none.
        result: if is_assembly(unit) { UNKNOWN } else { passed(unit, root.entry()) },
        is_variadic: false,
    };
    let mut children = root.children();
    while let Ok(Some(child)) = children.next() {
        match child.entry().tag() {
            gimli::DW_TAG_formal_parameter => {
                signature.parameters.push(passed(unit, child.entry()));
            }
            gimli::DW_TAG_unspecified_parameters => signature.is_variadic = true,
            _ => {}
        }
    }
    Some(signature)
}

pub const FUNCTION: Passed = Passed::Other("a function's address");
/// A type that nobody says.
pub const UNKNOWN: Passed = Passed::Other("of an unknown type");

/// A number that an entry has, such as the size of a type.
fn number(entry: &Die<'_, '_>, name: gimli::DwAt) -> Option<u64> {
    match entry.attr_value(name).ok()?? {
        AttributeValue::Encoding(encoding) => Some(u64::from(encoding.0)),
        value => value.udata_value(),
    }
}

/// What the type of an entry is.
fn passed(unit: &Unit<'_>, entry: &Die<'_, '_>) -> Passed {
    let mut at = type_of(entry);
    for _ in 0..CHAIN_MAX {
        let Some(offset) = at else { return Passed::Nothing };
        let Ok(entry) = unit.entry(offset) else { return UNKNOWN };
        let bytes = number(&entry, gimli::DW_AT_byte_size).unwrap_or(0);
        match entry.tag() {
            gimli::DW_TAG_base_type => {
                let encoding = number(&entry, gimli::DW_AT_encoding).unwrap_or(0) as u8;
                let is_signed = [gimli::DW_ATE_signed.0, gimli::DW_ATE_signed_char.0];
                return match encoding {
                    it if it == gimli::DW_ATE_float.0 => Passed::Float { bytes },
                    it if it == gimli::DW_ATE_boolean.0 => {
                        Passed::Integer { bytes: 0, is_signed: false }
                    }
                    it if it == gimli::DW_ATE_complex_float.0 => Passed::Other("complex"),
                    _ if bytes <= 8 => {
                        Passed::Integer { bytes, is_signed: is_signed.contains(&encoding) }
                    }
                    _ => Passed::Other("wider than 64 bits"),
                };
            }
            gimli::DW_TAG_enumeration_type => {
                return Passed::Integer { bytes, is_signed: false };
            }
            gimli::DW_TAG_pointer_type => {
                let to = type_of(&entry).and_then(|to| unit.entry(to).ok());
                let is = |tag| to.as_ref().is_some_and(|to| to.tag() == tag);
                let is_constant = is(gimli::DW_TAG_const_type);
                return match is(gimli::DW_TAG_subroutine_type) {
                    true => FUNCTION,
                    false => Passed::Pointer { is_constant },
                };
            }
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type => at = type_of(&entry),
            gimli::DW_TAG_array_type => return Passed::Other("a vector"),
            _ => return Passed::Other("a structure"),
        }
    }
    UNKNOWN
}

/// What an argument takes of registers, by the size of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentWord {
    /// So many bytes, an integer.
    Integer(u64),
    /// An address, whatever is there.
    Address,
    Float(u64),
}

/// The arguments of a function by its declaration; none where it says not all: of no prototype, of
/// any number, of a structure that is passed or returned, which conventions take apart.
pub(super) fn words(unit: &Unit<'_>, entry: &Die<'_, '_>) -> Option<Vec<ArgumentWord>> {
    let is_c = matches!(
        language(unit)?,
        gimli::DW_LANG_C | gimli::DW_LANG_C89 | gimli::DW_LANG_C99 | gimli::DW_LANG_C11
    );
    let prototyped = entry.attr_value(gimli::DW_AT_prototyped).ok().flatten();
    if is_assembly(unit) || is_c && prototyped.is_none() {
        return None;
    }
    if let Some(result) = type_of(entry) {
        word(unit, result)?;
    }
    let mut tree = unit.entries_tree(Some(entry.offset())).ok()?;
    let mut children = tree.root().ok()?.children();
    let mut words = Vec::new();
    while let Some(child) = children.next().ok()? {
        match child.entry().tag() {
            gimli::DW_TAG_formal_parameter => {
                words.push(word(unit, type_of(child.entry())?)?);
            }
            gimli::DW_TAG_unspecified_parameters => return None,
            _ => {}
        }
    }
    Some(words)
}

fn word(unit: &Unit<'_>, mut at: UnitOffset<usize>) -> Option<ArgumentWord> {
    for _ in 0..CHAIN_MAX {
        let entry = unit.entry(at).ok()?;
        let bytes = number(&entry, gimli::DW_AT_byte_size).unwrap_or(0);
        match entry.tag() {
            gimli::DW_TAG_base_type => {
                let encoding = gimli::DwAte(number(&entry, gimli::DW_AT_encoding)? as u8);
                return match encoding {
                    gimli::DW_ATE_float => Some(ArgumentWord::Float(bytes)),
                    gimli::DW_ATE_complex_float => None,
                    _ => Some(ArgumentWord::Integer(bytes)).filter(|_| bytes <= 8),
                };
            }
            gimli::DW_TAG_enumeration_type => return Some(ArgumentWord::Integer(bytes)),
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => return Some(ArgumentWord::Address),
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type => at = type_of(&entry)?,
            _ => return None,
        }
    }
    None
}

fn language(unit: &Unit<'_>) -> Option<gimli::DwLang> {
    let mut tree = unit.entries_tree(None).ok()?;
    match tree.root().ok()?.entry().attr_value(gimli::DW_AT_language).ok()?? {
        AttributeValue::Language(language) => Some(language),
        _ => None,
    }
}

fn is_assembly(unit: &Unit<'_>) -> bool {
    language(unit) == Some(gimli::DW_LANG_Mips_Assembler)
}

/// Names of variables, parameters and members that are, or lead to, `volatile` objects.
pub(super) fn volatile_names(unit: &Unit<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut entries = unit.entries();
    while let Ok(Some((_, entry))) = entries.next_dfs() {
        let is_object = matches!(
            entry.tag(),
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter | gimli::DW_TAG_member
        );
        if is_object && is_volatile(unit, entry) {
            names.extend(text(unit, entry, gimli::DW_AT_name));
        }
    }
    names
}

fn is_volatile(unit: &Unit<'_>, entry: &Die<'_, '_>) -> bool {
    let mut at = type_of(entry);
    for _ in 0..CHAIN_MAX {
        let Some(entry) = at.and_then(|offset| unit.entry(offset).ok()) else { return false };
        match entry.tag() {
            gimli::DW_TAG_volatile_type => return true,
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_array_type => at = type_of(&entry),
            _ => return false,
        }
    }
    false
}

fn type_of(entry: &Die<'_, '_>) -> Option<UnitOffset<usize>> {
    match entry.attr_value(gimli::DW_AT_type) {
        Ok(Some(AttributeValue::UnitRef(offset))) => Some(offset),
        _ => None,
    }
}

fn text(unit: &Unit<'_>, entry: &Die<'_, '_>, name: gimli::DwAt) -> Option<String> {
    let value = entry.attr_value(name).ok()??;
    Some(unit.attr_string(value).ok()?.to_string_lossy().ok()?.into_owned())
}

/// The members of a structure, those of its nameless parts among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Members {
    /// The size of the structure.
    pub bytes: u64,
    /// How far from its beginning each is, by its name.
    pub offsets: BTreeMap<String, u64>,
}

/// The members of the structure of this name, if the unit declares it.
pub(super) fn members(unit: &Unit<'_>, name: &str) -> Option<Members> {
    let mut entries = unit.entries();
    while let Ok(Some((_, entry))) = entries.next_dfs() {
        let is_it = entry.tag() == gimli::DW_TAG_structure_type
            && text(unit, entry, gimli::DW_AT_name).as_deref() == Some(name);
        let size = entry.attr_value(gimli::DW_AT_byte_size).ok().flatten();
        if let Some(bytes) = size.filter(|_| is_it).and_then(|size| size.udata_value()) {
            let mut members = Members { bytes, offsets: BTreeMap::new() };
            add_members(unit, entry.offset(), 0, NESTED_MAX, &mut members);
            return Some(members);
        }
    }
    None
}

/// Adds the members of the structure or union at `offset`, which begins at `base`.
fn add_members(
    unit: &Unit<'_>,
    offset: UnitOffset<usize>,
    base: u64,
    deepest: usize,
    members: &mut Members,
) {
    let Ok(mut tree) = unit.entries_tree(Some(offset)) else { return };
    let Ok(root) = tree.root() else { return };
    let mut children = root.children();
    while let Ok(Some(child)) = children.next() {
        let entry = child.entry();
        if entry.tag() != gimli::DW_TAG_member {
            continue;
        }
        let place = entry.attr_value(gimli::DW_AT_data_member_location).ok().flatten();
        let at = base.wrapping_add(place.and_then(|place| place.udata_value()).unwrap_or(0));
        match (text(unit, entry, gimli::DW_AT_name), type_of(entry)) {
            (Some(name), _) => _ = members.offsets.insert(name, at),
            (None, Some(part)) if deepest > 0 => {
                add_members(unit, part, at, deepest - 1, members);
            }
            (None, _) => {}
        }
    }
}
