//! What must hold for a module, whatever it is: printing and parsing lose nothing, the passes keep
//! its meaning, and machine code does what the interpreter says.

use super::native::{self, Build};
use backend::interp::{End, Limits, Outcome, Undefined, agree, run};
use backend::ir::Module;
use backend::ir::print::print_module;
use backend::pipeline::PASSES;
use backend::{Emit, Input, Level, Options, compile_module, parse, target};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a run of the interpreter may use.
pub fn limits(undefined: Undefined) -> Limits {
    Limits { steps: 100_000, memory: 1 << 24, depth: 200, undefined }
}

/// A way to compile that the checks go through.
#[derive(Copy, Clone, Debug)]
pub struct Variant {
    pub level: Level,
    pub max_regs: Option<u32>,
    /// A pass that does not run.
    pub disable: Option<&'static str>,
    pub target: &'static str,
}

pub const VARIANTS: [Variant; 4] = [
    Variant::new(Level::O1, None),
    Variant::new(Level::O0, None),
    Variant::new(Level::O1, Some(6)),
    Variant::new(Level::O0, Some(6)),
];

impl Variant {
    const fn new(level: Level, max_regs: Option<u32>) -> Variant {
        Variant { level, max_regs, disable: None, target: "amd64_sysv" }
    }

    /// All but the `n`th of the passes that may be left out, counted around.
    pub fn without(n: u64) -> Variant {
        let optional: Vec<&'static str> =
            PASSES.iter().filter(|p| p.level > Level::O0).map(|p| p.name).collect();
        let name = optional[n as usize % optional.len()];
        Variant { disable: Some(name), ..VARIANTS[0] }
    }

    /// All but the pass of that name.
    pub fn without_pass(name: &str) -> Variant {
        let pass = PASSES.iter().find(|p| p.name == name);
        Variant { disable: Some(pass.expect("a pass has that name").name), ..VARIANTS[0] }
    }

    /// The same on another target.
    pub fn on(self, target: &'static str) -> Variant {
        Variant { target, ..self }
    }

    /// Whether it differs from the others in what the passes do.
    pub fn has_own_passes(self) -> bool {
        self.max_regs.is_none()
    }

    pub fn options(self) -> Options {
        let target = target::by_name(self.target).expect("the target is there");
        Options {
            level: self.level,
            max_regs: self.max_regs,
            // One register less, and other frames.
            frame_pointer: self.max_regs.is_some() && self.level == Level::O1,
            disable: self.disable.into_iter().map(str::to_owned).collect(),
            verify: true,
            threads: 1,
            internal_ops: true,
            ..Options::new(target)
        }
    }
}

/// Runs something that may panic; a panic is a fault.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", text.unwrap_or("unknown")))
    })
}

pub fn parse_text(text: &[u8]) -> Result<Module, String> {
    let mut module = Module::default();
    let options = parse::Options { internal_ops: true };
    match parse::parse("random", text, &options, &mut module) {
        Ok(()) => Ok(module),
        Err(errors) => Err(format!("parse: {}", errors[0])),
    }
}

/// Checks printing, and the meaning before and after the passes. Returns how the module runs.
pub fn passes(text: &[u8], entry: &str, variant: Variant) -> Result<Outcome, String> {
    let module = parse_text(text)?;
    let before = guarded(|| Ok(run(&module, entry, &[], &limits(Undefined::Track))))?;
    let printed = print_module(&module);
    let again = guarded(|| parse_text(&printed))?;
    if print_module(&again) != printed {
        return Err("printing, parsing and printing again gives another text".into());
    }
    let reread = guarded(|| Ok(run(&again, entry, &[], &limits(Undefined::Track))))?;
    agree(&before, &reread).map_err(|fault| format!("printed and parsed: {fault}"))?;
    if let Err(fault) = after_pass(&module, entry, &before, variant, None) {
        // Which pass it was.
        for pass in PASSES {
            after_pass(&module, entry, &before, variant, Some(pass.name))
                .map_err(|fault| format!("{variant:?}: pass {}: {fault}", pass.name))?;
        }
        return Err(format!("{variant:?}: passes: {fault}"));
    }
    Ok(before)
}

/// Compares a run of the module with one after the passes up to `last`.
fn after_pass(
    module: &Module,
    entry: &str,
    before: &Outcome,
    variant: Variant,
    last: Option<&str>,
) -> Result<(), String> {
    guarded(|| {
        let options =
            Options { emit: Emit::Il, stop_after: last.map(str::to_owned), ..variant.options() };
        let text = compile_module(module.clone(), &options).bytes;
        let compiled = parse_text(&text)?;
        // What a pass makes of undefined bits is up to it, but must not matter elsewhere.
        let limits = limits(Undefined::Freeze(before.steps));
        let limits = Limits { steps: 2 * before.steps + 1000, ..limits };
        agree(before, &run(&compiled, entry, &[], &limits))
    })
}

/// Checks one file in every way and with every variant.
pub fn file(
    text: &[u8],
    variants: &[Variant],
    builds: &[Build<'_>],
    native: bool,
) -> Result<(), String> {
    for &variant in variants.iter().filter(|v| v.has_own_passes()) {
        passes(text, "main", variant)?;
    }
    let module = parse_text(text)?;
    let outcome = run(&module, "main", &[], &limits(Undefined::Track));
    if !native || !matches!(outcome.end, End::Returned(_)) {
        return Ok(());
    }
    for build in builds {
        let printed = native::run_text(text, build)?;
        if !outcome.prints(&printed) {
            return Err(format!("{}: {}", build.name, native::difference(&outcome, &printed)));
        }
    }
    Ok(())
}

/// Compiles a text to assembly.
pub fn assembly(text: &[u8], variant: Variant) -> Result<Vec<u8>, String> {
    guarded(|| {
        let input = Input { name: "random", text };
        match backend::compile(&[input], &variant.options()) {
            Ok(output) => Ok(output.bytes),
            Err(errors) => Err(errors[0].to_string()),
        }
    })
}
