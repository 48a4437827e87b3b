//! Emission: walks an allocated function in layout order and sends final instructions to a sink.
//!
//! This file has blocks, branches, moves, prologue and epilogue; `expand` has the instructions of
//! selection. What a peephole would find later is decided here on the spot, because the
//! registers are known: which of two forms is shorter, whether the flags are still wanted.

use super::codes::Code;
use super::frame::Frame;
use super::insts::{self, Flags, JCC, cond};
use super::regs::{R8, R9, R10, R11, RAX, RBP, RCX, RSP, SYSV};
use crate::index::IndexVec;
use crate::ir::BlockId;
use crate::target::machine::{Address, Bank, Base, Location, MFunction, MInst, PReg, Step, op};
use crate::target::wrap::{self, Wrap};
use crate::target::{Arg, EmitInput, Instruction, Memory, MemoryBase, Sink};
use smallvec::{SmallVec, smallvec};

/// A block that ends in a return and is at most this many instructions long, the epilogue
/// included, is repeated rather than jumped to.
const SHORT_TAIL: usize = 3;

/// What of the flags is read later on.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wanted {
    Nothing,
    /// All but the carry, which `inc` and `dec` keep.
    AllButCarry,
    All,
}

/// `Target::emit`.
pub fn emit(input: &EmitInput<'_>, sink: &mut dyn Sink) {
    let code = input.code;
    let frame = Frame::new(code, input.allocation, SYSV.callee_saved);
    let wrap = match frame.is_empty() {
        true => None,
        false => wrap::find(code, input.allocation, input.layout, &SYSV, |b| {
            tail_length(input, b).is_some_and(|n| n <= SHORT_TAIL)
        }),
    };
    let buffer = Instruction { op: 0, size: 8, cond: 0, args: SmallVec::new() };
    let mut e = Emitter { input, code, frame, wrap, early: false, sink, buffer, def: None };
    let labels = e.labels();
    // The mark of a place that indirect branches may go to.
    if input.indirect {
        e.put(Code::Endbr64, 8, &[]);
    }
    if e.wrap.is_none() {
        e.prologue();
    }
    let order = &input.layout.order;
    let mut wanted = Vec::new();
    let mut falls_through = true;
    for (i, &b) in order.iter().enumerate() {
        if labels[b] {
            e.sink.block(b);
        } else if !falls_through {
            // All jumps to it became what it does.
            continue;
        }
        falls_through = e.block(b, order.get(i + 1).copied(), &mut wanted);
    }
}

/// Emission of one function.
pub struct Emitter<'a> {
    pub input: &'a EmitInput<'a>,
    pub code: &'a MFunction,
    pub frame: Frame,
    /// Where the frame is made, if not at the entry.
    wrap: Option<Wrap>,
    /// The block being emitted runs before the frame is made.
    early: bool,
    sink: &'a mut dyn Sink,
    /// The instruction under construction, kept for its memory.
    buffer: Instruction,
    /// Where the definition goes, if not where the allocation says: for rematerialised
    /// instructions.
    def: Option<PReg>,
}

/// Where control goes at the end of a block, in order: the last has no condition, or control falls
/// through.
type Exits = SmallVec<[(Option<u8>, Exit); 3]>;

#[derive(Copy, Clone, PartialEq, Eq)]
enum Exit {
    Jump(BlockId),
    /// What this block does, which is short and ends in a return.
    Tail(BlockId),
    Return,
    Trap,
}

