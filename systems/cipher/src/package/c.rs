//! The C of a package: a file for each target, one that chooses among them, the header, CMake and
//! pkg-config.

use std::fmt::Write;

use super::targets::{MADE_FOR, conditions, includes, is_here, of_targets, processors};
use super::{CFile, File, Param, Part, Stream, TargetFile, fill, modes};
use crate::emit_c::ASSEMBLY;

pub fn sources(parts: &[Part]) -> Vec<File> {
    let mut files = Vec::new();
    for part in parts {
        let (header, dispatcher) = match &part.sponge {
            Some(sponge) => (modes::header(part, sponge), modes::dispatcher(part, sponge)),
            None => (header(part), dispatcher(part)),
        };
        files.push((format!("include/{}.h", part.name), header));
        files.push((format!("src/{}.c", part.name), dispatcher));
        for mode in &part.over {
            files.push((format!("include/{}.h", mode.prefix(part)), mode.header(part)));
            files.push((format!("src/{}.c", mode.prefix(part)), mode.source(part)));
        }
        for target in &part.targets {
            let stem = format!("src/{}_{}", part.name, target.suffix());
            files.push((format!("{stem}.c"), guarded(part, target)));
            files.push((format!("{stem}.h"), hidden_header(&target.header)));
            if let (Some(file), Some(it)) = (target.assembly_file(part), &target.assembled) {
                files.push((file, it.made.assembly.clone()));
            }
        }
    }
    files
}

/// The files for CMake and pkg-config.
pub fn project(name: &str, parts: &[Part]) -> Vec<File> {
    let mut sources = String::new();
    let mut flags = String::new();
    let mut headers = String::new();
    let mut kernels = String::new();
    for part in parts {
        for header in part.headers() {
            let _ = writeln!(headers, "include/{header}.h");
        }
        for CFile { path, flags: own, assembly } in part.c_files() {
            let _ = writeln!(sources, "    {path}");
            if !own.is_empty() {
                let list = own.join(";");
                let _ = writeln!(
                    flags,
                    "    set_source_files_properties({path} PROPERTIES COMPILE_OPTIONS \"{list}\")"
                );
            }
            if let Some(assembly) = assembly {
                let _ = writeln!(kernels, "    target_sources({name} PRIVATE {assembly})");
                let _ = writeln!(
                    kernels,
                    "    set_source_files_properties({path} PROPERTIES COMPILE_DEFINITIONS {ASSEMBLY})"
                );
            }
        }
    }
    if !kernels.is_empty() {
        let option = format!("{}_ASSEMBLY", name.to_uppercase().replace('-', "_"));
        kernels = fill(
            include_str!("templates/assembly.cmake"),
            &[("OPTION", &option), ("KERNELS", kernels.trim_end())],
        );
    }
    let values = [
        ("ASSEMBLY", kernels.as_str()),
        ("NAME", name),
        ("SOURCES", sources.trim_end()),
        ("FLAGS", flags.trim_end()),
        ("HEADERS", headers.trim_end()),
    ];
    vec![
        ("CMakeLists.txt".into(), fill(include_str!("templates/CMakeLists.txt"), &values)),
        (
            format!("cmake/{name}-config.cmake"),
            fill(include_str!("templates/config.cmake"), &values),
        ),
        (format!("{name}.pc.in"), fill(include_str!("templates/package.pc.in"), &values)),
    ]
}

/// The file of a target: empty on other processors, an error without its flags.
fn guarded(part: &Part, target: &TargetFile) -> String {
    let (processor, flag) = conditions(target.arch);
    let check = if flag.is_empty() {
        String::new()
    } else {
        format!(
            "#ifndef {flag}\n#error \"compile this file with {}\"\n#endif\n",
            target.arch.flags().join(" ")
        )
    };
    format!(
        "#if {processor}\n{check}{2}#else\ntypedef int {0}_{1}_is_for_another_processor;\n#endif\n",
        part.name,
        target.suffix(),
        hidden(&target.source) + "#pragma GCC visibility pop\n"
    )
}

