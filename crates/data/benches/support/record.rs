//! Arguments of the benchmarks, and the file of their results.

use serde_json::{Map, Value, json};

/// Returns the value after a flag of the command line.
pub fn argument(flag: &str) -> Option<String> {
    let mut arguments = std::env::args().skip_while(|argument| argument != flag);
    arguments.nth(1)
}

/// Returns an entry of this process's status in MiB, such as the peak resident size `VmHWM`.
#[allow(dead_code, reason = "not used by all benchmarks")]
pub fn status_mib(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) >> 10
}

/// Prints a result with the machine and the load it was measured on. With `--output FILE`, also
/// stores it under a key of that JSON file, whose other keys are kept.
pub fn store(key: &str, mut result: Value) {
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (processor, load) = (text("/proc/cpuinfo"), text("/proc/loadavg"));
    let name = processor.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    result["machine"] = json!({
        "processor": name.unwrap_or("unknown"),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "load_average_1_minute": load.split(' ').next().and_then(|load| load.parse::<f64>().ok()),
    });
    result["profile"] = if cfg!(debug_assertions) { "dev, opt-level 1" } else { "release" }.into();
    result["version"] = env!("CARGO_PKG_VERSION").into();
    println!("{result:#}");
    let Some(path) = argument("--output") else { return };
    let mut all: Map<String, Value> =
        std::fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    all.insert(key.into(), result);
    std::fs::write(&path, format!("{:#}\n", Value::from(all))).unwrap();
}
