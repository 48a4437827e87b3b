//! Emission for RISC-V: prologue and epilogue, moves, branches, memory operands; `expand` has the
//! instructions of selection. t6 holds nothing between two of those, so each may use it.

use super::frame::Frame;
use super::insts::{self, Shape, cond, mark, part};
use super::materialise::{fits12, low12, steps};
use super::regs::{LP64D, S0, SP, T6, TP, ZERO};
use crate::ir::{Access, BlockId};
use crate::target::emission::{Emit, Exits, FlagEffect, Targets, Walk, Wanted};
use crate::target::machine::{Address, Bank, Base, Location, MInst, MOp, PReg, op};
use crate::target::unwind::FrameAction;
use crate::target::{Arg, EmitInput, Named, Sink};
use smallvec::{SmallVec, smallvec};
use std::ops::{Deref, DerefMut};

/// What conditional branches and jumps reach forwards, less what may stand between the place that
/// is measured and the instruction.
const BRANCH_REACH: u32 = 4096 - 64;
const JUMP_REACH: u32 = (1 << 20) - 64;

/// `Target::emit`.
pub fn emit(input: &EmitInput<'_>, sink: &mut dyn Sink) {
    let frame = Frame::new(input.code, input.allocation, LP64D.callee_saved);
    let walk = Walk::new(input, sink, &LP64D, !frame.is_empty(), Emitter::is_repeatable);
    Emitter { walk, frame }.run();
}

/// Emission of one function.
pub struct Emitter<'a> {
    pub walk: Walk<'a>,
    pub frame: Frame,
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
    const REACH: Option<u32> = Some(BRANCH_REACH);

    fn branch(&self, last: &MInst, targets: Targets) -> Exits {
        debug_assert_eq!(last.op, insts::BRANCH, "row {} is no terminator", last.op);
        targets.exits(last.cond, cond::negated(last.cond))
    }

    fn flags(_inst: &MInst) -> FlagEffect {
        FlagEffect::Keep
    }

    fn is_repeatable(inst: &MInst) -> bool {
        match inst.op {
            insts::LI => steps(inst.imm, false).len() == 1,
            op::LOCATION | insts::CALL_REG => false,
            _ if inst.op < op::FIRST_TARGET => true,
            _ => insts::row(inst.op).shape != Shape::Pseudo && inst.address.is_none(),
        }
    }

    fn prologue(&mut self) {
        self.make_frame();
    }

    fn epilogue(&mut self) {
        self.undo_frame();
    }

    fn undo_length(&self) -> usize {
        self.frame.saved.len() + usize::from(!self.frame.is_empty())
    }

    fn jump(&mut self, to: BlockId) {
        let far = self.is_far(to, JUMP_REACH);
        self.put_jump(to, far);
    }

    fn jump_if(&mut self, last: &MInst, condition: u8, to: BlockId) {
        let far = self.is_far(to, BRANCH_REACH);
        let very_far = self.is_far(to, JUMP_REACH);
        let first = self.reg(last, 0);
        let second = (last.count == 2).then(|| self.reg(last, 1));
        if !far {
            return self.put_branch(condition, first, second, Ok(to));
        }
        self.put_branch(cond::negated(condition), first, second, Err(mark::AHEAD));
        self.put_jump(to, very_far);
        self.put(insts::MARK_AHEAD, &[]);
    }

    fn trap(&mut self) {
        self.put(insts::EBREAK, &[]);
    }

    fn expand(&mut self, inst: &MInst, _wanted: Wanted) {
        self.expand_row(inst);
    }

    fn transfer(&mut self, from: Location, to: Location, size: u8) {
        self.move_value(from, to, size);
    }

    fn swap(&mut self, a: PReg, b: PReg) {
        let (x, y, t) = (Arg::Reg(a), Arg::Reg(b), Arg::Reg(T6));
        match a.bank() {
            Bank::Int => {
                self.put(insts::MV, &[t, x]);
                self.put(insts::MV, &[x, y]);
                self.put(insts::MV, &[y, t]);
            }
            Bank::Float => {
                self.put(insts::FMV_X_D, &[t, x]);
                self.put(insts::FMV_D, &[x, y]);
                self.put(insts::FMV_D_X, &[y, t]);
            }
        }
    }

    fn longest(inst: &MInst) -> u32 {
        match inst.op {
            // A far address takes eight to make, and one addition.
            insts::BLIT_LOOP => 16,
            _ => 12,
        }
    }
}

/// The machine's name of a memory operand's place: what stands in front of the base register, and
/// that register.
type Place = (Arg, PReg);

impl<'a> Emitter<'a> {
    /// Sends an instruction.
    pub fn put(&mut self, row: MOp, args: &[Arg]) {
        self.walk.send(row, 8, 0, args);
    }

