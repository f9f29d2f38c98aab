//! The Rust crate of a package: the C through `cc`, and the traits of RustCrypto's `cipher`.

use std::fmt::Write;

use super::{CFile, Crypt, File, OverMode, Param, Part, Stream, fill, modes};
use crate::emit_c::{ASSEMBLY, Sponge};

/// All files except the C.
pub fn crate_files(name: &str, parts: &[Part]) -> Vec<File> {
    // Two crates of one cipher have the same functions in C: cargo refuses them in one program.
    let links = if let [one] = parts { one.name.clone() } else { name.to_string() };
    let licence = super::licence(parts, "license = \"MIT OR Apache-2.0\"\n");
    let mut files = vec![
        (
            "Cargo.toml".to_string(),
            fill(
                include_str!("templates/Cargo.toml.in"),
                &[
                    ("NAME", name),
                    ("LINKS", &links),
                    ("TRAITS", &traits(parts)),
                    ("LICENCE", licence),
                ],
            ),
        ),
        (
            "README.md".to_string(),
            super::readme(
                name,
                parts,
                "The types have the traits of RustCrypto; `cargo doc --open` shows them.\n",
            ),
        ),
        ("build.rs".to_string(), build(name, parts)),
        ("src/lib.rs".to_string(), lib(name, parts)),
        ("tests/vectors.rs".to_string(), tests(name, parts)),
    ];
    files.extend(parts.iter().map(|part| {
        let text =
            part.sponge.as_ref().map_or_else(|| module(part), |sponge| modes::module(part, sponge));
        (format!("src/{}.rs", part.module), text)
    }));
    files.extend(parts.iter().flat_map(|part| {
        let of_mode =
            |mode: &&OverMode| (format!("src/{}.rs", mode.module_name(part)), mode.rust(part));
        part.over.iter().map(of_mode).collect::<Vec<_>>()
    }));
    files
}

/// The crates that the traits are in.
fn traits(parts: &[Part]) -> String {
    let of_part =
        |part: &Part| part.sponge.as_ref().map_or("cipher = \"0.5.2\"\n", modes::dependency);
    let of_modes = parts.iter().flat_map(|part| &part.over).filter_map(|mode| mode.dependency());
    let mut lines: Vec<&str> = parts.iter().map(of_part).chain(of_modes).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.concat().trim_end().to_string()
}

fn build(name: &str, parts: &[Part]) -> String {
    let mut rows = String::new();
    for CFile { path, flags, assembly } in parts.iter().flat_map(Part::c_files) {
        let flags: Vec<String> = flags.iter().map(|flag| format!("\"{flag}\"")).collect();
        let assembly = assembly.map_or("None".into(), |it| format!("Some(\"c/{it}\")"));
        let _ = writeln!(rows, "    (\"c/{path}\", &[{}], {assembly}),", flags.join(", "));
    }
    fill(
        include_str!("templates/build.rs.txt"),
        &[("NAME", name), ("ASSEMBLY", ASSEMBLY), ("ROWS", rows.trim_end())],
    )
}

fn lib(name: &str, parts: &[Part]) -> String {
    let mut modules = String::new();
    for part in parts {
        let mut types = Vec::new();
        if !part.keys.is_empty() || part.sponge.is_some() {
            types.push(part.type_name.clone());
        }
        match &part.sponge {
            Some(Sponge::Aead) => types.push(format!("{}Encryptor", part.type_name)),
            Some(Sponge::Digest(digest)) => {
                types.push(format!("{}Many", part.type_name));
                if digest.has_parameters {
                    types.push(format!("{}Parameters", part.type_name));
                    types.push(format!("{}With", part.type_name));
                }
                if digest.output.is_none() {
                    types.push(format!("{}Reader", part.type_name));
                }
            }
            None => {}
        }
        if let Some(stream) = &part.stream {
            types.push(stream_type(part, stream));
        }
        let _ = writeln!(modules, "pub mod {};", part.module);
        if !types.is_empty() {
            let _ = writeln!(modules, "pub use {}::{{{}}};", part.module, types.join(", "));
        }
        for mode in &part.over {
            let module = mode.module_name(part);
            let _ = writeln!(
                modules,
                "pub mod {module};\npub use {module}::{};",
                mode.rust_types(part)
            );
        }
    }
    fill(include_str!("templates/lib.rs.txt"), &[("NAME", name), ("MODULES", &modules)])
}

