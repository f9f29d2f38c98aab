//! What every chart can do: be a file of its own, or a figure of the report.

use super::canvas::{Canvas, NARROW, Sheet, WIDE};

/// A chart that draws itself on either sheet.
pub trait Chart {
    fn title(&self) -> &str;

    /// The drawing, and how high it is.
    fn draw(&self, sheet: Sheet) -> (Canvas, f64);

    /// The chart as SVG text, for a file.
    fn svg(&self) -> String {
        let (canvas, height) = self.draw(WIDE);
        canvas.finish(self.title(), height)
    }

    /// The chart for the report: once for windows and paper, once for phones. The page's style
    /// shows one of them.
    fn for_page(&self) -> String {
        let (canvas, height) = self.draw(NARROW);
        self.svg() + &canvas.finish(self.title(), height)
    }
}
