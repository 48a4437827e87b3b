//! Emission for AArch64: prologue and epilogue, moves, branches, memory operands; `expand` has the
//! instructions of selection.
//!
//! x16 is the scratch register: addresses out of reach and constants for a moment go there. Nothing
//! in it lives from one instruction of selection to the next.

use super::frame::{Frame, Saved};
use super::immediates::{self, Part};
use super::insts::{self, Flags, cond, kind};
use super::pairs;
use super::regs::{FP, SCRATCH, SP, ZERO};
use crate::ir::BlockId;
use crate::target::emission::{Emit, Exits, FlagEffect, Targets, Walk, Wanted};
use crate::target::machine::{Bank, Location, MInst, MOp, PReg, Registers, op};
use crate::target::unwind::FrameAction;
use crate::target::{Arg, EmitInput, ObjectFormat, Sink};
use std::ops::{Deref, DerefMut};

/// What branches reach, in bytes, less what may come between.
const TEST_REACH: u32 = (32 << 10) - 64;
const CONDITION_REACH: u32 = (1 << 20) - 64;

/// `Target::emit`.
pub fn emit(
    input: &EmitInput<'_>,
    sink: &mut dyn Sink,
    registers: &Registers,
    format: ObjectFormat,
) {
    let frame = Frame::new(input.code, input.allocation, registers.callee_saved);
    let framed = !frame.is_empty();
    let mut walk = Walk::new(input, sink, registers, framed, Emitter::is_repeatable);
    walk.combine(pairs::combine);
    Emitter { walk, frame, format }.run();
}

/// Emission of one function.
pub struct Emitter<'a> {
    pub walk: Walk<'a>,
    pub frame: Frame,
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
    const REACH: Option<u32> = Some(TEST_REACH);

    /// The condition of a branch that reads no flags is 1, and 0 stands for its opposite.
    fn branch(&self, last: &MInst, targets: Targets) -> Exits {
        match last.op {
            insts::B_IF => targets.exits(last.cond, cond::negated(last.cond)),
            _ => targets.exits(1, 0),
        }
    }

    fn flags(inst: &MInst) -> FlagEffect {
        match insts::row(inst.op).flags {
            Flags::Keep => FlagEffect::Keep,
            Flags::Write => FlagEffect::Write,
            Flags::Read | Flags::ReadWrite => FlagEffect::Read(Wanted::All),
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
        if self.input.indirect {
            self.put(insts::HINT, 8, &[Arg::Imm(34)]);
        }
    }

    fn prologue(&mut self) {
        self.make_frame();
    }

    fn epilogue(&mut self) {
        if !self.early {
            self.undo_frame();
        }
        self.put(insts::RET, 8, &[]);
    }

    fn undo_length(&self) -> usize {
        self.frame.saved.len()
            + usize::from(self.frame.rest > 0)
            + usize::from(self.frame.base == FP)
    }

    fn jump(&mut self, to: BlockId) {
        self.put(insts::B, 8, &[Arg::Block(to)]);
    }

    fn jump_if(&mut self, last: &MInst, condition: u8, to: BlockId) {
        let test = matches!(last.op, insts::TBZ | insts::TBNZ);
        let far = self.is_far(to, if test { TEST_REACH } else { CONDITION_REACH });
        let condition = match (far, last.op) {
            (false, _) => condition,
            (true, insts::B_IF) => cond::negated(condition),
            (true, _) => 1 - condition,
        };
        // Over the jump that follows.
        let target = if far { Arg::Imm(8) } else { Arg::Block(to) };
        if last.op == insts::B_IF {
            self.walk.send(insts::B_IF, 8, condition, &[target]);
        } else {
            let reg = Arg::Reg(self.reg(last, 0));
            let row = if condition == 1 { last.op } else { opposite(last.op) };
            match test {
                true => self.put(row, last.size, &[reg, Arg::Imm(last.imm), target]),
                false => self.put(row, last.size, &[reg, target]),
            }
        }
        if far {
            self.jump(to);
        }
    }

    fn trap(&mut self) {
        self.put(insts::BRK, 8, &[Arg::Imm(1000)]);
    }

    fn expand(&mut self, inst: &MInst, _wanted: Wanted) {
        self.expand_row(inst);
    }

    fn transfer(&mut self, from: Location, to: Location, size: u8) {
        self.move_value(from, to, size);
    }

    fn swap(&mut self, a: PReg, b: PReg) {
        let (a, b, scratch) = (Arg::Reg(a), Arg::Reg(b), Arg::Reg(SCRATCH));
        let (out, over, back) = match a {
            Arg::Reg(r) if r.bank() == Bank::Int => (insts::MOV, insts::MOV, insts::MOV),
            _ => (insts::FMOV_IF, insts::FMOV, insts::FMOV_FI),
        };
        self.put(out, 8, &[scratch, a]);
        self.put(over, 8, &[a, b]);
        self.put(back, 8, &[b, scratch]);
    }

    fn longest(inst: &MInst) -> u32 {
        match inst.op {
            insts::BLIT => 8 + inst.imm as u32,
            _ => 12,
        }
    }
}

