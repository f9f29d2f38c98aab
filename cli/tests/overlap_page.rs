//! The time line of a traced program in a real browser: zoom, what a call was, only one site,
//! without a network.

use crate::support::browser;

use std::process::Command;

use browser::Browser;
use serde_json::json;

/// Three exchanges that are converted, and a barrier behind each.
const PROGRAM: &str = "#include <mpi.h>
#include <stdio.h>
static double a[50000], b[50000], x[200000];
int main(int argc, char **argv) {
  int me;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int t = 0; t < 3; t++) {
    MPI_Sendrecv(a, 50000, MPI_DOUBLE, 1 - me, 3, b, 50000, MPI_DOUBLE, 1 - me, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i < 200000; i++)
      x[i] = 0.5 * x[i - 1] + i;
    a[t] = b[t + 1] + x[9];
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf(\"%g\\n\", a[2]);
  MPI_Finalize();
}
";

/// True if MPI programs can be compiled and run here; else the test is named as skipped.
fn tools() -> bool {
    let all = ["clang-19", "llvm-config-19", "cmake", "ninja", "mpicc", "mpirun", "chromedriver"];
    testkit::has("overlap page", &all)
}

#[test]
fn a_time_line_is_looked_into() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("p.c"), PROGRAM).expect("a scratch file");
    let meanwhile = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        command.current_dir(folder.path()).arg("overlap").args(args);
        command
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        let ran = command.output().expect("the binary runs");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    meanwhile(&["cc", "--", "-O2", "-g", "p.c", "-o", "p"]);
    meanwhile(&["trace", "--html", "page.html", "--", "mpirun", "-n", "2", "./p"]);

    let browser = Browser::open();
    browser.post(
        "/url",
        json!({"url": format!("file://{}", folder.path().join("page.html").display())}),
    );
    assert_eq!(browser.text("h1"), "mpirun -n 2 ./p");
    assert!(browser.text("#sum").contains("times as fast"));
    // Both ranks; each has three windows, three barriers, and what the exchanges take themselves.
    let count = |what: &str| {
        browser.script(&format!("return data.lanes.map(lane => lane.filter({what}).length)"))
    };
    assert_eq!(count("e => e[1] === 1"), json!([3, 3]));
    assert_eq!(count("e => e[1] === 0 && data.sites[e[0]].call === 'MPI_Barrier'"), json!([3, 3]));
    // No call ends after its rank does, and none begins before.
    assert_eq!(
        browser.script("return data.lanes.every((lane, rank) => lane.every(e => e[2] >= 0 && e[2] + e[3] <= data.wall_us[rank]))"),
        json!(true)
    );
    let table = browser.text("#sites");
    assert!(
        table.contains("MPI_Sendrecv") && table.contains("p.c:13 3 ") && table.contains("400000"),
        "{table}"
    );

    // What stands under the pointer: the middle of the first window of rank 1, zoomed in until it
    // is wide.
    let tip = browser.script(
        "const e = data.lanes[1].find(e => e[1] === 1); show(e[2], e[2] + e[3]);
         const box = canvas.getBoundingClientRect();
         canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + width / 2, clientY: box.top + 6 + lane + box_of()}));
         function box_of() { return 24 + 6; }
         return tip.textContent",
    );
    let tip = tip.as_str().expect("text");
    assert!(
        tip.contains("MPI_Sendrecv, window") && tip.contains("p.c:9") && tip.contains("rank 1"),
        "{tip}"
    );

    // The keyboard zooms and shows everything again.
    browser.script("canvas.focus()");
    let span = || browser.script("return to - from").as_f64().expect("a number");
    browser.press("0");
    let whole = span();
    browser.press("+");
    assert!(span() < 0.8 * whole);
    browser.press("-");
    browser.press("-");
    assert!((span() - whole).abs() < 1e-6 * whole);

    // A row of the table leaves only its calls.
    let ink = "return canvas.toDataURL()";
    let before = browser.script(ink);
    let rows = browser.elements("#sites tr");
    browser.post(&format!("/element/{}/click", rows[0]), json!({}));
    assert_eq!(browser.elements("#sites tr.chosen").len(), 1);
    assert_ne!(browser.script(ink), before);
    assert_ne!(browser.colour("light"), browser.colour("dark"));
    browser.assert_quiet();
}
