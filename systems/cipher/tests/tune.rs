//! The tuner's expectation of the model against the measurements.

use std::collections::BTreeMap;
use std::path::Path;

use cipher::tune::MEDIANS;
use serde_json::Value;

#[test]
fn the_medians_are_those_of_the_evidence() {
    let read = |name: &str| -> Vec<Value> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cipher-tune").join(name);
        let evidence: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("it is committed")).expect("JSON");
        evidence["rows"].as_array().expect("rows").clone()
    };
    let mut by_slicing: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    // Options and figures of a program lie in one object there, and the options in one of their own here.
    let of_best = read("best.json").into_iter().flat_map(|row| row["tried"].as_array().expect("a list").clone());
    for row in read("tried.json").into_iter().chain(of_best) {
        let way = if row["way"].is_object() { &row["way"] } else { &row };
        let text = |name: &str| way[name].as_str().expect("text").to_owned();
        if text("emit") == "c" && text("opt") == "-O3" {
            let number = |name: &str| row[name].as_f64().expect("a number");
            let by_model = number("cycles_per_byte") / number("model_cycles_per_byte");
            by_slicing.entry((text("arch"), text("slicing"))).or_default().push(by_model);
        }
    }
    assert_eq!(by_slicing.len(), MEDIANS.len(), "{:?}", by_slicing.keys());
    for (arch, slicing, median) in MEDIANS {
        let measured = &by_slicing[&(arch.name().to_owned(), slicing.letter().to_owned())];
        let of_evidence = measure::stats::median(measured);
        assert!((median / of_evidence - 1.0).abs() < 0.01, "{} {}: {median}, {of_evidence:.3}", arch.name(), slicing.letter());
    }
}
