//! Loads, stores, copies of memory and run-time allocation.

use super::insts;
use super::isel::{Isel, fits32, forms};
use super::regs::{RAX, RBP, RCX, RDI, RSI};
use crate::ir::{Class, Inst, Op, Ref};
use crate::target::ObjectFormat;
use crate::target::address::{Operands, Parts, Term, address};
use crate::target::lower::{read, read_in, scratch, write, write_over};
use crate::target::machine::{Bank, MOp, Operand, PRegSet, VReg};
use crate::target::select::Select;
use smallvec::SmallVec;

/// The largest copy that is written out as moves; beyond it is a string instruction.
const INLINE_COPY: u64 = 512;

/// What one copying row takes.
const COPY_ROW: u64 = 256;

impl Isel<'_> {
    /// `Select::store`
    pub fn store_inst(&mut self, inst: &Inst) {
        let size = inst.op.store_size().expect("a store") as u8;
        let value = self.b.resolve(inst.args[0]);
        if !inst.volatile && self.modify(inst, value, size) {
            return;
        }
        let parts = self.parts(inst.args[1]);
        let class = match inst.op {
            Op::Stores => Class::S,
            Op::Stored => Class::D,
            Op::Storel => Class::L,
            _ => Class::W,
        };
        self.store_to(parts, value, class, size);
    }

    /// Stores the low `size` bytes of a value.
    pub fn store_to(&mut self, parts: Parts, value: Ref, class: Class, size: u8) {
        let value = self.b.resolve(value);
        if let Some(bits) = self.b.f.bits_as(value, class) {
            let imm = match size {
                1 => i64::from(bits as i8),
                2 => i64::from(bits as i16),
                4 => i64::from(bits as i32),
                _ => bits as i64,
            };
            if fits32(imm) {
                self.push_memory(insts::MOV_MI, size, &[], parts).imm = imm;
                return;
            }
        }
        if self.features.movbe
            && let Some(inst) = self.only_use(value)
            && inst.op == Op::Bswap
            && inst.class.size() == u32::from(size)
        {
            let reg = self.value(inst.args[0], inst.class);
            self.push_memory(insts::MOVBE_MR, size, &[read(reg)], parts);
            return;
        }
        let value = if class.is_int() { self.narrowed(value, size) } else { value };
        let reg = self.value(value, class);
        self.store_reg(parts, reg, size);
    }

    /// The operand without extensions that change only bits above the low `size` bytes.
    fn narrowed(&self, value: Ref, size: u8) -> Ref {
        let mut value = value;
        while let Some(inst) = self.only_use(value)
            && let Some((bits, _)) = inst.op.extension()
            && bits >= 8 * u32::from(size)
            && self.b.resolve(inst.args[0]).as_temp().is_some()
        {
            value = self.b.resolve(inst.args[0]);
        }
        value
    }

    /// `store (op (load p), x), p` in one instruction. False if it is not that.
    fn modify(&mut self, store: &Inst, value: Ref, size: u8) -> bool {
        let Some(inst) = self.only_use(value) else { return false };
        if !inst.class.is_int() || inst.class.size() < u32::from(size) {
            return false;
        }
        let address = self.b.resolve(store.args[1]);
        let same = |r: Ref| {
            self.foldable_load(r).is_some_and(|load| {
                load.op.load_size() == Some(u32::from(size))
                    && self.b.resolve(load.args[0]) == address
            })
        };
        let [a, b, _] = inst.args;
        let other = if same(a) {
            b
        } else if inst.op.commutative() && b.is_some() && same(b) {
            a
        } else {
            return false;
        };
        match inst.op {
            Op::Add | Op::Sub | Op::And | Op::Or | Op::Xor => {
                self.modify_by(inst, other, address, size)
            }
            Op::Neg => {
                let parts = self.parts(address);
                self.push_memory(insts::NEG_M, size, &[], parts);
                true
            }
            // The narrow shift is the wide one's low part only for a shift to the left.
            Op::Shl | Op::Shr | Op::Sar => {
                let Some(count) = self.b.f.bits(self.b.resolve(other)) else { return false };
                let count = count % (u64::from(inst.class.size()) * 8);
                let exact = u32::from(size) == inst.class.size();
                let row = match inst.op {
                    Op::Shl => insts::SHL_MI,
                    Op::Shr => insts::SHR_MI,
                    _ => insts::SAR_MI,
                };
                if count == 0 || !exact {
                    return false;
                }
                let parts = self.parts(address);
                self.push_memory(row, size, &[], parts).imm = count as i64;
                true
            }
            _ => false,
        }
    }

    fn modify_by(&mut self, inst: &Inst, other: Ref, address: Ref, size: u8) -> bool {
        let forms = forms(inst.op).expect("an operation of two integers");
        let parts = self.parts(address);
        let bits = self.b.f.bits_as(self.b.resolve(other), inst.class);
        let imm = bits.map(|bits| match size {
            1 => i64::from(bits as i8),
            2 => i64::from(bits as i16),
            4 => i64::from(bits as i32),
            _ => bits as i64,
        });
        match imm {
            Some(-1) if inst.op == Op::Xor => {
                self.push_memory(insts::NOT_M, size, &[], parts);
            }
            Some(imm) if fits32(imm) => {
                self.push_memory(forms.mi, size, &[], parts).imm = imm;
            }
            _ => {
                let other = self.narrowed(other, size);
                let reg = self.value(other, inst.class);
                self.push_memory(forms.mr, size, &[read(reg)], parts);
            }
        }
        true
    }

    /// Copies `bytes` bytes from one address to another. The areas are apart or the same.
    pub fn copy(&mut self, from: Parts, to: Parts, bytes: u64) {
        if bytes > INLINE_COPY {
            return self.copy_string(from, to, bytes);
        }
        let mut done = 0;
        while done < bytes {
            let size = (bytes - done).min(COPY_ROW);
            self.copy_row(from.plus(done), to.plus(done), size);
            done += size;
        }
    }

    fn copy_row(&mut self, from: Parts, to: Parts, bytes: u64) {
        let bank = if bytes >= 4 { Bank::Float } else { Bank::Int };
        let temporary = self.b.new_reg(bank, 8);
        let mut operands: Operands = SmallVec::new();
        operands.push(scratch(temporary));
        let source = address(self, from, &mut operands);
        let destination = address(self, to, &mut operands);
        self.push_address(insts::BLIT, 8, &operands, source).imm = bytes as i64;
        self.b.address(destination);
    }

    fn copy_string(&mut self, from: Parts, to: Parts, bytes: u64) {
        let (source, destination) = (self.b.int_reg(8), self.b.int_reg(8));
        self.lea(source, 8, from);
        self.lea(destination, 8, to);
        let words = bytes / 8;
        let count = self.int_constant(words as i64, 8);
        let operands = [read_in(destination, RDI), read_in(source, RSI), read_in(count, RCX)];
        let clobbers = self.b.clobbers(PRegSet::of(&[RDI, RSI, RCX]));
        self.b.push(insts::REP_MOVS, 8, &operands).clobbers = clobbers;
        let rest = bytes % 8;
        if rest > 0 {
            // The last 8 bytes once more: they overlap what is there already.
            let at = bytes - 8;
            let again = |reg| Parts::term(Term::Reg(reg)).plus(at);
            self.copy_row(again(source), again(destination), 8);
        }
    }

    /// Run-time allocation. The stack pointer stays aligned to 16, which is all that is asked.
    pub fn alloc(&mut self, inst: &Inst, to: VReg) {
        self.b.code.dynamic = true;
        self.b.code.reserved.insert(RBP);
        if let Some(bits) = self.b.f.bits(self.b.resolve(inst.args[0])) {
            let size = (bits.wrapping_add(15) & !15) as i64;
            if fits32(size) && self.format != ObjectFormat::Coff {
                self.b.push(insts::ALLOC_I, 8, &[write(to)]).imm = size;
                return;
            }
            let size = self.int_constant(size, 8);
            self.allocate_bytes(size, to);
            return;
        }
        let size = self.value(inst.args[0], Class::L);
        let (sum, rounded) = (self.b.int_reg(8), self.b.int_reg(8));
        self.b.push(insts::ADD3_RI, 8, &[write(sum), read(size)]).imm = 15;
        self.b.push(insts::AND_RI, 8, &[write_over(rounded, 1), read(sum)]).imm = -16;
        self.allocate_bytes(rounded, to);
    }

    fn allocate_bytes(&mut self, size: VReg, to: VReg) {
        let size = match self.format {
            ObjectFormat::Coff => read_in(size, RAX),
            ObjectFormat::Elf | ObjectFormat::MachO => read(size),
        };
        self.b.push(insts::ALLOC_R, 8, &[write(to), size]);
    }

    /// The `bytes` (1 to 8) bytes at an address in an integer register, the rest of it unspecified,
    /// without touching memory behind them.
    pub fn load_bytes(&mut self, parts: Parts, bytes: u8) -> VReg {
        let one = |this: &mut Self, row: MOp, size: u8, offset: u64| {
            let to = this.b.int_reg(8);
            this.push_memory(row, size, &[write(to)], parts.plus(offset));
            to
        };
        let (low, high, shift) = match bytes {
            1 => return one(self, insts::MOVZX_RM, 1, 0),
            2 => return one(self, insts::MOVZX_RM, 2, 0),
            4 => return one(self, insts::MOV_RM, 4, 0),
            8 => return one(self, insts::MOV_RM, 8, 0),
            3 => (one(self, insts::MOVZX_RM, 2, 0), one(self, insts::MOVZX_RM, 1, 2), 16),
            5 => (one(self, insts::MOV_RM, 4, 0), one(self, insts::MOVZX_RM, 1, 4), 32),
            6 => (one(self, insts::MOV_RM, 4, 0), one(self, insts::MOVZX_RM, 2, 4), 32),
            7 => (one(self, insts::MOV_RM, 4, 0), one(self, insts::MOV_RM, 4, 3), 24),
            _ => unreachable!("a piece has 1 to 8 bytes"),
        };
        let (shifted, both) = (self.b.int_reg(8), self.b.int_reg(8));
        self.b.push(insts::SHL_RI, 8, &[write_over(shifted, 1), read(high)]).imm = shift;
        let operands: [Operand; 3] = [write_over(both, 1), read(shifted), read(low)];
        self.b.push(insts::OR_RR, 8, &operands);
        both
    }
}
