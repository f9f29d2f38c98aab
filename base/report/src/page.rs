//! The report as one HTML file: no script, nothing loaded, light and dark, readable on a phone.

use std::collections::HashSet;

use crate::escape::escape;
use crate::kind::Kind;
use crate::table::Table;

/// The whole report.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// One paragraph below the title: machine, date, command.
    pub intro: String,
    /// Its sections, in the table of contents by title.
    pub sections: Vec<Section>,
}

/// One part of the report.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Its title.
    pub title: String,
    /// What of it is on the first screen.
    pub card: Option<Card>,
    /// What it shows, from top to bottom.
    pub blocks: Vec<Block>,
    /// What belongs to it and has titles of its own.
    pub parts: Vec<Section>,
}

/// A section in a few lines and one picture, which lead to it.
#[derive(Debug, Clone)]
pub struct Card {
    /// What it is about, a word.
    pub title: String,
    /// What waits, and for what.
    pub waits: String,
    /// The one figure, with its unit.
    pub figure: String,
    /// What kind of number it is.
    pub kind: Kind,
    /// What the figure is of, a sentence.
    pub says: String,
    /// How it stands beside the paper, and beside others.
    pub verdict: String,
    /// A chart of [`crate::svg`].
    pub picture: Option<String>,
}

/// Tables of more rows are folded: the figures come first.
const ROWS_MAX: usize = 16;

/// One piece of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// A smaller heading.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Text with its line ends kept, in a fixed-width face.
    Code(String),
    /// A table.
    Table(Table),
    /// A chart of [`crate::svg`]: SVG text, taken as it is.
    Chart(String),
    /// Blocks behind a line to click on.
    Details(String, Vec<Block>),
}

impl Page {
    /// The file's text.
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
             <body>\n<main>\n<h1>{title}</h1>\n<p class=\"note\">{}</p>\n",
            escape(&self.intro)
        );
        let mut names = HashSet::new();
        let (mut cards, mut contents, mut body) = (String::new(), String::new(), String::new());
        for section in &self.sections {
            let id = id_of(&section.title, &mut names);
            cards += &section.card.as_ref().map_or(String::new(), |it| it.html(&id));
            section.html(&id, 2, &mut names, &mut contents, &mut body);
        }
        if !cards.is_empty() {
            html += &format!("<div class=\"cards\">\n{cards}</div>\n");
        }
        if !contents.is_empty() {
            html += &format!("<nav aria-label=\"Contents\">\n<ol>\n{contents}</ol>\n</nav>\n");
        }
        html + &body + "</main>\n</body>\n</html>\n"
    }
}

impl Section {
    /// Its entry in the contents and its text.
    fn html(&self, id: &str, level: usize, names: &mut HashSet<String>, contents: &mut String, body: &mut String) {
        let title = escape(&self.title);
        *contents += &format!("<li><a href=\"#{id}\">{title}</a>");
        *body += &format!("<section id=\"{id}\">\n<h{level}>{title}</h{level}>\n");
        *body += &self.blocks.iter().map(Block::html).collect::<String>();
        if !self.parts.is_empty() {
            *contents += "\n<ol>\n";
            for part in &self.parts {
                let id = id_of(&part.title, names);
                part.html(&id, level + 1, names, contents, body);
            }
            *contents += "</ol>\n";
        }
        *contents += "</li>\n";
        *body += "</section>\n";
    }
}

impl Card {
    fn html(&self, id: &str) -> String {
        let [title, waits, figure, says, verdict] =
            [&self.title, &self.waits, &self.figure, &self.says, &self.verdict].map(|it| escape(it));
        let picture = self.picture.as_deref().unwrap_or_default();
        format!(
            "<article class=\"card\">\n<h2><a href=\"#{id}\">{title}</a></h2>\n<p class=\"waits\">{waits}</p>\n\
             <p class=\"figure\">{figure} <span class=\"kind\">{}</span></p>\n<p>{says}</p>\n<p class=\"note\">{verdict}</p>\n{picture}</article>\n",
            self.kind
        )
    }
}

