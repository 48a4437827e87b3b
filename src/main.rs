//! The command: reads arguments and files, compiles, writes. The only place with input, output and
//! exit codes: 0, 1 for bad usage or bad input, 70 for a fault of the compiler itself.

#![deny(unsafe_code)]

mod arguments;
mod write;

use arguments::{Action, Arguments};
use backend::{Error, Input, interp};
use std::io::{IsTerminal, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;

/// The exit status for a fault of the compiler (`EX_SOFTWARE` of sysexits.h).
const INTERNAL_FAULT: u8 = 70;

/// Where the last panic was raised, for the report.
static PANIC_PLACE: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    let arguments = match arguments::parse(std::env::args_os()) {
        Action::Compile(arguments) => arguments,
        Action::Print(text) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Action::Usage(text) => return failure(text.trim_end()),
    };
    std::panic::set_hook(Box::new(|info| {
        if let (Some(place), Ok(mut text)) = (info.location(), PANIC_PLACE.lock())
            && text.is_empty()
        {
            *text = place.to_string();
        }
    }));
    catch_unwind(AssertUnwindSafe(|| run(&arguments))).unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("unknown fault");
        let place = PANIC_PLACE.lock().map(|p| p.clone()).unwrap_or_default();
        eprintln!("backend: internal error: {message} (at {place})");
        eprintln!("backend: this is a bug of backend; please report it with the input");
        ExitCode::from(INTERNAL_FAULT)
    })
}

fn failure(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}

fn run(arguments: &Arguments) -> ExitCode {
    let mut texts = Vec::new();
    for name in &arguments.files {
        match read(name) {
            Ok(text) => texts.push(text),
            Err(fault) => return failure(&format!("backend: cannot open '{name}': {fault}")),
        }
    }
    let inputs: Vec<Input<'_>> = arguments
        .files
        .iter()
        .zip(&texts)
        .map(|(name, text)| Input { name: name.as_str(), text })
        .collect();
    if arguments.run {
        return interpret(&inputs, arguments);
    }
    let output = match backend::compile(&inputs, &arguments.options) {
        Ok(output) => output,
        Err(errors) => return report(&errors),
    };
    let mut stderr = std::io::stderr().lock();
    // A closed stderr is nobody's loss.
    let _ = stderr.write_all(&output.dumps);
    if arguments.time_passes {
        for (name, time) in &output.times.rows {
            let _ = writeln!(stderr, "{:>10.3} ms  {name}", time.as_secs_f64() * 1e3);
        }
    }
    if !arguments.options.dump_letters.is_empty() {
        return ExitCode::SUCCESS;
    }
    match write::write(arguments.output.as_deref(), &output.bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            let name = arguments.output.as_deref().map_or("-".into(), |p| p.to_string_lossy());
            failure(&format!("backend: cannot write '{name}': {fault}"))
        }
    }
}

fn read(name: &str) -> std::io::Result<Vec<u8>> {
    if name != "-" {
        return std::fs::read(name);
    }
    let mut text = Vec::new();
    std::io::stdin().lock().read_to_end(&mut text)?;
    Ok(text)
}

/// Prints the errors; on a terminal each with its line and a caret.
fn report(errors: &[Error]) -> ExitCode {
    let carets = std::io::stderr().is_terminal();
    for error in errors {
        eprintln!("{error}");
        if carets && !error.source_line.is_empty() {
            let indent: String = error
                .source_line
                .chars()
                .take(error.column.saturating_sub(1) as usize)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            eprintln!("    {}\n    {indent}^", error.source_line);
        }
    }
    ExitCode::FAILURE
}

/// `--run`: interprets `$main` and exits as it does.
fn interpret(inputs: &[Input<'_>], arguments: &Arguments) -> ExitCode {
    let module = match backend::parse_inputs(inputs, &arguments.options) {
        Ok(module) => module,
        Err(errors) => return report(&errors),
    };
    let argv: Vec<Vec<u8>> = arguments.files.iter().map(|f| f.as_bytes().to_vec()).collect();
    let outcome = interp::run_main(&module, &argv, &interp::Limits::default());
    let written = std::io::stdout().lock().write_all(&outcome.output);
    match (outcome.status(), written) {
        (Ok(status), Ok(())) => ExitCode::from(status),
        (Ok(_), Err(fault)) => failure(&format!("backend: cannot write '-': {fault}")),
        (Err(fault), _) => failure(&format!("backend: {fault}")),
    }
}
