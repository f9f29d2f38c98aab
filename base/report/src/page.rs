//! The report as one HTML file: nothing loaded, light and dark, readable on a phone, and without a
//! script, which only sorts and filters tables and reads charts out.

use std::collections::HashSet;

use crate::escape::escape;
use crate::kind::Kind;
use crate::table::Table;

#[derive(Debug, Clone)]
pub struct Page {
    pub title: String,
    /// One paragraph below the title: machine, date, command.
    pub intro: String,
    /// Its sections, in the table of contents by title.
    pub sections: Vec<Section>,
}

/// One part of the report.
#[derive(Debug, Clone, Default)]
pub struct Section {
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
    Heading(String),
    Text(String),
    /// Text with its line ends kept, in a fixed-width face.
    Code(String),
    Table(Table),
    /// A chart of [`crate::svg`]: SVG text, taken as it is.
    Chart(String),
    /// Blocks that a click on a line shows.
    Details(String, Vec<Block>),
    /// A page of its own, by its title and its whole text, in a frame.
    Page(String, String),
}

impl Page {
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
        html + &format!("{body}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n")
    }
}

impl Section {
    /// Its entry in the contents and its text.
    fn html(
        &self,
        id: &str,
        level: usize,
        names: &mut HashSet<String>,
        contents: &mut String,
        body: &mut String,
    ) {
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
            [&self.title, &self.waits, &self.figure, &self.says, &self.verdict]
                .map(|found| escape(found));
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
            Block::Code(text) => format!(
                "<pre class=\"scroll\" tabindex=\"0\"><code>{}</code></pre>\n",
                escape(text)
            ),
            Block::Table(table) if table.n_rows() > ROWS_MAX => {
                format!(
                    "<details>\n<summary>{}: {} rows</summary>\n{}</details>\n",
                    escape(&table.title),
                    table.n_rows(),
                    table.html()
                )
            }
            Block::Table(table) => table.html(),
            Block::Chart(svg) => format!("<figure class=\"chart\">\n{svg}</figure>\n"),
            Block::Page(title, html) => {
                format!(
                    "<iframe title=\"{}\" loading=\"lazy\" srcdoc=\"{}\"></iframe>\n",
                    escape(title),
                    escape(html)
                )
            }
            Block::Details(summary, blocks) => {
                let inner: String = blocks.iter().map(Block::html).collect();
                format!("<details>\n<summary>{}</summary>\n{inner}</details>\n", escape(summary))
            }
        }
    }
}

/// A name for links, made from `title`, that is not yet in `taken`.
fn id_of(title: &str, taken: &mut HashSet<String>) -> String {
    let letters = title.to_lowercase().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let words: Vec<&str> = letters.split('-').filter(|part| !part.is_empty()).collect();
    let base = if words.is_empty() { "section".to_owned() } else { words.join("-") };
    let mut id = base.clone();
    let mut n_tried = 1;
    while !taken.insert(id.clone()) {
        n_tried += 1;
        id = format!("{base}-{n_tried}");
    }
    id
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::table::Cell;

    fn sample() -> Page {
        let mut table = Table::new("Names", &["name"]);
        table.push(vec![Cell::words("a & b")]);
        let section =
            |title: &str, blocks| Section { title: title.to_owned(), blocks, ..Section::default() };
        Page {
            title: "A <report>".to_owned(),
            intro: "One machine.".to_owned(),
            sections: vec![
                section(
                    "The cipher: speed",
                    vec![Block::Text("x < y".to_owned()), Block::Table(table)],
                ),
                section(
                    "The cipher, speed!",
                    vec![Block::Details("more".to_owned(), vec![Block::Code("a\n  b".to_owned())])],
                ),
            ],
        }
    }

    #[test]
    fn sections_contents_and_escapes() {
        let html = sample().html();
        let (_, body) = html.split_once("<body>").expect("a page has a body");
        let body = body.replace(SCRIPT, "SCRIPT\n");
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
            <script>
            SCRIPT
            </script>
            </body>
            </html>
        "##]]
        .assert_eq(&body);
    }

    /// A card leads to its section; a long table is folded, a short one is not; parts are below
    /// their section in the contents.
    #[test]
    fn cards_parts_and_folded_tables() {
        let table = |n: usize| {
            let mut table = Table::new(format!("Of {n}"), &["name"]);
            (0..n).for_each(|idx| table.push(vec![Cell::number(idx)]));
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
        let part = Section {
            title: text("Committed"),
            blocks: vec![table(ROWS_MAX)],
            ..Section::default()
        };
        let section = Section {
            title: text("The audit"),
            card: Some(card),
            blocks: vec![table(ROWS_MAX + 1)],
            parts: vec![part],
        };
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
    fn a_page_within_stays_whole() {
        let inner = "<p title=\"a & b\">x</p>";
        let html = Block::Page("Of <x>".to_owned(), inner.to_owned()).html();
        let (_, rest) = html.split_once("srcdoc=\"").expect("a frame");
        let (within, _) = rest.split_once('"').expect("its end");
        assert_eq!(
            within
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&amp;", "&"),
            inner
        );
        assert!(html.contains("title=\"Of &lt;x&gt;\""));
    }

    #[test]
    fn nothing_is_loaded() {
        let html = sample().html();
        for loader in ["http", "src=", "url(", "@import", "fetch(", "<link"] {
            assert!(!html.contains(loader), "{loader}");
        }
    }
}
