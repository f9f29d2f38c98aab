//! What of a report is mailed: of each system a sentence and a few figures, each with a name to link
//! to, the command that makes it again, and its numbers.

use crate::escape::{escape, percent, prose};
use crate::kind::Kind;

/// What one system comes to.
#[derive(Debug, Clone)]
pub struct View {
    /// What it is about, a word; also the name of its place.
    pub id: String,
    /// What waits, and for what.
    pub waits: String,
    /// What it gains, beside whom, and where it loses.
    pub sentence: String,
    /// What kind of numbers these are.
    pub kind: Kind,
    /// Machine, settings, and what else has to be known.
    pub note: String,
    /// The command for the reader's own program, and what that may be, with code in backticks.
    pub yours: Option<[&'static str; 2]>,
    pub figures: Vec<Figure>,
}

/// A picture that can be cited, made again and computed with.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The name of its place, `audit-fast-path`.
    pub id: String,
    /// A chart of [`crate::svg`].
    pub picture: String,
    /// What it shows, beside whom, on which machine and day.
    pub says: String,
    /// The command that makes it again.
    pub again: String,
    /// Its numbers, as JSON.
    pub numbers: String,
}

impl View {
    /// The names of its places.
    pub(crate) fn ids(&self) -> impl Iterator<Item = String> {
        std::iter::once(&self.id).chain(self.figures.iter().map(|it| &it.id)).cloned()
    }

    pub(crate) fn html(&self) -> String {
        let [id, waits, sentence, note] =
            [&self.id, &self.waits, &self.sentence, &self.note].map(|text| escape(text));
        let figures: String = self.figures.iter().map(Figure::html).collect();
        let yours = self.yours.map_or(String::new(), |[command, what]| {
            let (command, what) = (escape(command), prose(what));
            format!("<p class=\"yours\">Your own: <code>{command}</code><br>{what}</p>\n")
        });
        format!(
            "<section class=\"view\" id=\"{id}\">\n<h2>{id} <small>{waits}</small></h2>\n\
             <p class=\"sentence\">{sentence} <span class=\"kind\">{}</span></p>\n\
             <p class=\"note\">{note}</p>\n{yours}<div class=\"figures\">\n{figures}</div>\n</section>\n",
            self.kind
        )
    }
}

impl Figure {
    fn html(&self) -> String {
        let [id, says, again] = [&self.id, &self.says, &self.again].map(|text| escape(text));
        format!(
            "<figure class=\"chart\" id=\"{id}\">\n{}<figcaption>{says}</figcaption>\n\
             <p class=\"again\"><a href=\"#{id}\">{id}</a> <code>{again}</code> \
             <a download=\"{id}.json\" href=\"data:application/json,{}\">numbers</a></p>\n</figure>\n",
            self.picture,
            percent(&self.numbers, b"-._~")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_a_name_its_command_and_its_numbers() {
        let figure = Figure {
            id: "a-b".to_owned(),
            picture: "<svg></svg>".to_owned(),
            says: "x < y".to_owned(),
            again: "meanwhile a > b".to_owned(),
            numbers: "[{\"a\": 1}]".to_owned(),
        };
        let html = figure.html();
        for part in [
            "<figure class=\"chart\" id=\"a-b\">",
            "<figcaption>x &lt; y</figcaption>",
            "<code>meanwhile a &gt; b</code>",
            "download=\"a-b.json\" href=\"data:application/json,%5B%7B%22a%22%3A%201%7D%5D\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(percent("{\"a\": 1}", b"-._~"), "%7B%22a%22%3A%201%7D");
    }
}
