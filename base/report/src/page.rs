//! The report as one HTML file: nothing loaded, light and dark, readable on a phone, and without a
//! script, which only sorts and filters tables and reads charts out.

use std::collections::HashSet;

use crate::escape::{escape, prose};
use crate::table::Table;
use crate::view::View;

#[derive(Debug, Clone)]
pub struct Page {
    pub title: String,
    /// One paragraph below the title: machine, date, command, with code in backticks.
    pub intro: String,
    /// Another page beside it: its file, and what it has.
    pub other: Option<(String, String)>,
    /// What stands before all sections.
    pub views: Vec<View>,
    /// Its sections, in the table of contents by title.
    pub sections: Vec<Section>,
}

/// One part of the report.
#[derive(Debug, Clone, Default)]
pub struct Section {
    pub title: String,
    /// What it shows, from top to bottom.
    pub blocks: Vec<Block>,
    /// What belongs to it and has titles of its own.
    pub parts: Vec<Section>,
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
            prose(&self.intro)
        );
        if let Some((file, what)) = &self.other {
            html += &format!("<p><a href=\"{}\">{}</a></p>\n", escape(file), escape(what));
        }
        html += &self.views.iter().map(View::html).collect::<String>();
        let mut names: HashSet<String> = self.views.iter().flat_map(View::ids).collect();
        let (mut contents, mut body) = (String::new(), String::new());
        for section in &self.sections {
            let id = id_of(&section.title, &mut names);
            section.html(&id, 2, &mut names, &mut contents, &mut body);
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
    use crate::kind::Kind;
    use crate::table::Cell;

    fn sample() -> Page {
        let mut table = Table::new("Names", &["name"]);
        table.push(vec![Cell::words("a & b")]);
        let section =
            |title: &str, blocks| Section { title: title.to_owned(), blocks, ..Section::default() };
        Page {
            title: "A <report>".to_owned(),
            intro: "One machine.".to_owned(),
            other: None,
            views: Vec::new(),
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

    /// Views come first; a long table is folded, a short one is not; parts are below their section
    /// in the contents, and no two places have one name.
    #[test]
    fn views_parts_and_folded_tables() {
        let table = |n: usize| {
            let mut table = Table::new(format!("Of {n}"), &["name"]);
            (0..n).for_each(|idx| table.push(vec![Cell::number(idx)]));
            Block::Table(table)
        };
        let text = |text: &str| text.to_owned();
        let view = View {
            id: text("audit"),
            waits: text("a <flag>"),
            sentence: text("Takes 5 cycles."),
            kind: Kind::Model,
            note: text("Good."),
            yours: Some(["t <FILE>", "Any; `t` is <t>."]),
            figures: Vec::new(),
        };
        let part = Section {
            title: text("Committed"),
            blocks: vec![table(ROWS_MAX)],
            ..Section::default()
        };
        let section =
            Section { title: text("Audit"), blocks: vec![table(ROWS_MAX + 1)], parts: vec![part] };
        let other = Some((text("all.html"), text("More")));
        let page = Page {
            title: text("T"),
            intro: text("I"),
            other,
            views: vec![view],
            sections: vec![section],
        };
        let html = page.html();
        let at = |words: &str| html.find(words).unwrap_or_else(|| panic!("no `{words}` in {html}"));
        let order = [
            "<a href=\"all.html\">More</a>",
            "<section class=\"view\" id=\"audit\">",
            "a &lt;flag&gt;",
            "Takes 5 cycles. <span class=\"kind\">model</span>",
            "Your own: <code>t &lt;FILE&gt;</code><br>Any; <code>t</code> is &lt;t&gt;.",
            "<nav",
            "<li><a href=\"#audit-2\">Audit</a>\n<ol>\n<li><a href=\"#committed\">Committed</a></li>",
            "<section id=\"audit-2\">",
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
