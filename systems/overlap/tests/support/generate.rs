//! Random MPI programs: correct by construction, with every shape the plugin knows, and a checksum.
//!
//! All ranks run the same list of steps. A step is work on some arrays, or a communication that all
//! ranks take part in, written in one of several ways; steps stand in branches and loops, behind
//! wrappers, and next to uses of their buffers.

use std::fmt::Write;

use fastrand::Rng;

const ARRAYS: usize = 6;

/// The text of a C program; equal seeds give equal programs.
pub fn program(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let mut text = HEAD.replace("SEED", &seed.to_string());
    let n_steps = rng.usize(4..12);
    let mut body = String::new();
    let mut tag = 10;
    steps(&mut rng, &mut body, n_steps, 1, &mut tag);
    text += &body;
    text += TAIL;
    text
}

fn steps(rng: &mut Rng, text: &mut String, n_steps: usize, depth: usize, tag: &mut u32) {
    for _ in 0..n_steps {
        let pad = "  ".repeat(depth);
        match rng.u32(0..21) {
            0 if depth < 3 => {
                let index = ["r", "s", "t"][depth - 1];
                let _ = writeln!(
                    text,
                    "{pad}for (int {index} = 0; {index} < {}; {index}++) {{",
                    rng.u32(1..4)
                );
                let n = rng.usize(1..4);
                steps(rng, text, n, depth + 1, tag);
                let _ = writeln!(text, "{pad}}}");
            }
            1 if depth < 3 => {
                // The condition is the same on every rank.
                let _ = writeln!(text, "{pad}if (size > {}) {{", rng.u32(1..4));
                let n = rng.usize(1..3);
                steps(rng, text, n, depth + 1, tag);
                let _ = writeln!(text, "{pad}}}");
            }
            0..=7 => work(rng, text, &pad),
            8..=10 => point_to_point(rng, text, &pad, tag),
            11 => halo(rng, text, &pad, tag),
            12 => passes(rng, text, &pad, tag),
            13 | 14 => fills(rng, text, &pad, tag),
            15 | 16 => gathers(rng, text, &pad, tag),
            _ => collective(rng, text, &pad),
        }
    }
}

fn arrays(rng: &mut Rng) -> (usize, usize) {
    let a = rng.usize(0..ARRAYS);
    (a, (a + rng.usize(1..ARRAYS)) % ARRAYS)
}

fn work(rng: &mut Rng, text: &mut String, pad: &str) {
    let (a, b) = arrays(rng);
    let k = rng.u32(1..9);
    let _ = match rng.u32(0..8) {
        0 => writeln!(text, "{pad}smooth(a{a}, N);"),
        1 => writeln!(
            text,
            "{pad}for (int i = 0; i < N; i++)\n{pad}  a{a}[i] += {k} * a{b}[i] + i % {};",
            k + 2
        ),
        2 => writeln!(text, "{pad}a{a}[{k}] = a{b}[{}] + {k};", 2 * k),
        3 => writeln!(
            text,
            "{pad}if (a{a}[{k}] > {k})\n{pad}  a{b}[0] += 1;\n{pad}else\n{pad}  a{b}[1] -= a{a}[2];"
        ),
        4 => writeln!(text, "{pad}total += reduce(a{a}, N);"),
        5 => writeln!(text, "{pad}if (rank == {})\n{pad}  smooth(a{a}, N);", k % 3),
        6 => writeln!(
            text,
            "{pad}for (int j = 0; j < {}; j++)\n{pad}  for (int i = 1; i < N; i++)\n{pad}    a{a}[i] = 0.5 * (a{a}[i] + a{a}[i - 1]) + a{b}[j];",
            k + 3
        ),
        _ => writeln!(text, "{pad}shared += (long)a{a}[{k}];"),
    };
}