    /// `row d, a, b`
    pub fn put_regs(&mut self, row: MOp, d: PReg, a: PReg, b: PReg) {
        self.put(row, &[Arg::Reg(d), Arg::Reg(a), Arg::Reg(b)]);
    }

    /// `row d, a, imm`
    pub fn put_imm(&mut self, row: MOp, d: PReg, a: PReg, imm: i64) {
        self.put(row, &[Arg::Reg(d), Arg::Reg(a), Arg::Imm(imm)]);
    }

    fn put_jump(&mut self, to: BlockId, far: bool) {
        if far {
            self.put(insts::JUMP_FAR, &[Arg::Block(to), Arg::Reg(T6)]);
            self.walk.pad(4);
        } else {
            self.put(insts::J, &[Arg::Block(to)]);
        }
    }

    /// A conditional branch to a block or to a mark.
    pub fn put_branch(
        &mut self,
        condition: u8,
        first: PReg,
        second: Option<PReg>,
        to: Result<BlockId, u8>,
    ) {
        let row = match (condition, second) {
            (cond::EQ, Some(_)) => insts::BEQ,
            (cond::NE, Some(_)) => insts::BNE,
            (cond::LT, Some(_)) => insts::BLT,
            (cond::GE, Some(_)) => insts::BGE,
            (cond::LTU, Some(_)) => insts::BLTU,
            (cond::GEU, Some(_)) => insts::BGEU,
            (cond::EQ, None) => insts::BEQZ,
            (cond::NE, None) => insts::BNEZ,
            (cond::LT, None) => insts::BLTZ,
            (cond::GE, None) => insts::BGEZ,
            (cond::LE, None) => insts::BLEZ,
            (cond::GT, None) => insts::BGTZ,
            _ => unreachable!("no such condition"),
        };
        let mut args: SmallVec<[Arg; 3]> = smallvec![Arg::Reg(first)];
        args.extend(second.map(Arg::Reg));
        let mark = match to {
            Ok(block) => {
                args.push(Arg::Block(block));
                0
            }
            Err(mark) => mark,
        };
        self.walk.send(row, 8, mark, &args);
    }

    // ---- the frame ----

    fn make_frame(&mut self) {
        self.move_stack(-self.frame.first);
        self.walk.frame(FrameAction::Allocate(self.frame.first));
        for i in 0..self.frame.saved.len() {
            let (reg, at) = self.saved_register(insts::SD, insts::FSD, i);
            self.walk.frame(FrameAction::Save(reg, at));
        }
        if let Some(above) = self.frame.pointer {
            self.add(S0, SP, above);
            self.walk.frame(FrameAction::SetFrame(S0, above));
        }
        self.move_stack(-self.frame.rest);
        self.walk.frame(FrameAction::Allocate(self.frame.rest));
    }

    fn undo_frame(&mut self) {
        if !self.early {
            if self.frame.base == S0 {
                let above = self.frame.pointer.expect("it is the base");
                self.add(SP, S0, -above);
                self.walk.frame(FrameAction::Reset(self.frame.first));
            } else {
                self.move_stack(self.frame.rest);
                self.walk.frame(FrameAction::Release(self.frame.rest));
            }
            for i in 0..self.frame.saved.len() {
                let (reg, _) = self.saved_register(insts::LD, insts::FLD, i);
                self.walk.frame(FrameAction::Restore(reg));
            }
            self.move_stack(self.frame.first);
            self.walk.frame(FrameAction::Release(self.frame.first));
        }
        self.put(insts::RET, &[]);
    }

    /// Stores or loads a saved register; says which, and where it is.
    fn saved_register(&mut self, int: MOp, float: MOp, i: usize) -> (PReg, i64) {
        let (reg, at) = self.frame.saved[i];
        let row = if reg.bank() == Bank::Int { int } else { float };
        self.access(row, reg, SP, at, T6);
        (reg, at)
    }

    fn move_stack(&mut self, bytes: i64) {
        if bytes == 0 {
            return;
        }
        if fits12(bytes) {
            return self.put_imm(insts::ADDI, SP, SP, bytes);
        }
        self.constant(T6, bytes);
        self.put_regs(insts::ADD, SP, SP, T6);
    }

    // ---- moves ----

