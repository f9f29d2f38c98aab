//! The report as one HTML file: no script, nothing loaded, light and dark, readable on a phone.

use std::collections::HashSet;

use crate::escape::escape;
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
#[derive(Debug, Clone)]
pub struct Section {
    /// Its title.
    pub title: String,
    /// What it shows, from top to bottom.
    pub blocks: Vec<Block>,
}

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
        let mut names = HashSet::new();
        let ids: Vec<String> = self.sections.iter().map(|it| id_of(&it.title, &mut names)).collect();
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
             <body>\n<main>\n<h1>{title}</h1>\n<p>{}</p>\n",
            escape(&self.intro)
        );
        if !self.sections.is_empty() {
            html += "<nav aria-label=\"Contents\">\n<ol>\n";
            for (section, id) in self.sections.iter().zip(&ids) {
                html += &format!("<li><a href=\"#{id}\">{}</a></li>\n", escape(&section.title));
            }
            html += "</ol>\n</nav>\n";
        }
        for (section, id) in self.sections.iter().zip(&ids) {
            html += &format!("<section id=\"{id}\">\n<h2>{}</h2>\n", escape(&section.title));
            for block in &section.blocks {
                html += &block.html();
            }
            html += "</section>\n";
        }
        html += "</main>\n</body>\n</html>\n";
        html
    }
}

impl Block {
    fn html(&self) -> String {
        match self {
            Block::Heading(text) => format!("<h3>{}</h3>\n", escape(text)),
            Block::Text(text) => format!("<p>{}</p>\n", escape(text)),
            Block::Code(text) => format!("<pre class=\"scroll\" tabindex=\"0\"><code>{}</code></pre>\n", escape(text)),
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
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #e4e7ea; --faint: #9aa4af; --line: #363c43; --panel: #1e2226;
    --link: #7cb8f2; --good: #5fce8d; --bad: #ff8f80;
    --series-1: #56b4e9; --series-2: #f28e4b; --series-3: #34c79a;
    --series-4: #e3a2c8; --series-5: #f0c040; --series-6: #9ad0f5;
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
nav { background: var(--panel); border-radius: 6px; padding: 0.3rem 1rem; }
nav ol { margin: 0.4rem 0; padding-left: 1.4rem; }
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
summary { cursor: pointer; color: var(--link); }
";

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::table::Cell;

    fn sample() -> Page {
        let mut table = Table::new("Names", &["name"]);
        table.push(vec![Cell::words("a & b")]);
        let section = |title: &str, blocks| Section { title: title.to_owned(), blocks };
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
            <p>One machine.</p>
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

    #[test]
    fn nothing_is_loaded() {
        let html = sample().html();
        for loader in ["http", "src=", "url(", "@import", "<script", "<link"] {
            assert!(!html.contains(loader), "{loader}");
        }
    }
}