fn point_to_point(rng: &mut Rng, text: &mut String, pad: &str, tag: &mut u32) {
    let (a, b) = arrays(rng);
    *tag += 1;
    let count = ["N", "N / 2", "3", "1", "N - rank % 2 * 0"][rng.usize(0..5)];
    let shape = rng.u32(0..12);
    let t = *tag;
    let _ = match shape {
        0 => writeln!(
            text,
            "{pad}MPI_Sendrecv(a{a}, {count}, MPI_DOUBLE, right, {t}, a{b}, {count}, MPI_DOUBLE, left, {t}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
        ),
        1 => writeln!(
            text,
            "{pad}{{\n{pad}  MPI_Status status;\n{pad}  int got;\n{pad}  MPI_Sendrecv(a{a}, {count}, MPI_DOUBLE, left, {t}, a{b}, N, MPI_DOUBLE, right, {t}, MPI_COMM_WORLD, &status);\n{pad}  smooth(a{}, N);\n{pad}  MPI_Get_count(&status, MPI_DOUBLE, &got);\n{pad}  shared += got + status.MPI_SOURCE;\n{pad}}}",
            (b + 1) % ARRAYS
        ),
        2 => writeln!(
            text,
            "{pad}if (rank == 0) {{\n{pad}  MPI_Send(a{a}, {count}, MPI_DOUBLE, size - 1, {t}, MPI_COMM_WORLD);\n{pad}  smooth(a{b}, N);\n{pad}}} else if (rank == size - 1) {{\n{pad}  MPI_Recv(a{a}, {count}, MPI_DOUBLE, 0, {t}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n{pad}  smooth(a{b}, N);\n{pad}  a{b}[0] += a{a}[0];\n{pad}}}"
        ),
        3 => writeln!(text, "{pad}pass_on(a{a}, {count}, {t});"),
        // From anyone: each rank's message carries its sender, and the sum does not depend on the
        // order.
        4 => writeln!(
            text,
            "{pad}if (rank == 0) {{\n{pad}  for (int q = 1; q < size; q++) {{\n{pad}    MPI_Recv(a{a}, 2, MPI_DOUBLE, MPI_ANY_SOURCE, {t}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n{pad}    total += a{a}[0];\n{pad}  }}\n{pad}  a{a}[0] = a{a}[1] = 1;\n{pad}}} else {{\n{pad}  MPI_Send(a{a}, 2, MPI_DOUBLE, 0, {t}, MPI_COMM_WORLD);\n{pad}  smooth(a{b}, N);\n{pad}}}"
        ),
        // A token goes round; every rank needs it before it sends.
        5 => writeln!(
            text,
            "{pad}if (rank > 0)\n{pad}  MPI_Recv(&token, 1, MPI_LONG, rank - 1, {t}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n{pad}token += rank + {t};\n{pad}a{a}[3] += 1;\n{pad}if (rank + 1 < size)\n{pad}  MPI_Send(&token, 1, MPI_LONG, rank + 1, {t}, MPI_COMM_WORLD);\n{pad}smooth(a{b}, N);"
        ),
        6 => writeln!(
            text,
            "{pad}exchange(a{a}, a{b}, {count}, {t});\n{pad}smooth(a{}, N);",
            (b + 1) % ARRAYS
        ),
        7 => writeln!(
            text,
            "{pad}MPI_Sendrecv_replace(a{a}, {count}, MPI_DOUBLE, right, {t}, left, {t}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n{pad}smooth(a{b}, N);"
        ),
        8 => writeln!(
            text,
            "{pad}{{\n{pad}  MPI_Datatype every;\n{pad}  MPI_Type_vector(N / 5, 2, 5, MPI_DOUBLE, &every);\n{pad}  MPI_Type_commit(&every);\n{pad}  MPI_Sendrecv(a{a}, 1, every, right, {t}, a{b} + 1, 1, every, left, {t}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n{pad}  smooth(a{}, N);\n{pad}  MPI_Type_free(&every);\n{pad}}}",
            (b + 1) % ARRAYS
        ),
        // The codes are asked for, at once and later.
        9 => writeln!(
            text,
            "{pad}{{\n{pad}  int code = MPI_Sendrecv(a{a}, {count}, MPI_DOUBLE, right, {t}, a{b}, {count}, MPI_DOUBLE, left, {t}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n{pad}  smooth(a{}, N);\n{pad}  if (code != MPI_SUCCESS || pass_on(a{a}, {count}, {t}) != MPI_SUCCESS)\n{pad}    MPI_Abort(MPI_COMM_WORLD, 3);\n{pad}}}",
            (b + 1) % ARRAYS
        ),
        // Of every three numbers the first and the last, by bytes.
        10 => writeln!(
            text,
            "{pad}{{\n{pad}  int lengths[2] = {{1, 1}};\n{pad}  MPI_Aint places[2] = {{0, 16}};\n{pad}  MPI_Datatype types[2] = {{MPI_DOUBLE, MPI_LONG}}, some;\n{pad}  MPI_Type_create_struct(2, lengths, places, types, &some);\n{pad}  MPI_Type_commit(&some);\n{pad}  MPI_Sendrecv(a{a}, N / 4, some, right, {t}, a{b} + 1, N / 4, some, left, {t}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n{pad}  smooth(a{}, N);\n{pad}  MPI_Type_free(&some);\n{pad}}}",
            (b + 1) % ARRAYS
        ),
        _ => {
            let (requests, last) = requests(rng, 2);
            writeln!(
                text,
                "{pad}{{\n{pad}  {requests}\n{pad}  MPI_Irecv(a{b}, N, MPI_DOUBLE, left, {t}, MPI_COMM_WORLD, &q[0]);\n{pad}  MPI_Isend(a{a}, N, MPI_DOUBLE, right, {t}, MPI_COMM_WORLD, &q[1]);\n{pad}  MPI_Waitall(2, q, MPI_STATUSES_IGNORE);{last}\n{pad}  smooth(a{}, N);\n{pad}}}",
                (b + 1) % ARRAYS
            )
        }
    };
}

