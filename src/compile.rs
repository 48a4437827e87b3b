//! From texts to output: parse, then every function through the passes, selection, allocation and
//! emission, on as many threads as asked, then the pieces in source order.

use crate::error::Error;
use crate::index::{Index, IndexVec};
use crate::ir::print::{print_function, print_item};
use crate::ir::{Function, FunctionId, Item, Module};
use crate::options::{Emit, Options};
use crate::out::text;
use crate::parse;
use crate::pipeline::{Run, Times, run_passes};
use std::sync::Mutex;

/// A text to compile.
#[derive(Copy, Clone, Debug)]
pub struct Input<'a> {
    /// Its name for messages; `-` for standard input.
    pub name: &'a str,
    pub text: &'a [u8],
}

/// What a compilation made.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Assembly, or IL if that was asked for.
    pub bytes: Vec<u8>,
    /// The dumps that were asked for, function by function.
    pub dumps: Vec<u8>,
    /// Where the time went, summed over threads.
    pub times: Times,
}

/// Compiles `inputs`, together, into one output.
///
/// # Errors
/// All faults of the inputs that could be found, at most 20 of each.
///
/// # Panics
/// If the compiler itself is wrong; the message names target, function and pass.
pub fn compile(inputs: &[Input<'_>], options: &Options) -> Result<Output, Vec<Error>> {
    let start = std::time::Instant::now();
    let module = parse_inputs(inputs, options)?;
    let parsing = start.elapsed();
    let mut output = compile_module(module, options);
    output.times.rows.insert(0, ("parse", parsing));
    Ok(output)
}

/// Parses `inputs` into one module.
///
/// # Errors
/// All faults of the inputs that could be found.
pub fn parse_inputs(inputs: &[Input<'_>], options: &Options) -> Result<Module, Vec<Error>> {
    let mut module = Module::default();
    let mut errors = Vec::new();
    let parsing = parse::Options { internal_ops: options.internal_ops };
    for input in inputs {
        if let Err(found) = parse::parse(input.name, input.text, &parsing, &mut module) {
            errors.extend(found);
        }
    }
    if errors.is_empty() { Ok(module) } else { Err(errors) }
}

/// Compiles a module that was built or parsed before.
pub fn compile_module(mut module: Module, options: &Options) -> Output {
    let functions = std::mem::take(&mut module.functions);
    let threads = thread_count(options, &functions);
    let compiled = compile_functions(&module, functions, options, threads);
    assemble(&module, compiled, options)
}

/// What became of a function.
#[derive(Default)]
struct Compiled {
    text: Vec<u8>,
    literals: text::Literals,
    dumps: Vec<u8>,
    times: Times,
}

/// A thread costs about 50 µs to start; below that many instructions all told, one thread is
/// as fast.
const WORTH_THREADS: usize = 5_000;

fn thread_count(options: &Options, functions: &IndexVec<FunctionId, Function>) -> usize {
    if options.threads != 0 {
        return options.threads.min(functions.len()).max(1);
    }
    let insts: usize =
        functions.iter().flat_map(|f| f.blocks.iter()).map(|b| b.insts.len() + 1).sum();
    if insts < WORTH_THREADS {
        return 1;
    }
    std::thread::available_parallelism().map_or(1, usize::from).min(functions.len())
}

fn compile_functions(
    module: &Module,
    functions: IndexVec<FunctionId, Function>,
    options: &Options,
    threads: usize,
) -> Vec<Compiled> {
    let count = functions.len();
    let mut queue = functions.into_vec().into_iter().enumerate();
    if threads <= 1 {
        return queue.map(|(i, f)| compile_function(module, i, f, options)).collect();
    }
    let queue = Mutex::new(&mut queue);
    let next = || queue.lock().expect("no thread panics while it takes work").next();
    let work = || {
        let mut done = Vec::new();
        while let Some((i, f)) = next() {
            done.push((i, compile_function(module, i, f, options)));
        }
        done
    };
    let mut compiled: Vec<Compiled> = (0..count).map(|_| Compiled::default()).collect();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                std::thread::Builder::new()
                    .spawn_scoped(scope, work)
                    .expect("the system can start a thread")
            })
            .collect();
        for worker in workers {
            match worker.join() {
                Ok(done) => done.into_iter().for_each(|(i, c)| compiled[i] = c),
                Err(payload) => std::panic::resume_unwind(payload),
            }
        }
    });
    compiled
}

/// One function, from parsed IL to text.
fn compile_function(
    module: &Module,
    number: usize,
    mut f: Function,
    options: &Options,
) -> Compiled {
    let mut run = Run { options, module, number, dumps: Vec::new(), times: Times::default() };
    let mut compiled = Compiled::default();
    let facts = run_passes(&mut f, &mut run);
    let _ = facts;
    print_function(module, &f, &mut compiled.text);
    if !run.dumps.is_empty() {
        let name = String::from_utf8_lossy(module.symbols.name(f.symbol));
        compiled.dumps = format!("**** Function {name} ****").into_bytes();
        compiled.dumps.append(&mut run.dumps);
        compiled.dumps.push(b'\n');
    }
    compiled.times = run.times;
    compiled
}

/// Puts the pieces together in source order.
fn assemble(module: &Module, mut compiled: Vec<Compiled>, options: &Options) -> Output {
    let mut output = Output::default();
    let mut literals = text::Literals::default();
    for piece in &mut compiled {
        output.dumps.append(&mut piece.dumps);
        output.times.merge(&piece.times);
        literals.merge(&piece.literals);
    }
    let mut piece = |id: FunctionId, out: &mut Vec<u8>| {
        out.extend_from_slice(&std::mem::take(&mut compiled[id.index()].text));
    };
    let bytes = &mut output.bytes;
    if wants_il(options) {
        for &item in &module.items {
            match item {
                Item::Function(id) => piece(id, bytes),
                Item::Data(_) | Item::File(_) | Item::Type(_) => print_item(module, item, bytes),
            }
        }
    } else {
        text::file(options.target, module, bytes, piece);
        text::finish(options.target, module, literals, bytes);
    }
    output
}

fn wants_il(options: &Options) -> bool {
    options.emit == Emit::Il || options.stop_after.is_some()
}