impl Block {
    fn html(&self) -> String {
        match self {
            Block::Heading(text) => format!("<h3>{}</h3>\n", escape(text)),
            Block::Text(text) => format!("<p>{}</p>\n", escape(text)),
            Block::Code(text) => format!("<pre class=\"scroll\" tabindex=\"0\"><code>{}</code></pre>\n", escape(text)),
            Block::Table(table) if table.n_rows() > ROWS_MAX => {
                format!("<details>\n<summary>{}: {} rows</summary>\n{}</details>\n", escape(&table.title), table.n_rows(), table.html())
            }
            Block::Table(table) => table.html(),
            Block::Chart(svg) => format!("<figure class=\"chart\">\n{svg}</figure>\n"),
            Block::Details(summary, blocks) => {
                let inner: String = blocks.iter().map(Block::html).collect();
                format!("<details>\n<summary>{}</summary>\n{inner}</details>\n", escape(summary))
            }
        }
    }
}

/// A name for links, made from `title`, that is not yet in `taken`.
fn id_of(title: &str, taken: &mut HashSet<String>) -> String {
    let letters = title.to_lowercase().replace(|it: char| !it.is_ascii_alphanumeric(), "-");
    let words: Vec<&str> = letters.split('-').filter(|it| !it.is_empty()).collect();
    let base = if words.is_empty() { "section".to_owned() } else { words.join("-") };
    let mut id = base.clone();
    let mut n_tried = 1;
    while !taken.insert(id.clone()) {
        n_tried += 1;
        id = format!("{base}-{n_tried}");
    }
    id
}

const STYLE: &str = "\
:root {
  --paper: #ffffff; --ink: #1b1f24; --faint: #5c6570; --line: #d5dae0; --panel: #f4f6f8;
  --link: #0b5cad; --good: #11703c; --bad: #b42318;
  --series-1: #0072b2; --series-2: #d55e00; --series-3: #009e73;
  --series-4: #b0558f; --series-5: #9a6f00; --series-6: #2f9bd6;
  --series-7: #7f3b08; --series-8: #5e4fa2; --series-9: #6b6b6b;
  --series-10: #d0147c; --series-11: #5a8f16; --series-12: #004d40;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #e4e7ea; --faint: #9aa4af; --line: #363c43; --panel: #1e2226;
    --link: #7cb8f2; --good: #5fce8d; --bad: #ff8f80;
    --series-1: #56b4e9; --series-2: #f28e4b; --series-3: #34c79a;
    --series-4: #e3a2c8; --series-5: #f0c040; --series-6: #9ad0f5;
    --series-7: #c98b57; --series-8: #a99ae0; --series-9: #b8b8b8;
    --series-10: #ff7fbf; --series-11: #a6d854; --series-12: #7fd6c2;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.3rem; margin: 2.2rem 0 0.5rem; border-bottom: 1px solid var(--line); padding-bottom: 0.2rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 0.3rem; }