/// Hides the functions of a target, which only the library calls, from users of a shared library.
/// The declarations of system headers stay visible.
fn hidden(text: &str) -> String {
    let behind = text.match_indices("#include <").last().map_or(0, |match_indice| {
        match_indice.0 + text[match_indice.0..].find('\n').map_or(0, |end| end + 1)
    });
    format!("{}#pragma GCC visibility push(hidden)\n{}", &text[..behind], &text[behind..])
}

fn hidden_header(text: &str) -> String {
    let end = text.rfind("#endif").expect("a header ends with its guard");
    hidden(&format!("{}#pragma GCC visibility pop\n{}", &text[..end], &text[end..]))
}

/// `const uint8_t *keys, size_t keys_size` for each, of many blocks.
fn keys_params(keys: &[(String, usize)]) -> String {
    keys.iter().map(|(name, _)| format!(", const uint8_t *{name}s, size_t {name}s_size")).collect()
}

/// `const uint8_t *key, size_t key_size` for each.
fn key_params(keys: &[(String, usize)]) -> String {
    keys.iter().map(|(name, _)| format!(", const uint8_t *{name}, size_t {name}_size")).collect()
}

fn stream_params(stream: &Stream) -> String {
    let param = |param: &Param| match param {
        Param::Bytes(name, _) => format!(", const uint8_t *{name}, size_t {name}_size"),
        Param::Counter => format!(", uint{}_t counter", stream.bits),
    };
    stream.params.iter().map(param).collect()
}

/// The first parameter of functions without a state: keys that were made for a
/// target, or the target.
fn maker(part: &Part) -> String {
    if part.keys.is_empty() {
        "const char *target".into()
    } else {
        format!("const {}_keys *keys", part.name)
    }
}

/// Signatures of all functions, each with its comment.
pub fn prototypes(part: &Part) -> Vec<(String, String)> {
    if let Some(sponge) = &part.sponge {
        return modes::prototypes(part, sponge);
    }
    let mut all = of_targets(part);
    let name = &part.name;
    if !part.keys.is_empty() {
        let sizes: Vec<String> =
            part.keys.iter().map(|(key, n)| format!("{key} has {n} bytes")).collect();
        all.push((
            format!(
                "Makes round keys for a target, or for the best one if it is NULL. The {}.",
                sizes.join(", ")
            ),
            format!(
                "int {name}_expand({name}_keys *keys, const char *target{})",
                key_params(&part.keys)
            ),
        ));
        all.push((
            "Overwrites keys that are no longer needed.".into(),
            format!("void {name}_wipe({name}_keys *keys)"),
        ));
    }
    all.push((
        format!(
            "Processes whole blocks of {} bytes into {} bytes each{}.",
            part.n_in,
            part.n_out,
            if part.n_in == part.n_out { "; out may be in" } else { "" }
        ),
        format!("int {name}_blocks({}, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)", maker(part)),
    ));
    if !part.keys.is_empty() {
        let names: Vec<String> = part.keys.iter().map(|(key, _)| format!("a {key}")).collect();
        all.push((
            format!(
                "The same of blocks with {} of their own, one after another: a batch of them takes the time of one. A NULL target is the best one.",
                names.join(" and ")
            ),
            format!(
                "int {name}_blocks_each_key(const char *target{}, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)",
                keys_params(&part.keys)
            ),
        ));
    }
    if let Some(stream) = &part.stream {
        let ctr = format!("{name}_{}", stream.mode);
        let with_keys =
            if part.keys.is_empty() { String::new() } else { format!("const {name}_keys *keys, ") };
        let sizes: Vec<String> = stream
            .params
            .iter()
            .filter_map(|param| match param {
                Param::Bytes(name, n) => Some(format!("{name} has {n} bytes")),
                Param::Counter => None,
            })
            .collect();
        all.push((
            format!("Starts a stream. The {}.", sizes.join(", the ")),
            format!("int {ctr}_init({ctr} *stream, {}{})", maker(part), stream_params(stream)),
        ));
        all.push((
            "XORs the next in_size bytes of key stream to in; out may be in, and a stream may be cut into pieces of any size.".into(),
            format!("int {ctr}_xor({ctr} *stream, {with_keys}const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)"),
        ));
        all.push((
            "OK if n bytes are left, else ENDS.".into(),
            format!("int {ctr}_check(const {ctr} *stream, size_t n)"),
        ));
        all.push((
            "Overwrites a stream that is no longer needed.".into(),
            format!("void {ctr}_wipe({ctr} *stream)"),
        ));
    }
    all
}

