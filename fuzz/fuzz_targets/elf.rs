//! Any bytes as a file: the whole audit answers with findings or with a message, never with a
//! panic.
//!
//! `cargo +nightly fuzz run -s none elf fuzz/corpus/elf -- -timeout=30 -rss_limit_mb=4096`; small
//! object files of each instruction set make a good corpus.

#![no_main]

use std::collections::BTreeMap;

use audit::audit::{Options, audit, summary};
use audit::views::html::html;
use audit::views::json::json;
use audit::timing::licence::Effort;
use audit::program::Program;
use audit::facts::spills::spills;
use audit::views::text::{View, text};
use libfuzzer_sys::{Corpus, fuzz_target};
use machine::in_order::Core;

/// More functions, and longer ones, take time and find nothing new.
const FUNCTIONS_MAX: usize = 4;
const BYTES_MAX: u64 = 400;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let program = match Program::parse("fuzz.elf", bytes) {
        Ok(program) => program,
        Err(message) => {
            assert!(!message.render(false).is_empty());
            return Corpus::Keep;
        }
    };
    let core = Core::names().filter_map(Core::bundled).find(|bundled| bundled.sets.iter().any(|set| set == program.isa.name()));
    let options = Options { avoid: Vec::new(), through: Vec::new(), effort: Effort::Bounds, recorded: None };
    for symbol in program.symbols.iter().filter(|symbol| symbol.size <= BYTES_MAX).take(FUNCTIONS_MAX) {
        if let Ok(decoded) = program.decode(symbol) {
            spills(&decoded.function);
        }
        if let Some(core) = &core {
            let _ = summary(&program, symbol, core, &options);
        }
        if let Ok(found) = audit(&program, symbol, "fuzz", core.as_ref(), &options) {
            let (sources, view) = (BTreeMap::new(), View::default());
            assert!(text(&found, &sources, &view).ends_with('\n'));
            assert!(html(&found, &sources, &view).ends_with("</html>\n"));
            assert!(json(&found, &view)["findings"].is_array());
        }
    }
    Corpus::Keep
});
