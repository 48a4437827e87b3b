//! From texts to output: parse, then every function through the passes, selection, allocation and
//! emission, on as many threads as asked, then the pieces in source order.

use crate::analysis::{FactSet, Facts, references};
use crate::error::Error;
use crate::index::{Index, IndexVec};
use crate::ir::print::{print_function, print_item};
use crate::ir::{Function, FunctionId, Item, Linkage, Module, SymbolId};
use crate::options::{Emit, Options};
use crate::out::debug_text::{self, Described};
use crate::out::split::split;
use crate::out::{object, text};
use crate::parse;
use crate::pipeline::{Run, Times, run_passes};
use crate::regalloc;
use crate::target::EmitInput;
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
    /// Assembly, or an object or IL if that was asked for.
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
    check_object(inputs, &module, options)?;
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

/// Finds what the assembler would refuse.
fn check_object(
    inputs: &[Input<'_>],
    module: &Module,
    options: &Options,
) -> Result<(), Vec<Error>> {
    if options.emit != Emit::Object {
        return Ok(());
    }
    let messages = object::faults(options.target, module);
    let file = inputs.first().map_or("-", |input| input.name);
    let error = |message| Error {
        file: file.to_owned(),
        line: 0,
        column: 0,
        message,
        source_line: String::new(),
    };
    if messages.is_empty() { Ok(()) } else { Err(messages.into_iter().map(error).collect()) }
}

/// Compiles a module that was built or parsed before.
///
/// # Panics
/// If an object file is asked for that `compile` would refuse: see [`object::faults`].
pub fn compile_module(mut module: Module, options: &Options) -> Output {
    if !wants_il(options) {
        let (functions, data) = (options.function_sections, options.data_sections);
        split(options.target, &mut module, functions, data);
    }
    let functions = std::mem::take(&mut module.functions);
    let own = |symbol: SymbolId, linkage: &Linkage| {
        (!linkage.export && !linkage.common).then_some(symbol)
    };
    let locals = functions.iter().filter_map(|f| own(f.symbol, &f.linkage));
    let data = module.data.iter().filter_map(|d| own(d.symbol, &d.linkage));
    module.symbols.set_locals(locals.chain(data));
    let described = debug_text::describe(&functions, options.debug);
    let threads = thread_count(options, &functions);
    let compiled = compile_functions(&module, functions, options, threads);
    assemble(&module, compiled, &described, options)
}

/// What became of a function.
#[derive(Default)]
struct Compiled {
    text: Vec<u8>,
    object: Option<object::Piece>,
    literals: text::Literals,
    dumps: Vec<u8>,
    times: Times,
}

/// Below that many instructions all told, one thread is as fast: a file of 4,000 (bench/scale,
/// `funcs`) gained nothing from a second, one of 8,000 took 28% less.
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
    let address_taken = &references::address_taken(module, &functions);
    let compile = |(number, f)| {
        let run = Run {
            options,
            module,
            address_taken,
            number,
            dumps: Vec::new(),
            times: Times::default(),
        };
        compile_function(run, f)
    };
    let count = functions.len();
    let mut queue = functions.into_vec().into_iter().enumerate();
    if threads <= 1 {
        return queue.map(compile).collect();
    }
    let queue = Mutex::new(&mut queue);
    let next = || queue.lock().expect("no thread panics while it takes work").next();
    let work = || {
        let mut done = Vec::new();
        while let Some((number, f)) = next() {
            done.push((number, compile((number, f))));
        }
        done
    };
    let mut compiled: Vec<Compiled> = (0..count).map(|_| Compiled::default()).collect();
    std::thread::scope(|scope| {
        // Where the system has no more threads, those that started do the work.
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let workers: Vec<_> = (1..threads).filter_map(start).collect();
        let mut done = work();
        for worker in workers {
            match worker.join() {
                Ok(theirs) => done.extend(theirs),
                Err(payload) => std::panic::resume_unwind(payload),
            }
        }
        done.into_iter().for_each(|(number, c)| compiled[number] = c);
    });
    compiled
}

/// One function, from parsed IL to text.
fn compile_function(mut run: Run<'_>, mut f: Function) -> Compiled {
    let (module, options) = (run.module, run.options);
    let mut compiled = Compiled::default();
    let facts = run_passes(&mut f, &mut run);
    if wants_il(options) {
        print_function(module, &f, &mut compiled.text);
    } else {
        generate(&f, facts, &mut run, &mut compiled);
    }
    if !run.dumps.is_empty() {
        let name = String::from_utf8_lossy(module.symbols.name(f.symbol));
        compiled.dumps = format!("**** Function {name} ****").into_bytes();
        compiled.dumps.append(&mut run.dumps);
        compiled.dumps.push(b'\n');
    }
    compiled.times = run.times;
    compiled
}

/// Machine code from IL in SSA form.
fn generate(f: &Function, mut facts: Facts, run: &mut Run<'_>, into: &mut Compiled) {
    let (module, options) = (run.module, run.options);
    let target = options.target;
    let name = module.symbols.name(f.symbol);
    run.step("facts", name, || facts.require(f, FactSet::ALL));
    let code = run.step("select", name, || {
        let mut code = (target.select)(f, &facts, module, &options.features);
        if options.frame_pointer || target.keeps_frame_pointer {
            code.keep_frame_pointer(target.unwind.frame_pointer);
        }
        code
    });
    run.dump_code("select", "AI", "instruction selection", &code, None);
    let allocation_options = regalloc::Options { max_regs: options.max_regs };
    let allocation = run.step("regalloc", name, || {
        let allocation = regalloc::allocate(&code, target.registers, &allocation_options);
        if options.verify
            && let Err(fault) = regalloc::check::check(&code, &allocation, target.registers)
        {
            panic!("{fault}");
        }
        allocation
    });
    run.dump_code("regalloc", "LSR", "register allocation", &code, Some(&allocation));
    let layout = run.step("layout", name, || regalloc::layout::layout(&code, &allocation));
    let input = EmitInput {
        module,
        function: f,
        code: &code,
        allocation: &allocation,
        layout: &layout,
        features: &options.features,
        debug: options.debug || f.file.is_some(),
        unwind: options.unwind,
        indirect: f.linkage.export || run.address_taken.contains(f.symbol),
    };
    let number = FunctionId::new(run.number);
    run.step("emit", name, || match options.emit {
        Emit::Object => into.object = Some(object::function(target, &input, &mut into.literals)),
        _ => text::function(target, &input, number, &mut into.text, &mut into.literals),
    });
}

/// Puts the pieces together in source order.
fn assemble(
    module: &Module,
    mut compiled: Vec<Compiled>,
    described: &[Described],
    options: &Options,
) -> Output {
    let mut output = Output::default();
    let mut literals = text::Literals::default();
    for piece in &mut compiled {
        output.dumps.append(&mut piece.dumps);
        output.times.merge(&piece.times);
        literals.merge(&piece.literals);
    }
    if options.emit == Emit::Object && !wants_il(options) {
        let piece = |id: FunctionId| compiled[id.index()].object.take();
        output.bytes = object::file(options.target, module, literals, piece);
        return output;
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
        text::file(options.target, module, &options.features, described, bytes, piece);
        text::finish(options.target, module, literals, described, bytes);
    }
    output
}

fn wants_il(options: &Options) -> bool {
    options.emit == Emit::Il || options.stop_after.is_some()
}