fn header(part: &Part) -> String {
    let (name, up) = (&part.name, part.name.to_uppercase());
    let object = |kind: &str, n: usize| {
        format!(
            "typedef struct {{\n    uint64_t target[8];\n    uint64_t words[{}];\n}} __attribute__((aligned(64))) {name}_{kind};\n",
            n / 8
        )
    };
    let mut types = String::new();
    if !part.keys.is_empty() {
        types += "\n/* Round keys, aligned to 64 bytes. Only the functions below use their members. */\n";
        types +=
            &object("keys", part.targets.iter().map(|target| target.keys_bytes).max().unwrap_or(0));
    }
    if let Some(stream) = &part.stream {
        types +=
            "\n/* A stream, aligned to 64 bytes. Only the functions below use its members. */\n";
        types += &object(
            &stream.mode,
            part.targets.iter().map(|target| target.stream_bytes).max().unwrap_or(0),
        );
    }
    let prototypes: String = prototypes(part)
        .iter()
        .map(|(comment, it)| format!("\n/* {comment} */\n{it};\n"))
        .collect();
    fill(
        include_str!("templates/header.h"),
        &[("UP", &up), ("TITLE", &part.title), ("TYPES", &types), ("PROTOTYPES", &prototypes)],
    )
}

/// The file that chooses a target and checks arguments.
fn dispatcher(part: &Part) -> String {
    let (name, up) = (&part.name, part.name.to_uppercase());
    let mut out = includes(part);
    out += "struct target {\n    const char *name;\n    int (*is_here)(void);\n    size_t width;\n";
    out += "    size_t batch; /* of those; the others are interleaved */\n";
    if !part.keys.is_empty() {
        out += "    void (*expand)(void *keys, const uint8_t *const *given);\n";
    }
    out += "    void (*blocks)(const void *keys, const uint8_t *in, uint8_t *out, size_t n);\n";
    if !part.keys.is_empty() {
        out += "    void (*blocks_each_key)(const uint8_t *const *given, const uint8_t *in, uint8_t *out, size_t n);\n";
    }
    if part.stream.is_some() {
        out += "    void (*init)(void *stream, const uint8_t *const *given, uint64_t counter);\n";
        out += "    int (*xor_bytes)(void *stream, const void *keys, const uint8_t *in, uint8_t *out, size_t n);\n";
        out += "    int (*check)(const void *stream, size_t n);\n";
        out += "    int (*is_fresh)(const void *stream);\n";
        out += "    size_t (*held)(const void *stream);\n";
        if part.keys.is_empty() {
            out += "    int has_ternary; /* functions of three words and rotations in one instruction */\n";
        }
    }
    out += "};\n";
    for processor in processors() {
        let _ = writeln!(out, "\n#{}", processor.question);
        let own = processor.targets(part);
        own.iter().for_each(|(_, target)| out += &glue(part, target));
        out += "\n/* The best one last. */\nstatic const struct target targets[] = {\n";
        for (target_name, target) in own {
            let s = target.suffix();
            let mut row =
                format!("    {{\"{target_name}\", {s}_is_here, {}, {}", target.width, target.batch);
            row += if part.keys.is_empty() { "" } else { ", @_expand" };
            row += ", @_blocks";
            row += if part.keys.is_empty() { "" } else { ", @_blocks_each_key" };
            if part.stream.is_some() {
                row += ", @_init, @_xor, @_check, @_is_fresh, @_held";
                if part.keys.is_empty() {
                    row += if target.arch.has_ternary() { ", 1" } else { ", 0" };
                }
            }
            let _ = writeln!(out, "{}}},", row.replace('@', &s));
        }
        out += "};\n";
    }
    out += "#endif\n";
    let made_for = if part.keys.is_empty() && part.stream.is_none() { "" } else { MADE_FOR };
    out += &fill(
        include_str!("templates/dispatch.c"),
        &[("NAME", name), ("MADE_FOR", &format!("{made_for}{OVERLAP}"))],
    );
    if !part.keys.is_empty() {
        out += &expand(part, &up);
    }
    out += &blocks(part, &up);
    if !part.keys.is_empty() {
        out += &blocks_each_key(part, &up);
    }
    if let Some(stream) = &part.stream {
        out += &stream_functions(part, stream, &up);
    }
    out
}

