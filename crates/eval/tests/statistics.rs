//! Comparison with the rliable package; `golden/make_rliable.py` writes its results.

use isochrone_eval::stats::{bootstrap, interquartile_mean, mean};
use serde_json::Value;

#[test]
fn estimates_agree_with_rliable() {
    let golden: Value = serde_json::from_str(include_str!("golden/rliable.json")).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let tasks: Vec<Vec<f64>> = serde_json::from_value(case["tasks"].clone()).unwrap();
        for name in ["mean", "iqm"] {
            let statistic = if name == "mean" { mean } else { interquartile_mean };
            let ours = bootstrap(&tasks, statistic, 50_000, 1);
            let theirs = |field: &str| case[name][field].as_f64().unwrap();
            assert!((ours.value - theirs("value")).abs() < 1e-12, "{name}: {ours:?}, {}", case[name]);
            // Both use 50,000 resamples, with different random generators.
            for (ours, theirs) in [(ours.low, theirs("low")), (ours.high, theirs("high"))] {
                assert!((ours - theirs).abs() < 0.004, "{name}: {ours}, {}", case[name]);
            }
        }
    }
}
