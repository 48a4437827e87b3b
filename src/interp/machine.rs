//! The machine: frames, the loop over instructions, jumps, phis and memory accesses.

use super::memory::{Mark, Memory, Space};
use super::value::{Fault, apply};
use super::{
    Argument, Bits, End, Limits, Outcome, Returned, Stop, Trap, Undefined, VolatileAccess,
};
use crate::index::{Index, IndexVec};
use crate::ir::eval::loaded;
use crate::ir::ops::Effect;
use crate::ir::strings::decode_string;
use crate::ir::{
    AbiType, BlockId, CallId, Class, Const, DataItem, Function, FunctionId, Inst, Jump, Module, Op,
    Ref, SymbolId, TempId, Value,
};

/// How many volatile accesses are kept.
const VOLATILES: usize = 4096;

/// A function being run.
#[derive(Debug)]
pub(super) struct Frame {
    pub function: FunctionId,
    pub block: BlockId,
    /// The next instruction of the block.
    pub next: usize,
    /// Where its temporaries start in the value stack; its slots' addresses follow them.
    pub base: usize,
    /// The stack as it was before.
    pub mark: Mark,
    /// The arguments beyond its parameters.
    pub variadic: Vec<(AbiType, Bits)>,
    /// Distinguishes its variadic lists from those of other frames.
    pub serial: u64,
    /// The aggregates its calls returned, one object a call site.
    pub results: Vec<(CallId, u64)>,
}

/// A run.
pub(super) struct Machine<'m> {
    pub module: &'m Module,
    pub limits: &'m Limits,
    pub memory: Memory,
    pub frames: Vec<Frame>,
    pub values: Vec<Bits>,
    pub output: Vec<u8>,
    pub unknown_output: Vec<usize>,
    /// What each symbol's address is.
    addresses: IndexVec<SymbolId, u64>,
    /// The function each symbol names.
    pub bodies: IndexVec<SymbolId, Option<FunctionId>>,
    pub calls_made: u64,
    steps: u64,
    random: u64,
    volatiles: Vec<VolatileAccess>,
    /// Values of phis on their way.
    moved: Vec<(TempId, Bits)>,
}