const OVERLAP: &str =
    "static int overlap(const uint8_t *in, size_t in_size, const uint8_t *out, size_t out_size)
{
    return (uintptr_t)in < (uintptr_t)out + out_size && (uintptr_t)out < (uintptr_t)in + in_size;
}

";

/// Functions that give the code of each target the same signatures.
fn glue(part: &Part, target: &TargetFile) -> String {
    let (s, name) = (target.suffix(), &part.name);
    let full = format!("{name}_{s}");
    let mut out = is_here(target);
    let keys = if part.keys.is_empty() { "" } else { "keys, " };
    if !part.keys.is_empty() {
        let args: String = (0..part.keys.len()).map(|i| format!(", given[{i}]")).collect();
        let _ = write!(
            out,
            "\n_Static_assert(sizeof({full}_roundkeys) <= sizeof((({name}_keys *)0)->words), \"the keys fit\");\n
static void {s}_expand(void *keys, const uint8_t *const *given)\n{{\n    {full}_expand(keys{args});\n}}\n"
        );
    }
    let unused = if part.keys.is_empty() { "    (void)keys;\n" } else { "" };
    let _ = write!(
        out,
        "\nstatic void {s}_blocks(const void *keys, const uint8_t *in, uint8_t *out, size_t n)\n{{\n{unused}    {full}_blocks({keys}in, out, n);\n}}\n"
    );
    if !part.keys.is_empty() {
        let args: String = (0..part.keys.len()).map(|i| format!("given[{i}], ")).collect();
        let _ = write!(
            out,
            "\nstatic void {s}_blocks_each_key(const uint8_t *const *given, const uint8_t *in, uint8_t *out, size_t n)\n{{\n    {full}_blocks_each_key({args}in, out, n);\n}}\n"
        );
    }
    let Some(stream) = &part.stream else { return out };
    let ctr = format!("{full}_{}", stream.mode);
    let mut k = 0;
    let args: String = stream
        .params
        .iter()
        .map(|param| match param {
            Param::Bytes(..) => {
                k += 1;
                format!(", given[{}]", k - 1)
            }
            Param::Counter => format!(", (uint{}_t)counter", stream.bits),
        })
        .collect();
    let no_counter = if stream.params.iter().any(|param| matches!(param, Param::Counter)) {
        ""
    } else {
        "    (void)counter;\n"
    };
    let left = match stream.bits {
        128 => "s->high != UINT64_MAX || s->low == 0 ? UINT64_MAX : 0 - s->low",
        64 => "s->low == 0 ? UINT64_MAX : 0 - s->low",
        _ => "(UINT64_C(1) << 32) - s->low",
    };
    let _ = write!(
        out,
        "
_Static_assert(sizeof({ctr}) <= sizeof((({name}_{mode} *)0)->words), \"the stream fits\");

static void {s}_init(void *stream, const uint8_t *const *given, uint64_t counter)
{{
{no_counter}    {ctr}_init(stream{args});
}}

static int {s}_xor(void *stream, const void *keys, const uint8_t *in, uint8_t *out, size_t n)
{{
{unused}    return {ctr}_xor(stream, {keys}in, out, n);
}}

static int {s}_check(const void *stream, size_t n)
{{
    const {ctr} *s = stream;
    size_t ready = s->end - s->at;
    uint64_t left = s->has_ended ? 0 : ({left});
    n -= n < ready ? n : ready;
    return n / {n_out} + (n % {n_out} != 0) > left ? {up}_ENDS : {up}_OK;
}}

static int {s}_is_fresh(const void *stream)
{{
    const {ctr} *s = stream;
    return s->filled == 0;
}}

static size_t {s}_held(const void *stream)
{{
    const {ctr} *s = stream;
    return offsetof({ctr}, stream) + s->filled;
}}
",
        mode = stream.mode,
        n_out = part.n_out,
        up = name.to_uppercase(),
    );
    out
}

pub fn signature(part: &Part, function: &str) -> String {
    let all = prototypes(part);
    let (_, text) = all
        .iter()
        .find(|pair| pair.1.contains(&format!("{function}(")))
        .expect("the function is in the header");
    text.clone()
}

/// Checks of arguments that are byte strings of fixed length.
fn given<'a>(names: impl Iterator<Item = (&'a str, usize)>, up: &str) -> String {
    let (mut nulls, mut sizes, mut list) = (Vec::new(), Vec::new(), Vec::new());
    for (name, n) in names {
        nulls.push(format!("!{name}"));
        sizes.push(format!("{name}_size != {n}"));
        list.push(name.to_string());
    }
    if list.is_empty() {
        return "    const uint8_t *const *given = NULL;\n".into();
    }
    format!(
        "    if ({})\n        return {up}_LENGTH;\n    if ({})\n        return {up}_NULL;\n    const uint8_t *const given[] = {{{}}};\n",
        sizes.join(" || "),
        nulls.join(" || "),
        list.join(", ")
    )
}

