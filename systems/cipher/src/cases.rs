//! Lines of `name=value` as the bytes of a case and back, and cases through the interpreter.

use std::collections::BTreeMap;

use report::did_you_mean;

use crate::emit_c::Unit;
use crate::interp::{self, Port};
use crate::layout::Layout;
use crate::library::Primitive;
use crate::run_text::{from_hex, interpret_program, to_hex};
use crate::unit::Subject;

/// Named values of one case, as written.
pub type Fields = BTreeMap<String, String>;

/// Reads `key=.. input=..`; names must be among `known`, each at most once.
pub fn parse_line(line: &str, known: &[&str]) -> Result<Fields, String> {
    let mut fields = Fields::new();
    for word in line.split_whitespace() {
        let Some((name, value)) = word.split_once('=') else {
            return Err(format!("`{word}` is not of the form name=value"));
        };
        if !known.contains(&name) {
            let guess = did_you_mean(name, known.iter().copied())
                .map(|meant| format!("; {meant}"))
                .unwrap_or_default();
            return Err(format!(
                "there is no field `{name}`{guess} (the fields are {})",
                known.join(", ")
            ));
        }
        if fields.insert(name.to_string(), value.to_string()).is_some() {
            return Err(format!("field `{name}` is given twice"));
        }
    }
    if fields.is_empty() {
        return Err(format!("the line has no fields (the fields are {})", known.join(", ")));
    }
    Ok(fields)
}

/// The fields that a line for this subject may have.
pub fn known_fields(subject: &Subject, word: Option<u32>) -> Vec<String> {
    match &subject.primitive {
        None => ports(subject, word).0.iter().map(|p| p.name.to_string()).collect(),
        Some(primitive) => {
            let parts = primitive.compose.values().flatten().filter(|p| !p.starts_with("hex:"));
            let parts = parts.map(|p| p.split(':').next().unwrap_or(p).to_string());
            let mut names: Vec<String> =
                primitive.fields().into_iter().map(str::to_string).chain(parts).collect();
            names.sort();
            names.dedup();
            names
        }
    }
}

fn ports(subject: &Subject, word: Option<u32>) -> (Vec<Port>, Vec<Port>) {
    interp::interface(&subject.ast, &subject.entry, word)
        .expect("the size variable was checked before cases are read")
}

/// Fills in fields that are composed of others, such as ChaCha20's initial state.
pub fn compose(primitive: &Primitive, mut fields: Fields) -> Result<Fields, String> {
    for (name, parts) in &primitive.compose {
        let given: Vec<&str> = parts
            .iter()
            .filter(|p| !p.starts_with("hex:"))
            .map(|p| p.split(':').next().unwrap_or(p))
            .collect();
        let n_given = given.iter().filter(|g| fields.contains_key(**g)).count();
        if n_given == 0 {
            continue;
        }
        if let Some(missing) = given.iter().find(|g| !fields.contains_key(**g)) {
            return Err(format!(
                "field `{missing}` is missing: `{name}` is made of {}",
                given.join(", ")
            ));
        }
        let mut text = String::new();
        for part in parts {
            let (part_name, size) = part.split_once(':').unwrap_or((part, ""));
            text += &match (part_name, size) {
                ("hex", digits) => digits.to_string(),
                (_, "le32") => {
                    let number: u32 = fields[part_name].parse().map_err(|_| {
                        format!("`{part_name}` must be a decimal number below 2^32")
                    })?;
                    to_hex(&number.to_le_bytes())
                }
                (_, size) => {
                    let bytes = from_hex(&fields[part_name])?;
                    if size.parse() != Ok(bytes.len()) {
                        return Err(format!(
                            "`{part_name}` has {} bytes, {size} are needed",
                            bytes.len()
                        ));
                    }
                    to_hex(&bytes)
                }
            };
        }
        if fields.get(name).is_some_and(|whole| !whole.eq_ignore_ascii_case(&text)) {
            return Err(format!("`{name}` is not what {} make up", given.join(", ")));
        }
        given.iter().for_each(|g| {
            fields.remove(*g);
        });
        fields.insert(name.clone(), text);
    }
    Ok(fields)
}