impl<'m> Machine<'m> {
    pub fn new(module: &'m Module, limits: &'m Limits) -> Machine<'m> {
        let (fill, random) = match limits.undefined {
            Undefined::Track => (None, 1),
            Undefined::Freeze(seed) => {
                let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
                (Some((random >> 56) as u8), random)
            }
        };
        Machine {
            module,
            limits,
            memory: Memory::new(limits.memory, fill),
            frames: Vec::new(),
            values: Vec::new(),
            output: Vec::new(),
            unknown_output: Vec::new(),
            addresses: (0..module.symbols.len())
                .map(|row| Memory::code_address(SymbolId::new(row)))
                .collect(),
            bodies: IndexVec::filled(None, module.symbols.len()),
            calls_made: 0,
            steps: 0,
            random,
            volatiles: Vec::new(),
            moved: Vec::new(),
        }
    }

    pub fn run(mut self, entry: &[u8], arguments: &[Argument]) -> Outcome {
        let end = match self.execute(entry, arguments) {
            Ok(returned) => End::Returned(returned),
            Err(Stop::Exit(status)) => End::Exited(status),
            Err(Stop::Trap(trap, message)) => End::Trap(trap, message),
            Err(Stop::Undefined(what)) => End::Undefined(what),
            Err(Stop::Limit(what)) => End::Limit(what),
            Err(Stop::Unsupported(what)) => End::Unsupported(what),
        };
        Outcome {
            end,
            output: self.output,
            unknown_output: self.unknown_output,
            volatiles: self.volatiles,
            steps: self.steps,
        }
    }

    fn execute(&mut self, entry: &[u8], arguments: &[Argument]) -> Result<Returned, Stop> {
        for (id, function) in self.module.functions.enumerate() {
            self.bodies[function.symbol] = Some(id);
        }
        self.lay_out_data()?;
        let symbol = self.module.symbols.find(entry);
        let Some(function) = symbol.and_then(|symbol| self.bodies[symbol]) else {
            let name = String::from_utf8_lossy(entry);
            return Err(Stop::Unsupported(format!("no function ${name}")));
        };
        let mut passed = Vec::new();
        for argument in arguments {
            passed.push(self.argument(argument)?);
        }
        self.enter(function, &passed, None)?;
        loop {
            if let Some(returned) = self.run_block()? {
                return Ok(returned);
            }
        }
    }

    fn argument(&mut self, argument: &Argument) -> Result<(AbiType, Bits), Stop> {
        Ok(match argument {
            Argument::Value(class, bits) => (AbiType::Base(*class), Bits::defined(*bits)),
            Argument::Bytes(bytes) => {
                let address = self.object(bytes)?;
                (AbiType::Base(Class::L), Bits::defined(address))
            }
            Argument::Strings(strings) => {
                let mut array = Vec::new();
                for string in strings {
                    let address = self.object(&[string, &b"\0"[..]].concat())?;
                    array.extend_from_slice(&address.to_le_bytes());
                }
                array.extend_from_slice(&[0; 8]);
                (AbiType::Base(Class::L), Bits::defined(self.object(&array)?))
            }
        })
    }

    /// A new object that holds `bytes`.
    fn object(&mut self, bytes: &[u8]) -> Result<u64, Stop> {
        let address = self.memory.allocate(Space::Data, bytes.len() as u64, 16)?;
        self.memory.write(address, bytes).expect("a fresh object holds its bytes");
        Ok(address)
    }

    /// Gives every data object its address, then its contents.
    fn lay_out_data(&mut self) -> Result<(), Stop> {
        let module = self.module;
        for data in module.data.iter() {
            let mut size = 0u64;
            for item in &data.items {
                let bytes = match item {
                    DataItem::Zero(n) => *n,
                    DataItem::Int(width, _) | DataItem::Address(width, ..) => width.size(),
                    DataItem::String(text) => decode_string(text).len() as u64,
                };
                size = size.saturating_add(bytes);
            }
            let align = data.align.max(1);
            self.addresses[data.symbol] = self.memory.allocate(Space::Data, size, align)?;
        }
        for data in module.data.iter() {
            let mut bytes = Vec::new();
            for item in &data.items {
                let number = |width: crate::ir::Width, value: u64| {
                    value.to_le_bytes()[..width.size() as usize].to_vec()
                };
                match item {
                    DataItem::Zero(n) => bytes.resize(bytes.len() + *n as usize, 0),
                    DataItem::Int(width, value) => bytes.extend(number(*width, *value)),
                    DataItem::String(text) => bytes.extend(decode_string(text)),
                    DataItem::Address(width, symbol, offset) => {
                        let address = self.addresses[*symbol].wrapping_add_signed(*offset);
                        bytes.extend(number(*width, address));
                    }
                }
            }
            let address = self.addresses[data.symbol];
            self.memory.write(address, &bytes).expect("an object holds its items");
        }
        Ok(())
    }

    /// An arbitrary number, the same in each run with the same seed.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// The value as the run goes on with it: undefined bits stay so or are frozen.
    #[inline]
    pub fn settle(&mut self, bits: Bits) -> Bits {
        if bits.undefined == 0 || self.limits.undefined == Undefined::Track {
            return bits;
        }
        let garbage = self.next_random();
        Bits::defined(bits.value & !bits.undefined | garbage & bits.undefined)
    }

    /// Where the machine is, for messages.
    pub fn place(&self) -> String {
        let Some(frame) = self.frames.last() else { return "before the start".into() };
        let function = self.function();
        let name = String::from_utf8_lossy(self.module.symbols.name(function.symbol));
        let block = match function.blocks[frame.block].name {
            Some(block) => String::from_utf8_lossy(function.names.get(block)).into_owned(),
            None => format!("{}", frame.block.index()),
        };
        format!("in ${name}, block @{block}")
    }

    pub fn trap(&self, trap: Trap, what: &str) -> Stop {
        Stop::Trap(trap, format!("{what} {}", self.place()))
    }

    /// The value of something that control or an address depends on.
    pub fn decide(&self, bits: Bits, what: &str) -> Result<u64, Stop> {
        if bits.is_defined() {
            return Ok(bits.value);
        }
        Err(Stop::Undefined(format!("{what} {}", self.place())))
    }

    pub fn function(&self) -> &'m Function {
        let frame = self.frames.last().expect("a function is running");
        &self.module.functions[frame.function]
    }

    fn frame(&self) -> &Frame {
        self.frames.last().expect("a function is running")
    }

    pub fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a function is running")
    }

    pub fn get(&self, r: Ref) -> Bits {
        let (function, base) = (self.function(), self.frame().base);
        self.read(function, base, r)
    }

    #[inline]
    fn read(&self, function: &Function, base: usize, r: Ref) -> Bits {
        match r.value() {
            Value::Temp(t) => self.values[base + t.index()],
            Value::Int(i) => Bits::defined(i64::from(i) as u64),
            Value::Const(c) => Bits::defined(match function.consts.get(c) {
                Const::Int(i) => i as u64,
                Const::Single(bits) => u64::from(bits),
                Const::Double(bits) => bits,
                Const::Symbol { symbol, offset, .. } => {
                    self.addresses[symbol].wrapping_add_signed(offset)
                }
            }),
            Value::Slot(s) => self.values[base + function.temps.len() + s.index()],
            Value::None | Value::Call(_) => Bits::ZERO,
        }
    }

    pub fn set(&mut self, to: TempId, value: Bits) {
        let base = self.frame().base;
        let value = self.settle(value);
        self.values[base + to.index()] = value;
    }

    /// Runs to the end of a block or to a call; what the entry function returned, if it did.
    fn run_block(&mut self) -> Result<Option<Returned>, Stop> {
        let (function, base) = (self.function(), self.frame().base);
        let frame = self.frame();
        let block = &function.blocks[frame.block];
        let first = frame.next;
        for (i, inst) in block.insts.iter().enumerate().skip(first) {
            self.step()?;
            let wanted = match inst.op.row().effect {
                Effect::Pure => {
                    let Some(to) = inst.to else { continue };
                    let args = inst.args.map(|r| self.read(function, base, r));
                    let value = match apply(inst.op, inst.class, args) {
                        Ok(value) => self.settle(value),
                        Err(Fault::Division) => {
                            return Err(self.trap(Trap::Division, "division by zero or overflow"));
                        }
                        Err(Fault::Undefined) => {
                            self.decide(Bits::UNDEFINED, "a division")?;
                            Bits::ZERO
                        }
                    };
                    self.values[base + to.index()] = value;
                    continue;
                }
                Effect::Read => {
                    let address = self.read(function, base, inst.args[0]);
                    let value = self.load(inst, address)?;
                    Some(value)
                }
                Effect::Write => {
                    let args = inst.args.map(|r| self.read(function, base, r));
                    self.write(inst, args)?;
                    None
                }
                Effect::Pinned => self.pinned(inst)?,
                Effect::Any if inst.op == Op::Call => {
                    self.frame_mut().next = i + 1;
                    self.call(inst)?;
                    return Ok(None);
                }
                Effect::Any => self.variadic(inst)?,
            };
            if let (Some(to), Some(value)) = (inst.to, wanted) {
                self.values[base + to.index()] = self.settle(value);
            }
        }
        self.step()?;
        self.jump(&block.jump)
    }

    fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            return Err(Stop::Limit("steps"));
        }
        Ok(())
    }

    fn jump(&mut self, jump: &Jump) -> Result<Option<Returned>, Stop> {
        match *jump {
            Jump::Ret(value) => self.leave(value),
            Jump::Jmp(target) => {
                self.go_to(target);
                Ok(None)
            }
            Jump::Jnz(condition, yes, no) => {
                let Some(truth) = self.get(condition).truth() else {
                    return Err(Stop::Undefined(format!("a branch {}", self.place())));
                };
                self.go_to(if truth { yes } else { no });
                Ok(None)
            }
            Jump::Hlt => Err(self.trap(Trap::Halt, "hlt")),
        }
    }

    /// Takes an edge: all phis read before any is written.
    fn go_to(&mut self, target: BlockId) {
        let (function, base) = (self.function(), self.frame().base);
        let from = self.frame().block;
        let mut moved = std::mem::take(&mut self.moved);
        moved.extend(function.blocks[target].phis.iter().map(|phi| {
            let arg = phi.arg(from).unwrap_or_else(|| {
                panic!("{from:?} is missing from a phi of {target:?} ({})", self.place())
            });
            (phi.to, self.read(function, base, arg).cut(phi.class))
        }));
        for (to, value) in moved.drain(..) {
            self.values[base + to.index()] = value;
        }
        self.moved = moved;
        let frame = self.frame_mut();
        frame.block = target;
        frame.next = 0;
    }

    fn note_volatile(&mut self, access: VolatileAccess) {
        if self.volatiles.len() < VOLATILES {
            self.volatiles.push(access);
        }
    }

    /// The fault of an access that no object holds.
    pub fn out_of_bounds(&self, what: &str, address: u64, size: u64) -> Stop {
        let count = self.module.symbols.len();
        if let Some(symbol) = Memory::symbol_around(address, count)
            && self.bodies[symbol].is_none()
        {
            let name = String::from_utf8_lossy(self.module.symbols.name(symbol));
            return Stop::Unsupported(format!("${name}"));
        }
        self.trap(
            Trap::Bounds,
            &format!("{what} of {size} bytes at {address:#x}, which no object holds,"),
        )
    }

    fn load(&mut self, inst: &Inst, address: Bits) -> Result<Bits, Stop> {
        let size = inst.op.load_size().expect("it is a load");
        let address = self.decide(address, "the address of a load")?;
        let raw = self
            .memory
            .load(address, size)
            .ok_or_else(|| self.out_of_bounds("a load", address, size.into()))?;
        let value = Bits {
            value: loaded(inst.op, inst.class, raw.value),
            undefined: loaded(inst.op, inst.class, raw.undefined),
        };
        if inst.volatile {
            // Passes may change how the bytes are extended, not which are read.
            self.note_volatile(VolatileAccess { write: false, size: size.into(), value: raw });
        }
        Ok(value)
    }

    fn write(&mut self, inst: &Inst, [a, b, c]: [Bits; 3]) -> Result<(), Stop> {
        let to = self.decide(b, "the address of a store")?;
        let Some(size) = inst.op.store_size() else {
            let (from, size) = (self.decide(a, "the source of a blit")?, c.value);
            if inst.volatile {
                self.note_volatile(VolatileAccess { write: true, size, value: Bits::ZERO });
            }
            let done = self.memory.copy(from, to, size);
            return done.ok_or_else(|| self.out_of_bounds("a blit", to, size));
        };
        if inst.volatile {
            let cut = u64::MAX >> (64 - 8 * size);
            let value = Bits { value: a.value & cut, undefined: a.undefined & cut };
            self.note_volatile(VolatileAccess { write: true, size: size.into(), value });
        }
        let done = self.memory.store(to, size, a);
        done.ok_or_else(|| self.out_of_bounds("a store", to, size.into()))
    }

    fn pinned(&mut self, inst: &Inst) -> Result<Option<Bits>, Stop> {
        let Some(align) = inst.op.alloc_align() else { return Ok(None) };
        let size = self.decide(self.get(inst.args[0]), "the size of an allocation")?;
        let address = self.memory.allocate(Space::Stack, size, align.into())?;
        Ok(Some(Bits::defined(address)))
    }
}
