//! `meanwhile audit FILE --all-functions`: each function in few numbers, the worst first.

use audit::audit::Options;
use audit::facts::recorded::Recorded;
use audit::ranking::{Ranking, objects, ranking, table};
use audit::timing::licence::Effort;
use serde_json::json;

use super::options::{Loaded, Reading};
use crate::output::{Failure, Output};

pub fn run(
    loaded: &Loaded,
    how: &Reading,
    function: Option<&str>,
    recorded: Option<Recorded>,
    out: &mut Output,
) -> Result<(), Failure> {
    let Some(core) = how.core(loaded) else {
        let help = "--spills counts what was spilled; --function shows one function without cycles";
        return Err(Failure::user(
            format!(
                "`{}` reorders instructions: no model here says when one waits",
                loaded.code.cpu
            ),
            Some(help),
        ));
    };
    let is_recorded = recorded.is_some();
    let options =
        Options { avoid: how.avoid.clone(), through: Vec::new(), effort: Effort::Bounds, recorded };
    let found = loaded.code.chosen(function).map_err(|error| Failure::User(vec![error]))?;
    let Ranking { rows, refused } = ranking(&found, &core, &options);
    let refused: Vec<String> = refused.into_iter().map(|error| error.message).collect();
    let n_all = rows.len();
    let listed = &rows[..how.limit.unwrap_or(n_all).min(n_all)];
    if listed.is_empty() && is_recorded {
        return Err(Failure::user(
            "no function ran in the recording",
            Some("a program that was moved when it was loaded needs --path FILE@ADDRESS"),
        ));
    }
    out.text(&table(listed, &loaded.code.cpu, is_recorded).terminal(None));
    if listed.len() < n_all {
        out.line(&format!("{} more functions; --limit shows more", n_all - listed.len()));
    }
    let n_open = listed.iter().filter(|(_, it)| it.n_open > 0).count();
    if n_open > 0 {
        out.line(&format!(
            "{n_open} of these functions are written over in places where it is not known what stands there when the kernel runs: see one of them with --function"
        ));
    }
    for message in refused.iter().take(5) {
        out.warning(message);
    }
    if refused.len() > 5 {
        out.warning(&format!("{} more functions could not be read", refused.len() - 5));
    }
    out.object(&json!({"ok": true, "file": loaded.code.name, "cpu": loaded.code.cpu, "kind": "model", "functions": objects(listed), "refused": refused}));
    Ok(())
}
