//! An audit as people and programs read it.

pub mod editor;
pub mod html;
pub mod json;
mod limits;
pub mod loops;
pub mod text;

use report::escape::escape;

/// Text with what stands in backquotes as code.
fn coded(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    pieces
        .map(
            |(idx, piece)| {
                if idx % 2 == 1 { format!("<code>{}</code>", escape(piece)) } else { escape(piece) }
            },
        )
        .collect()
}
