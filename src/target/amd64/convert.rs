//! Extensions and conversions between classes.

use super::insts;
use super::isel::{Isel, pool};
use crate::ir::{Class, Inst, Op, Ref};
use crate::target::address::Parts;
use crate::target::lower::{read, write, write_over};
use crate::target::machine::{Bank, MOp, VReg};
use crate::target::select::Select;

impl Isel<'_> {
    /// Zero-extends the low `size` bytes of `r`.
    pub fn zero_extend(&mut self, r: Ref, size: u8, to: VReg) {
        if let Some(load) = self.foldable_load(r)
            && load.op.load_size() >= Some(u32::from(size))
        {
            let parts = self.parts(load.args[0]);
            let (row, size) = if size == 4 { (insts::MOV_RM, 4) } else { (insts::MOVZX_RM, size) };
            self.push_memory(row, size, &[write(to)], parts);
            return;
        }
        let from = self.value(r, if size == 4 { Class::W } else { Class::L });
        let from = self.b.read_any(from, size);
        self.b.push(insts::MOVZX_RR, size, &[write(to), from]);
    }

    /// Sign-extends the low `size` bytes of `r` to the whole of `class`.
    pub fn sign_extend(&mut self, r: Ref, size: u8, class: Class, to: VReg) {
        let (rr, rm) = if class == Class::L {
            (insts::MOVSX8_RR, insts::MOVSX8_RM)
        } else {
            (insts::MOVSX4_RR, insts::MOVSX4_RM)
        };
        if let Some(load) = self.foldable_load(r)
            && load.op.load_size() >= Some(u32::from(size))
        {
            let parts = self.parts(load.args[0]);
            self.push_memory(rm, size, &[write(to)], parts);
            return;
        }
        let from = self.value(r, Class::W);
        let from = self.b.read_any(from, size);
        self.b.push(rr, size, &[write(to), from]);
    }

    pub fn extend(&mut self, inst: &Inst, to: VReg) {
        let (bits, signed) = inst.op.extension().expect("an extension");
        let size = (bits / 8) as u8;
        // A constant was left alone because it does not fit its own class; nothing to gain.
        if signed {
            self.sign_extend(inst.args[0], size, inst.class, to);
        } else {
            self.zero_extend(inst.args[0], size, to);
        }
    }

    pub fn cast(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        let from_class = match inst.class {
            Class::W => Class::S,
            Class::L => Class::D,
            Class::S => Class::W,
            Class::D => Class::L,
        };
        if let Some(parts) = self.memory_operand(inst.args[0], size) {
            let row = if inst.class.is_int() { insts::MOV_RM } else { insts::FMOV_RM };
            self.push_memory(row, size, &[write(to)], parts);
            return;
        }
        let from = self.value(inst.args[0], from_class);
        let row = if inst.class.is_int() { insts::MOVD_RF } else { insts::MOVD_FR };
        self.b.push(row, size, &[write(to), read(from)]);
    }

    pub fn convert(&mut self, inst: &Inst, to: VReg) {
        let double = inst.class == Class::D;
        let (from_int, from_int_memory) = if double {
            (insts::CVTSI2SD_RR, insts::CVTSI2SD_RM)
        } else {
            (insts::CVTSI2SS_RR, insts::CVTSI2SS_RM)
        };
        let int_size = inst.class.size() as u8;
        let a = inst.args[0];
        match inst.op {
            Op::Exts => self.unary_from(insts::CVTSS2SD_RR, insts::CVTSS2SD_RM, 4, a, Class::S, to),
            Op::Truncd => {
                self.unary_from(insts::CVTSD2SS_RR, insts::CVTSD2SS_RM, 8, a, Class::D, to);
            }
            Op::Stosi => {
                let (rr, rm) = (insts::CVTTSS2SI_RR, insts::CVTTSS2SI_RM);
                self.float_to_int(rr, rm, int_size, a, Class::S, to);
            }
            Op::Dtosi => {
                let (rr, rm) = (insts::CVTTSD2SI_RR, insts::CVTTSD2SI_RM);
                self.float_to_int(rr, rm, int_size, a, Class::D, to);
            }
            Op::Stoui => self.float_to_unsigned(inst, Class::S, to),
            Op::Dtoui => self.float_to_unsigned(inst, Class::D, to),
            Op::Swtof => self.unary_from(from_int, from_int_memory, 4, a, Class::W, to),
            Op::Sltof => self.unary_from(from_int, from_int_memory, 8, a, Class::L, to),
            Op::Uwtof => {
                let wide = self.b.int_reg(8);
                self.zero_extend(a, 4, wide);
                let from = self.b.read_any(wide, 8);
                self.b.push(from_int, 8, &[write(to), from]);
            }
            Op::Ultof => self.unsigned_to_float(inst, from_int, to),
            _ => unreachable!("{:?} is not a conversion", inst.op),
        }
    }

    /// A conversion from a register or from memory of `size` bytes; `size` goes into the row.
    fn unary_from(&mut self, rr: MOp, rm: MOp, size: u8, a: Ref, class: Class, to: VReg) {
        if let Some(parts) = self.memory_operand(a, size) {
            self.push_memory(rm, size, &[write(to)], parts);
            return;
        }
        let from = self.value(a, class);
        let from = self.b.read_any(from, size);
        self.b.push(rr, size, &[write(to), from]);
    }

    fn float_to_int(&mut self, rr: MOp, rm: MOp, size: u8, a: Ref, class: Class, to: VReg) {
        let float_size = class.size() as u8;
        if let Some(parts) = self.memory_operand(a, float_size) {
            self.push_memory(rm, size, &[write(to)], parts);
            return;
        }
        let from = self.value(a, class);
        let from = self.b.read_any(from, float_size);
        self.b.push(rr, size, &[write(to), from]);
    }

    /// To a `w`: the low half of the signed 64-bit conversion. To an `l`: the signed conversion is
    /// right below 2^63; above, it gives the sign bit alone, and the conversion of the value minus
    /// 2^63 has the rest.
    fn float_to_unsigned(&mut self, inst: &Inst, class: Class, to: VReg) {
        let size = class.size() as u8;
        let row = if class == Class::S { insts::CVTTSS2SI_RR } else { insts::CVTTSD2SI_RR };
        let from = self.value(inst.args[0], class);
        if inst.class == Class::W {
            let from = self.b.read_any(from, size);
            self.b.push(row, 8, &[write(to), from]);
            return;
        }
        let low = self.b.int_reg(8);
        self.b.push(row, 8, &[write(low), read(from)]);
        let limit = if class == Class::S { 0xdf00_0000 } else { 0xc3e0_0000_0000_0000 };
        let less = self.b.new_reg(Bank::Float, size);
        let operands = [write_over(less, 1), read(from)];
        self.push_address(insts::FADD_RM, size, &operands, pool(limit, size));
        let high = self.b.int_reg(8);
        self.b.push(row, 8, &[write(high), read(less)]);
        let sign = self.b.int_reg(8);
        self.b.push(insts::SAR_RI, 8, &[write_over(sign, 1), read(low)]).imm = 63;
        let rest = self.b.int_reg(8);
        self.b.push(insts::AND_RR, 8, &[write_over(rest, 1), read(sign), read(high)]);
        self.b.push(insts::OR_RR, 8, &[write_over(to, 1), read(rest), read(low)]);
    }

    /// Values with the top bit set are halved (rounding to odd, so that nothing is rounded twice),
    /// converted and doubled. Without branches: the shift count and the mask come from the bit.
    fn unsigned_to_float(&mut self, inst: &Inst, row: MOp, to: VReg) {
        let size = inst.class.size() as u8;
        let from = self.value(inst.args[0], Class::L);
        let top = self.b.int_reg(8);
        self.b.push(insts::SHR_RI, 8, &[write_over(top, 1), read(from)]).imm = 63;
        let halved = self.b.int_reg(8);
        let rcx = super::regs::RCX;
        let operands = [write_over(halved, 1), read(from), crate::target::lower::read_in(top, rcx)];
        self.b.push(insts::SHR_RC, 8, &operands);
        let lost = self.b.int_reg(8);
        self.b.push(insts::AND_RR, 8, &[write_over(lost, 1), read(top), read(from)]);
        let odd = self.b.int_reg(8);
        self.b.push(insts::OR_RR, 8, &[write_over(odd, 1), read(halved), read(lost)]);
        let half = self.b.new_reg(Bank::Float, size);
        self.b.push(row, 8, &[write(half), read(odd)]);
        let mask = self.b.int_reg(8);
        self.b.push(insts::SAR_RI, 8, &[write_over(mask, 1), read(from)]).imm = 63;
        let float_mask = self.b.new_reg(Bank::Float, 8);
        self.b.push(insts::MOVD_FR, 8, &[write(float_mask), read(mask)]);
        let again = self.b.new_reg(Bank::Float, size);
        self.b.push(insts::FAND_RR, size, &[write_over(again, 1), read(float_mask), read(half)]);
        self.b.push(insts::FADD_RR, size, &[write_over(to, 1), read(half), read(again)]);
    }

    /// A load of one value into a register, as the op says.
    pub fn load_from(&mut self, load: Op, class: Class, to: VReg, parts: Parts) {
        let signed8 = class == Class::L;
        let (row, size) = match load {
            Op::Loadub => (insts::MOVZX_RM, 1),
            Op::Loaduh => (insts::MOVZX_RM, 2),
            Op::Loaduw => (insts::MOV_RM, 4),
            Op::Loadsw if !signed8 => (insts::MOV_RM, 4),
            Op::Loadsw => (insts::MOVSX8_RM, 4),
            Op::Loadsb if signed8 => (insts::MOVSX8_RM, 1),
            Op::Loadsh if signed8 => (insts::MOVSX8_RM, 2),
            Op::Loadsb => (insts::MOVSX4_RM, 1),
            Op::Loadsh => (insts::MOVSX4_RM, 2),
            Op::Loadl => (insts::MOV_RM, 8),
            Op::Loads => (insts::FMOV_RM, 4),
            Op::Loadd => (insts::FMOV_RM, 8),
            _ => unreachable!("{load:?} is not a load"),
        };
        self.push_memory(row, size, &[write(to)], parts);
    }
}
