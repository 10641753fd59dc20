//! Guards against slowdowns: `just guards` counts the instructions of fixed workloads and compares
//! them with `counts.toml`.
//!
//! Instructions are counted instead of seconds, since their number does not depend on the load of
//! the machine. Valgrind executes one process per case, on a processor with AVX2 and without
//! AVX-512, whatever the machine has.
//!
//! - `--check` (default) fails if a case needs more instructions than its tolerance permits
//! - `--update` writes the counts
//! - `--only TEXT` restricts both to the cases whose names contain the text
//! - `--case NAME` runs one case without Valgrind

mod callgrind;
mod cases;
mod counts;

use counts::{Counts, Outcome};
use rayon::prelude::*;
use std::{path::Path, process::ExitCode, time::Instant};

const COUNTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/guards/counts.toml");

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |flag: &str| arguments.iter().position(|a| a == flag).and_then(|at| arguments.get(at + 1));
    if let Some(name) = value("--case") {
        run(name);
        return ExitCode::SUCCESS;
    }
    let only = value("--only").map_or("", String::as_str);
    let is_update = arguments.iter().any(|argument| argument == "--update");
    match guard(only, is_update) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Counts all cases whose names contain `only`, and returns whether none is slower; or writes their
/// counts.
fn guard(only: &str, is_update: bool) -> Result<bool, String> {
    callgrind::check_machine()?;
    let is_chosen = |name: &String| name.contains(only);
    let names: Vec<String> = cases::all().into_iter().map(|case| case.name).filter(is_chosen).collect();
    let start = Instant::now();
    let measured = names.into_par_iter().with_max_len(1).map(|name| {
        let count = callgrind::count(&name)?;
        Ok((name, count))
    });
    let measured = measured.collect::<Result<Counts, String>>()?;
    let mut all = counts::read(Path::new(COUNTS))?;
    let committed = all.iter().filter(|(name, _)| is_chosen(name)).map(|(name, n)| (name.clone(), *n));
    let comparisons = counts::compare(&committed.collect(), &measured);
    comparisons.iter().for_each(|comparison| println!("{comparison}"));
    println!("{} cases in {:.0} s", comparisons.len(), start.elapsed().as_secs_f64());
    if is_update {
        all.retain(|name, _| !is_chosen(name));
        all.extend(measured);
        counts::write(Path::new(COUNTS), &all)?;
        return Ok(true);
    }
    let outcomes: Vec<Outcome> = comparisons.iter().map(counts::Comparison::outcome).collect();
    if outcomes.contains(&Outcome::Faster) {
        println!("Some cases are faster: `just guards --update` guards the gain.");
    }
    let failures = outcomes.iter().filter(|outcome| outcome.is_failure()).count();
    if failures > 0 {
        eprintln!(
            "error: {failures} of {} cases (above) are slower than committed, new or missing\n\
             hint: `callgrind_annotate {}/CASE.out` lists the functions of a case; if the additional instructions are \
             justified, run `just guards --update` and give the reason in the commit (CONTRIBUTING.md, \"Guards against slowdowns\")",
            outcomes.len(),
            callgrind::folder().display(),
        );
    }
    Ok(failures == 0)
}

/// Prepares one case, warms up, and runs the call whose instructions are counted.
fn run(name: &str) {
    isochrone::nn::memory::retain_heap();
    // Callgrind collects on the thread that calls `measured`, so that the case has to run on the
    // only thread of the pool.
    rayon::scope(|_| {
        let case = cases::all().into_iter().find(|case| case.name == name);
        let mut call = (case.unwrap_or_else(|| panic!("no case is named '{name}'")).prepare)();
        (1..cases::CALLS).for_each(|_| call());
        let start = Instant::now();
        measured(&mut *call);
        println!("{name}: {:.1} us", 1e6 * start.elapsed().as_secs_f64());
    });
}

/// Calls the workload. [`callgrind`] finds this function by its name, and collects only inside it.
#[inline(never)]
fn measured(call: &mut dyn FnMut()) {
    call();
    // Otherwise the call above could become a jump, and this function would end before it.
    std::hint::black_box(());
}