fn stream_type(part: &Part, stream: &Stream) -> String {
    let mode: String = stream
        .mode
        .chars()
        .take(1)
        .flat_map(char::to_uppercase)
        .chain(stream.mode.chars().skip(1))
        .collect();
    format!("{}{mode}", part.type_name)
}

fn module(part: &Part) -> String {
    let name = &part.name;
    let words = |n: usize| format!("[u64; {}]", 8 + n / 8);
    let mut out =
        format!("//! {}\n\nuse core::ffi::{{c_char, c_int}};\n\nuse crate::Error;\n", part.title);
    let is_traits = part.cipher.is_some() || part.stream.is_some();
    if is_traits {
        out += "use cipher::consts::*;\n";
    }
    let mut externs = String::new();
    let key_args: String =
        part.keys.iter().map(|(key, _)| format!(", {key}: *const u8, {key}_size: usize")).collect();
    let first = if part.keys.is_empty() { "target: *const c_char" } else { "keys: *const Keys" };
    let _ = writeln!(externs, "    fn {name}_width(target: *const c_char) -> usize;");
    if !part.keys.is_empty() {
        let _ = writeln!(externs, "    fn {name}_wipe(keys: *mut Keys);");
        let _ = writeln!(
            externs,
            "    fn {name}_expand(keys: *mut Keys, target: *const c_char{key_args}) -> c_int;"
        );
    }
    let _ = writeln!(
        externs,
        "    fn {name}_blocks({first}, input: *const u8, in_size: usize, output: *mut u8, out_size: usize) -> c_int;"
    );
    if !part.keys.is_empty() {
        let all = part.keys.iter();
        let keys: String =
            all.map(|(key, _)| format!(", {key}s: *const u8, {key}s_size: usize")).collect();
        let _ = writeln!(
            externs,
            "    fn {name}_blocks_each_key(target: *const c_char{keys}, input: *const u8, in_size: usize, output: *mut u8, out_size: usize) -> c_int;"
        );
    }
    let mut structs = String::new();
    if !part.keys.is_empty() {
        let n = part.targets.iter().map(|target| target.keys_bytes).max().unwrap_or(0);
        let _ = write!(
            structs,
            "\n#[repr(C, align(64))]\n#[derive(Clone)]\nstruct Keys({});\n",
            words(n)
        );
        structs += &wiped("Keys", &format!("{name}_wipe"));
    }
    if let Some(stream) = &part.stream {
        let n = part.targets.iter().map(|target| target.stream_bytes).max().unwrap_or(0);
        let _ = write!(
            structs,
            "\n#[repr(C, align(64))]\n#[derive(Clone)]\nstruct State({});\n",
            words(n)
        );
        let ctr = format!("{name}_{}", stream.mode);
        structs += &wiped("State", &format!("{ctr}_wipe"));
        let _ = writeln!(externs, "    fn {ctr}_wipe(stream: *mut State);");
        let params: String = stream
            .params
            .iter()
            .map(|param| match param {
                Param::Bytes(name, _) => format!(", {name}: *const u8, {name}_size: usize"),
                Param::Counter => format!(", counter: u{}", stream.bits),
            })
            .collect();
        let keys = if part.keys.is_empty() { "" } else { "keys: *const Keys, " };
        let _ =
            writeln!(externs, "    fn {ctr}_init(stream: *mut State, {first}{params}) -> c_int;");
        let _ = writeln!(
            externs,
            "    fn {ctr}_xor(stream: *mut State, {keys}input: *const u8, in_size: usize, output: *mut u8, out_size: usize) -> c_int;"
        );
        let _ = writeln!(externs, "    fn {ctr}_check(stream: *const State, n: usize) -> c_int;");
    }
    out += &structs;
    let _ = write!(out, "\nunsafe extern \"C\" {{\n{externs}}}\n");
    out += &fill(include_str!("templates/width.rs.txt"), &[("NAME", name)]);
    out += &if part.keys.is_empty() { keyless(part) } else { keyed(part) };
    if let Some(stream) = &part.stream {
        out += &stream_impl(part, stream);
    }
    out
}