impl Emitter<'_> {
    /// The blocks that something jumps to.
    fn labels(&self) -> IndexVec<BlockId, bool> {
        let mut labels = IndexVec::filled(false, self.code.blocks.len());
        let order = &self.input.layout.order;
        for (i, &b) in order.iter().enumerate() {
            for (_, exit) in self.exits(b, order.get(i + 1).copied()) {
                if let Exit::Jump(target) = exit {
                    labels[target] = true;
                }
            }
        }
        labels
    }

    /// The jumps at the end of `b`, if `next` comes after it.
    fn exits(&self, b: BlockId, next: Option<BlockId>) -> Exits {
        let block = &self.code.blocks[b];
        let last = block.insts.last().expect("a block has a terminator");
        let forward = &self.input.layout.forward;
        let mut exits: Exits = match last.op {
            op::RETURN => smallvec![(None, Exit::Return)],
            op::TRAP => smallvec![(None, Exit::Trap)],
            op::JUMP => smallvec![(None, Exit::Jump(forward[block.succs[0]]))],
            JCC => {
                let taken = forward[block.succs[0]];
                let other = forward[*block.succs.last().expect("a branch has a target")];
                let rate =
                    |n: usize| block.succs.get(n).map_or(0.0, |&s| self.code.blocks[s].frequency);
                branch(last.cond, taken, other, next, rate(1) > rate(0))
            }
            _ => unreachable!("row {} is no terminator", last.op),
        };
        if let Some(&(None, Exit::Jump(target))) = exits.last() {
            // Out of the frame into a block without leads only through a copy of that block.
            let leaves = !self.is_early(b) && self.is_early(target);
            if Some(target) == next && !leaves {
                exits.pop();
            } else if leaves || self.is_short_tail(target) {
                *exits.last_mut().expect("just seen") = (None, Exit::Tail(target));
            }
        }
        exits
    }

    fn is_early(&self, b: BlockId) -> bool {
        self.wrap.as_ref().is_some_and(|w| w.is_early(b))
    }

    /// True if `b` returns after so little that it is no longer than a jump to it, or hardly.
    fn is_short_tail(&self, b: BlockId) -> bool {
        let saved = self.frame.saved.len() + usize::from(self.frame.base == RBP);
        let undo = if self.is_early(b) { 0 } else { saved + usize::from(self.frame.size > 0) };
        tail_length(self.input, b).is_some_and(|n| n + undo <= SHORT_TAIL)
    }

    /// Emits a block; true if control may fall through to the next.
    fn block(&mut self, b: BlockId, next: Option<BlockId>, wanted: &mut Vec<Wanted>) -> bool {
        self.early = self.is_early(b);
        if self.wrap.as_ref().is_some_and(|w| w.at == b) {
            self.prologue();
            for i in 0..self.wrap.as_ref().map_or(0, |w| w.moves.len()) {
                let (from, to) = self.wrap.as_ref().expect("just seen").moves[i];
                self.put(Code::Mov, 8, &[Arg::Reg(to), Arg::Reg(from)]);
            }
        }
        self.steps(b, wanted);
        let exits = self.exits(b, next);
        let falls_through = exits.last().is_none_or(|(condition, _)| condition.is_some());
        for (condition, exit) in exits {
            match (exit, condition) {
                (Exit::Jump(target), None) => self.put(Code::Jmp, 8, &[Arg::Block(target)]),
                (Exit::Jump(target), Some(cond)) => {
                    self.put_if(Code::Jcc, 8, cond, &[Arg::Block(target)]);
                }
                (Exit::Tail(target), _) => {
                    self.steps(target, wanted);
                    self.epilogue();
                }
                (Exit::Return, _) => self.epilogue(),
                (Exit::Trap, _) => self.put(Code::Ud2, 8, &[]),
            }
        }
        falls_through
    }

    /// Emits what a block does before its exits.
    fn steps(&mut self, b: BlockId, wanted: &mut Vec<Wanted>) {
        let input = self.input;
        let steps = &input.allocation.steps[b];
        self.wanted_flags(b, steps, wanted);
        for (step, &wanted) in steps.iter().zip(wanted.iter()) {
            match *step {
                Step::Inst(i) => {
                    let code = self.code;
                    self.expand(&code.blocks[b].insts[i as usize], wanted);
                }
                Step::Move { from, to, size } => self.transfer(from, to, size),
                Step::Swap(a, b) => self.swap(a, b),
                Step::Rematerialise { block, inst, to } => {
                    let code = self.code;
                    self.def = Some(to);
                    self.expand(&code.blocks[block].insts[inst as usize], wanted);
                    self.def = None;
                }
            }
        }
    }

    /// For each step, what of the flags is read after it.
    fn wanted_flags(&self, b: BlockId, steps: &[Step], wanted: &mut Vec<Wanted>) {
        wanted.clear();
        wanted.resize(steps.len(), Wanted::Nothing);
        let flags_out = self.code.blocks[b].succs.iter().any(|&s| self.code.blocks[s].flags_in);
        let mut now = if flags_out { Wanted::All } else { Wanted::Nothing };
        for (step, after) in steps.iter().zip(wanted.iter_mut()).rev() {
            *after = now;
            let Step::Inst(i) = *step else { continue };
            let inst = &self.code.blocks[b].insts[i as usize];
            if inst.op < op::FIRST_TARGET {
                continue;
            }
            match insts::row(inst.op).flags {
                Flags::Keep => {}
                Flags::Write => now = Wanted::Nothing,
                Flags::Read => {
                    let carry = matches!(
                        inst.cond,
                        cond::B | cond::AE | cond::BE | cond::A | cond::FEQ | cond::FNE
                    );
                    now = now.max(if carry { Wanted::All } else { Wanted::AllButCarry });
                }
            }
        }
    }

    fn prologue(&mut self) {
        if self.frame.base == RBP {
            self.put(Code::Push, 8, &[Arg::Reg(RBP)]);
            self.put(Code::Mov, 8, &[Arg::Reg(RBP), Arg::Reg(RSP)]);
        }
        for i in 0..self.frame.saved.len() {
            self.put(Code::Push, 8, &[Arg::Reg(self.frame.saved[i])]);
        }
        match self.frame.size {
            0 => {}
            // A push is shorter than a subtraction, whatever it pushes.
            8 => self.put(Code::Push, 8, &[Arg::Reg(RAX)]),
            size => self.move_stack(Code::Sub, size as i64),
        }
    }

    /// Undoes the frame and returns.
    fn epilogue(&mut self) {
        if self.early {
            self.put(Code::Ret, 8, &[]);
            return;
        }
        let saved = self.frame.saved.len();
        if self.frame.base == RSP {
            match self.frame.size {
                0 => {}
                // Nothing is returned in rcx.
                8 => self.put(Code::Pop, 8, &[Arg::Reg(RCX)]),
                size => self.move_stack(Code::Add, size as i64),
            }
        } else if saved > 0 {
            let top = frame_memory(RBP, -8 * saved as i64);
            self.put(Code::Lea, 8, &[Arg::Reg(RSP), Arg::Memory(top)]);
        }
        for i in (0..saved).rev() {
            self.put(Code::Pop, 8, &[Arg::Reg(self.frame.saved[i])]);
        }
        if self.frame.base == RBP {
            if saved == 0 {
                self.put(Code::Leave, 8, &[]);
            } else {
                self.put(Code::Pop, 8, &[Arg::Reg(RBP)]);
            }
        }
        self.put(Code::Ret, 8, &[]);
    }

    /// Adds to or subtracts from rsp. r11 holds nothing where a function begins and returns.
    fn move_stack(&mut self, code: Code, bytes: i64) {
        if bytes == 128 {
            // -128 fits a byte and 128 does not.
            let opposite = if code == Code::Add { Code::Sub } else { Code::Add };
            self.put(opposite, 8, &[Arg::Reg(RSP), Arg::Imm(-128)]);
        } else if i32::try_from(bytes).is_ok() {
            self.put(code, 8, &[Arg::Reg(RSP), Arg::Imm(bytes)]);
        } else {
            self.put(Code::Movabs, 8, &[Arg::Reg(R11), Arg::Imm(bytes)]);
            self.put(code, 8, &[Arg::Reg(RSP), Arg::Reg(R11)]);
        }
    }

    /// A move, spill or reload.
    pub fn transfer(&mut self, from: Location, to: Location, size: u8) {
        let (from, to) = (self.named(from), self.named(to));
        if from == to {
            return;
        }
        let args = [self.place(to), self.place(from)];
        let code = match (bank(to), bank(from)) {
            (Some(Bank::Float), Some(Bank::Float)) => Code::Movaps,
            (Some(Bank::Float), None) | (None, Some(Bank::Float)) => Code::Movs,
            (Some(Bank::Float), Some(Bank::Int)) | (Some(Bank::Int), Some(Bank::Float)) => {
                Code::Movd
            }
            (Some(Bank::Int), _) | (None, Some(Bank::Int)) => Code::Mov,
            (None, None) => unreachable!("no move goes from memory to memory"),
        };
        self.put(code, size, &args);
    }

    fn swap(&mut self, a: PReg, b: PReg) {
        let (x, y) = (self.place(Location::Reg(a)), self.place(Location::Reg(b)));
        match a.bank() {
            Bank::Int => self.put(Code::Xchg, 8, &[x, y]),
            Bank::Float => {
                self.put(Code::Xorps, 8, &[x, y]);
                self.put(Code::Xorps, 8, &[y, x]);
                self.put(Code::Xorps, 8, &[x, y]);
            }
        }
    }

    pub fn location(&mut self, line: u32, column: u32) {
        self.sink.location(line, column);
    }

    /// A register as blocks without the frame call it.
    fn named(&self, location: Location) -> Location {
        match (location, &self.wrap) {
            (Location::Reg(r), Some(wrap)) if self.early => Location::Reg(wrap.name(r)),
            _ => location,
        }
    }

    /// A location as an operand.
    fn place(&self, location: Location) -> Arg {
        match self.named(location) {
            Location::Reg(r) => Arg::Reg(r),
            Location::Spill(s) => Arg::Memory(frame_memory(self.frame.base, self.frame.spill(s))),
        }
    }

    /// Operand `n` of `inst`, in a register or in its spill slot.
    pub fn operand(&self, inst: &MInst, n: usize) -> Arg {
        match self.def {
            Some(r) if n == 0 => self.place(Location::Reg(r)),
            _ => self.place(self.input.allocation.location(inst, n)),
        }
    }

    /// Operand `n` of `inst`, which is in a register.
    pub fn reg(&self, inst: &MInst, n: usize) -> PReg {
        match self.operand(inst, n) {
            Arg::Reg(r) => r,
            _ => panic!("operand {n} of row {} is in memory", inst.op),
        }
    }

    /// The memory operand of `inst`, `nth` of those it has.
    pub fn memory(&self, inst: &MInst) -> Memory {
        let id = inst.address.expect("the row has a memory operand");
        self.resolve(inst, &self.code.addresses[id])
    }

    /// An address of `inst` in registers and frame offsets.
    pub fn resolve(&self, inst: &MInst, address: &Address) -> Memory {
        let index = address.index.map(|n| self.reg(inst, usize::from(n)));
        let mut disp = address.disp;
        let base = match address.base {
            Base::None => MemoryBase::None,
            Base::Reg(n) => MemoryBase::Reg(self.reg(inst, usize::from(n))),
            Base::Symbol(symbol, access) => MemoryBase::Symbol(symbol, access),
            Base::Pool(bits, size) => MemoryBase::Pool(bits, size),
            Base::Slot(_) | Base::Incoming | Base::Outgoing => {
                let (base, offset) = self.frame.address(address.base).expect("a part of the frame");
                disp = disp.wrapping_add(offset);
                MemoryBase::Reg(base)
            }
        };
        Memory { base, index, scale: address.scale, disp }
    }

    /// Sends an instruction.
    pub fn put(&mut self, code: Code, size: u8, args: &[Arg]) {
        self.put_if(code, size, 0, args);
    }

    /// Sends an instruction with a condition.
    pub fn put_if(&mut self, code: Code, size: u8, cond: u8, args: &[Arg]) {
        if self.frame.emergency.is_some()
            && let Some(n) = args.iter().position(is_far)
        {
            self.put_far(code, size, cond, args, n);
            return;
        }
        self.buffer.op = code.number();
        self.buffer.size = size;
        self.buffer.cond = cond;
        self.buffer.args.clear();
        self.buffer.args.extend_from_slice(args);
        self.sink.instruction(&self.buffer);
    }

    /// An instruction whose memory operand `n` is too far from its base register for a
    /// displacement: its address goes through a register that the instruction does not name,
    /// saved in the frame meanwhile.
    fn put_far(&mut self, code: Code, size: u8, cond: u8, args: &[Arg], n: usize) {
        let Arg::Memory(far) = args[n] else { unreachable!("operand {n} is in memory") };
        let MemoryBase::Reg(base) = far.base else {
            unreachable!("only the frame has such offsets")
        };
        let named = |r: PReg| {
            args.iter().any(|a| match *a {
                Arg::Reg(x) => x == r,
                Arg::Memory(m) => m.base == MemoryBase::Reg(r) || m.index == Some(r),
                _ => false,
            })
        };
        // r11 is not saved by calls, so a call may change it; the others are no operands of the
        // instructions whose operands are implied (rax, rcx, rdx, rsi, rdi).
        let scratch = [R11, R10, R9, R8]
            .into_iter()
            .find(|&r| !named(r))
            .expect("an instruction names at most three registers");
        let cell = self.frame.emergency.expect("a frame this large has one");
        let cell = Arg::Memory(frame_memory(self.frame.base, cell));
        let s = Arg::Reg(scratch);
        self.put(Code::Mov, 8, &[cell, s]);
        self.put(Code::Movabs, 8, &[s, Arg::Imm(far.disp)]);
        let sum = Memory { base: far.base, index: Some(scratch), scale: 1, disp: 0 };
        debug_assert_ne!(base, scratch);
        self.put(Code::Lea, 8, &[s, Arg::Memory(sum)]);
        let near = Memory { base: MemoryBase::Reg(scratch), disp: 0, ..far };
        let mut args: SmallVec<[Arg; 4]> = args.into();
        args[n] = Arg::Memory(near);
        self.put_if(code, size, cond, &args);
        self.put(Code::Mov, 8, &[s, cell]);
    }
}

