//! The report in a real browser: tables sort and filter, charts are read out by pointer and
//! keyboard, a phone shows all of it.

#[path = "../../cli/tests/support/browser.rs"]
mod browser;

use browser::Browser;
use report::page::{Block, Page, Section};
use report::svg::{Axis, Chart, Line, LineChart};
use report::view::{Figure, View};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

/// Names of the protocol for keys without a letter (W3C WebDriver, section 17.4.2).
const ENTER: &str = "\u{e007}";
const RIGHT: &str = "\u{e014}";
const LEFT: &str = "\u{e012}";

/// True if there is a browser here; else the test is named as skipped.
fn has_browser() -> bool {
    testkit::has("report page", &["chromedriver"])
}

/// Ten rows, two of which say nothing in the second column, a chart of two lines, and a view with
/// two of that chart.
fn page() -> Page {
    let mut table = Table::new("Cycles", &["cipher", "cycles a byte", "remark"]).kind(Kind::Model);
    for (name, cycles) in [
        ("aes", "9.5"),
        ("ace", "10.5"),
        ("gift", "-"),
        ("des", "2 [1, 3]"),
        ("present", "100"),
        ("clyde", ""),
        ("photon", "-3.5"),
    ] {
        table.push(vec![Cell::words(name), Cell::number(cycles), Cell::words("one <of> many")]);
    }
    for name in ["serpent 2", "serpent 10", "serpent 1"] {
        table.push(vec![Cell::words(name), Cell::number(50), Cell::words("three")]);
    }
    let axis = |label: &str| Axis { label: label.to_owned(), log: false };
    let line = |name: &str, by: f64| Line {
        name: name.to_owned(),
        points: [1.0, 2.0, 3.0].map(|number| (number, number * by)).to_vec(),
    };
    let chart = LineChart {
        title: "Time".to_owned(),
        kind: Kind::Sim,
        x: axis("rounds"),
        y: axis("ms"),
        lines: vec![line("before", 4.0), line("after", 2.0)],
    };
    let figure = |id: &str| Figure {
        id: id.to_owned(),
        picture: chart.for_page(),
        says: "Of all that there are.".to_owned(),
        again: "meanwhile-lab report --json".to_owned(),
        numbers: "[{\"ms\": 4}]".to_owned(),
    };
    let view = View {
        id: "time".to_owned(),
        waits: "for the next".to_owned(),
        sentence: "Takes 0.5 of the time of the rival at its best, and loses to nobody.".to_owned(),
        kind: Kind::Model,
        note: "As good as the paper.".to_owned(),
        yours: Some(["meanwhile audit FILE.c", "Any C; `meanwhile audit cpus` lists cores."]),
        figures: vec![figure("time-first"), figure("time-second")],
    };
    let section = Section {
        title: "One".to_owned(),
        blocks: vec![Block::Table(table), Block::Chart(chart.for_page())],
        parts: Vec::new(),
    };
    Page {
        title: "Report".to_owned(),
        intro: "Here.".to_owned(),
        other: None,
        views: vec![view],
        sections: vec![section],
    }
}

/// The page in the browser, from a file in the folder.
fn show(browser: &Browser) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("report.html");
    std::fs::write(&file, page().html()).expect("a scratch file");
    browser.post("/url", json!({"url": format!("file://{}", file.display())}));
    folder
}