/// All fields of a case in the order of `unit`, as bytes.
pub fn case_bytes(
    subject: &Subject,
    unit: &Unit,
    word: Option<u32>,
    fields: &Fields,
) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    match &subject.primitive {
        Some(_) => {
            for field in &unit.fields {
                let text = fields
                    .get(&field.name)
                    .ok_or_else(|| format!("field `{}` is missing", field.name))?;
                let bytes = from_hex(text).map_err(|why| format!("{}: {why}", field.name))?;
                let full = field.layout.pad(&bytes);
                all.extend(full.ok_or_else(|| {
                    format!(
                        "`{}` has {} bytes, {} are needed",
                        field.name,
                        bytes.len(),
                        field.layout.n_bytes
                    )
                })?);
            }
        }
        None => {
            for port in ports(subject, word).0 {
                let words = port_words(&port, fields)?;
                all.extend(Layout::plain(port.n * port.m as usize).bytes(&words, port.m));
            }
        }
    }
    Ok(all)
}

fn port_words(port: &Port, fields: &Fields) -> Result<Vec<u64>, String> {
    let text =
        fields.get(&*port.name).ok_or_else(|| format!("parameter `{}` is missing", port.name))?;
    if port.m == 1 {
        let bits: Option<Vec<u64>> = text.chars().map(|c| c.to_digit(2).map(u64::from)).collect();
        let bits = bits.ok_or_else(|| format!("`{}` takes a string of 0 and 1", port.name))?;
        if bits.len() != port.n {
            return Err(format!("`{}` has {} bits, {} are needed", port.name, bits.len(), port.n));
        }
        return Ok(bits);
    }
    let words: Vec<&str> = text.split(',').collect();
    if words.len() != port.n {
        return Err(format!(
            "`{}` has {} words, {} are needed, separated by commas",
            port.name,
            words.len(),
            port.n
        ));
    }
    words
        .into_iter()
        .map(|word| {
            let digits = word.strip_prefix("0x").unwrap_or(word);
            let value = u64::from_str_radix(digits, 16).map_err(|_| {
                format!(
                    "`{word}` in `{}` is not a hexadecimal number of at most 64 bits",
                    port.name
                )
            })?;
            if port.m < 64 && value >> port.m != 0 {
                return Err(format!(
                    "`{word}` does not fit the {} bits of a word of `{}`",
                    port.m, port.name
                ));
            }
            Ok(value)
        })
        .collect()
}

/// The results in the form of the input: `name=value` for a file, hex for a primitive.
fn show_ports(ports: &[Port], results: &[Vec<u64>]) -> String {
    let shown = ports.iter().zip(results).map(|(port, words)| {
        let digits = port.m.div_ceil(4) as usize;
        let value = if port.m == 1 {
            words.iter().map(u64::to_string).collect::<String>()
        } else {
            words.iter().map(|w| format!("{w:0digits$x}")).collect::<Vec<_>>().join(",")
        };
        format!("{}={value}", port.name)
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// The output line for the bytes that the compiled program wrote.
pub fn output_line(subject: &Subject, word: Option<u32>, bytes: &[u8]) -> String {
    if subject.primitive.is_some() {
        return to_hex(bytes);
    }
    let mut rest = bytes;
    let ports = ports(subject, word).1;
    let results: Vec<Vec<u64>> = ports
        .iter()
        .map(|port| {
            let layout = Layout::plain(port.n * port.m as usize);
            let (own, after) = rest.split_at(layout.n_bytes);
            rest = after;
            layout.words(own, port.m)
        })
        .collect();
    show_ports(&ports, &results)
}

/// The output line that the interpreter gives; `Err` says what is wrong with the case.
pub fn interpret_line(
    subject: &Subject,
    word: Option<u32>,
    fields: &Fields,
) -> Result<String, String> {
    match &subject.primitive {
        Some(primitive) => interpret_program(&subject.ast, primitive, fields),
        None => {
            let (inputs, outputs) = ports(subject, word);
            let args = inputs
                .iter()
                .map(|port| port_words(port, fields))
                .collect::<Result<Vec<_>, _>>()?;
            let results = interp::run(&subject.ast, &subject.entry, word, &args)
                .map_err(|error| error.to_string())?;
            Ok(show_ports(&outputs, &results))
        }
    }
}
