//! From rows of selection to machine instructions, now that registers are known.

use super::codes::Code;
use super::emit::Emitter;
use super::insts::{self, Row, Shape};
use super::regs::{R13, RAX, RBP, RCX, RSP};
use crate::index::Index;
use crate::ir::Access;
use crate::target::emission::Wanted;
use crate::target::machine::{AddressId, Bank, Base, MInst, PReg};
use crate::target::{Arg, Memory, MemoryBase, ObjectFormat};

impl Emitter<'_> {
    /// `Emit::expand`
    pub fn expand_row(&mut self, inst: &MInst, wanted: Wanted) {
        match inst.op {
            insts::JCC => {}
            insts::MOV_RI => self.constant(self.reg(inst, 0), inst.imm, inst.size, wanted),
            insts::LEA => {
                let m = self.memory(inst);
                self.lea(self.reg(inst, 0), m, inst.size, wanted);
            }
            insts::LEA_THREAD => self.thread_address(inst),
            insts::MOVZX_RR if inst.size == 4 => {
                let args = [self.operand(inst, 0), self.operand(inst, 1)];
                self.put(Code::Mov, 4, &args);
            }
            insts::MOVSX4_RR | insts::MOVSX8_RR => self.sign_extension(inst),
            insts::ADD3_RR => self.add_registers(inst, wanted),
            insts::ADD3_RI => {
                let (d, a) = (self.reg(inst, 0), self.reg(inst, 1));
                let m = Memory {
                    base: MemoryBase::Reg(a),
                    index: None,
                    scale: 1,
                    disp: extended(inst.imm, inst.size),
                };
                self.lea(d, m, inst.size, Wanted::Nothing);
            }
            insts::ADD_RI => {
                let d = Arg::Reg(self.reg(inst, 0));
                self.add_constant(d, inst.imm, inst.size, wanted);
            }
            insts::SUB_RI if wanted != Wanted::All => {
                let d = Arg::Reg(self.reg(inst, 0));
                self.subtract_constant(d, inst.imm, inst.size);
            }
            insts::AND_RI => self.mask(inst, wanted),
            insts::CMP_RI if inst.imm == 0 => match self.operand(inst, 0) {
                r @ Arg::Reg(_) => self.put(Code::Test, inst.size, &[r, r]),
                m => self.put(Code::Cmp, inst.size, &[m, Arg::Imm(0)]),
            },
            insts::TEST_RI => self.test_constant(inst),
            insts::SETCC_ZX => {
                let d = Arg::Reg(self.reg(inst, 0));
                self.put_if(Code::Set, 1, inst.cond, &[d]);
                self.put(Code::Movzx, 1, &[d, d]);
            }
            insts::FZERO => {
                let d = Arg::Reg(self.reg(inst, 0));
                self.put(Code::Xorps, 8, &[d, d]);
            }
            insts::BLIT => self.blit(inst),
            insts::REP_MOVS => {
                let code = if inst.size == 8 { Code::RepMovsq } else { Code::RepMovsb };
                self.put(code, 8, &[]);
            }
            insts::CDQ => {
                self.put(if inst.size == 8 { Code::Cqto } else { Code::Cltd }, 8, &[]);
            }
            insts::DIV_R | insts::IDIV_R => self.special_operand(inst, 4),
            insts::MUL_R | insts::IMUL1_R => self.special_operand(inst, 3),
            insts::DIV_M | insts::IDIV_M => {
                let m = Arg::Memory(self.memory(inst));
                self.put(insts::row(inst.op).code, inst.size, &[m]);
            }
            insts::CALL => self.call(inst),
            insts::CALL_R => {
                let callee = Arg::Reg(self.reg(inst, inst.imm as usize));
                self.put(Code::CallInd, 8, &[callee]);
            }
            insts::CALL_M => {
                let m = Arg::Memory(self.memory(inst));
                self.put(Code::CallInd, 8, &[m]);
            }
            insts::ALLOC_R | insts::ALLOC_I => self.allocate(inst),
            _ => self.by_shape(inst),
        }
    }

    /// A row whose operands are the machine instruction's, in the order of its shape.
    fn by_shape(&mut self, inst: &MInst) {
        let row: &Row = insts::row(inst.op);
        let imm = Arg::Imm(extended(inst.imm, inst.size));
        let mut args = [Arg::Imm(0); 3];
        let count = match row.shape {
            Shape::None => 0,
            Shape::D | Shape::T | Shape::U => {
                args[0] = self.operand(inst, 0);
                1
            }
            Shape::DI | Shape::TI | Shape::UI => {
                args[..2].copy_from_slice(&[self.operand(inst, 0), imm]);
                2
            }
            Shape::DU | Shape::UU => {
                args[..2].copy_from_slice(&[self.operand(inst, 0), self.operand(inst, 1)]);
                2
            }
            Shape::DUI => {
                args = [self.operand(inst, 0), self.operand(inst, 1), imm];
                3
            }
            Shape::DM | Shape::TM | Shape::UM => {
                let m = Arg::Memory(self.memory(inst));
                args[..2].copy_from_slice(&[self.operand(inst, 0), m]);
                2
            }
            Shape::DMI => {
                args = [self.operand(inst, 0), Arg::Memory(self.memory(inst)), imm];
                3
            }
            Shape::TU => {
                args[..2].copy_from_slice(&[self.operand(inst, 0), self.operand(inst, 2)]);
                2
            }
            Shape::TC => {
                args[..2].copy_from_slice(&[self.operand(inst, 0), Arg::Reg(RCX)]);
                2
            }
            Shape::MU => {
                let m = Arg::Memory(self.memory(inst));
                args[..2].copy_from_slice(&[m, self.operand(inst, 0)]);
                2
            }
            Shape::M => {
                args[0] = Arg::Memory(self.memory(inst));
                1
            }
            Shape::MI => {
                args[..2].copy_from_slice(&[Arg::Memory(self.memory(inst)), imm]);
                2
            }
            Shape::DUU => {
                args = [self.operand(inst, 0), self.operand(inst, 1), self.operand(inst, 2)];
                3
            }
            Shape::Special => {
                unreachable!("{} has its own expansion", row.name)
            }
        };
        debug_assert!(
            !matches!(row.shape, Shape::T | Shape::TI | Shape::TU | Shape::TC | Shape::TM)
                || self.operand(inst, 0) == self.operand(inst, 1),
            "{} works in place",
            row.name
        );
        self.put_if(row.code, inst.size, inst.cond, &args[..count]);
    }

    /// A row of fixed registers and one free operand, number `n`.
    fn special_operand(&mut self, inst: &MInst, n: usize) {
        let operand = self.operand(inst, n);
        self.put(insts::row(inst.op).code, inst.size, &[operand]);
    }

    /// `value` into a register, in the shortest form.
    fn constant(&mut self, d: PReg, value: i64, size: u8, wanted: Wanted) {
        let value = if size == 8 { value } else { i64::from(value as i32) };
        let d = Arg::Reg(d);
        if value == 0 && wanted == Wanted::Nothing {
            self.put(Code::Xor, 4, &[d, d]);
        } else if size < 8 || u32::try_from(value).is_ok() {
            self.put(Code::Mov, 4, &[d, Arg::Imm(i64::from(value as i32))]);
        } else if i32::try_from(value).is_ok() {
            self.put(Code::Mov, 8, &[d, Arg::Imm(value)]);
        } else {
            self.put(Code::Movabs, 8, &[d, Arg::Imm(value)]);
        }
    }

    /// The address `m` into `d`: as a move or an addition where that does.
    fn lea(&mut self, d: PReg, m: Memory, size: u8, wanted: Wanted) {
        let dead = wanted == Wanted::Nothing;
        let to = Arg::Reg(d);
        let scaled = m.index.filter(|_| m.scale != 1);
        match (m.base, m.index) {
            (MemoryBase::Reg(a), None) if m.disp == 0 => {
                if a != d || size < 8 {
                    self.put(Code::Mov, size, &[to, Arg::Reg(a)]);
                }
            }
            (MemoryBase::Reg(a), None) if a == d && dead && i32::try_from(m.disp).is_ok() => {
                self.add_constant(to, m.disp, size, wanted);
            }
            (MemoryBase::Reg(a), Some(b))
                if scaled.is_none() && m.disp == 0 && dead && (a == d || b == d) =>
            {
                let other = if a == d { b } else { a };
                self.put(Code::Add, size, &[to, Arg::Reg(other)]);
            }
            // rbp and r13 cannot be a base without a displacement.
            (MemoryBase::Reg(a @ (RBP | R13)), Some(b))
                if scaled.is_none() && m.disp == 0 && b != RBP && b != R13 =>
            {
                let m = Memory { base: MemoryBase::Reg(b), index: Some(a), ..m };
                self.put(Code::Lea, size, &[to, Arg::Memory(m)]);
            }
            (MemoryBase::None, Some(b)) if m.scale == 1 => {
                let m = Memory { base: MemoryBase::Reg(b), index: None, ..m };
                self.lea(d, m, size, wanted);
            }
            _ => self.put(Code::Lea, size, &[to, Arg::Memory(m)]),
        }
    }

    fn thread_address(&mut self, inst: &MInst) {
        let d = self.reg(inst, 0);
        let m = Memory { index: Some(d), scale: 1, ..self.memory(inst) };
        debug_assert!(matches!(m.base, MemoryBase::Symbol(_, Access::Thread)));
        self.put(Code::MovFs, 8, &[Arg::Reg(d)]);
        self.put(Code::Lea, 8, &[Arg::Reg(d), Arg::Memory(m)]);
    }

    /// Sign extension; of the accumulator in place it has short forms.
    fn sign_extension(&mut self, inst: &MInst) {
        let accumulator =
            self.operand(inst, 0) == Arg::Reg(RAX) && self.operand(inst, 1) == Arg::Reg(RAX);
        match (inst.op, inst.size) {
            (insts::MOVSX8_RR, 4) if accumulator => self.put(Code::Cltq, 8, &[]),
            (insts::MOVSX4_RR, 2) if accumulator => self.put(Code::Cwtl, 8, &[]),
            _ => self.by_shape(inst),
        }
    }

    fn add_registers(&mut self, inst: &MInst, wanted: Wanted) {
        debug_assert_eq!(wanted, Wanted::Nothing, "nothing reads flags of this row");
        let (a, b) = (self.reg(inst, 1), self.reg(inst, 2));
        let m = Memory { base: MemoryBase::Reg(a), index: Some(b), scale: 1, disp: 0 };
        self.lea(self.reg(inst, 0), m, inst.size, Wanted::Nothing);
    }

    fn add_constant(&mut self, d: Arg, value: i64, size: u8, wanted: Wanted) {
        let value = extended(value, size);
        match value {
            1 if wanted != Wanted::All => self.put(Code::Inc, size, &[d]),
            -1 if wanted != Wanted::All => self.put(Code::Dec, size, &[d]),
            // The other sign fits a byte.
            128 if wanted != Wanted::All => self.put(Code::Sub, size, &[d, Arg::Imm(-128)]),
            _ => self.put(Code::Add, size, &[d, Arg::Imm(value)]),
        }
    }

    /// The carry is not wanted afterwards.
    fn subtract_constant(&mut self, d: Arg, value: i64, size: u8) {
        let value = extended(value, size);
        match value {
            1 => self.put(Code::Dec, size, &[d]),
            -1 => self.put(Code::Inc, size, &[d]),
            _ => self.put(Code::Sub, size, &[d, Arg::Imm(value)]),
        }
    }

    /// `and` with a constant: a zero extension, or 4 bytes wide, where that is the same.
    fn mask(&mut self, inst: &MInst, wanted: Wanted) {
        let d = Arg::Reg(self.reg(inst, 0));
        let value = extended(inst.imm, inst.size);
        match value {
            0xff if wanted == Wanted::Nothing => self.put(Code::Movzx, 1, &[d, d]),
            0xffff if wanted == Wanted::Nothing => self.put(Code::Movzx, 2, &[d, d]),
            0xffff_ffff if wanted == Wanted::Nothing => self.put(Code::Mov, 4, &[d, d]),
            // The result is not negative in either width.
            0..=0x7fff_ffff => self.put(Code::And, 4, &[d, Arg::Imm(value)]),
            _ => self.put(Code::And, inst.size, &[d, Arg::Imm(value)]),
        }
    }

    /// `test` with a constant, no wider than the constant's bits.
    fn test_constant(&mut self, inst: &MInst) {
        let value = extended(inst.imm, inst.size);
        let operand = self.operand(inst, 0);
        let size = match (operand, value) {
            // A sign bit of 0 in either width.
            (Arg::Reg(_), 0..=0x7f) => 1,
            (Arg::Reg(_), 0..=0x7fff_ffff) if inst.size == 8 => 4,
            _ => inst.size,
        };
        self.put(Code::Test, size, &[operand, Arg::Imm(value)]);
    }

    fn call(&mut self, inst: &MInst) {
        let id = inst.address.expect("the callee is an address");
        let address = self.code.addresses[id];
        let Base::Symbol(symbol, access) = address.base else {
            unreachable!("only symbols are called by name")
        };
        self.put(Code::Call, 8, &[Arg::Symbol(symbol, access, address.disp)]);
    }

    fn allocate(&mut self, inst: &MInst) {
        let rsp = Arg::Reg(RSP);
        let amount = match inst.op {
            insts::ALLOC_I => Arg::Imm(inst.imm),
            _ => Arg::Reg(self.reg(inst, 1)),
        };
        let d = self.reg(inst, 0);
        if self.format == ObjectFormat::Coff {
            debug_assert_eq!(amount, Arg::Reg(RAX), "the probe takes the size in rax");
            self.put(Code::Chkstk, 8, &[]);
        }
        match amount {
            Arg::Imm(n) if i32::try_from(n).is_err() => {
                self.put(Code::Movabs, 8, &[Arg::Reg(d), Arg::Imm(n)]);
                self.put(Code::Sub, 8, &[rsp, Arg::Reg(d)]);
            }
            _ => self.put(Code::Sub, 8, &[rsp, amount]),
        }
        let disp = self.frame.allocated();
        let m = Memory { base: MemoryBase::Reg(RSP), index: None, scale: 1, disp };
        self.lea(d, m, 8, Wanted::Nothing);
    }

    /// Copies memory in chunks as large as fit; the last one may overlap the one before.
    fn blit(&mut self, inst: &MInst) {
        let id = inst.address.expect("the source is an address");
        let next = AddressId::new(id.index() + 1);
        let source = self.resolve(inst, &self.code.addresses[id]);
        let target = self.resolve(inst, &self.code.addresses[next]);
        let scratch = self.reg(inst, 0);
        let bytes = inst.imm;
        let mut at = 0;
        while at < bytes {
            let rest = bytes - at;
            let size: i64 = match scratch.bank() {
                Bank::Int if rest >= 2 => 2,
                Bank::Int => 1,
                Bank::Float if rest == 4 || bytes < 8 => 4,
                Bank::Float if rest == 8 || bytes < 16 => 8,
                Bank::Float => 16,
            };
            if rest < size {
                at = bytes - size;
            }
            self.chunk(scratch, source, target, at, size as u8);
            at += size;
        }
    }

    fn chunk(&mut self, scratch: PReg, from: Memory, to: Memory, at: i64, size: u8) {
        let s = Arg::Reg(scratch);
        let from = Arg::Memory(Memory { disp: from.disp + at, ..from });
        let to = Arg::Memory(Memory { disp: to.disp + at, ..to });
        let (load, store) = match (scratch.bank(), size) {
            (Bank::Int, _) => (Code::Movzx, Code::Mov),
            (Bank::Float, 16) => (Code::Movups, Code::Movups),
            (Bank::Float, _) => (Code::Movs, Code::Movs),
        };
        self.put(load, size, &[s, from]);
        self.put(store, size, &[to, s]);
    }
}

/// An immediate as its size has it: sign-extended.
fn extended(value: i64, size: u8) -> i64 {
    match size {
        1 => i64::from(value as i8),
        2 => i64::from(value as i16),
        4 => i64::from(value as i32),
        _ => value,
    }
}