/// The jumps of a conditional branch. If neither target comes next, the likely one is jumped to
/// first.
fn branch(
    condition: u8,
    taken: BlockId,
    other: BlockId,
    next: Option<BlockId>,
    other_is_likely: bool,
) -> Exits {
    let jump = |cond: u8, to: BlockId| (Some(cond), Exit::Jump(to));
    let always = |to: BlockId| (None, Exit::Jump(to));
    if taken == other {
        return smallvec![always(taken)];
    }
    match condition {
        cond::FEQ | cond::FNE => {
            // Equal and ordered goes to `equal`.
            let (equal, unequal) =
                if condition == cond::FEQ { (taken, other) } else { (other, taken) };
            if Some(unequal) == next {
                smallvec![jump(cond::NE, unequal), jump(cond::NP, equal)]
            } else {
                smallvec![jump(cond::NE, unequal), jump(cond::P, unequal), always(equal)]
            }
        }
        _ if Some(taken) == next || Some(other) != next && other_is_likely => {
            smallvec![jump(cond::negated(condition), other), always(taken)]
        }
        _ => smallvec![jump(condition, taken), always(other)],
    }
}

/// The instructions of a block that ends in a return, the return included, if they may be
/// repeated.
fn tail_length(input: &EmitInput<'_>, b: BlockId) -> Option<usize> {
    let insts = &input.code.blocks[b].insts;
    let steps = &input.allocation.steps[b];
    let repeatable = steps.len() <= SHORT_TAIL
        && insts.last().is_some_and(|last| last.op == op::RETURN)
        && steps.iter().all(|step| match *step {
            Step::Inst(i) => is_repeatable(&insts[i as usize]),
            Step::Move { .. } | Step::Swap(..) | Step::Rematerialise { .. } => true,
        });
    repeatable.then_some(steps.len())
}

/// One machine instruction that does not touch memory.
fn is_repeatable(inst: &MInst) -> bool {
    match inst.op {
        insts::LEA => true,
        insts::CALL_R | op::LOCATION => false,
        _ => inst.address.is_none(),
    }
}

fn bank(location: Location) -> Option<Bank> {
    match location {
        Location::Reg(r) => Some(r.bank()),
        Location::Spill(_) => None,
    }
}

fn frame_memory(base: PReg, disp: i64) -> Memory {
    Memory { base: MemoryBase::Reg(base), index: None, scale: 1, disp }
}

fn is_far(arg: &Arg) -> bool {
    matches!(arg, Arg::Memory(m)
        if matches!(m.base, MemoryBase::Reg(RSP | RBP)) && i32::try_from(m.disp).is_err())
}

#[cfg(test)]
#[path = "emit_tests.rs"]
mod tests;
