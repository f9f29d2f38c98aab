//! The program with which tests check networks: random blocks go through each network and through
//! the plain loop.

use std::fmt::Write;

use crate::transpose::Direction;

use super::arch::Shape;
use super::bytes;
use super::field::Field;
use super::network::{self, Helpers};

/// A C program for the inputs and outputs of these primitives, all of one shape: it exits
/// with 1 and names the first field where a network and a loop differ. `Err` names a field
/// that has no network.
pub fn moves_check(
    subjects: &[(String, Field, Field)],
    shape: Shape,
    seed: u64,
) -> Result<String, String> {
    let (mut helpers, mut functions, mut calls) =
        (Helpers::default(), String::new(), String::new());
    for (name, input, output) in subjects {
        let named = |field: &Field, suffix: &str| Field {
            name: format!("{name}_{}{suffix}", field.name),
            ..field.clone()
        };
        let (input, output, plain_in, plain_out) =
            (named(input, ""), named(output, ""), named(input, "_loop"), named(output, "_loop"));
        let none = |field: &Field| format!("{} has no network", field.name);
        let load = input.moves(shape, Direction::Load, None).ok_or_else(|| none(&input))?;
        let store = output
            .moves(shape, Direction::Store, Some(&load.order))
            .ok_or_else(|| none(&output))?;
        let _ = write!(functions, "\n#define block_of_slice {name}_block_of_slice");
        functions += &bytes::block_of_slice(shape, Some(&load.order));
        functions += &network::function(&input, shape, Direction::Load, &load, &mut helpers)
            .ok_or_else(|| none(&input))?;
        functions += &network::function(&output, shape, Direction::Store, &store, &mut helpers)
            .ok_or_else(|| none(&output))?;
        functions += &(bytes::load(&plain_in, shape)
            + &bytes::store(&plain_out, shape)
            + "#undef block_of_slice\n");
        let _ = writeln!(
            calls,
            "    compare(\"{0}\", load_{0}, load_{1}, store_{2}, store_{3}, {4});",
            input.name,
            plain_in.name,
            output.name,
            plain_out.name,
            input.n_registers(shape)
        );
    }
    Ok(shape.prelude()
        + shape.byte_order()
        + "#include <stdio.h>\n#include <stdlib.h>\n"
        + &super::wipe(shape)
        + bytes::common(shape)
        + &helpers.text()
        + &functions
        + &format!(
            "
static uint64_t state = UINT64_C({seed});

static void fill(void *p, size_t n)
{{
    for (size_t i = 0; i < n; i++) {{
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        ((uint8_t *)p)[i] = (uint8_t)(state >> 56);
    }}
}}

static void fail(const char *name, const char *what)
{{
    printf(\"%s: %s differs\\n\", name, what);
    exit(1);
}}

static void compare(const char *name, void (*load)(reg *, const uint8_t *), void (*load_loop)(reg *, const uint8_t *),
    void (*store)(reg *, uint8_t *), void (*store_loop)(reg *, uint8_t *), size_t n_in)
{{
    static reg r[2][{n_registers}];
    static uint8_t strings[2][BLOCKS * {n_bytes} + 64];
    for (size_t shift = 0; shift < 4; shift++) {{
        fill(strings, sizeof strings);
        fill(r, sizeof r);
        load(r[0], strings[0] + shift);
        load_loop(r[1], strings[0] + shift);
        if (memcmp(r[0], r[1], n_in * sizeof(reg)))
            fail(name, \"load\");
        fill(r[0], sizeof r[0]);
        memcpy(r[1], r[0], sizeof r[0]);
        memcpy(strings[1], strings[0], sizeof strings[0]);
        store(r[0], strings[0] + shift);
        store_loop(r[1], strings[1] + shift);
        if (memcmp(strings[0], strings[1], sizeof strings[0]))
            fail(name, \"store\");
    }}
}}

int main(void)
{{
{calls}    return 0;
}}
",
            n_registers = subjects.iter().flat_map(|s| [&s.1, &s.2]).map(|f| f.n_registers(shape)).max().unwrap_or(1),
            n_bytes = subjects.iter().flat_map(|s| [&s.1, &s.2]).map(|f| f.layout.n_bytes).max().unwrap_or(1),
        ))
}
