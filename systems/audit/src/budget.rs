//! Limits for functions, and what keeps to them: a gate for continuous integration.
//!
//! ```toml
//! [[function]]
//! name = "fastpath_call"
//! file = "kernel.elf"         # or C or assembly; relative to this file
//! cpu = "cortex-a53"
//! cycles = 120                # of the hot path, at most; or
//! not_worse_than = "old.elf"  # the cycles that the function takes there
//! ```

use std::path::{Path, PathBuf};

use report::{Diagnostic, SourceFile, Span};
use serde::Deserialize;
use serde_json::{Value, json};
use toml::Spanned;

use crate::audit::Audit;
use crate::finding::Finding;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub function: String,
    /// The file that it is in.
    pub file: PathBuf,
    pub cpu: Option<String>,
    /// What it may cost.
    pub limit: Limit,
    /// Functions that are only called when something went wrong.
    pub avoid: Vec<String>,
    /// The compiler for C and assembly.
    pub cc: Option<String>,
    pub cflags: Option<String>,
    /// A build's list of commands, in place of the two above.
    pub compile_commands: Option<PathBuf>,
    /// Cycles that memory with the program adds where control goes elsewhere.
    pub flash_wait: u32,
    /// What is known of a kernel's start: features, or the log of one.
    pub boot: Vec<String>,
    /// The line of the limit in its file, from 1.
    pub line: u32,
}

/// What a function may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    Cycles(u32),
    /// As many as in this file.
    File(PathBuf),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    function: Vec<Spanned<BudgetRow>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetRow {
    name: String,
    file: PathBuf,
    cpu: Option<String>,
    cycles: Option<u32>,
    not_worse_than: Option<PathBuf>,
    #[serde(default)]
    #[serde(alias = "cold")]
    avoid: Vec<String>,
    cc: Option<String>,
    cflags: Option<String>,
    compile_commands: Option<PathBuf>,
    #[serde(default)]
    flash_wait: u8,
    #[serde(default)]
    boot: Vec<String>,
}

