//! Charts as SVG text: bars in groups, ratios with intervals, lines on plain or logarithmic axes,
//! flame graphs.
//!
//! A chart is 480 units wide and as high as it needs; in the report there is a second one of 300
//! units with larger text, for a phone. Colours are CSS variables with a value for a page that sets
//! none; text and axes take the colour of the page, so one file serves light and dark.

mod bars;
mod canvas;
mod chart;
mod flame;
mod gantt;
mod lines;
mod ratios;
mod ticks;

pub use bars::{BarChart, Series};
pub use chart::Chart;
pub use flame::FlameGraph;
pub use gantt::{Bar, GanttChart};
pub use lines::{Axis, Line, LineChart};
pub use ratios::{Ratio, RatioChart};

/// Charts below each other in one file.
pub fn stacked(charts: &[String]) -> String {
    let mut body = String::new();
    let mut top = 0.0;
    for chart in charts {
        let height: f64 = chart
            .split_once("viewBox=\"0 0 480 ")
            .and_then(|(_, rest)| rest.split_once('"')?.0.parse().ok())
            .expect("a chart of ours says how high it is");
        body.push_str(&chart.replacen(
            "<svg ",
            &format!("<svg y=\"{top}\" height=\"{height}\" "),
            1,
        ));
        top += height + 16.0;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 480 {top}\" width=\"960\">\n{body}</svg>\n"
    )
}
