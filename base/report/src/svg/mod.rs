//! Charts as SVG text: bars in groups, ratios with intervals, lines on plain or logarithmic axes.
//!
//! A chart is 480 units wide and as high as it needs, so that its text stays readable on a
//! phone. Colours are CSS variables with a value for a page that sets none; text and axes
//! take the colour of the page, so one file serves light and dark.

mod bars;
mod canvas;
mod lines;
mod ratios;
mod ticks;

pub use bars::{BarChart, Series};
pub use lines::{Axis, Line, LineChart};
pub use ratios::{Ratio, RatioChart};