    fn move_value(&mut self, from: Location, to: Location, size: u8) {
        match (from, to) {
            (Location::Reg(from), Location::Reg(to)) => {
                let row = match (to.bank(), from.bank(), size) {
                    (Bank::Int, Bank::Int, _) => insts::MV,
                    (Bank::Float, Bank::Float, 4) => insts::FMV_S,
                    (Bank::Float, Bank::Float, _) => insts::FMV_D,
                    (Bank::Float, Bank::Int, 4) => insts::FMV_W_X,
                    (Bank::Float, Bank::Int, _) => insts::FMV_D_X,
                    (Bank::Int, Bank::Float, 4) => insts::FMV_X_W,
                    (Bank::Int, Bank::Float, _) => insts::FMV_X_D,
                };
                self.put(row, &[Arg::Reg(to), Arg::Reg(from)]);
            }
            // Whole registers: the forms of 8 bytes are the ones that compress in both files.
            (Location::Reg(from), Location::Spill(s)) => {
                let row = if from.bank() == Bank::Int { insts::SD } else { insts::FSD };
                self.access(row, from, self.frame.base, self.frame.spill(s), T6);
            }
            (Location::Spill(s), Location::Reg(to)) => {
                let row = if to.bank() == Bank::Int { insts::LD } else { insts::FLD };
                self.access(row, to, self.frame.base, self.frame.spill(s), T6);
            }
            (Location::Spill(_), Location::Spill(_)) => {
                unreachable!("no move goes from memory to memory")
            }
        }
    }

    /// A value into a register.
    pub fn constant(&mut self, d: PReg, value: i64) {
        let reg = Arg::Reg(d);
        for step in steps(value, self.input.features.zbs) {
            match step.op {
                insts::LI12 | insts::LUI => self.put(step.op, &[reg, Arg::Imm(step.imm)]),
                insts::BSETI => self.put_imm(step.op, d, ZERO, step.imm),
                _ => self.put_imm(step.op, d, d, step.imm),
            }
        }
    }

    // ---- memory ----

    /// A load or store at `base + disp`; `scratch` may be the register that a load writes.
    fn access(&mut self, row: MOp, reg: PReg, base: PReg, disp: i64, scratch: PReg) {
        let (disp, base) = self.near(base, disp, scratch);
        self.put(row, &[Arg::Reg(reg), disp, Arg::Reg(base)]);
    }

    /// The place `base + disp`, by way of `scratch` if the displacement is too large.
    fn near(&mut self, base: PReg, disp: i64, scratch: PReg) -> Place {
        if fits12(disp) {
            return (Arg::Imm(disp), base);
        }
        let low = low12(disp);
        self.constant(scratch, disp.wrapping_sub(low));
        if base != ZERO {
            self.put_regs(insts::ADD, scratch, scratch, base);
        }
        (Arg::Imm(low), scratch)
    }

    /// The place `base + index + disp`, by way of `scratch`, which may be the index.
    fn near_sum(&mut self, base: PReg, index: PReg, disp: i64, scratch: PReg) -> Place {
        if fits12(disp) {
            self.put_regs(insts::ADD, scratch, index, base);
            return (Arg::Imm(disp), scratch);
        }
        let (disp, base) = self.near(base, disp, T6);
        self.put_regs(insts::ADD, T6, base, index);
        (disp, T6)
    }

    /// The memory operand of `inst`. `scratch` is written if it takes more than a displacement.
    pub fn place(&mut self, inst: &MInst, scratch: PReg) -> Place {
        let id = inst.address.expect("the row has a memory operand");
        let address: Address = self.code.addresses[id];
        let disp = address.disp;
        match address.base {
            Base::None => self.near(ZERO, disp, scratch),
            // The register that a load writes may be this one.
            Base::Reg(n) => self.near(self.reg(inst, usize::from(n)), disp, T6),
            Base::Slot(_) | Base::Incoming | Base::Outgoing => {
                let (base, offset) = self.frame.address(address.base).expect("a part of the frame");
                let disp = disp.wrapping_add(offset);
                match address.index {
                    None => self.near(base, disp, scratch),
                    Some(n) => {
                        let index = self.reg(inst, usize::from(n));
                        self.near_sum(base, index, disp, scratch)
                    }
                }
            }
            Base::Symbol(symbol, access) => {
                self.named_place(Named::Symbol(symbol, access), access, disp, scratch)
            }
            Base::Pool(bits, size) => {
                self.named_place(Named::Pool(bits, size), Access::Direct, disp, scratch)
            }
        }
    }

    /// The place of something that the linker knows: relative to the code, or to the thread pointer.
    /// For `extern` symbols, of the cell that has the address.
    fn named_place(&mut self, of: Named, access: Access, offset: i64, scratch: PReg) -> Place {
        let at = Arg::Reg(scratch);
        let part = |kind| Arg::Part { of, offset, kind };
        let kind = match access {
            Access::Direct => part::PCREL_HI,
            Access::Extern => part::GOT_HI,
            Access::ExternThread => part::TLS_IE_HI,
            Access::Thread => {
                self.put(insts::LUI, &[at, part(part::TPREL_HI)]);
                let add = [at, at, Arg::Reg(TP), part(part::TPREL_ADD)];
                self.put(insts::ADD_TPREL, &add);
                return (part(part::TPREL_LO), scratch);
            }
        };
        self.put(insts::AUIPC, &[at, part(kind)]);
        (part(part::PCREL_LO), scratch)
    }
}
