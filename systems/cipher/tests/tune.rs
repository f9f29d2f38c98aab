//! The tuner's expectation of the model against the measurements.

use std::collections::BTreeMap;
use std::path::Path;

use cipher::tune::MEDIANS;
use serde_json::Value;

/// Of each machine's primitives, the cycles a byte that were measured and that the model expects.
type Tried = BTreeMap<(bool, String), Vec<(f64, f64)>>;

#[test]
fn the_medians_are_those_of_the_evidence() {
    let read = |name: &str| -> Vec<Value> {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cipher-tune").join(name);
        let evidence: Value =
            serde_json::from_str(&std::fs::read_to_string(path).expect("it is committed"))
                .expect("JSON");
        evidence["rows"].as_array().expect("rows").clone()
    };
    // Of each target and slicing, by machine and primitive, what was tried.
    let mut by_slicing: BTreeMap<(String, String), Tried> = BTreeMap::new();
    let mut count = |is_xeon: bool, primitive: &Value, way: &Value, row: &Value| {
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        if text(&way["emit"]) == "c" && text(&way["opt"]) == "-O3" {
            let number = |name: &str| row[name].as_f64().expect("a number");
            let of_slicing =
                by_slicing.entry((text(&way["arch"]), text(&way["slicing"]))).or_default();
            let tried = (number("cycles_per_byte"), number("model_cycles_per_byte"));
            of_slicing.entry((is_xeon, text(primitive))).or_default().push(tried);
        }
    };
    read("tried.json").iter().for_each(|row| count(true, &row["primitive"], row, row));
    for row in read("best.json") {
        row["tried"]
            .as_array()
            .expect("a list")
            .iter()
            .for_each(|value| count(false, &row["primitive"], &value["way"], value));
    }
    assert_eq!(by_slicing.len(), MEDIANS.len(), "{:?}", by_slicing.keys());
    for (arch, slicing, median) in MEDIANS {
        let measured = &by_slicing[&(arch.name().to_owned(), slicing.letter().to_owned())];
        let least = |it: Vec<f64>| it.into_iter().fold(f64::MAX, f64::min);
        let of_programs: Vec<f64> = measured
            .values()
            .map(|tried| {
                least(tried.iter().map(|pair| pair.0).collect())
                    / least(tried.iter().map(|pair| pair.1).collect())
            })
            .collect();
        let of_evidence = measure::stats::median(&of_programs);
        assert!(
            (median / of_evidence - 1.0).abs() < 0.01,
            "{} {}: {median}, {of_evidence:.3}",
            arch.name(),
            slicing.letter()
        );
    }
}
