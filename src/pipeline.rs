//! The pass list and its driver. The order of the whole compiler is here and nowhere else.
//!
//! A pass is a row of [`PASSES`]. The driver makes the facts it needs, runs it, forgets what it
//! breaks, and between passes verifies, dumps, times, bisects and stops as the options ask.

use crate::analysis::{FactSet, Facts};
use crate::index::BitSet;
use crate::ir::check::{Stage, check};
use crate::ir::print::print_function;
use crate::ir::{Function, Module, SymbolId};
use crate::opt::{self, Env};
use crate::options::{Level, Options};
use crate::target;
use crate::target::machine::{Allocation, MFunction};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// A row of the pass list.
pub struct Pass {
    pub name: &'static str,
    /// Returns whether it changed anything; if not, no fact is forgotten.
    pub run: fn(&mut Function, &Facts, &Env<'_>) -> bool,
    pub needs: FactSet,
    pub breaks: FactSet,
    /// The lowest level it runs at.
    pub level: Level,
    /// QBE's `-d` letter for the stage that ends with this pass.
    pub dump: Option<char>,
}

/// The function passes, in order.
pub const PASSES: &[Pass] = &[
    pass("ssa", opt::ssa::run, CFG.with(DOMINATORS), USES, Level::O0).ends('N'),
    pass("slots", opt::slots::run, FactSet::NONE, USES, Level::O0),
    pass("cfg", opt::cfg::run, CFG, FactSet::ALL, Level::O1),
    pass("promote", opt::promote::run, CFG.with(DOMINATORS), USES, Level::O1),
    pass("copies", opt::copies::run, CFG, USES, Level::O1),
    pass("memory", opt::memory::run, CFG, USES, Level::O1),
    pass("dead_stores", opt::dead_stores::run, CFG, USES, Level::O1).ends('M'),
    pass("copies", opt::copies::run, CFG, USES, Level::O1).ends('C'),
    pass("fold", opt::fold::run, CFG, FactSet::ALL, Level::O1),
    pass("gvn", opt::gvn::run, CFG.with(DOMINATORS), USES, Level::O1).ends('G'),
    pass("fold", opt::fold::run, CFG, FactSet::ALL, Level::O1),
    pass("cfg", opt::cfg::run, CFG, FactSet::ALL, Level::O1),
    pass("copies", opt::copies::run, CFG, USES, Level::O1),
    pass("if_convert", opt::if_convert::run, CFG, ALL, Level::O1).ends('K'),
    pass("cfg", opt::cfg::run, CFG, FactSet::ALL, Level::O1),
    pass("divide", opt::divide::run, FactSet::NONE, USES, Level::O1),
    pass("code_motion", opt::code_motion::run, LOOPS, USES, Level::O1),
    pass("dead", opt::dead::run, CFG, USES, Level::O1),
    pass("coalesce", opt::coalesce::run, CFG, USES, Level::O1),
];

const CFG: FactSet = FactSet::CFG;
const DOMINATORS: FactSet = FactSet::DOMINATORS;
const USES: FactSet = FactSet::USES;
const LOOPS: FactSet = FactSet::LOOPS;
const ALL: FactSet = FactSet::ALL;

/// A row of the list: name, entry, what it needs, what it breaks, lowest level.
const fn pass(
    name: &'static str,
    run: fn(&mut Function, &Facts, &Env<'_>) -> bool,
    needs: FactSet,
    breaks: FactSet,
    level: Level,
) -> Pass {
    Pass { name, run, needs, breaks, level, dump: None }
}

impl Pass {
    /// Marks the pass as the last of one of QBE's stages.
    const fn ends(mut self, letter: char) -> Pass {
        self.dump = Some(letter);
        self
    }
}

/// Pairs of passes whose order is load-bearing, with the reason. A test holds them.
pub const ORDER: &[(&str, &str, &str)] = &[
    ("ssa", "slots", "an allocation is one object only where its temporary is assigned once"),
    ("slots", "promote", "what is promoted are slots"),
    ("promote", "memory", "forwarding has only the slots that are left to look at"),
    ("memory", "gvn", "loads that were forwarded make equal expressions"),
    ("gvn", "divide", "equal divisions are found while they are one instruction"),
    ("divide", "code_motion", "the parts of a division by a constant move on their own"),
    ("dead", "coalesce", "dead accesses would lengthen the lives of slots"),
];

/// How long something took, over all functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Name and time, in order of first use.
    pub rows: Vec<(&'static str, Duration)>,
}

impl Times {
    pub fn add(&mut self, name: &'static str, time: Duration) {
        match self.rows.iter_mut().find(|row| row.0 == name) {
            Some(row) => row.1 += time,
            None => self.rows.push((name, time)),
        }
    }

    pub fn merge(&mut self, other: &Times) {
        for &(name, time) in &other.rows {
            self.add(name, time);
        }
    }
}

/// Where one function is on its way: what dumps, times and blame are about.
pub struct Run<'a> {
    pub options: &'a Options,
    pub module: &'a Module,
    /// Symbols that may be called through a pointer.
    pub address_taken: &'a BitSet<SymbolId>,
    /// The function's number in the module.
    pub number: usize,
    pub dumps: Vec<u8>,
    pub times: Times,
}

impl Run<'_> {
    /// Runs one step of the compilation: times it, and if it panics says where.
    pub fn step<T>(&mut self, name: &'static str, function: &[u8], work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(work));
        self.times.add(name, start.elapsed());
        result.unwrap_or_else(|payload| {
            let message = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("unknown fault");
            resume_unwind(Box::new(format!(
                "target {}, function ${}, pass {name}: {message}",
                self.options.target.name,
                String::from_utf8_lossy(function),
            )))
        })
    }

