//! What holds of a test file without compiling it: it parses, it prints as it was parsed, and the
//! interpreter agrees with what the file says.

use crate::case::{CallLine, Case, Typed};
use backend::interp::{self, Argument, End, Limits, Returned};
use backend::ir::check::{Stage, check};
use backend::ir::print::print_module;
use backend::ir::{Class, Module};
use backend::parse::{self, Options};

/// Parses the file.
pub fn parse(case: &Case) -> Result<Module, String> {
    let name = format!("{}.ssa", case.name);
    parse_text(&name, &case.text, case.internal)
}

/// Parses and checks a text.
pub fn parse_text(name: &str, text: &[u8], internal_ops: bool) -> Result<Module, String> {
    let mut module = Module::default();
    let options = Options { internal_ops };
    parse::parse(name, text, &options, &mut module)
        .map_err(|errors| errors.iter().map(|e| format!("{e}\n")).collect::<String>())?;
    for function in module.functions.iter() {
        check(&module, function, Stage::Parsed).map_err(|fault| format!("checker: {fault}"))?;
    }
    Ok(module)
}

/// What is printed parses, and prints as the same text.
pub fn round_trip(module: &Module, internal_ops: bool) -> Result<(), String> {
    let once = print_module(module);
    let again = parse_text("printed", &once, internal_ops)
        .map_err(|e| format!("{e}in what was printed:\n{}", String::from_utf8_lossy(&once)))?;
    let twice = print_module(&again);
    if once == twice {
        return Ok(());
    }
    let (once, twice) = (String::from_utf8_lossy(&once), String::from_utf8_lossy(&twice));
    let diff = pretty_assertions::StrComparison::new(&once, &twice);
    Err(format!("printing is no fixed point\n{diff}"))
}

/// Runs `$main`, or the call lines. `what` says which form of the module it is.
pub fn interpret(case: &Case, module: &Module, what: &str) -> Result<(), String> {
    if case.skips("interpreter") {
        return Ok(());
    }
    if case.has_main() {
        let arguments = ["program", "a", "b", "c"].map(|a| a.as_bytes().to_vec());
        let outcome = interp::run_main(module, &arguments, &Limits::default());
        let status = outcome.status().map_err(|e| format!("{what}: interpreter: {e}"))?;
        if let Some(want) = &case.output
            && !outcome.prints(want.as_bytes())
        {
            let got = String::from_utf8_lossy(&outcome.output);
            let diff = pretty_assertions::StrComparison::new(want, &got);
            return Err(format!("{what}: interpreter: wrong output (left: expected)\n{diff}"));
        }
        if i32::from(status) != case.exit {
            let output = String::from_utf8_lossy(&outcome.output);
            return Err(format!("{what}: interpreter: exit status {status}\n{output}"));
        }
    }
    let wrong: Vec<String> =
        case.calls.iter().filter_map(|line| interpret_call(module, line).err()).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{what}:\n{}", wrong.join("\n"))) }
}

fn interpret_call(module: &Module, line: &CallLine) -> Result<(), String> {
    let arguments: Vec<Argument> =
        line.args.iter().map(|a| Argument::Value(class(*a), a.bits)).collect();
    let outcome = interp::run(module, &line.function, &arguments, &Limits::default());
    let number = line.line;
    match (&outcome.end, line.result) {
        (End::Returned(Returned::Nothing), None) => Ok(()),
        (End::Returned(Returned::Value(_, bits)), Some(want)) => {
            if want.matches(bits.value) {
                Ok(())
            } else {
                Err(format!("interpreter: line {number}: {:#x}", bits.value))
            }
        }
        (end, _) => Err(format!("interpreter: line {number}: {end:?}")),
    }
}

fn class(value: Typed) -> Class {
    match value.class {
        'w' => Class::W,
        'l' => Class::L,
        's' => Class::S,
        _ => Class::D,
    }
}