#[test]
fn a_report_is_sorted_filtered_and_read_out() {
    if !has_browser() {
        return;
    }
    let browser = Browser::open();
    let _folder = show(&browser);
    let column = |at: usize| {
        browser.script(&format!(
            "return [...document.querySelectorAll('tbody tr')].filter(it => !it.hidden).map(it => it.cells[{at}].innerText)"
        ))
    };
    let heads = browser.elements("th button");
    let click = |element: &str| browser.post(&format!("/element/{element}/click"), json!({}));

    // Numbers by size, the first of an interval, what says nothing last in both directions.
    click(&heads[1]);
    assert_eq!(
        column(1),
        json!(["-3.5", "2 [1, 3]", "9.5", "10.5", "50", "50", "50", "100", "-", ""])
    );
    assert_eq!(
        browser.script("return document.querySelectorAll('th')[1].getAttribute('aria-sort')"),
        "ascending"
    );
    browser.press(ENTER);
    assert_eq!(
        column(1),
        json!(["100", "50", "50", "50", "10.5", "9.5", "2 [1, 3]", "-3.5", "-", ""])
    );
    assert_eq!(
        browser.script("return document.querySelectorAll('th')[1].getAttribute('aria-sort')"),
        "descending"
    );
    // Words as people count; the other column is no longer named as the sorted one.
    click(&heads[0]);
    let names = column(0);
    assert_eq!(
        names.as_array().map(|name| name[7..].to_vec()),
        Some(["serpent 1", "serpent 2", "serpent 10"].map(Value::from).to_vec())
    );
    assert_eq!(browser.elements("th[aria-sort]").len(), 1);

    // All words of the filter, in any column.
    let field = &browser.elements("input[type=search]")[0];
    browser.post(&format!("/element/{field}/value"), json!({"text": "SERPENT three 1"}));
    assert_eq!(column(0), json!(["serpent 1", "serpent 10"]));
    assert_eq!(browser.text(".filter output"), "2 of 10 rows");
    browser.script("const it = document.querySelector('input'); it.value = ''; it.dispatchEvent(new Event('input'))");
    assert_eq!(column(0).as_array().map(Vec::len), Some(10));

    // The keyboard walks along the marks, and round; the pointer says what it is on; beside the
    // marks it says nothing.
    browser.script("document.querySelector('#time-first svg').focus()");
    let said = |key: &str| {
        browser.press(key);
        browser.text(".readout")
    };
    assert_eq!(
        [RIGHT, RIGHT, LEFT, LEFT].map(said),
        ["before: 1, 4", "before: 2, 8", "before: 1, 4", "after: 3, 6"].map(|word| {
            let (name, numbers) = word.split_once(": ").expect("a name");
            let numbers: Vec<String> = numbers
                .split(", ")
                .map(|part| report::number::short(part.parse().expect("a number")))
                .collect();
            format!("{name}: {}", numbers.join(", "))
        })
    );
    let point = |x: &str| {
        browser.script(&format!(
            "const chart = document.querySelector('#time-first svg'), box = chart.querySelectorAll('circle')[1].getBoundingClientRect();
             chart.dispatchEvent(new PointerEvent('pointermove', {{clientX: {x}, clientY: box.top + 2}}));
             return document.querySelector('.readout').textContent"
        ))
    };
    assert!(point("box.left + 2").as_str().is_some_and(|text| text.starts_with("before: 2")));
    assert!(
        point("box.left + 60").as_str().is_some_and(|text| text.starts_with("point at a mark"))
    );
    // Enlarged around the mark, and whole again.
    let width = || {
        browser
            .script("return document.querySelector('#time-first svg').viewBox.baseVal.width")
            .as_f64()
            .expect("a number")
    };
    let whole = width();
    browser.press("+");
    browser.press("+");
    assert!((width() - whole / 2.25).abs() < 1.0, "{} of {whole}", width());
    browser.press("-");
    assert!((width() - whole / 1.5).abs() < 1.0, "{} of {whole}", width());
    browser.press("0");
    assert!((width() - whole).abs() < 1e-6);

    // A wide screen: a table may be wider than the text, the page is not wider than the screen, the
    // figures of a view stand side by side, and their numbers can be had.
    let screen = |width: u32, height: u32, is_mobile: bool| {
        let params =
            json!({"width": width, "height": height, "deviceScaleFactor": 2, "mobile": is_mobile});
        browser.post(
            "/goog/cdp/execute",
            json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": params}),
        );
        assert_eq!(
            browser.script("return document.documentElement.scrollWidth <= innerWidth"),
            true,
            "{width} px"
        );
    };
    screen(1400, 900, false);
    let room = "const right = it => document.querySelector(it).getBoundingClientRect().right;
         const rows = new Set([...document.querySelectorAll('.view figure')].map(it => it.getBoundingClientRect().top));
         return [right('div.scroll') - right('main') > 100, rows.size]";
    assert_eq!(browser.script(room), json!([true, 1]));
    let numbers = "const link = document.querySelector('#time-second a[download]');
         return [link.download, decodeURIComponent(link.href.split(',').slice(1).join(','))]";
    assert_eq!(browser.script(numbers), json!(["time-second.json", "[{\"ms\": 4}]"]));

    // A tablet and a phone, also on its side: nothing beside the screen but what scrolls within,
    // and no text is smaller than 12 px, that of charts as it is drawn.
    let small =
        "const seen = it => it.getClientRects().length > 0 && [...it.childNodes].some(n => n.nodeType === 3 && n.data.trim() !== '');
         const scale = it => it.ownerSVGElement ? it.ownerSVGElement.getScreenCTM().a : 1;
         const size = it => parseFloat(getComputedStyle(it).fontSize) * scale(it);
         const all = [...document.querySelectorAll('body *')].filter(it => !['SCRIPT', 'title'].includes(it.tagName) && seen(it));
         return [all.filter(it => it.ownerSVGElement).length, all.filter(it => size(it) < 11.99).map(it => it.outerHTML)]";
    for (width, height) in [(768, 1024), (740, 360), (500, 900), (360, 740)] {
        screen(width, height, true);
        let found = browser.script(small);
        assert!(
            found[0].as_u64().is_some_and(|number| number > 30) && found[1] == json!([]),
            "{width} px: {found}"
        );
    }
    // The drawing for phones is read out as well.
    let shown = browser.script("return [...document.querySelectorAll('#time-first svg')].map(it => it.getClientRects().length)");
    assert_eq!(shown, json!([0, 1]), "one of the two drawings");
    browser.script("document.querySelectorAll('#time-first svg')[1].focus()");
    assert!(said(RIGHT).starts_with("before: 1"));
    assert_ne!(browser.colour("light"), browser.colour("dark"));
    browser.assert_quiet();
}

#[test]
fn a_report_without_a_script_shows_the_same() {
    if !has_browser() {
        return;
    }
    let browser = Browser::open();
    browser.post(
        "/goog/cdp/execute",
        json!({"cmd": "Emulation.setScriptExecutionDisabled", "params": {"value": true}}),
    );
    let _folder = show(&browser);
    let text = browser.text("table");
    assert!(
        text.contains("cipher cycles a byte remark") && text.contains("photon -3.5 one <of> many"),
        "{text}"
    );
    assert!(
        browser.elements("th button").is_empty()
            && browser.elements("input").is_empty()
            && !browser.elements("circle").is_empty()
    );
}