/// The branch on the opposite of what a branch tests.
fn opposite(row: MOp) -> MOp {
    match row {
        insts::CBZ => insts::CBNZ,
        insts::CBNZ => insts::CBZ,
        insts::TBZ => insts::TBNZ,
        _ => insts::TBZ,
    }
}

impl Emitter<'_> {
    // ---- the frame ----

    fn make_frame(&mut self) {
        if self.frame.push == 0 {
            self.take_stack();
        }
        for n in 0..self.frame.saved.len() {
            self.save(n);
            if n == 0 && self.frame.record {
                // The record is at the bottom of the saved registers.
                let at = if self.frame.push == 0 { self.frame.save_at as i64 } else { 0 };
                self.add_to(FP, SP, at);
                if self.frame.base == FP {
                    self.walk.frame(FrameAction::SetFrame(FP, at));
                }
            }
        }
        if self.frame.push > 0 {
            self.take_stack();
        }
    }

    /// Moves the stack pointer by what the first store does not.
    fn take_stack(&mut self) {
        let rest = self.frame.rest as i64;
        if rest > 0 {
            self.add_to(SP, SP, -rest);
            self.walk.frame(FrameAction::Allocate(rest));
        }
    }

    fn give_stack(&mut self) {
        let rest = self.frame.rest as i64;
        if rest > 0 {
            self.add_to(SP, SP, rest);
            self.walk.frame(FrameAction::Release(rest));
        }
    }

    /// Saves the registers of row `n`.
    fn save(&mut self, n: usize) {
        let saved = self.frame.saved[n].clone();
        if n == 0 && self.frame.push > 0 {
            let row = if saved.len() == 2 { insts::STP_PRE } else { insts::STR_PRE };
            let push = self.frame.push as i64;
            self.put_saved(row, &saved, SP, -push);
            self.walk.frame(FrameAction::Allocate(push));
            for (n, &r) in saved.iter().enumerate() {
                self.walk.frame(FrameAction::Save(r, 8 * n as i64));
            }
            return;
        }
        let row = if saved.len() == 2 { insts::STP } else { insts::STR };
        let at = self.at_saved(row, n);
        for (n, &r) in saved.iter().enumerate() {
            self.walk.frame(FrameAction::Save(r, at + 8 * n as i64));
        }
    }

    /// Accesses the saved registers of row `n`, while the stack pointer is at them or, in a function
    /// whose first store does not move it, where it stays. Returns their offset.
    fn at_saved(&mut self, row: MOp, n: usize) -> i64 {
        let saved = self.frame.saved[n].clone();
        let before: usize = self.frame.saved[..n].iter().map(|s| s.len()).sum();
        let first = if self.frame.push == 0 { self.frame.save_at as i64 } else { 0 };
        let offset = first + 8 * before as i64;
        if offset <= 504 {
            self.put_saved(row, &saved, SP, offset);
        } else {
            self.add_to(SCRATCH, SP, offset);
            self.put_saved(row, &saved, SCRATCH, 0);
        }
        offset
    }

    fn put_saved(&mut self, row: MOp, saved: &Saved, base: PReg, offset: i64) {
        let (base, offset) = (Arg::Reg(base), Arg::Imm(offset));
        match saved[..] {
            [a, b] => self.put(row, 8, &[Arg::Reg(a), Arg::Reg(b), base, offset]),
            [a] => self.put(row, 8, &[Arg::Reg(a), base, offset]),
            _ => unreachable!("one or two registers"),
        }
    }

    /// Everything but the return.
    fn undo_frame(&mut self) {
        let (push, base) = (self.frame.push, self.frame.base);
        if base == FP {
            // Run-time allocation has moved the stack pointer.
            let below = if push == 0 { self.frame.save_at as i64 } else { 0 };
            self.add_to(SP, FP, -below);
            let size = push + self.frame.rest;
            self.walk.frame(FrameAction::Reset(size as i64));
        } else if push > 0 {
            self.give_stack();
        }
        for n in (0..self.frame.saved.len()).rev() {
            let saved = self.frame.saved[n].clone();
            let pops = n == 0 && push > 0;
            match (saved.len() == 2, pops) {
                (true, true) => self.put_saved(insts::LDP_POST, &saved, SP, push as i64),
                (false, true) => self.put_saved(insts::LDR_POST, &saved, SP, push as i64),
                (pair, false) => {
                    self.at_saved(if pair { insts::LDP } else { insts::LDR }, n);
                }
            }
            for &r in &saved {
                self.walk.frame(FrameAction::Restore(r));
            }
            if pops {
                self.walk.frame(FrameAction::Release(push as i64));
            }
        }
        if push == 0 {
            self.give_stack();
        }
    }

    // ---- moves, constants, sums ----

    fn move_value(&mut self, from: Location, to: Location, size: u8) {
        match (to, from) {
            (Location::Reg(to), Location::Reg(from)) => {
                let row = match (to.bank(), from.bank()) {
                    (Bank::Int, Bank::Int) => insts::MOV,
                    (Bank::Float, Bank::Float) => insts::FMOV,
                    (Bank::Float, Bank::Int) => insts::FMOV_FI,
                    (Bank::Int, Bank::Float) => insts::FMOV_IF,
                };
                self.put(row, size, &[Arg::Reg(to), Arg::Reg(from)]);
            }
            (Location::Reg(to), Location::Spill(s)) => {
                let at = self.frame.spill(s);
                self.access(insts::LDR, size, &[Arg::Reg(to)], self.frame.base, at, size, false);
            }
            (Location::Spill(s), Location::Reg(from)) => {
                let at = self.frame.spill(s);
                self.access(insts::STR, size, &[Arg::Reg(from)], self.frame.base, at, size, false);
            }
            (Location::Spill(_), Location::Spill(_)) => {
                unreachable!("no move goes from memory to memory")
            }
        }
    }

    /// `value` into a register, in as few instructions as are known.
    pub fn constant(&mut self, d: PReg, value: i64, size: u8) {
        let all = immediates::parts(value as u64, size);
        let d = Arg::Reg(d);
        for part in all.parts {
            let wide =
                |bits: u16, shift: u8| [d, Arg::Imm(i64::from(bits)), Arg::Imm(i64::from(shift))];
            match part {
                Part::Movz { bits, shift } => self.put(insts::MOVZ, all.size, &wide(bits, shift)),
                Part::Movn { bits, shift } => self.put(insts::MOVN, all.size, &wide(bits, shift)),
                Part::Movk { bits, shift } => self.put(insts::MOVK, all.size, &wide(bits, shift)),
                Part::Orr(bits) => {
                    let args = [d, Arg::Reg(ZERO), Arg::Imm(bits as i64)];
                    self.put(insts::ORR_I, all.size, &args);
                }
            }
        }
    }

    /// `d = a + value`, by x16 if it takes more than two immediates.
    pub fn add_to(&mut self, d: PReg, a: PReg, value: i64) {
        self.add_sized(d, a, value, 8);
    }

    pub fn add_sized(&mut self, d: PReg, a: PReg, value: i64, size: u8) {
        let amount = value.unsigned_abs();
        let row = if value < 0 { insts::SUB_I } else { insts::ADD_I };
        let (to, from) = (Arg::Reg(d), Arg::Reg(a));
        if amount == 0 {
            if d != a {
                let stack = d == SP || a == SP;
                self.put(if stack { insts::MOV_SP } else { insts::MOV }, size, &[to, from]);
            }
        } else if immediates::is_arithmetic(amount) {
            self.put(row, size, &[to, from, Arg::Imm(amount as i64)]);
        } else if amount < 1 << 24 {
            let low = (amount & 0xfff) as i64;
            self.put(row, size, &[to, from, Arg::Imm(amount as i64 - low)]);
            self.put(row, size, &[to, to, Arg::Imm(low)]);
        } else {
            self.constant(SCRATCH, value, size);
            let scratch = Arg::Modified { reg: SCRATCH, kind: kind::UXTX, amount: 0 };
            match d == SP || a == SP {
                true => self.put(insts::ADD_SP, 8, &[to, from, scratch]),
                false => self.put(insts::ADD, size, &[to, from, Arg::Reg(SCRATCH)]),
            }
        }
    }

    // ---- memory ----

    /// A load or store of `bytes` bytes at a constant distance from a register, whatever that is.
    #[allow(clippy::too_many_arguments)]
    pub fn access(
        &mut self,
        row: MOp,
        size: u8,
        registers: &[Arg],
        base: PReg,
        offset: i64,
        bytes: u8,
        volatile: bool,
    ) {
        let (base, offset) = self.near(base, offset, bytes);
        self.put_access(row, size, registers, Arg::Reg(base), Arg::Imm(offset), volatile);
    }

    /// Sends a load or store; `Instruction::cond` tells that it is volatile.
    pub fn put_access(
        &mut self,
        row: MOp,
        size: u8,
        registers: &[Arg],
        base: Arg,
        offset: Arg,
        volatile: bool,
    ) {
        let mut args: smallvec::SmallVec<[Arg; 4]> = registers.into();
        args.extend([base, offset]);
        self.walk.send(row, size, u8::from(volatile), &args);
    }

    /// A base and an offset that an access of `bytes` bytes can name, for the same address.
    pub fn near(&mut self, base: PReg, offset: i64, bytes: u8) -> (PReg, i64) {
        if fits(offset, bytes) {
            return (base, offset);
        }
        let step = i64::from(bytes);
        let mut low = offset.rem_euclid(4096);
        if low % step != 0 {
            low = 0;
        }
        let high = offset - low;
        if low != 0 && immediates::is_arithmetic(high.unsigned_abs()) {
            self.add_to(SCRATCH, base, high);
            return (SCRATCH, low);
        }
        self.add_to(SCRATCH, base, offset);
        (SCRATCH, 0)
    }

    /// Sends an instruction.
    pub fn put(&mut self, row: MOp, size: u8, args: &[Arg]) {
        self.walk.send(row, size, 0, args);
    }
}

/// An offset that a load or store of `bytes` bytes can name: a multiple of them up to 4095 times
/// that, or 9 bits with a sign.
pub fn fits(offset: i64, bytes: u8) -> bool {
    let step = i64::from(bytes);
    (-256..256).contains(&offset) || offset % step == 0 && (0..4096 * step).contains(&offset)
}
