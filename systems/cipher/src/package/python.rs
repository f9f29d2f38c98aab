//! The Python package: the same C through cffi, built by setuptools.

use std::fmt::Write;

use crate::emit_c::ASSEMBLY;

use super::{CFile, File, Param, Part, fill, modes, over};

/// All files except the C.
pub fn package_files(name: &str, parts: &[Part]) -> Vec<File> {
    let module = name.replace('-', "_");
    let licence = super::licence(parts, "license = {text = \"MIT OR Apache-2.0\"}\n");
    let values = [("NAME", name), ("MODULE", module.as_str()), ("LICENCE", licence)];
    let mut names = Vec::new();
    let mut classes = String::new();
    for part in parts {
        classes += &class(part, &mut names);
        classes += &part.over.iter().map(|mode| mode.class(part, &mut names)).collect::<String>();
    }
    classes += &over::functions(parts, &mut names);
    let all: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    vec![
        ("pyproject.toml".into(), fill(include_str!("templates/pyproject.toml"), &values)),
        (
            "setup.py".into(),
            fill(
                include_str!("templates/setup.py"),
                &[("ROWS", rows(parts).trim_end()), ("MODULE", &module), ("ASSEMBLY", ASSEMBLY)],
            ),
        ),
        (
            "build_native.py".into(),
            fill(
                include_str!("templates/build_native.py"),
                &[("MODULE", &module), ("CDEF", &cdef(parts)), ("INCLUDES", &includes(parts))],
            ),
        ),
        ("MANIFEST.in".into(), "recursive-include c *\ninclude build_native.py\n".into()),
        (
            "README.md".into(),
            super::readme(
                name,
                parts,
                &format!(
                    "`import {module}`; the functions have types, and take any bytes-like object.\n"
                ),
            ),
        ),
        (format!("{module}/py.typed"), String::new()),
        (
            format!("{module}/__init__.py"),
            fill(
                include_str!("templates/init.py"),
                &[("NAME", name), ("CLASSES", &classes), ("ALL", &all.join(", "))],
            ),
        ),
    ]
}

fn includes(parts: &[Part]) -> String {
    parts.iter().flat_map(Part::headers).map(|it| format!("#include \"{it}.h\"\n")).collect()
}

fn rows(parts: &[Part]) -> String {
    let mut rows = String::new();
    for CFile { path, flags, assembly } in parts.iter().flat_map(Part::c_files) {
        let flags: Vec<String> = flags.iter().map(|flag| format!("\"{flag}\"")).collect();
        let assembly = assembly.map_or("None".into(), |it| format!("\"c/{it}\""));
        let _ = writeln!(rows, "    (\"c/{path}\", [{}], {assembly}),", flags.join(", "));
    }
    rows
}

/// The declarations for cffi.
fn cdef(parts: &[Part]) -> String {
    let mut out = String::new();
    for part in parts {
        if !part.keys.is_empty() {
            let _ = writeln!(out, "typedef struct {{ ...; }} {}_keys;", part.name);
        }
        if let Some(sponge) = &part.sponge {
            let _ = writeln!(
                out,
                "{}typedef struct {{ ...; }} {}_state;",
                modes::types(part, sponge),
                part.name
            );
        }
        if let Some(stream) = &part.stream {
            let _ = writeln!(out, "typedef struct {{ ...; }} {}_{};", part.name, stream.mode);
        }
        for (_, prototype) in super::c::prototypes(part) {
            let _ = writeln!(out, "{prototype};");
        }
        part.over.iter().for_each(|mode| out += &mode.declarations(part));
    }
    out
}

/// The classes of a cipher, or the function where there is no key.
fn class(part: &Part, names: &mut Vec<String>) -> String {
    if let Some(sponge) = &part.sponge {
        return modes::class(part, sponge, names);
    }
    let (name, ty) = (&part.name, &part.type_name);
    let has_keys = !part.keys.is_empty();
    let values = |params: &str, args: &str| {
        vec![
            ("NAME", name.clone()),
            ("TYPE", ty.clone()),
            ("TITLE", part.title.clone()),
            ("PARAMS", params.to_string()),
            ("ARGS", args.to_string()),
            ("N_IN", part.n_in.to_string()),
            ("N_OUT", part.n_out.to_string()),
        ]
    };
    let apply = |template: &str, values: &[(&str, String)]| {
        let borrowed: Vec<(&str, &str)> =
            values.iter().map(|pair| (pair.0, pair.1.as_str())).collect();
        fill(template, &borrowed)
    };
    let mut out = String::new();
    if has_keys {
        let params: String = part.keys.iter().map(|key| format!(", {}: _Bytes", key.0)).collect();
        let args: String = part.keys.iter().map(|key| format!(", *_in({})", key.0)).collect();
        let all: Vec<String> = part.keys.iter().map(|key| format!("{}s: _Bytes", key.0)).collect();
        let keys_args: String = part.keys.iter().map(|key| format!(", *_in({}s)", key.0)).collect();
        let mut list = values(&params, &args);
        list.extend([("KEYS_PARAMS", all.join(", ")), ("KEYS_ARGS", keys_args)]);
        out += &apply(include_str!("templates/keyed.py"), &list);
        names.push(ty.clone());
    } else {
        out += &apply(include_str!("templates/keyless.py"), &values("", ""));
        names.push(format!("{name}_blocks"));
    }
    let Some(stream) = &part.stream else { return out };
    let mut all = if has_keys { vec![("cipher", ty.clone())] } else { Vec::new() };
    let mut args = String::new();
    for it in &stream.params {
        match it {
            Param::Bytes(name, _) => {
                all.push((name, "_Bytes".into()));
                let _ = write!(args, ", *_in({name})");
            }
            Param::Counter => {
                all.push(("counter", "int".into()));
                args += ", counter";
            }
        }
    }
    let params: String = all.iter().map(|(name, ty)| format!(", {name}: {ty}")).collect();
    let mode: String = stream
        .mode
        .chars()
        .take(1)
        .flat_map(char::to_uppercase)
        .chain(stream.mode.chars().skip(1))
        .collect();
    let mut list = values(&params, &args);
    list.push(("STREAM", format!("{ty}{mode}")));
    list.push(("CTR", format!("{name}_{}", stream.mode)));
    list.push((
        "KEEP",
        if has_keys { "        self._cipher = cipher\n".into() } else { String::new() },
    ));
    list.push(("FIRST", if has_keys { "cipher._keys".into() } else { "_ffi.NULL".into() }));
    list.push(("PASS", if has_keys { "self._cipher._keys, ".into() } else { String::new() }));
    names.push(format!("{ty}{mode}"));
    out + &apply(include_str!("templates/stream.py"), &list)
}