/// Where `n` requests lie: their declaration, and what ends it.
fn requests(rng: &mut Rng, n: usize) -> (String, &'static str) {
    match rng.u32(0..8) {
        0 => ("MPI_Request *q = of_all;".to_owned(), ""),
        1 => ("MPI_Request *q = of_file;".to_owned(), ""),
        2 => ("MPI_Request *q = kept->own;".to_owned(), ""),
        3 => ("MPI_Request *q = kept->apart;".to_owned(), ""),
        4 => (format!("MPI_Request *q = malloc({n} * sizeof *q);"), " free(q);"),
        _ => (format!("MPI_Request q[{n}];"), ""),
    }
}

/// The borders of an array change places between neighbours, and one loop goes over all of it.
fn halo(rng: &mut Rng, text: &mut String, pad: &str, tag: &mut u32) {
    let (a, b) = arrays(rng);
    let w = [1, 3, 40, 500][rng.usize(0..4)];
    *tag += 2;
    let t = *tag;
    let exchanges = [
        format!("a{a} + {w}, {w}, MPI_DOUBLE, left, {t}"),
        format!("a{a} + N - {w}, {w}, MPI_DOUBLE, right, {t}"),
        format!("a{a} + N - 2 * {w}, {w}, MPI_DOUBLE, right, {}", t - 1),
        format!("a{a}, {w}, MPI_DOUBLE, left, {}", t - 1),
    ];
    let shape = rng.u32(0..6);
    let _ = if shape == 0 {
        // Only neighbours that are there, counted by a variable; or, for all, by the size.
        let ring = rng.bool();
        let starts: String = [("Isend", 0), ("Irecv", 1), ("Isend", 2), ("Irecv", 3)]
            .iter()
            .map(|&(call, idx)| {
                let is_there = match (ring, idx) {
                    (true, _) => ["size > 2", "size < 4"][idx / 2],
                    (false, 0 | 3) => "rank > 0",
                    (false, _) => "rank < size - 1",
                };
                let start = &exchanges[idx];
                format!("{pad}  if ({is_there})\n{pad}    MPI_{call}({start}, MPI_COMM_WORLD, &q[n++]);\n")
            })
            .collect();
        let end = "MPI_Waitall(n, q, MPI_STATUSES_IGNORE);";
        writeln!(
            text,
            "{pad}{{\n{pad}  MPI_Request q[4];\n{pad}  int n = 0;\n{starts}{pad}  {end}\n{pad}}}"
        )
    } else if shape < 3 {
        writeln!(
            text,
            "{pad}MPI_Sendrecv({}, {}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n{pad}MPI_Sendrecv({}, {}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
            exchanges[0], exchanges[1], exchanges[2], exchanges[3]
        )
    } else {
        let starts: String = [("Isend", 0), ("Irecv", 1), ("Isend", 2), ("Irecv", 3)]
            .iter()
            .map(|&(call, idx)| {
                format!("{pad}  MPI_{call}({}, MPI_COMM_WORLD, &q[{idx}]);\n", exchanges[idx])
            })
            .collect();
        let end = match rng.u32(0..5) {
            0 | 1 => "MPI_Waitall(4, q, MPI_STATUSES_IGNORE);".to_owned(),
            2 => (0..4).map(|idx| format!("MPI_Wait(&q[{idx}], MPI_STATUS_IGNORE);")).collect::<Vec<_>>().join(" "),
            3 => "for (int done = 0, at; done < 4; done++)\n      MPI_Waitany(4, q, &at, MPI_STATUS_IGNORE);".to_owned(),
            _ => "for (int done = 0; !done;)\n      MPI_Testall(4, q, &done, MPI_STATUSES_IGNORE);".to_owned(),
        };
        let (requests, last) = requests(rng, 4);
        writeln!(text, "{pad}{{\n{pad}  {requests}\n{starts}{pad}  {end}{last}\n{pad}}}")
    };
    let all = format!("{pad}for (int i = {w}; i < N - {w}; i++)\n{pad}  ");
    let rows = format!(
        "{pad}for (int i = 1; i < N / {w} - 1; i++)\n{pad}  for (int j = 0; j < {w}; j++)\n{pad}    "
    );
    let _ = match rng.u32(0..9) {
        0 => writeln!(text, "{all}a{b}[i] = 0.5 * (a{a}[i - {w}] + a{a}[i + {w}]);"),
        1 => writeln!(text, "{all}a{a}[i] = 0.5 * (a{a}[i - {w}] + a{a}[i + {w}]);"),
        2 => writeln!(
            text,
            "{pad}for (int i = N - {w} - 1; i >= {w}; i--)\n{pad}  a{b}[i] = a{a}[i - {w}] - 0.25 * a{a}[i + {w}];"
        ),
        3 => writeln!(text, "{all}total = 0.5 * total + a{a}[i - {w}] + a{a}[i + {w}];"),
        4 => writeln!(
            text,
            "{rows}a{b}[i * {w} + j] = 0.5 * (a{a}[(i - 1) * {w} + j] + a{a}[(i + 1) * {w} + j]);"
        ),
        5 => writeln!(
            text,
            "{rows}a{a}[i * {w} + j] = 0.5 * (a{a}[(i - 1) * {w} + j] + a{a}[i * {w} + j]);"
        ),
        6 => writeln!(
            text,
            "{pad}for (int i = 0; i < N / 2; i++)\n{pad}  a{b}[2 * i] = 0.5 * a{b}[2 * i] + a{a}[N - 1 - 2 * i];"
        ),
        7 => writeln!(
            text,
            "{pad}for (int i = 0; i < N - {w}; i++)\n{pad}  a{a}[i + {w} / 2] = i % 5;"
        ),
        _ => writeln!(text, "{pad}stencil(a{a}, a{b}, {w}, N / {w});"),
    };
}

