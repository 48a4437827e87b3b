//! Multiplications, shifts, rotations, byte order, extensions.

use super::insts;
use super::isel::{Isel, is_word};
use crate::ir::{Class, Inst, Op, Ref};
use crate::target::constants::Constant;
use crate::target::lower::{read, write};
use crate::target::machine::{VReg, op};
use crate::target::select::Select;

impl Isel<'_> {
    pub fn mul(&mut self, inst: &Inst, to: VReg) {
        let class = inst.class;
        let (a, b) = self.constant_last(inst);
        let w = class == Class::W;
        if let Some(bits) = self.constant_int(b, class)
            && self.multiply_by(a, bits, class, to)
        {
            return;
        }
        let (first, second) = (self.low_int(a, class), self.low_int(b, class));
        self.binary(if w { insts::MULW } else { insts::MUL }, to, first, second);
    }

    /// A product with 2^n, 2^n + 1 or 2^n - 1; false for others.
    fn multiply_by(&mut self, a: Ref, factor: i64, class: Class, to: VReg) -> bool {
        let by = |w, l| if class == Class::W { w } else { l };
        if factor <= 1 {
            return false;
        }
        if class == Class::L && self.features.zba && matches!(factor, 3 | 5 | 9) {
            let rows = [insts::SH1ADD, insts::SH2ADD, insts::SH3ADD];
            let from = self.value(a, Class::L);
            self.binary(rows[(factor - 1).trailing_zeros() as usize - 1], to, from, from);
            return true;
        }
        let (n, row) = if factor.count_ones() == 1 {
            let from = self.low_int(a, class);
            let n = i64::from(factor.trailing_zeros());
            self.immediate(by(insts::SLLIW, insts::SLLI), to, from, n);
            return true;
        } else if (factor - 1).count_ones() == 1 {
            ((factor - 1).trailing_zeros(), by(insts::ADDW, insts::ADD))
        } else if factor.wrapping_add(1).count_ones() == 1 {
            (factor.wrapping_add(1).trailing_zeros(), by(insts::SUBW, insts::SUB))
        } else {
            return false;
        };
        let from = self.low_int(a, class);
        let shifted = self.new_immediate(insts::SLLI, from, i64::from(n));
        self.binary(row, to, shifted, from);
        true
    }

    /// The upper half of a product, shifted to the right by `shift` more bits. Of words it is that
    /// of the operands in the upper halves of registers, or the product of whole registers.
    pub fn multiply_high(&mut self, inst: &Inst, shift: u64, to: VReg) {
        let signed = inst.op == Op::Smulh;
        let (a, b) = self.constant_last(inst);
        if inst.class == Class::L {
            debug_assert_eq!(shift, 0, "shifts are taken into products of words");
            let (first, second) = (self.value(a, Class::L), self.value(b, Class::L));
            let row = if signed { insts::MULH } else { insts::MULHU };
            return self.binary(row, to, first, second);
        }
        let product = if signed {
            let (first, second) = (self.word(a), self.word(b));
            self.new_binary(insts::MUL, first, second)
        } else {
            let (first, second) = (self.in_upper_half(a), self.in_upper_half(b));
            self.new_binary(insts::MULHU, first, second)
        };
        let row = if signed || shift == 0 { insts::SRAI } else { insts::SRLI };
        self.immediate(row, to, product, 32 + shift as i64);
    }

    fn in_upper_half(&mut self, r: Ref) -> VReg {
        if let Some(bits) = self.constant_int(r, Class::W) {
            return self.constant(Constant::Number((bits << 32) as u64, Class::L));
        }
        let from = self.low(r);
        self.new_immediate(insts::SLLI, from, 32)
    }

    pub fn shl(&mut self, inst: &Inst, to: VReg) {
        let class = inst.class;
        let Some(n) = self.b.shift_count(inst) else {
            let (a, count) = (self.low_int(inst.args[0], class), self.count(inst));
            let row = if class == Class::W { insts::SLLW } else { insts::SLL };
            return self.binary(row, to, a, count);
        };
        if n == 0 {
            return self.same(inst, to);
        }
        let n = n as i64;
        if class == Class::W {
            let from = self.low(inst.args[0]);
            return self.immediate(insts::SLLIW, to, from, n);
        }
        // The upper half of a word is shifted in or out.
        if let Some(inner) = self.b.only_use(inst.args[0])
            && matches!(inner.op, Op::Extuw | Op::Extsw)
            && (inner.op == Op::Extuw || n >= 32)
        {
            let from = self.low(inner.args[0]);
            if n >= 32 {
                self.immediate(insts::SLLI, to, from, n);
            } else if self.features.zba {
                self.immediate(insts::SLLI_UW, to, from, n);
            } else {
                let high = self.new_immediate(insts::SLLI, from, 32);
                self.immediate(insts::SRLI, to, high, 32 - n);
            }
            return;
        }
        let from = self.value(inst.args[0], Class::L);
        self.immediate(insts::SLLI, to, from, n);
    }

    pub fn shr(&mut self, inst: &Inst, to: VReg) {
        let class = inst.class;
        let Some(n) = self.b.shift_count(inst) else {
            let (a, count) = (self.low_int(inst.args[0], class), self.count(inst));
            let row = if class == Class::W { insts::SRLW } else { insts::SRL };
            return self.binary(row, to, a, count);
        };
        if n == 0 {
            return self.same(inst, to);
        }
        if class == Class::W {
            if let Some(product) = self.b.only_use(inst.args[0])
                && product.op == Op::Umulh
                && product.class == Class::W
            {
                return self.multiply_high(product, n, to);
            }
            let from = self.low(inst.args[0]);
            return self.immediate(insts::SRLIW, to, from, n as i64);
        }
        if let Some(inner) = self.b.only_use(inst.args[0])
            && inner.op == Op::Extuw
            && n < 32
        {
            let from = self.low(inner.args[0]);
            return self.immediate(insts::SRLIW, to, from, n as i64);
        }
        let from = self.value(inst.args[0], Class::L);
        self.immediate(insts::SRLI, to, from, n as i64);
    }

    pub fn sar(&mut self, inst: &Inst, to: VReg) {
        let class = inst.class;
        let a = self.b.resolve(inst.args[0]);
        let Some(n) = self.b.shift_count(inst) else {
            let (a, count) = (self.low_int(a, class), self.count(inst));
            let row = if class == Class::W { insts::SRAW } else { insts::SRA };
            return self.binary(row, to, a, count);
        };
        if n == 0 {
            return self.same(inst, to);
        }
        if class == Class::W
            && let Some(product) = self.b.only_use(a)
            && product.op == Op::Smulh
            && product.class == Class::W
        {
            return self.multiply_high(product, n, to);
        }
        // Of a word with its sign above the 64-bit shift is the same, and may be shorter.
        let whole = class == Class::L || is_word(&self.b, a);
        let from = self.low_int(a, class);
        self.immediate(if whole { insts::SRAI } else { insts::SRAIW }, to, from, n as i64);
    }

    /// The operand itself, of a shift by 0.
    fn same(&mut self, inst: &Inst, to: VReg) {
        let from = self.int(inst.args[0], inst.class);
        self.b.push(op::COPY, inst.class.size() as u8, &[write(to), read(from)]);
    }

    /// The count of a shift, of which the machine takes the low bits too.
    fn count(&mut self, inst: &Inst) -> VReg {
        let mut count = self.b.resolve(inst.args[1]);
        if let Some(mask) = self.b.only_use(count)
            && mask.op == Op::And
            && let Some(bits) = self.constant_int(mask.args[1], Class::W)
        {
            let needed = i64::from(inst.class.size()) * 8 - 1;
            if bits & needed == needed {
                count = self.b.resolve(mask.args[0]);
            }
        }
        self.low(count)
    }

    pub fn rotate(&mut self, inst: &Inst, to: VReg) {
        let w = inst.class == Class::W;
        let by = |narrow, wide| if w { narrow } else { wide };
        let left = inst.op == Op::Rotl;
        let width = if w { 32 } else { 64 };
        let from = self.low_int(inst.args[0], inst.class);
        let (shl, shr) = (by(insts::SLLW, insts::SLL), by(insts::SRLW, insts::SRL));
        let Some(n) = self.b.shift_count(inst) else {
            let count = self.count(inst);
            if self.features.zbb {
                let row =
                    if left { by(insts::ROLW, insts::ROL) } else { by(insts::RORW, insts::ROR) };
                return self.binary(row, to, from, count);
            }
            // Shifts take their counts modulo the width, so the other one is the negative.
            let other = self.new_unary(insts::NEG, count);
            let (near, far) = if left { (shl, shr) } else { (shr, shl) };
            let first = self.new_binary(near, from, count);
            let second = self.new_binary(far, from, other);
            return self.binary(insts::OR, to, first, second);
        };
        if n == 0 {
            return self.same(inst, to);
        }
        let n = if left { n as i64 } else { width - n as i64 };
        if self.features.zbb {
            return self.immediate(by(insts::RORIW, insts::RORI), to, from, width - n);
        }
        let first = self.new_immediate(by(insts::SLLIW, insts::SLLI), from, n);
        let second = self.new_immediate(by(insts::SRLIW, insts::SRLI), from, width - n);
        self.binary(insts::OR, to, first, second);
    }

    /// Without an instruction for it: neighbours change places, one byte wide, two, four.
    pub fn swap_bytes(&mut self, inst: &Inst, to: VReg) {
        let w = inst.class == Class::W;
        let from = self.low_int(inst.args[0], inst.class);
        if self.features.zbb {
            if w {
                let all = self.new_unary(insts::REV8, from);
                self.immediate(insts::SRAI, to, all, 32);
            } else {
                self.unary(insts::REV8, to, from);
            }
            return;
        }
        let masks: &[(i64, i64)] = if w {
            &[(8, 0x00ff_00ff)]
        } else {
            &[(8, 0x00ff_00ff_00ff_00ff), (16, 0x0000_ffff_0000_ffff)]
        };
        let mut x = from;
        for &(n, mask) in masks {
            let mask = self.int_constant(mask, 8);
            let shifted = self.new_immediate(insts::SRLI, x, n);
            let down = self.new_binary(insts::AND, shifted, mask);
            let kept = self.new_binary(insts::AND, x, mask);
            let up = self.new_immediate(insts::SLLI, kept, n);
            x = self.new_binary(insts::OR, down, up);
        }
        let (shl, shr, n) =
            if w { (insts::SLLIW, insts::SRLIW, 16) } else { (insts::SLLI, insts::SRLI, 32) };
        let up = self.new_immediate(shl, x, n);
        let down = self.new_immediate(shr, x, n);
        self.binary(insts::OR, to, up, down);
    }

    /// The low `bits` bits of a register, zeros above.
    pub fn zero_extend(&mut self, from: VReg, bits: u32, to: VReg) {
        match bits {
            8 => self.immediate(insts::ANDI, to, from, 255),
            16 if self.features.zbb => self.unary(insts::ZEXT_H, to, from),
            32 if self.features.zba => self.unary(insts::ZEXT_W, to, from),
            _ => {
                let n = 64 - i64::from(bits);
                let high = self.new_immediate(insts::SLLI, from, n);
                self.immediate(insts::SRLI, to, high, n);
            }
        }
    }

    /// The low `bits` bits of a register, their sign above.
    pub fn sign_extend(&mut self, from: VReg, bits: u32, to: VReg) {
        match bits {
            8 if self.features.zbb => self.unary(insts::SEXT_B, to, from),
            16 if self.features.zbb => self.unary(insts::SEXT_H, to, from),
            32 => self.unary(insts::SEXT_W, to, from),
            _ => {
                let n = 64 - i64::from(bits);
                let high = self.new_immediate(insts::SLLI, from, n);
                self.immediate(insts::SRAI, to, high, n);
            }
        }
    }

    pub fn extend(&mut self, inst: &Inst, to: VReg) {
        let (bits, signed) = inst.op.extension().expect("an extension");
        let r = inst.args[0];
        // A load can extend by itself.
        if let Some(load) = self.b.foldable_load(r)
            && load.op.load_size() >= Some(bits / 8)
        {
            let row = match (bits, signed) {
                (8, true) => insts::LB,
                (8, false) => insts::LBU,
                (16, true) => insts::LH,
                (16, false) => insts::LHU,
                (_, true) => insts::LW,
                (_, false) => insts::LWU,
            };
            let parts = self.access_parts(load.args[0]);
            self.push_memory(row, &[write(to)], parts);
            return;
        }
        let from = self.low(r);
        if signed {
            self.sign_extend(from, bits, to);
        } else {
            self.zero_extend(from, bits, to);
        }
    }
}