/// Keys and streams are overwritten when they are dropped.
fn wiped(object: &str, wipe: &str) -> String {
    fill(include_str!("templates/wiped.rs.txt"), &[("OBJECT", object), ("WIPE", wipe)])
}

/// A function on blocks.
fn keyless(part: &Part) -> String {
    fill(
        include_str!("templates/keyless.rs.txt"),
        &[
            ("NAME", &part.name),
            ("N_IN", &part.n_in.to_string()),
            ("N_OUT", &part.n_out.to_string()),
        ],
    )
}

fn keyed(part: &Part) -> String {
    let params: Vec<String> =
        part.keys.iter().map(|(key, n)| format!("{key}: &[u8; {n}]")).collect();
    let args: String = part.keys.iter().map(|(key, n)| format!(", {key}.as_ptr(), {n}")).collect();
    let all: Vec<String> = part.keys.iter().map(|(key, _)| format!("{key}s: &[u8]")).collect();
    let keys_args: String =
        part.keys.iter().map(|(key, _)| format!(", {key}s.as_ptr(), {key}s.len()")).collect();
    let values = [
        ("NAME", part.name.as_str()),
        ("TYPE", &part.type_name),
        ("TITLE", &part.title),
        ("PARAMS", &params.join(", ")),
        ("ARGS", &args),
        ("KEYS_PARAMS", &all.join(", ")),
        ("KEYS_ARGS", &keys_args),
        ("N_IN", &part.n_in.to_string()),
        ("N_OUT", &part.n_out.to_string()),
    ];
    let mut out = fill(include_str!("templates/keyed.rs.txt"), &values);
    if let Some(way) = part.cipher {
        let (verb, crypt, enc) = match way {
            Crypt::Encrypt => ("encrypt", "Encrypt", "Enc"),
            Crypt::Decrypt => ("decrypt", "Decrypt", "Dec"),
        };
        let mut widths: Vec<usize> =
            part.targets.iter().map(|target| target.width.min(512)).collect();
        widths.sort_unstable();
        widths.dedup();
        let arms: String = widths
            .iter()
            .map(|n| format!("            {n} => f.call(&Backend::<U{n}>(&self.keys, core::marker::PhantomData)),\n"))
            .collect();
        let names = [("VERB", verb), ("CRYPT", crypt), ("ENC", enc), ("ARMS", arms.trim_end())];
        out +=
            &fill(include_str!("templates/block_cipher.rs.txt"), &[&values[..], &names].concat());
    }
    if let [(_, n)] = &part.keys[..] {
        let n = n.to_string();
        out += &fill(include_str!("templates/key_init.rs.txt"), &[values[1], ("N_KEY", &n)]);
    }
    out
}

