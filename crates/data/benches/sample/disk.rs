//! A dataset larger than memory: rows per second compared with the rate of the disk, and resident
//! memory.

use crate::synthetic::{STEPS, WIDTHS, machine, sampler, send};
use isochrone_data::{Access, Dataset, formats::Writer, sampling::Loader};
use std::{
    fs::File,
    num::NonZeroUsize,
    os::unix::fs::FileExt,
    path::Path,
    time::{Duration, Instant},
};

const PAGE: usize = 4096;
const MEASURE: Duration = Duration::from_secs(20);

/// Returns a value from a file in `/proc/self`, in the unit of the file.
fn process(file: &str, key: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/self/{file}")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|rest| rest.trim_start_matches(':').split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Drops the page cache, so that reads come from the disk. Requires root.
fn drop_page_cache() -> bool {
    let _ = std::process::Command::new("sync").status();
    std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok()
}

/// Returns the number of random reads of one page per second, by this many threads at once.
fn random_reads_per_second(path: &Path, threads: u64) -> f64 {
    let pages = std::fs::metadata(path).unwrap().len() / PAGE as u64;
    let start = Instant::now();
    let reads: u64 = std::thread::scope(|scope| {
        let read = |thread: u64| {
            move || {
                let file = File::open(path).unwrap();
                let mut random = isochrone_core::rng::stream(7, thread);
                let mut page = vec![0; PAGE];
                let mut reads = 0;
                while start.elapsed() < MEASURE / 2 {
                    let at = isochrone_core::rng::below(&mut random, pages as usize) * PAGE;
                    file.read_exact_at(&mut page, at as u64).unwrap();
                    reads += 1;
                }
                reads
            }
        };
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(read(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    reads as f64 / start.elapsed().as_secs_f64()
}

pub fn run(bytes: u64, folder: &Path) {
    let path = folder.join("isochrone-bench.arrow");
    let episode_bytes = 4 * ((STEPS + 1) * WIDTHS.0 + STEPS * WIDTHS.1) as u64;
    let start = Instant::now();
    if std::fs::metadata(&path).is_ok_and(|file| file.len() >= bytes) {
        eprintln!("{} already exists", path.display());
    } else {
        let mut writer = Writer::for_path(&path).unwrap();
        send((bytes / episode_bytes) as usize + 1, &mut writer);
        writer.finish().unwrap();
    }
    let writing = start.elapsed().as_secs_f64();
    let size = std::fs::metadata(&path).unwrap().len();
    println!("# Sampling from a mapped file\n\nMade by `just bench-data-large`.\n\n{}", machine());
    println!("- file: {:.1} GB, written in {writing:.0} s", size as f64 / 1e9);
    let start = Instant::now();
    let data = Dataset::open(&path, Access::Random).unwrap();
    println!(
        "- {} transitions, opened in {:.0} ms",
        data.n_transitions(),
        start.elapsed().as_secs_f64() * 1e3
    );
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    println!("- memory: {}", memory.lines().next().unwrap_or_default().replace("MemTotal:", "").trim());
    let is_cold = drop_page_cache();
    println!("- the page cache was {}dropped before each line\n", if is_cold { "" } else { "NOT " });
    println!("Random reads of one page (4 KiB) with `pread`:\n\n| threads | reads/s |\n|---|---|");
    let mut best = 0.0f64;
    for threads in [1, 4, 16, 64] {
        drop_page_cache();
        let reads = random_reads_per_second(&path, threads);
        best = best.max(reads);
        println!("| {threads} | {reads:.0} |");
    }
    println!("\nBatches of 1024 rows (s, a, s', g, a') from the loader:\n");
    println!(
        "| loader threads | rows/s | pages read per row | pages/s (% of the best above) | resident (MiB) |\n|---|---|---|---|---|"
    );
    let ours = sampler(data, 1024);
    for workers in [1, 2, 4] {
        drop_page_cache();
        let number = |n| NonZeroUsize::new(n).unwrap();
        let mut loader = Loader::start(&ours, 0, number(workers), number(2));
        let before = process("io", "read_bytes");
        let (start, mut rows, mut resident) = (Instant::now(), 0, 0);
        while start.elapsed() < MEASURE {
            rows += loader.next_batch().rows();
            resident = resident.max(process("status", "VmRSS") >> 10);
        }
        let seconds = start.elapsed().as_secs_f64();
        let pages = (process("io", "read_bytes") - before) as f64 / PAGE as f64;
        let share = 100.0 * pages / seconds / best;
        println!(
            "| {workers} | {:.0} | {:.1} | {share:.0} % | {resident} |",
            rows as f64 / seconds,
            pages / rows as f64
        );
    }
    println!("\nPeak resident memory: {} MiB.", process("status", "VmHWM") >> 10);
}
