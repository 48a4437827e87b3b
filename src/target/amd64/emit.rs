//! Emission for x86-64: prologue and epilogue, moves, branches, memory operands; `expand` has the
//! instructions of selection. What a peephole would find later is decided here on the spot, because
//! the registers are known: which of two forms is shorter, whether the flags are still wanted.

use super::codes::Code;
use super::frame::Frame;
use super::insts::{self, Flags, JCC, cond};
use super::regs::{R8, R9, R10, R11, RAX, RBP, RCX, RSP, SYSV, WIN};
use crate::ir::BlockId;
use crate::target::emission::{Emit, Exit, Exits, FlagEffect, Targets, Walk, Wanted, bank};
use crate::target::machine::{Address, Bank, Base, Location, MInst, PReg, op};
use crate::target::unwind::FrameAction;
use crate::target::{Arg, EmitInput, Memory, MemoryBase, ObjectFormat, Sink};
use smallvec::{SmallVec, smallvec};
use std::ops::{Deref, DerefMut};

/// The stack of Windows grows when the page after its end is touched: a frame larger than a page
/// has to be touched page by page.
const PAGE: u64 = 4096;

/// `Target::emit`.
pub fn emit(input: &EmitInput<'_>, format: ObjectFormat, sink: &mut dyn Sink) {
    let windows = format == ObjectFormat::Coff;
    let registers = if windows { &WIN } else { &SYSV };
    let frame = Frame::new(input.code, input.allocation, registers.callee_saved);
    // The probe of a large frame needs registers that only the entry is sure to have free, and the
    // tables of Windows know one prologue, within 255 bytes of the start.
    let wrappable = !frame.is_empty() && !(windows && (input.unwind || frame.size >= PAGE));
    let walk = Walk::new(input, sink, registers, wrappable, Emitter::is_repeatable);
    Emitter { walk, frame, format }.run();
}

/// Emission of one function.
pub struct Emitter<'a> {
    pub walk: Walk<'a>,
    pub frame: Frame,
    /// Tells the systems apart.
    pub format: ObjectFormat,
}

impl<'a> Deref for Emitter<'a> {
    type Target = Walk<'a>;

    fn deref(&self) -> &Walk<'a> {
        &self.walk
    }
}

impl<'a> DerefMut for Emitter<'a> {
    fn deref_mut(&mut self) -> &mut Walk<'a> {
        &mut self.walk
    }
}

impl<'a> Emit<'a> for Emitter<'a> {
    fn branch(&self, last: &MInst, targets: Targets) -> Exits {
        debug_assert_eq!(last.op, JCC, "row {} is no terminator", last.op);
        match last.cond {
            cond::FEQ | cond::FNE => branch_of_two(last.cond, targets),
            condition => targets.exits(condition, cond::negated(condition)),
        }
    }

    fn flags(inst: &MInst) -> FlagEffect {
        match insts::row(inst.op).flags {
            Flags::Keep => FlagEffect::Keep,
            Flags::Write => FlagEffect::Write,
            Flags::Read => FlagEffect::Read(match inst.cond {
                cond::B | cond::AE | cond::BE | cond::A | cond::FEQ | cond::FNE => Wanted::All,
                _ => Wanted::AllButCarry,
            }),
        }
    }

    fn is_repeatable(inst: &MInst) -> bool {
        match inst.op {
            insts::LEA => true,
            insts::CALL_R | op::LOCATION => false,
            _ => inst.address.is_none(),
        }
    }

    /// The mark of a place that indirect branches may go to.
    fn mark(&mut self) {
        if self.input.indirect && self.format == ObjectFormat::Elf {
            self.put(Code::Endbr64, 8, &[]);
        }
    }

    fn prologue(&mut self) {
        self.make_frame();
    }

    fn epilogue(&mut self) {
        self.undo_frame();
    }

    fn undo_length(&self) -> usize {
        let saved = self.frame.saved.len() + usize::from(self.frame.base == RBP);
        saved + self.frame.vectors.len() + usize::from(self.frame.size > 0)
    }

    fn jump(&mut self, to: BlockId) {
        self.put(Code::Jmp, 8, &[Arg::Block(to)]);
    }

    fn jump_if(&mut self, _last: &MInst, condition: u8, to: BlockId) {
        self.put_if(Code::Jcc, 8, condition, &[Arg::Block(to)]);
    }

    fn trap(&mut self) {
        self.put(Code::Ud2, 8, &[]);
    }

    fn expand(&mut self, inst: &MInst, wanted: Wanted) {
        self.expand_row(inst, wanted);
    }

    fn transfer(&mut self, from: Location, to: Location, size: u8) {
        self.move_value(from, to, size);
    }

    fn swap(&mut self, a: PReg, b: PReg) {
        self.exchange(a, b);
    }
}