fn expand(part: &Part, up: &str) -> String {
    format!(
        "
{}
{{
    if (!keys)
        return {up}_NULL;
    if (is_misaligned(keys))
        return {up}_ALIGNMENT;
{}    size_t k = target_number(target);
    if (k == N_TARGETS)
        return {up}_TARGET;
    keys->target[0] = MADE + k;
    targets[k].expand(keys->words, given);
    return {up}_OK;
}}

{}
{{
    if (keys)
        wipe(keys, sizeof *keys);
}}
",
        signature(part, "_expand"),
        given(part.keys.iter().map(|key| (key.0.as_str(), key.1)), up),
        signature(part, &format!("{}_wipe", part.name)),
    )
}

/// C that finds the target of keys or of its name.
fn find_target(part: &Part, up: &str) -> String {
    if part.keys.is_empty() {
        format!(
            "    size_t k = target_number(target);\n    if (k == N_TARGETS)\n        return {up}_TARGET;\n"
        )
    } else {
        format!(
            "    if (!keys)\n        return {up}_NULL;\n    if (is_misaligned(keys))\n        return {up}_ALIGNMENT;\n    size_t k = made_for(keys->target[0]);\n    if (k == N_TARGETS)\n        return {up}_TARGET;\n"
        )
    }
}

fn blocks(part: &Part, up: &str) -> String {
    let (n_in, n_out) = (part.n_in, part.n_out);
    let words = if part.keys.is_empty() { "NULL" } else { "keys->words" };
    let same = if n_in == n_out { "in != out && " } else { "" };
    format!(
        "
{signature}
{{
{find}    if (in_size == 0)
        return {up}_OK;
    size_t n = in_size / {n_in};
    if (in_size % {n_in} != 0 || n > SIZE_MAX / {n_out} || out_size < {n_out} * n)
        return {up}_LENGTH;
    if (!in || !out)
        return {up}_NULL;
    if ({same}overlap(in, in_size, out, {n_out} * n))
        return {up}_OVERLAPS;
    targets[k].blocks({words}, in, out, n);
    return {up}_OK;
}}
",
        signature = signature(part, "_blocks"),
        find = find_target(part, up),
    )
}