/// Reads a file of limits; paths in it are relative to its folder.
///
/// Errors: what is wrong with the text, where.
pub fn parse(path: &Path, text: &str) -> Result<Vec<Entry>, Vec<Diagnostic>> {
    let file = SourceFile::new(path.display().to_string(), text);
    let read: Text = toml::from_str(text).map_err(|error| {
        let said = Diagnostic::new(error.message().to_owned());
        vec![match error.span() {
            Some(span) => said.at(Span::new(&file, span), "here"),
            None => said,
        }]
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let (mut entries, mut wrong) = (Vec::new(), Vec::new());
    for row in read.function {
        let span = Span::new(&file, row.span());
        let line = u32::try_from(span.line_column().0).unwrap_or(u32::MAX);
        let row = row.into_inner();
        let limit = match (row.cycles, row.not_worse_than) {
            (Some(cycles), None) => Limit::Cycles(cycles),
            (None, Some(other)) => Limit::File(folder.join(other)),
            (none, _) => {
                let what = if none.is_none() { "no limit" } else { "two limits" };
                let said = Diagnostic::new(format!("function `{}` has {what}", row.name))
                    .at(span, "this function");
                wrong.push(said.with_help("write either `cycles` or `not_worse_than`"));
                continue;
            }
        };
        // A log is a file, anything else a word.
        let boot = |word: String| match word == "none" || word.contains('=') {
            true => word,
            false => folder.join(word).display().to_string(),
        };
        entries.push(Entry {
            function: row.name,
            file: folder.join(row.file),
            cpu: row.cpu,
            limit,
            avoid: row.avoid,
            cc: row.cc,
            cflags: row.cflags,
            compile_commands: row
                .compile_commands
                .map(|compile_command| folder.join(compile_command)),
            flash_wait: row.flash_wait.into(),
            boot: row.boot.into_iter().map(boot).collect(),
            line,
        });
    }
    if wrong.is_empty() { Ok(entries) } else { Err(wrong) }
}

/// What became of one limit.
#[derive(Debug)]
pub enum Verdict {
    /// The function was compared with it.
    Judged(Checked),
    /// It was not, and that is no pass.
    NotJudged(NotJudged),
}

/// A function that could not be compared with its limit.
#[derive(Debug)]
pub struct NotJudged {
    pub entry: Entry,
    pub said: String,
    /// What to do, if that is known.
    pub help: Option<String>,
}

impl Verdict {
    pub fn entry(&self) -> &Entry {
        match self {
            Verdict::Judged(it) => &it.entry,
            Verdict::NotJudged(it) => &it.entry,
        }
    }

    /// The machine that was meant, as far as that is known.
    pub fn cpu(&self) -> &str {
        match self {
            Verdict::Judged(it) => &it.cpu,
            Verdict::NotJudged(it) => it.entry.cpu.as_deref().unwrap_or("?"),
        }
    }

    /// With keys that stay; what is not known is null.
    pub fn to_json(&self) -> Value {
        match self {
            Verdict::Judged(it) => it.to_json(),
            Verdict::NotJudged(it) => json!({
                "function": it.entry.function,
                "file": it.entry.file.display().to_string(),
                "cpu": it.entry.cpu,
                "kind": "model",
                "cycles": null,
                "allowed": null,
                "kept": null,
                "not_judged": it.said,
                "causes": [],
            }),
        }
    }
}

/// No more instructions, and the function does no work of its own: a jump to what it was,
/// a result, a return.
const STUB_INSTRUCTIONS_MAX: usize = 4;
/// So many times its cycles a budget allows that was not made for what the function is now.
const STUB_SHRANK: u32 = 4;

/// A function against its limit.
#[derive(Debug)]
pub struct Checked {
    pub entry: Entry,
    /// The machine that was meant.
    pub cpu: String,
    /// Cycles of the hot path.
    pub cycles: u32,
    /// Cycles that it may take.
    pub allowed: u32,
    /// The instructions that made the difference, worst first; empty if the limit is kept.
    pub causes: Vec<BudgetCause>,
}

/// An instruction that costs cycles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetCause {
    /// Where in the source; none without line information.
    pub place: Option<(String, u32)>,
    pub address: u64,
    /// What it is, and what for, in words.
    pub said: String,
    pub cycles: u32,
}

impl Checked {
    /// Compares `now` with the limit; `before` is the audit of the other file, if
    /// that is the limit.
    ///
    /// Errors: a machine that reorders has no cycles, and of a stub they say nothing.
    pub fn new(entry: Entry, now: &Audit, before: Option<&Audit>) -> Result<Checked, Diagnostic> {
        let cycles = |audit: &Audit| audit.timed.as_ref().map(|timed| timed.cycles.total_cycles);
        let none = || {
            Diagnostic::new(format!(
                "`{}` reorders instructions, so nothing is said about cycles",
                now.cpu
            ))
        };
        let total = cycles(now).ok_or_else(none)?;
        let allowed = match (&entry.limit, before) {
            (Limit::Cycles(cycles), _) => *cycles,
            (Limit::File(_), Some(before)) => cycles(before).ok_or_else(none)?,
            (Limit::File(path), None) => panic!("the limit {} was audited", path.display()),
        };
        let n = now.function.instructions.len();
        if n <= STUB_INSTRUCTIONS_MAX && total.saturating_mul(STUB_SHRANK) <= allowed {
            let take = if n == 1 { "instruction takes" } else { "instructions take" };
            let said =
                format!("`{}` is a stub: {n} {take} {total} cycles of {allowed}", entry.function);
            let help = "name the function that does the work now, or lower the limit if this is all that it is to do";
            return Err(Diagnostic::new(said).with_help(help));
        }
        let mut causes = Vec::new();
        if total > allowed {
            let is_new = |finding: &&Finding| {
                before.is_none_or(|old| !old.findings.iter().any(|other| is_same(finding, other)))
            };
            causes = now
                .findings
                .iter()
                .filter(is_new)
                .filter(|finding| finding.cycles > 0)
                .map(|finding| cause(now, finding))
                .collect();
            causes.sort_by_key(|cause| std::cmp::Reverse(cause.cycles));
        }
        Ok(Checked { entry, cpu: now.cpu.clone(), cycles: total, allowed, causes })
    }

    /// True if the limit is kept.
    pub fn is_kept(&self) -> bool {
        self.cycles <= self.allowed
    }

    pub fn said(&self) -> String {
        let against = match &self.entry.limit {
            Limit::Cycles(_) => format!("{} are allowed", self.allowed),
            Limit::File(path) => format!("{} in {}", self.allowed, path.display()),
        };
        format!("`{}` takes {} cycles on {}, {against}", self.entry.function, self.cycles, self.cpu)
    }

    /// With keys that stay.
    pub fn to_json(&self) -> Value {
        let causes = self.causes.iter().map(|cause| {
            let (file, line) = cause.place.clone().unzip();
            json!({"file": file, "line": line, "address": cause.address, "said": cause.said, "cycles": cause.cycles})
        });
        json!({
            "function": self.entry.function,
            "file": self.entry.file.display().to_string(),
            "cpu": self.cpu,
            "kind": "model",
            "cycles": self.cycles,
            "allowed": self.allowed,
            "kept": self.is_kept(),
            "not_judged": null,
            "causes": causes.collect::<Vec<Value>>(),
        })
    }
}

fn is_same(a: &Finding, b: &Finding) -> bool {
    a.kind == b.kind && a.instruction == b.instruction && a.cycles == b.cycles
}

fn cause(audit: &Audit, finding: &Finding) -> BudgetCause {
    BudgetCause {
        place: audit.frame(finding.idx, None).map(|frame| (frame.file.clone(), frame.line)),
        address: audit.function.instructions[finding.idx].address,
        said: format!("{}: {} ({})", finding.kind.name(), finding.instruction, finding.why),
        cycles: finding.cycles,
    }
}

/// The results in JUnit's XML, as build servers read it: a test a function.
pub fn junit(name: &str, all: &[Verdict]) -> String {
    let failed = all
        .iter()
        .filter(|found| matches!(found, Verdict::Judged(found) if !found.is_kept()))
        .count();
    let errors = all.iter().filter(|found| matches!(found, Verdict::NotJudged(_))).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\">\n",
        escaped(name),
        all.len()
    );
    for it in all {
        let case = format!(
            "<testcase classname=\"{}\" name=\"{}\"",
            escaped(it.cpu()),
            escaped(&it.entry().function)
        );
        text += &match it {
            Verdict::Judged(it) if it.is_kept() => format!("{case}/>\n"),
            Verdict::Judged(it) => {
                let lines: String =
                    it.causes.iter().map(|cause| format!("{}\n", cause.line())).collect();
                format!(
                    "{case}><failure message=\"{}\">{}</failure></testcase>\n",
                    escaped(&it.said()),
                    escaped(&lines)
                )
            }
            Verdict::NotJudged(it) => {
                let help = it.help.as_deref().unwrap_or_default();
                format!(
                    "{case}><error message=\"{}\">{}</error></testcase>\n",
                    escaped(&it.said),
                    escaped(help)
                )
            }
        };
    }
    text + "</testsuite>\n</testsuites>\n"
}

