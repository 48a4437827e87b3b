//! Random signatures: calls between IL and C, both ways, with gcc and clang.
//!
//! Without arguments: a sample from a fixed seed on each target that there is, as a test.
//! `scripts/abi-fuzz` runs it for longer; see there for the arguments.

#[path = "../macho.rs"]
#[allow(dead_code, reason = "shared with the il-tests, which use more of it")]
mod macho;
#[path = "../random/numbers.rs"]
#[allow(dead_code, reason = "shared with the random IL, which uses more of it")]
mod numbers;
#[path = "../toolchain.rs"]
#[allow(dead_code, reason = "shared with the il-tests, which use more of it")]
mod toolchain;

mod c;
mod il;
mod run;
mod signature;
mod types;

use run::{Bench, CALLEES, VARIANTS, Variant};
use signature::{Signature, signature};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use toolchain::Toolchain;

/// Signatures in one program.
const BATCH: u64 = 200;
/// Where the test starts, and how many signatures it tries of each target.
const FIRST_SEED: u64 = 1;
const SAMPLE: u64 = 400;
/// After so many faults it is time to look at them.
const MOST_FAULTS: u64 = 5;

struct Task {
    seeds: std::ops::Range<u64>,
    compiler: Option<String>,
    /// Where the texts of faults go.
    faults: PathBuf,
    folder: PathBuf,
    jobs: u64,
    most: usize,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1));
    let number = |name: &str, or: u64| {
        value(name).map_or(or, |v| v.parse().unwrap_or_else(|_| panic!("{name} takes a number")))
    };
    let folder = std::env::temp_dir().join(format!("backend-abi-{}", std::process::id()));
    let first = number("--seed", FIRST_SEED);
    let task = Task {
        seeds: first..first + number("--count", SAMPLE),
        compiler: value("--compiler").cloned(),
        faults: value("--faults").map_or_else(|| PathBuf::from("target/faults"), PathBuf::from),
        folder: folder.clone(),
        jobs: number("--jobs", 2),
        most: number("--most", MOST_FAULTS) as usize,
    };
    // Panics are caught and reported as faults.
    std::panic::set_hook(Box::new(|_| {}));
    let chosen = value("--target");
    let mut good = true;
    for callee in CALLEES {
        let Some(toolchain) = toolchain::toolchain(callee.target) else { continue };
        let there =
            task.compiler.is_some() || toolchain::toolchains().any(|t| t.target == callee.target);
        if chosen.map_or(there, |name| name == callee.target) {
            good &= target(&task, toolchain, callee);
        }
    }
    if std::env::var_os("KEEP").is_none() {
        // Nothing depends on the folder going away.
        let _ = std::fs::remove_dir_all(&folder);
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// All signatures on one target.
fn target(task: &Task, toolchain: &'static Toolchain, callee: &'static run::Callee) -> bool {
    let name = callee.target;
    let bench = |job: u64| {
        let folder = task.folder.join(format!("{name}-{job}"));
        Bench::new(toolchain, callee, task.compiler.as_deref(), &folder)
    };
    if let Some(tool) =
        toolchain.missing().or_else(|| (!toolchain::works("clang")).then_some("clang"))
    {
        println!("abi: {name}: {tool} is missing");
        return !std::env::var("CI").is_ok_and(|v| v == "true");
    }
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let faults = AtomicUsize::new(0);
    let count = task.seeds.end - task.seeds.start;
    std::thread::scope(|scope| {
        for job in 0..task.jobs {
            let (next, faults) = (&next, &faults);
            scope.spawn(move || {
                let bench = match bench(job) {
                    Ok(bench) => bench,
                    Err(message) => {
                        println!("abi: {name}: {message}");
                        faults.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                };
                while faults.load(Ordering::Relaxed) < task.most {
                    let batch = next.fetch_add(1, Ordering::Relaxed);
                    let first = task.seeds.start + batch * BATCH;
                    if first >= task.seeds.end {
                        return;
                    }
                    let seeds = first..(first + BATCH).min(task.seeds.end);
                    let variant = VARIANTS[batch as usize % VARIANTS.len()];
                    program(task, &bench, seeds.collect(), variant, faults);
                }
            });
        }
    });
    let faults = faults.into_inner();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "abi: {name}: {count} signatures from seed {}, {faults} faults, {seconds:.0} s",
        task.seeds.start
    );
    faults == 0
}

/// The signatures of one program; those at fault are taken out until the rest is right.
fn program(
    task: &Task,
    bench: &Bench<'_>,
    mut seeds: Vec<u64>,
    variant: Variant,
    faults: &AtomicUsize,
) {
    while !seeds.is_empty() && faults.load(Ordering::Relaxed) < task.most {
        let signatures: Vec<Signature> =
            seeds.iter().map(|&seed| signature(seed, bench.callee.limits)).collect();
        let Some(fault) = bench.find(&signatures, variant) else { return };
        faults.fetch_add(1, Ordering::Relaxed);
        let seed = seeds.remove(fault.number);
        let (small, message) = bench.reduce(&signatures[fault.number], variant);
        // What comes of many signatures together may not come of one.
        let message = if message.is_empty() { fault.message } else { message };
        report(task, bench, seed, &small, variant, &message);
    }
}

/// Prints the reduced signature and puts its texts where they can be looked at.
fn report(
    task: &Task,
    bench: &Bench<'_>,
    seed: u64,
    small: &Signature,
    variant: Variant,
    message: &str,
) {
    let name = bench.callee.target;
    let (il, c) = bench.texts(std::slice::from_ref(small));
    println!("{name}: seed {seed}: {message} ({variant:?})\n{il}");
    let stem = task.faults.join(format!("abi-{name}-{seed}"));
    let written = std::fs::create_dir_all(&task.faults)
        .and_then(|()| std::fs::write(stem.with_extension("ssa"), il))
        .and_then(|()| std::fs::write(stem.with_extension("c"), c));
    if written.is_ok() {
        println!("  written to {}.ssa and .c; support.c is in il-tests/abi", stem.display());
    }
}