p { max-width: 46rem; overflow-wrap: anywhere; }
a { color: var(--link); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); gap: 0.7rem; margin: 1rem calc(50% - min(48vw, 50rem)); }
.card { border: 1px solid var(--line); border-radius: 6px; padding: 0.6rem 0.8rem; display: flex; flex-direction: column; }
.card h2 { margin: 0; border: 0; padding: 0; font-size: 1.1rem; }
.card p { margin: 0.2rem 0; font-size: 0.85rem; line-height: 1.4; }
.card .waits { color: var(--faint); }
.card .figure { font-size: 1.3rem; line-height: 1.3; font-weight: 600; margin: 0.3rem 0; }
.card svg.chart { margin-top: auto; }
nav { background: var(--panel); border-radius: 6px; padding: 0.3rem 1rem; }
nav ol { margin: 0.4rem 0; padding-left: 1.4rem; }
nav ol ol { columns: 16rem; margin: 0; font-size: 0.9rem; }
figure { margin: 1.2rem 0; }
figcaption { font-weight: 600; margin-bottom: 0.3rem; }
.kind { font-weight: 400; font-size: 0.8rem; color: var(--faint); border: 1px solid var(--line); border-radius: 4px; padding: 0 0.3rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.2rem 0.7rem 0.2rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th.number, td.number { text-align: right; }
th { color: var(--faint); font-weight: 600; }
td.good { color: var(--good); } td.bad { color: var(--bad); } td.faint { color: var(--faint); }
.note { color: var(--faint); font-size: 0.85rem; margin: 0.4rem 0; }
pre { background: var(--panel); border-radius: 6px; padding: 0.7rem; font-size: 0.85rem; line-height: 1.4; }
svg.chart { display: block; width: 100%; max-width: 40rem; height: auto; }
summary { cursor: pointer; color: var(--link); margin: 0.6rem 0; }
@media print {
  details::details-content { content-visibility: visible; display: block; }
  th, td { white-space: normal; padding-right: 0.3rem; }
  table { font-size: 0.6rem; }
  .scroll { overflow: visible; }
  figure, .card { break-inside: avoid; }
  pre { white-space: pre-wrap; }
}
";

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::table::Cell;

    fn sample() -> Page {
        let mut table = Table::new("Names", &["name"]);
        table.push(vec![Cell::words("a & b")]);
        let section = |title: &str, blocks| Section { title: title.to_owned(), blocks, ..Section::default() };
        Page {
            title: "A <report>".to_owned(),
            intro: "One machine.".to_owned(),
            sections: vec![
                section("The cipher: speed", vec![Block::Text("x < y".to_owned()), Block::Table(table)]),
                section("The cipher, speed!", vec![Block::Details("more".to_owned(), vec![Block::Code("a\n  b".to_owned())])]),
            ],
        }
    }

    #[test]
    fn sections_contents_and_escapes() {
        let html = sample().html();
        let (_, body) = html.split_once("<body>").expect("a page has a body");
        expect![[r##"

            <main>
            <h1>A &lt;report&gt;</h1>
            <p class="note">One machine.</p>
            <nav aria-label="Contents">
            <ol>
            <li><a href="#the-cipher-speed">The cipher: speed</a></li>
            <li><a href="#the-cipher-speed-2">The cipher, speed!</a></li>
            </ol>
            </nav>
            <section id="the-cipher-speed">
            <h2>The cipher: speed</h2>
            <p>x &lt; y</p>
            <figure class="table">
            <figcaption>Names</figcaption>
            <div class="scroll" tabindex="0" role="region" aria-label="Names">
            <table>
            <thead><tr><th scope="col">name</th></tr></thead>
            <tbody>
            <tr><td>a &amp; b</td></tr>
            </tbody>
            </table>
            </div>
            </figure>
            </section>
            <section id="the-cipher-speed-2">
            <h2>The cipher, speed!</h2>
            <details>
            <summary>more</summary>
            <pre class="scroll" tabindex="0"><code>a
              b</code></pre>
            </details>
            </section>
            </main>
            </body>
            </html>
        "##]]
        .assert_eq(body);
    }

    /// A card leads to its section; a long table is folded, a short one is not; parts are below their section in the contents.
    #[test]
    fn cards_parts_and_folded_tables() {
        let table = |n: usize| {
            let mut table = Table::new(format!("Of {n}"), &["name"]);
            (0..n).for_each(|it| table.push(vec![Cell::number(it)]));
            Block::Table(table)
        };
        let text = |text: &str| text.to_owned();
        let card = Card {
            title: text("audit"),
            waits: text("a <flag>"),
            figure: text("5 cycles"),
            kind: Kind::Model,
            says: text("Of all."),
            verdict: text("Good."),
            picture: None,
        };
        let part = Section { title: text("Committed"), blocks: vec![table(ROWS_MAX)], ..Section::default() };
        let section = Section { title: text("The audit"), card: Some(card), blocks: vec![table(ROWS_MAX + 1)], parts: vec![part] };
        let html = Page { title: text("T"), intro: text("I"), sections: vec![section] }.html();
        let at = |words: &str| html.find(words).unwrap_or_else(|| panic!("no `{words}` in {html}"));
        let order = [
            "<h2><a href=\"#the-audit\">audit</a></h2>",
            "a &lt;flag&gt;",
            "5 cycles <span class=\"kind\">model</span>",
            "<nav",
            "<li><a href=\"#the-audit\">The audit</a>\n<ol>\n<li><a href=\"#committed\">Committed</a></li>",
            "<section id=\"the-audit\">",
            "<summary>Of 17: 17 rows</summary>",
            "<section id=\"committed\">\n<h3>Committed</h3>\n<figure class=\"table\">",
        ];
        assert!(order.map(at).is_sorted(), "{html}");
    }

    #[test]
    fn nothing_is_loaded() {
        let html = sample().html();
        for loader in ["http", "src=", "url(", "@import", "<script", "<link"] {
            assert!(!html.contains(loader), "{loader}");
        }
    }
}