/// A loop that begins with an exchange and ends with work, which may or may not touch the next
/// pass's buffers, and may end the loop.
fn passes(rng: &mut Rng, text: &mut String, pad: &str, tag: &mut u32) {
    let (a, b) = arrays(rng);
    let c = (b + rng.usize(1..ARRAYS)) % ARRAYS;
    let d = (0..ARRAYS).find(|&idx| idx != a && idx != b).expect("there are more than two arrays");
    *tag += 8;
    let t = *tag - 7;
    let out = [format!("a{a}"), format!("a{a} + k"), "now".to_owned()][rng.usize(0..3)].clone();
    let to = ["right", "(rank + 1 + k) % size", "target"][rng.usize(0..3)];
    let from = if to.contains('k') { "(rank + size - (1 + k) % size) % size" } else { "left" };
    let call = match rng.u32(0..4) {
        0 => format!("MPI_Bcast({out}, N / 2, MPI_DOUBLE, k % 2, MPI_COMM_WORLD);"),
        1 => format!("MPI_Allreduce({out}, a{b}, N / 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);"),
        _ => format!(
            "MPI_Sendrecv({out}, N / 2, MPI_DOUBLE, {to}, {t} + k, a{b}, N / 2, MPI_DOUBLE, {from}, {t} + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
        ),
    };
    let first = match rng.u32(0..3) {
        0 => format!("a{a}[k] = k;"),
        1 => format!("a{c}[k] += 1;"),
        _ => String::new(),
    };
    let used = ["a{b}[3]", "a{a}[k]", "1"][rng.usize(0..3)]
        .replace("{b}", &b.to_string())
        .replace("{a}", &a.to_string());
    let end = match rng.u32(0..5) {
        0 => "if (size == 3 && k == 2)\n{pad}      break;".to_owned(),
        1 => format!("if (a{d}[0] != a{d}[0])\n{{pad}}      break;"),
        2 => "target = (target + size) % size;".to_owned(),
        _ => String::new(),
    }
    .replace("{pad}", pad);
    let _ = writeln!(
        text,
        "{pad}{{\n{pad}  double *now = a{a}, *then = a{d};\n{pad}  target = right;\n{pad}  for (int k = 0; k < {}; k++) {{\n{pad}    {first}\n{pad}    {call}\n{pad}    a{c}[1] += {used};\n{pad}    smooth(a{c}, N);\n{pad}    {end}\n{pad}    double *swap = now;\n{pad}    now = then;\n{pad}    then = swap;\n{pad}  }}\n{pad}}}",
        rng.u32(1..6)
    );
}

