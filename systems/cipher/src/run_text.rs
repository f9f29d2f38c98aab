//! Runs bundled primitives on strings of bytes with the interpreter: hex in, hex out.

use std::collections::BTreeMap;

use crate::interp::{self, Port, Words};
use crate::layout::Layout;
use crate::library::{FieldLayout, Primitive};
use crate::syntax::ast::Program;
use crate::syntax::load_text;

/// The output of `primitive` for these fields, all in hex; `Err` says what is wrong.
pub fn interpret(
    primitive: &Primitive,
    fields: &BTreeMap<String, String>,
) -> Result<String, String> {
    interpret_program(&parse(primitive)?, primitive, fields)
}

/// The same for a program that is loaded.
pub fn interpret_program(
    program: &Program,
    primitive: &Primitive,
    fields: &BTreeMap<String, String>,
) -> Result<String, String> {
    let mut keys = scheduled(program, primitive, fields)?.into_iter();
    let (ports, _) = interface(program, &primitive.entry)?;
    let mut args = Vec::new();
    for port in &ports {
        args.push(match primitive.params.get(&*port.name) {
            Some(field) => words(field, fields, port)?,
            None => keys.next().ok_or_else(|| format!("no key schedule gives `{}`", port.name))?,
        });
    }
    let results = run(program, &primitive.entry, &args)?;
    let (_, outputs) = interface(program, &primitive.entry)?;
    let (Some(words), Some(port)) = (results.first(), outputs.first()) else {
        return Err("there is no output".into());
    };
    Ok(to_hex(&Layout::parse(&primitive.output)?.bytes(words, port.m)))
}

/// The results of the key schedule, one for each parameter of the entry that it fills.
pub fn round_keys(
    primitive: &Primitive,
    fields: &BTreeMap<String, String>,
) -> Result<Vec<Words>, String> {
    scheduled(&parse(primitive)?, primitive, fields)
}

fn parse(primitive: &Primitive) -> Result<Program, String> {
    load_text(&primitive.file, primitive.text(), &[]).map_err(|errors| errors[0].message.clone())
}

fn scheduled(
    program: &Program,
    primitive: &Primitive,
    fields: &BTreeMap<String, String>,
) -> Result<Vec<Words>, String> {
    let Some(schedule) = &primitive.schedule else { return Ok(Vec::new()) };
    let (ports, _) = interface(program, schedule)?;
    let arg = |port: &Port| {
        let field = primitive.schedule_params.get(&*port.name);
        words(field.ok_or_else(|| format!("nothing fills `{}`", port.name))?, fields, port)
    };
    run(program, schedule, &ports.iter().map(arg).collect::<Result<Vec<_>, _>>()?)
}

fn interface(program: &Program, node: &str) -> Result<(Vec<Port>, Vec<Port>), String> {
    interp::interface(program, node, None)
        .ok_or_else(|| format!("`{node}` is not a node of fixed sizes"))
}

fn run(program: &Program, node: &str, args: &[Words]) -> Result<Vec<Words>, String> {
    interp::run(program, node, None, args).map_err(|error| error.message)
}

fn words(
    field: &FieldLayout,
    fields: &BTreeMap<String, String>,
    port: &Port,
) -> Result<Words, String> {
    let name = &field.field;
    let bytes = from_hex(fields.get(name).ok_or_else(|| format!("field `{name}` is missing"))?)?;
    let layout = Layout::parse(&field.layout)?;
    let full = layout.pad(&bytes).ok_or_else(|| {
        format!("`{name}` has {} bytes, {} are needed", bytes.len(), layout.n_bytes)
    })?;
    Ok(layout.words(&full, port.m))
}

/// The bytes of a string of hex digits.
pub fn from_hex(text: &str) -> Result<Vec<u8>, String> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|c| c.is_ascii_hexdigit()) {
        return Err(format!("`{text}` is not an even number of hex digits"));
    }
    Ok((0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("two hex digits"))
        .collect())
}

/// Two hex digits a byte.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
