//! A traced run as one HTML page: a lane for each rank with its calls and windows, to zoom into.
//! Nothing is loaded.

use serde_json::{Value, json};

use crate::trace::Trace;

const PAGE: &str = include_str!("timeline.html");

/// The text of the page.
pub fn html(trace: &Trace, title: &str) -> String {
    let sites = trace.lost();
    let of_row: Vec<usize> = trace
        .rows
        .iter()
        .map(|row| {
            let is_same = |lost: &crate::trace::Lost| {
                (&lost.call, &lost.file, lost.line, &lost.function)
                    == (&row.call, &row.file, row.line, &row.function)
            };
            sites.iter().position(is_same).expect("each row belongs to a site")
        })
        .collect();
    let mut lanes: Vec<Vec<Value>> = vec![Vec::new(); trace.ranks as usize];
    for event in &trace.events {
        if let Some(lane) = lanes.get_mut(event.rank as usize) {
            lane.push(json!([
                of_row[event.row],
                u8::from(event.is_window),
                round(event.begin_us),
                round(event.us)
            ]));
        }
    }
    let data = json!({
        "title": title,
        "sites": sites,
        "bound": trace.bound(),
        "wall_us": trace.wall_us,
        "left_out": trace.left_out,
        "lanes": lanes,
    });
    // No text can end the script that it stands in.
    PAGE.replace("__DATA__", &data.to_string().replace('<', "\\u003c"))
}

/// To a nanosecond, which keeps the page small.
fn round(us: f64) -> f64 {
    (us * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mpi;
    use crate::trace::{Event, TraceRow};

    #[test]
    fn a_name_cannot_end_the_script() {
        let row = TraceRow {
            call: "MPI_Send".to_owned(),
            file: "</script><b>.c".to_owned(),
            line: 3,
            function: String::new(),
            rank: 0,
            count: 1,
            bytes: 8,
            nonblocking: 0,
            window_us: None,
            mpi_us: 2.0,
        };
        let event = Event { rank: 0, row: 0, is_window: false, begin_us: 1.0, us: 2.0 };
        let trace = Trace {
            mpi: Mpi::Mpich,
            ranks: 1,
            transformed: 0,
            rows: vec![row],
            agreement: None,
            wall_us: vec![9.0],
            events: vec![event],
            left_out: 0,
        };
        let html = html(&trace, "a </script>");
        assert_eq!(html.matches("</script>").count(), 1);
        assert!(html.contains("[0,0,1.0,2.0]") && html.contains("\\u003c/script>\\u003cb>.c"));
        for loader in ["http", "src=", "url(", "@import", "<link"] {
            assert!(!html.contains(loader), "{loader}");
        }
    }
}