/// A loop fills what is sent behind it, and perhaps more; its passes may depend on each other.
fn fills(rng: &mut Rng, text: &mut String, pad: &str, tag: &mut u32) {
    let (a, b) = arrays(rng);
    let c = (0..ARRAYS).find(|&idx| idx != a && idx != b).expect("there are more than two arrays");
    // What is received may be what passes still read.
    let d = if rng.u32(0..4) == 0 {
        b
    } else {
        (0..ARRAYS).rfind(|&idx| idx != a && idx != b && idx != c).expect("there are more")
    };
    let w = [1, 5, 40, 250][rng.usize(0..4)];
    *tag += 1;
    let t = *tag;
    let value = [
        "a{b}[i] * 0.5 + i % 7",
        "a{b}[at[i]] + 1",
        "0.25 * a{b}[(i + 1) % N] - a{a}[i]",
        "0.5 * (a{a}[i] + a{a}[(i + N - 1) % N])",
    ][rng.usize(0..4)]
    .replace("{a}", &a.to_string())
    .replace("{b}", &b.to_string());
    let more = match rng.u32(0..5) {
        0 => format!("a{c}[i] += 0.125;"),
        1 => format!("total = 0.5 * total + a{b}[i];"),
        2 => format!("if (i % 3 == 0)\n{pad}    a{c}[i] = i;"),
        3 => "shared += i % 2;".to_owned(),
        _ => String::new(),
    };
    let _ = match rng.u32(0..4) {
        0 => writeln!(
            text,
            "{pad}for (int i = N - 1; i >= 0; i--) {{\n{pad}  a{a}[i] = {value};\n{pad}  {more}\n{pad}}}"
        ),
        1 => writeln!(
            text,
            "{pad}for (int row = 0; row < N / {w}; row++)\n{pad}  for (int i = row * {w}; i < (row + 1) * {w}; i++) {{\n{pad}    a{a}[i] = {value};\n{pad}    {more}\n{pad}  }}"
        ),
        2 => writeln!(
            text,
            "{pad}for (int i = 0; i < N; i++) {{\n{pad}  double sum = 0;\n{pad}  for (int j = 0; j < 3; j++)\n{pad}    sum += a{b}[(i + 5 * j) % N];\n{pad}  a{a}[i] = sum;\n{pad}  {more}\n{pad}}}"
        ),
        _ => writeln!(
            text,
            "{pad}for (int i = 0; i < N; i++) {{\n{pad}  a{a}[i] = {value};\n{pad}  {more}\n{pad}}}"
        ),
    };
    let (out, count) =
        [("", "N"), (" + N - 40", "40"), ("", "40"), (" + N / 2", "N / 4")][rng.usize(0..4)];
    let sent = format!("a{a}{out}, {count}, MPI_DOUBLE, right, {t}, MPI_COMM_WORLD");
    let received = format!("a{d}, {count}, MPI_DOUBLE, left, {t}, MPI_COMM_WORLD");
    let _ = match rng.u32(0..4) {
        0 => writeln!(
            text,
            "{pad}{{\n{pad}  MPI_Request in, out;\n{pad}  MPI_Irecv({received}, &in);\n{pad}  MPI_Isend({sent}, &out);\n{pad}  MPI_Wait(&out, MPI_STATUS_IGNORE);\n{pad}  MPI_Wait(&in, MPI_STATUS_IGNORE);\n{pad}}}"
        ),
        1 => writeln!(
            text,
            "{pad}{{\n{pad}  MPI_Request in;\n{pad}  MPI_Irecv({received}, &in);\n{pad}  MPI_Send({sent});\n{pad}  MPI_Wait(&in, MPI_STATUS_IGNORE);\n{pad}}}"
        ),
        _ => writeln!(
            text,
            "{pad}MPI_Sendrecv(a{a}{out}, {count}, MPI_DOUBLE, right, {t}, a{d}, {count}, MPI_DOUBLE, left, {t}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
        ),
    };
    if rng.bool() {
        let _ = writeln!(text, "{pad}a{a}[0] += a{d}[0];");
    }
}