impl Emitter<'_> {
    fn make_frame(&mut self) {
        let windows = self.format == ObjectFormat::Coff;
        let pointer = self.frame.base == RBP;
        if pointer {
            self.push_saved(RBP);
            if !windows {
                self.set_base(0);
            }
        }
        for i in 0..self.frame.saved.len() {
            self.push_saved(self.frame.saved[i]);
        }
        // What is set aside when the registers of vectors are saved.
        let first = if windows && pointer { self.frame.first } else { self.frame.size };
        self.take_stack(first);
        let saved = 8 * self.frame.saved.len() as i64 + first as i64;
        for i in 0..self.frame.vectors.len() {
            let (r, offset) = self.frame.vectors[i];
            let offset = if pointer { offset + saved } else { offset };
            let m = Arg::Memory(frame_memory(RSP, offset));
            self.put(Code::Movaps, 8, &[m, Arg::Reg(r)]);
            self.walk.frame(FrameAction::Save(r, offset));
        }
        if pointer && windows {
            self.set_base(saved);
            self.take_stack(self.frame.size - first);
        }
    }

    /// Makes rbp what rsp was before the saved registers, `above` bytes, were pushed.
    fn set_base(&mut self, above: i64) {
        match above {
            0 => self.put(Code::Mov, 8, &[Arg::Reg(RBP), Arg::Reg(RSP)]),
            _ => {
                let m = Arg::Memory(frame_memory(RSP, above));
                self.put(Code::Lea, 8, &[Arg::Reg(RBP), m]);
            }
        }
        self.walk.frame(FrameAction::SetFrame(RBP, above));
    }

    /// Sets room aside under the stack pointer.
    fn take_stack(&mut self, bytes: u64) {
        let windows = self.format == ObjectFormat::Coff;
        match bytes {
            0 => return,
            // A push is shorter than a subtraction, whatever it pushes.
            8 => self.put(Code::Push, 8, &[Arg::Reg(RAX)]),
            _ if windows && bytes >= PAGE => self.probed_frame(bytes as i64),
            _ => self.move_stack(Code::Sub, bytes as i64),
        }
        self.walk.frame(FrameAction::Allocate(bytes as i64));
    }

    fn push_saved(&mut self, r: PReg) {
        self.put(Code::Push, 8, &[Arg::Reg(r)]);
        self.walk.frame(FrameAction::Push(r));
    }

    fn pop_saved(&mut self, r: PReg) {
        self.put(Code::Pop, 8, &[Arg::Reg(r)]);
        self.walk.frame(FrameAction::Pop(r));
    }

    /// Makes room for a frame that has to be touched first. The probe keeps all registers, but takes
    /// the size in rax, which `env` may be in; r11 holds nothing where a function begins.
    fn probed_frame(&mut self, size: i64) {
        let env = self.input.function.env.is_some();
        if env {
            self.put(Code::Mov, 8, &[Arg::Reg(R11), Arg::Reg(RAX)]);
        }
        if i32::try_from(size).is_ok() {
            self.put(Code::Mov, 4, &[Arg::Reg(RAX), Arg::Imm(size)]);
        } else {
            self.put(Code::Movabs, 8, &[Arg::Reg(RAX), Arg::Imm(size)]);
        }
        self.put(Code::Chkstk, 8, &[]);
        self.put(Code::Sub, 8, &[Arg::Reg(RSP), Arg::Reg(RAX)]);
        if env {
            self.put(Code::Mov, 8, &[Arg::Reg(RAX), Arg::Reg(R11)]);
        }
    }

    /// Undoes the frame and returns.
    fn undo_frame(&mut self) {
        if self.early {
            self.put(Code::Ret, 8, &[]);
            return;
        }
        let windows = self.format == ObjectFormat::Coff;
        let saved = self.frame.saved.len();
        // The stack pointer is below the saved registers.
        let below = self.frame.size > 0 || self.code.dynamic;
        for i in 0..self.frame.vectors.len() {
            let (r, offset) = self.frame.vectors[i];
            let m = Arg::Memory(frame_memory(self.frame.base, offset));
            self.put(Code::Movaps, 8, &[Arg::Reg(r), m]);
            self.walk.frame(FrameAction::Restore(r));
        }
        if self.frame.base == RSP {
            match self.frame.size {
                0 => {}
                // Nothing is returned in rcx.
                8 => self.put(Code::Pop, 8, &[Arg::Reg(RCX)]),
                size => self.move_stack(Code::Add, size as i64),
            }
            self.walk.frame(FrameAction::Release(self.frame.size as i64));
        } else if below && (saved > 0 || windows) {
            // The unwinder of Windows knows an epilogue by this form of it.
            let top = frame_memory(RBP, -8 * saved as i64);
            self.put(Code::Lea, 8, &[Arg::Reg(RSP), Arg::Memory(top)]);
        }
        if self.frame.base == RBP {
            self.walk.frame(FrameAction::Reset(16 + 8 * saved as i64));
        }
        for i in (0..saved).rev() {
            self.pop_saved(self.frame.saved[i]);
        }
        if self.frame.base == RBP {
            if saved == 0 && below && !windows {
                self.put(Code::Leave, 8, &[]);
                self.walk.frame(FrameAction::Pop(RBP));
            } else {
                self.pop_saved(RBP);
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
    fn move_value(&mut self, from: Location, to: Location, size: u8) {
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

    fn exchange(&mut self, a: PReg, b: PReg) {
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

    /// A location as an operand.
    fn place(&self, location: Location) -> Arg {
        match location {
            Location::Reg(r) => Arg::Reg(r),
            Location::Spill(s) => Arg::Memory(frame_memory(self.frame.base, self.frame.spill(s))),
        }
    }

    /// Operand `n` of `inst`, in a register or in its spill slot.
    pub fn operand(&self, inst: &MInst, n: usize) -> Arg {
        self.place(self.operand_location(inst, n))
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
        self.walk.send(code.number(), size, cond, args);
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

/// The jumps of a branch on equal and ordered, or on its opposite.
fn branch_of_two(condition: u8, targets: Targets) -> Exits {
    let Targets { taken, other, next, .. } = targets;
    if taken == other {
        return smallvec![(None, Exit::Jump(taken))];
    }
    let (equal, unequal) = if condition == cond::FEQ { (taken, other) } else { (other, taken) };
    let jump = |cond: u8, to: BlockId| (Some(cond), Exit::Jump(to));
    if Some(unequal) == next {
        smallvec![jump(cond::NE, unequal), jump(cond::NP, equal)]
    } else {
        smallvec![jump(cond::NE, unequal), jump(cond::P, unequal), (None, Exit::Jump(equal))]
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