fn stream_impl(part: &Part, stream: &Stream) -> String {
    let ty = stream_type(part, stream);
    let ctr = format!("{}_{}", part.name, stream.mode);
    let has_keys = !part.keys.is_empty();
    let mut params: Vec<String> =
        if has_keys { vec![format!("cipher: {}", part.type_name)] } else { Vec::new() };
    let mut args = String::new();
    for it in &stream.params {
        match it {
            Param::Bytes(name, n) => {
                params.push(format!("{name}: &[u8; {n}]"));
                let _ = write!(args, ", {name}.as_ptr(), {n}");
            }
            Param::Counter => {
                params.push(format!("counter: u{}", stream.bits));
                args += ", counter";
            }
        }
    }
    let (field, init, first, pass) = if has_keys {
        (
            format!("    cipher: {},\n", part.type_name),
            "cipher, ",
            "&cipher.keys",
            "&self.cipher.keys, ",
        )
    } else {
        (String::new(), "", "core::ptr::null()", "")
    };
    let mut out = fill(
        include_str!("templates/stream.rs.txt"),
        &[
            ("TYPE", ty.as_str()),
            ("CTR", &ctr),
            ("TITLE", &part.title),
            ("FIELD", &field),
            ("INIT", init),
            ("FIRST", first),
            ("PASS", pass),
            ("PARAMS", &params.join(", ")),
            ("ARGS", &args),
        ],
    );
    // Key and nonce as the traits have them; a counter starts with 0.
    let strings: Vec<(&str, usize)> = stream
        .params
        .iter()
        .filter_map(|param| match param {
            Param::Bytes(name, n) => Some((name.as_str(), *n)),
            Param::Counter => None,
        })
        .collect();
    let key = if has_keys {
        part.keys.first().map(|key| key.1)
    } else {
        strings.iter().find(|string| string.0 == "key").map(|string| string.1)
    };
    let ivs: Vec<(&str, usize)> =
        strings.into_iter().filter(|string| has_keys || string.0 != "key").collect();
    if let (Some(n_key), [(_, n_iv)], true) = (key, &ivs[..], part.keys.len() < 2) {
        let mut call = Vec::new();
        if has_keys {
            call.push(format!("<{} as cipher::KeyInit>::new(key)", part.type_name));
        }
        for it in &stream.params {
            call.push(match it {
                Param::Bytes(name, _) if name == "key" => "&(*key).into()".into(),
                Param::Bytes(..) => "&(*iv).into()".into(),
                Param::Counter => "0".into(),
            });
        }
        let values = [
            ("TYPE", ty.as_str()),
            ("N_KEY", &n_key.to_string()),
            ("N_IV", &n_iv.to_string()),
            ("CALL", &call.join(", ")),
        ];
        out += &fill(include_str!("templates/key_iv.rs.txt"), &values);
    }
    out
}

/// The published vectors through the crate.
fn tests(name: &str, parts: &[Part]) -> String {
    let crate_name = name.replace('-', "_");
    let mut out =
        "//! The published vectors, in every slice and a last partial batch.\n\n".to_string();
    out += "fn bytes(text: &str) -> Vec<u8> {\n    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()\n}\n";
    for part in parts {
        if let Some(sponge) = &part.sponge {
            out += &modes::rust_test(part, sponge, &crate_name);
            continue;
        }
        for mode in &part.over {
            out += &mode.rust_test(part, &crate_name);
        }
        let mut calls = String::new();
        for (keys, input, output) in part.plain_vectors() {
            let made = if keys.is_empty() {
                format!("{crate_name}::{}::blocks", part.module)
            } else {
                let args: Vec<String> = keys
                    .iter()
                    .map(|key| format!("&bytes(\"{key}\").try_into().unwrap()"))
                    .collect();
                let _ = writeln!(
                    calls,
                    "    let cipher = {crate_name}::{}::new({});",
                    part.type_name,
                    args.join(", ")
                );
                "cipher.blocks".to_string()
            };
            let _ = write!(
                calls,
                "    let mut out = vec![0; bytes(\"{output}\").len() * n];\n    {made}(&bytes(\"{input}\").repeat(n), &mut out).unwrap();\n    assert_eq!(out, bytes(\"{output}\").repeat(n));\n"
            );
        }
        if !calls.is_empty() {
            let _ = write!(
                out,
                "\n#[test]\nfn {0}() {{\n    let n = {crate_name}::{0}::width() + 1;\n{calls}}}\n",
                part.module
            );
        }
    }
    out
}