/// A loop reads through an index what an exchange in front of it receives, as a sparse matrix
/// times a vector does.
fn gathers(rng: &mut Rng, text: &mut String, pad: &str, tag: &mut u32) {
    let (a, b) = arrays(rng);
    let n_in = [40, 200, 1000][rng.usize(0..3)];
    *tag += 2;
    let t = *tag;
    let receive = |from: &str, place: String, tag: u32, request: u32| {
        format!(
            "{pad}  MPI_Irecv({place}, {n_in}, MPI_DOUBLE, {from}, {tag}, MPI_COMM_WORLD, &q[{request}]);\n"
        )
    };
    let receives = receive("left", format!("a{a} + N - {n_in}"), t, 0)
        + &receive("right", format!("a{a} + N - 2 * {n_in}"), t - 1, 1);
    let sends = match rng.u32(0..3) {
        0 => format!(
            "{pad}  for (int k = 0; k < 2; k++)\n{pad}    MPI_Send(a{a} + k, {n_in}, MPI_DOUBLE, k ? left : right, {t} - k, MPI_COMM_WORLD);\n"
        ),
        _ => format!(
            "{pad}  MPI_Send(a{a}, {n_in}, MPI_DOUBLE, right, {t}, MPI_COMM_WORLD);\n{pad}  MPI_Send(a{a} + 1, {n_in}, MPI_DOUBLE, left, {}, MPI_COMM_WORLD);\n",
            t - 1
        ),
    };
    let waits = [
        "for (int k = 0; k < 2; k++)\n{pad}    MPI_Wait(&q[k], MPI_STATUS_IGNORE);",
        "MPI_Waitall(2, q, MPI_STATUSES_IGNORE);",
    ][rng.usize(0..2)]
    .replace("{pad}", pad);
    let (requests, last) = requests(rng, 2);
    let _ = writeln!(
        text,
        "{pad}{{\n{pad}  {requests}\n{receives}{sends}{pad}  {waits}{last}\n{pad}}}"
    );
    let n_each = rng.u32(2..6);
    let (put, begin) = match rng.u32(0..4) {
        0 => (format!("a{b}[i] += sum;"), "0"),
        1 => (format!("a{b}[i] = sum;\n{pad}  total = 0.25 * total + sum;"), "0"),
        2 => (format!("a{b}[at[i]] = sum;"), "a{b}[i]"),
        _ => (format!("a{b}[i] = sum;"), "0"),
    };
    let _ = writeln!(
        text,
        "{pad}for (int i = 0; i < N / {n_each}; i++) {{\n{pad}  double sum = {};\n{pad}  for (int j = i * {n_each}; j < (i + 1) * {n_each}; j++)\n{pad}    sum += 0.5 * a{a}[at[j]];\n{pad}  {put}\n{pad}}}",
        begin.replace("{b}", &b.to_string())
    );
}