    /// Dumps the function if the options ask for this stage.
    pub fn dump(&mut self, name: &str, letter: Option<char>, title: &str, f: &Function) {
        let wanted = self.options.dump_after.iter().any(|n| n == name)
            || letter.is_some_and(|l| self.options.dump_letters.contains(&l));
        if wanted {
            self.dumps.extend_from_slice(format!("\n> After {title}:\n").as_bytes());
            print_function(self.module, f, &mut self.dumps);
        }
    }

    /// Dumps machine code if the options ask for one of `letters` or for the stage by name.
    pub fn dump_code(
        &mut self,
        name: &str,
        letters: &str,
        title: &str,
        code: &MFunction,
        allocation: Option<&Allocation>,
    ) {
        let wanted = self.options.dump_after.iter().any(|n| n == name)
            || self.options.dump_letters.iter().any(|&l| letters.contains(l));
        if wanted {
            self.dumps.extend_from_slice(format!("\n> After {title}:\n").as_bytes());
            let target = self.options.target;
            target::dump::print(target, self.module, code, allocation, &mut self.dumps);
        }
    }
}

/// Names that `--dump-after` takes besides those of passes.
pub const STAGES: &[&str] = &["parse", "select", "regalloc"];

/// Runs the function passes on `f`. Returns the facts that hold at the end.
pub fn run_passes(f: &mut Function, run: &mut Run<'_>) -> Facts {
    let options = run.options;
    let module = run.module;
    let env = Env { module, target: options.target };
    let name = module.symbols.name(f.symbol);
    let mut facts = Facts::default();
    run.dump("parse", Some('P'), "parsing", f);
    if options.stop_after.as_deref() == Some("parse") {
        return facts;
    }
    let first = run.number as u64 * PASSES.len() as u64 + 1;
    for (count, pass) in (first..).zip(PASSES) {
        let skipped = pass.level > options.level
            || options.disable.iter().any(|n| n == pass.name)
            || options.bisect.is_some_and(|limit| count > limit && pass.level > Level::O0);
        if !skipped {
            run.step("facts", name, || facts.require(f, pass.needs));
            if run.step(pass.name, name, || (pass.run)(f, &facts, &env)) {
                facts.forget(pass.breaks);
            }
            if options.verify {
                run.step(pass.name, name, || verify(f, &mut facts, module));
            }
        }
        run.dump(pass.name, pass.dump, pass.name, f);
        if options.stop_after.as_deref() == Some(pass.name) {
            break;
        }
    }
    facts
}

/// Checks the function, and that the facts kept over the pass still agree with it.
fn verify(f: &Function, facts: &mut Facts, module: &Module) {
    if let Err(fault) = check(module, f, Stage::Ssa) {
        panic!("{fault}");
    }
    if let Err(fault) = facts.verify(f) {
        panic!("{fault}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(name: &str) -> usize {
        PASSES.iter().position(|p| p.name == name).expect(name)
    }

    #[test]
    fn order_holds() {
        for (first, second, why) in ORDER {
            assert!(position(first) < position(second), "{first} before {second}: {why}");
        }
    }
}