/// The same with keys that no call before made round keys of.
fn blocks_each_key(part: &Part, up: &str) -> String {
    let (n_in, n_out) = (part.n_in, part.n_out);
    let same = if n_in == n_out { "in != out && " } else { "" };
    let of_each = |join: &str, text: &dyn Fn(&str, usize) -> String| {
        let all: Vec<String> = part.keys.iter().map(|(key, size)| text(key, *size)).collect();
        all.join(join)
    };
    format!(
        "
{signature}
{{
    size_t k = target_number(target), n = in_size / {n_in};
    if (k == N_TARGETS)
        return {up}_TARGET;
    if (in_size % {n_in} != 0 || n > SIZE_MAX / {n_out} || out_size < {n_out} * n)
        return {up}_LENGTH;
    if ({sizes})
        return {up}_LENGTH;
    if (n == 0)
        return {up}_OK;
    if (!in || !out || {nulls})
        return {up}_NULL;
    if ({same}overlap(in, in_size, out, {n_out} * n))
        return {up}_OVERLAPS;
    if ({overlaps})
        return {up}_OVERLAPS;
    const uint8_t *const given[] = {{{given}}};
    targets[k].blocks_each_key(given, in, out, n);
    return {up}_OK;
}}
",
        signature = signature(part, "_blocks_each_key"),
        sizes = of_each(" || ", &|key, size| format!(
            "n > SIZE_MAX / {size} || {key}s_size != {size} * n"
        )),
        nulls = of_each(" || ", &|key, _| format!("!{key}s")),
        overlaps =
            of_each(" || ", &|key, _| format!("overlap({key}s, {key}s_size, out, {n_out} * n)")),
        given = of_each(", ", &|key, _| format!("{key}s")),
    )
}

fn stream_functions(part: &Part, stream: &Stream, up: &str) -> String {
    let ctr = format!("{}_{}", part.name, stream.mode);
    let strings = stream.params.iter().filter_map(|param| match param {
        Param::Bytes(name, n) => Some((name.as_str(), *n)),
        Param::Counter => None,
    });
    let counter = if stream.params.iter().any(|param| matches!(param, Param::Counter)) {
        "counter"
    } else {
        "0"
    };
    let (match_keys, words) = if part.keys.is_empty() {
        (String::new(), "NULL")
    } else {
        (
            format!(
                "    if (!keys)\n        return {up}_NULL;\n    if (is_misaligned(keys))\n        return {up}_ALIGNMENT;\n    if (keys->target[0] != stream->target[0])\n        return {up}_TARGET;\n"
            ),
            "keys->words",
        )
    };
    let values = [("NAME", ctr.as_str()), ("N_OUT", &part.n_out.to_string())];
    let filled = |template| fill(template, &values);
    // Round keys of one target are not those of another.
    let (short, first, xor_bytes) = if part.keys.is_empty() {
        let call = "xor_bytes(k, stream->words, in, out, in_size)";
        let short = filled(include_str!("templates/short.c"));
        (short, include_str!("templates/first.c"), call.to_owned())
    } else {
        let call = format!("targets[k].xor_bytes(stream->words, {words}, in, out, in_size)");
        (String::new(), "", call)
    };
    let for_modes = if part.over.is_empty() {
        String::new()
    } else {
        filled(&[first, include_str!("templates/wipe_filled.c")].concat())
    };
    format!(
        "{short}
{init}
{{
    if (!stream)
        return {up}_NULL;
    if (is_misaligned(stream))
        return {up}_ALIGNMENT;
{find}{given}    stream->target[0] = MADE + k;
    targets[k].init(stream->words, given, {counter});
    return {up}_OK;
}}

{xor}
{{
    if (!stream)
        return {up}_NULL;
    if (is_misaligned(stream))
        return {up}_ALIGNMENT;
    size_t k = made_for(stream->target[0]);
    if (k == N_TARGETS)
        return {up}_TARGET;
{match_keys}    if (out_size < in_size)
        return {up}_LENGTH;
    return {xor_bytes};
}}

{check}
{{
    if (!stream)
        return {up}_NULL;
    if (is_misaligned(stream))
        return {up}_ALIGNMENT;
    size_t k = made_for(stream->target[0]);
    return k == N_TARGETS ? {up}_TARGET : targets[k].check(stream->words, n);
}}

{wipe}
{{
    if (stream)
        wipe(stream, sizeof *stream);
}}
{for_modes}",
        wipe = signature(part, &format!("{ctr}_wipe")),
        init = signature(part, &format!("{ctr}_init")),
        xor = signature(part, &format!("{ctr}_xor")),
        check = signature(part, &format!("{ctr}_check")),
        find = find_target(part, up),
        given = given(strings, up),
    )
}