fn collective(rng: &mut Rng, text: &mut String, pad: &str) {
    let (a, b) = arrays(rng);
    let count = ["N", "N / 4", "1", "7"][rng.usize(0..4)];
    let root = rng.u32(0..2);
    let _ = match rng.u32(0..9) {
        0 => writeln!(text, "{pad}MPI_Bcast(a{a}, {count}, MPI_DOUBLE, {root}, MPI_COMM_WORLD);"),
        1 => writeln!(
            text,
            "{pad}MPI_Allreduce(a{a}, a{b}, {count}, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);"
        ),
        2 => writeln!(
            text,
            "{pad}MPI_Reduce(a{a}, a{b}, {count}, MPI_DOUBLE, MPI_MIN, {root}, MPI_COMM_WORLD);"
        ),
        3 => writeln!(
            text,
            "{pad}MPI_Alltoall(a{a}, N / 8, MPI_DOUBLE, a{b}, N / 8, MPI_DOUBLE, MPI_COMM_WORLD);"
        ),
        4 => writeln!(
            text,
            "{pad}MPI_Allgather(a{a}, N / 8, MPI_DOUBLE, a{b}, N / 8, MPI_DOUBLE, part);"
        ),
        5 => writeln!(
            text,
            "{pad}MPI_Scan(a{a}, a{b}, {count}, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);"
        ),
        6 => writeln!(
            text,
            "{pad}MPI_Gather(a{a}, N / 8, MPI_DOUBLE, a{b}, N / 8, MPI_DOUBLE, {root}, MPI_COMM_WORLD);"
        ),
        7 => writeln!(
            text,
            "{pad}MPI_Allreduce(MPI_IN_PLACE, a{a}, {count}, MPI_DOUBLE, MPI_MIN, part);"
        ),
        // Rank 0 comes through another site than the rest.
        _ => writeln!(
            text,
            "{pad}if (rank == 0) {{\n{pad}  MPI_Bcast(a{a}, {count}, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n{pad}  smooth(a{b}, N);\n{pad}}} else {{\n{pad}  smooth(a{b}, N);\n{pad}  MPI_Bcast(a{a}, {count}, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n{pad}}}"
        ),
    };
    if rng.bool() {
        work(rng, text, pad);
    }
}

const HEAD: &str = "/* Random program SEED. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 4000
static int rank, size, left, right, target;
static double a0[N], a1[N], a2[N];
static long shared, token;
static int at[N];
/* Requests that any function may reach. */
MPI_Request of_all[4];
static MPI_Request of_file[4];
struct kept {
  long n;
  MPI_Request *apart, own[4];
} *kept;

static void smooth(double *x, int n) {
  for (int i = 1; i < n; i++)
    x[i] = 0.5 * (x[i] + x[i - 1]) + 0.125;
}

static double reduce(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum = sum * 0.5 + x[i];
  return sum;
}

static void stencil(const double *in, double *out, int width, int rows) {
  for (int i = 1; i < rows - 1; i++)
    for (int j = 0; j < width; j++)
      out[i * width + j] = 0.25 * (in[(i - 1) * width + j] + in[(i + 1) * width + j]) + in[i * width + j];
}

static int pass_on(double *x, int count, int tag) {
  if (rank % 2 == 0 && rank + 1 < size)
    return MPI_Send(x, count, MPI_DOUBLE, rank + 1, tag, MPI_COMM_WORLD);
  if (rank % 2 == 1)
    return MPI_Recv(x, count, MPI_DOUBLE, rank - 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return MPI_SUCCESS;
}

__attribute__((noinline)) static void exchange(double *out, double *in, int count, int tag) {
  MPI_Sendrecv(out, count, MPI_DOUBLE, right, tag, in, count, MPI_DOUBLE, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Comm part;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &part);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  double *a3 = malloc(N * sizeof *a3), *a4 = malloc(N * sizeof *a4);
  double a5[N], total = 0;
  kept = malloc(sizeof *kept);
  kept->apart = malloc(4 * sizeof *kept->apart);
  for (int i = 0; i < N; i++) {
    at[i] = i % 50 ? i * 7 % (N / 2) : N - 1 - i % 1000;
    a0[i] = i % 7 + rank;
    a1[i] = i % 5 - rank;
    a2[i] = i % 3;
    a3[i] = i % 11 + 2 * rank;
    a4[i] = i % 13;
    a5[i] = rank;
  }
";

const TAIL: &str = "  unsigned long sum = (unsigned long)shared * 131 + (unsigned long)token;
  double *all[] = {a0, a1, a2, a3, a4, a5, &total};
  for (int k = 0; k < 7; k++)
    for (int i = 0; i < (k < 6 ? N : 1); i++) {
      unsigned long bits;
      memcpy(&bits, &all[k][i], sizeof bits);
      sum = sum * 31 + bits;
    }
  unsigned long *sums = malloc((size_t)size * sizeof *sums);
  MPI_Gather(&sum, 1, MPI_UNSIGNED_LONG, sums, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  for (int q = 0; rank == 0 && q < size; q++)
    printf(\"%lu\\n\", sums[q]);
  MPI_Comm_free(&part);
  MPI_Finalize();
  return 0;
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_give_different_programs() {
        assert_eq!(program(7), program(7));
        assert_ne!(program(7), program(8));
    }
}