/// The results in SARIF 2.1.0, as code hosts show them beside the lines of a change.
pub fn sarif(budget: &Path, all: &[Verdict]) -> Value {
    let place = |file: &str, line: u32| {
        let file = file.strip_prefix("./").unwrap_or(file);
        json!([{"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line.max(1)}}}])
    };
    let mut results = Vec::new();
    for verdict in all {
        let limit = place(&budget.display().to_string(), verdict.entry().line);
        let it = match verdict {
            Verdict::Judged(it) if it.is_kept() => continue,
            Verdict::Judged(it) => it,
            Verdict::NotJudged(it) => {
                results.push(json!({"ruleId": "not-judged", "level": "error", "message": {"text": it.said}, "locations": limit}));
                continue;
            }
        };
        results.push(json!({"ruleId": "over-budget", "level": "error", "message": {"text": it.said()}, "locations": limit}));
        for cause in &it.causes {
            let Some((file, line)) = &cause.place else { continue };
            let text = format!("{} (`{}` on {})", cause.said, it.entry.function, it.cpu);
            results.push(json!({"ruleId": "cycles", "level": "warning", "message": {"text": text}, "locations": place(file, *line)}));
        }
    }
    let rule = |id: &str, text: &str| json!({"id": id, "shortDescription": {"text": text}});
    let rules = [
        rule("over-budget", "A function takes more cycles than its budget allows"),
        rule("not-judged", "A function could not be compared with its budget"),
        rule("cycles", "An instruction that costs cycles in such a function"),
    ];
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": {"name": "meanwhile audit", "rules": rules}}, "results": results}],
    })
}

impl BudgetCause {
    /// Place, what and how much, in a line.
    pub fn line(&self) -> String {
        let place = match &self.place {
            Some((file, line)) => format!("{file}:{line}"),
            None => format!("{:#x}", self.address),
        };
        format!(
            "{place}: {}, {} {}",
            self.said,
            self.cycles,
            if self.cycles == 1 { "cycle" } else { "cycles" }
        )
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            // XML has no other control characters.
            c if c.is_control() && c != '\n' && c != '\t' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        parse(Path::new("ci/budget.toml"), text)
            .expect_err("it is wrong")
            .iter()
            .map(|diagnostic| diagnostic.render(false))
            .collect()
    }

    #[test]
    fn limits_are_read_with_their_lines() {
        let text = "[[function]]\nname = \"f\"\nfile = \"a.elf\"\ncycles = 9\n\n[[function]]\nname = \"g\"\nfile = \"b.c\"\ncpu = \"leon3\"\nnot_worse_than = \"old.elf\"\ncold = [\"panic\"]\n";
        let entries = parse(Path::new("ci/budget.toml"), text).expect("it is right");
        assert_eq!(entries.len(), 2);
        assert_eq!((entries[0].limit.clone(), entries[0].line), (Limit::Cycles(9), 1));
        assert_eq!(entries[0].file, Path::new("ci/a.elf"));
        assert_eq!(
            (entries[1].limit.clone(), entries[1].line),
            (Limit::File("ci/old.elf".into()), 6)
        );
    }

    #[test]
    fn what_is_wrong_with_a_budget_is_said_with_its_line() {
        assert!(
            wrong("[[function]]\nname = \"f\"\nfile = \"a\"\n")
                .contains("function `f` has no limit")
        );
        let both =
            wrong("[[function]]\nname = \"f\"\nfile = \"a\"\ncycles = 1\nnot_worse_than = \"b\"\n");
        assert!(both.contains("has two limits") && both.contains("budget.toml:1"), "{both}");
        assert!(
            wrong("[[function]]\nname = \"f\"\nfile = \"a\"\ncycels = 1\n")
                .contains("budget.toml:4"),
            "{both}"
        );
        assert!(wrong("function = 3").contains("budget.toml:1"));
    }

    #[test]
    fn xml_and_sarif_survive_strange_names() {
        let entry = Entry {
            function: "a<b>&\"c\"\u{1}".to_owned(),
            file: "a.elf".into(),
            cpu: None,
            limit: Limit::Cycles(3),
            avoid: Vec::new(),
            cc: None,
            cflags: None,
            compile_commands: None,
            flash_wait: 0,
            boot: Vec::new(),
            line: 4,
        };
        let cause = BudgetCause {
            place: Some(("./x.c".to_owned(), 7)),
            address: 16,
            said: "stall: r0 (a load)".to_owned(),
            cycles: 2,
        };
        let gone = NotJudged {
            entry: entry.clone(),
            said: "it has no function `<g>`".to_owned(),
            help: None,
        };
        let over =
            Checked { entry, cpu: "leon3".to_owned(), cycles: 5, allowed: 3, causes: vec![cause] };
        let all = [Verdict::Judged(over), Verdict::NotJudged(gone)];
        let xml = junit("budget.toml", &all);
        assert!(
            xml.contains("name=\"a&lt;b&gt;&amp;&quot;c&quot; \"")
                && xml.contains("failures=\"1\" errors=\"1\""),
            "{xml}"
        );
        assert!(xml.contains("<error message=\"it has no function `&lt;g&gt;`\">"), "{xml}");
        let object = sarif(Path::new("budget.toml"), &all);
        assert_eq!(
            object["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"],
            4
        );
        assert_eq!(
            object["runs"][0]["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]
                ["uri"],
            "x.c"
        );
        assert_eq!(object["runs"][0]["results"][2]["ruleId"], "not-judged");
    }
}
