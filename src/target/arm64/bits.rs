//! Bitwise operations, shifts, bit fields and extensions.

use super::immediates;
use super::insts::{self, field};
use super::isel::{Isel, all_ones};
use crate::ir::{Class, Inst, Op, Ref};
use crate::target::lower::{read, write, write_over};
use crate::target::machine::VReg;
use crate::target::select::Select;

/// A field of a value: its first bit, and how many bits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Field {
    first: u32,
    bits: u32,
}

/// The field that is all ones in `mask`.
fn field_of(mask: u64) -> Option<Field> {
    let first = mask.trailing_zeros();
    let ones = (mask.checked_shr(first)?).trailing_ones();
    let rest = mask.checked_shr(first + ones).unwrap_or(0);
    (ones > 0 && rest == 0).then_some(Field { first, bits: ones })
}

impl Isel<'_> {
    pub fn bitwise(&mut self, inst: &Inst, to: VReg) {
        let (class, size) = (inst.class, inst.class.size() as u8);
        let [mut a, mut b, _] = inst.args;
        if self.bits(a, class).is_some() {
            (a, b) = (b, a);
        }
        if let Some(bits) = self.bits(b, class)
            && self.bitwise_constant(inst.op, class, a, bits, to)
        {
            return;
        }
        if inst.op == Op::Or && (self.insert(a, b, class, to) || self.insert(b, a, class, to)) {
            return;
        }
        if inst.op == Op::Or && self.extract(a, b, class, to) {
            return;
        }
        let (plain, complement) = match inst.op {
            Op::And => (insts::AND, insts::BIC),
            Op::Or => (insts::ORR, insts::ORN),
            _ => (insts::EOR, insts::EON),
        };
        for (a, b) in [(a, b), (b, a)] {
            if let Some(inner) = self.complemented(b, class) {
                let first = self.value(a, class);
                let (second, how) = self.modified(inner, class, false);
                self.push2(complement, size, to, first, second).imm = how;
                return;
            }
        }
        let (first_how, second_how) =
            (self.modification(a, class, false), self.modification(b, class, false));
        if first_how.is_some() && second_how.is_none() {
            (a, b) = (b, a);
        }
        let first = self.value(a, class);
        let (second, how) = self.modified(b, class, false);
        self.push2(plain, size, to, first, second).imm = how;
    }

    /// The operand whose complement `r` is.
    fn complemented(&self, r: Ref, class: Class) -> Option<Ref> {
        let inst = self.taken(r)?;
        let is = inst.op == Op::Xor
            && inst.class == class
            && self.bits(inst.args[1], class) == Some(all_ones(class));
        is.then_some(inst.args[0])
    }

    /// With a constant that is an immediate, or better. False if it is none.
    fn bitwise_constant(&mut self, op: Op, class: Class, a: Ref, bits: u64, to: VReg) -> bool {
        let size = class.size() as u8;
        if op == Op::Xor && bits == all_ones(class) {
            let (from, how) = self.modified(a, class, false);
            self.push1(insts::MVN, size, to, from).imm = how;
            return true;
        }
        if op == Op::And && self.masked(class, a, bits, to) {
            return true;
        }
        let row = match op {
            Op::And => insts::AND_I,
            Op::Or => insts::ORR_I,
            _ => insts::EOR_I,
        };
        // The upper half of the result is 0 as it is after an operation of 4 bytes.
        let narrow = op == Op::And && bits <= 0xffff_ffff && immediates::is_logical(bits, 4);
        if narrow || immediates::is_logical(bits, size) {
            let from = self.value(a, class);
            let size = if narrow { 4 } else { size };
            self.push1(row, size, to, from).imm = bits as i64;
            return true;
        }
        false
    }

    /// A mask of something shifted is a field.
    fn masked(&mut self, class: Class, a: Ref, mask: u64, to: VReg) -> bool {
        let size = class.size() as u8;
        let width = 8 * class.size();
        let Some(wanted) = field_of(mask) else { return false };
        if let Some(inst) = self.taken(a)
            && inst.class == class
            && let Some(count) = self.b.shift_count(inst)
        {
            let count = count as u32;
            match inst.op {
                Op::Shr | Op::Sar
                    if wanted.first == 0 && count > 0 && count + wanted.bits <= width =>
                {
                    let from = self.value(inst.args[0], class);
                    let imm = field(count as u8, wanted.bits as u8);
                    self.push1(insts::UBFX, size, to, from).imm = imm;
                    return true;
                }
                Op::Shl if wanted.first == count && count > 0 => {
                    let from = self.value(inst.args[0], class);
                    let imm = field(count as u8, wanted.bits as u8);
                    self.push1(insts::UBFIZ, size, to, from).imm = imm;
                    return true;
                }
                _ => {}
            }
        }
        if wanted.first == 0 && matches!(wanted.bits, 8 | 16 | 32) && class.size() > wanted.bits / 8
        {
            self.zero_extend(a, (wanted.bits / 8) as u8, to);
            return true;
        }
        false
    }

    /// `or` of a value with a hole in it and a field that fits the hole. False if it is not that.
    fn insert(&mut self, a: Ref, b: Ref, class: Class, to: VReg) -> bool {
        let size = class.size() as u8;
        let ones = all_ones(class);
        let mask_of = |this: &Self, r: Ref| {
            let inst = this.taken(r).filter(|i| i.op == Op::And && i.class == class)?;
            Some((inst.args[0], this.bits(inst.args[1], class)?))
        };
        let Some((base, keep)) = mask_of(self, a) else { return false };
        let Some(hole) = field_of(!keep & ones) else { return false };
        let imm = field(hole.first as u8, hole.bits as u8);
        // The field in place already, or shifted there after it was masked.
        let (row, source) = if let Some((inner, mask)) = mask_of(self, b) {
            if mask != !keep & ones {
                return false;
            }
            let shift = self.taken(inner).filter(|i| i.op == Op::Shl && i.class == class);
            match shift.filter(|i| self.b.shift_count(i) == Some(u64::from(hole.first))) {
                Some(shift) => (insts::BFI, shift.args[0]),
                None if hole.first == 0 => (insts::BFI, inner),
                None => return false,
            }
        } else if let Some(shift) = self.taken(b).filter(|i| i.op == Op::Shl && i.class == class)
            && self.b.shift_count(shift) == Some(u64::from(hole.first))
        {
            let inner = match mask_of(self, shift.args[0]) {
                Some((inner, mask)) if field_of(mask) == Some(Field { first: 0, ..hole }) => inner,
                // The bits above the hole are shifted out.
                _ if hole.first + hole.bits == 8 * class.size() => shift.args[0],
                _ => return false,
            };
            (insts::BFI, inner)
        } else {
            return false;
        };
        let base = self.value(base, class);
        let from = self.value(source, class);
        let operands = [write_over(to, 1), read(base), read(from)];
        self.b.push(row, size, &operands).imm = imm;
        true
    }

    /// `x << n | y >> width - n`. False if it is not that.
    fn extract(&mut self, a: Ref, b: Ref, class: Class, to: VReg) -> bool {
        let width = 8 * u64::from(class.size());
        for (a, b) in [(a, b), (b, a)] {
            let shift = |op: Op, r: Ref| {
                let inst = self.taken(r).filter(|i| i.op == op && i.class == class)?;
                Some((inst.args[0], self.b.shift_count(inst)?))
            };
            if let (Some((x, left)), Some((y, right))) = (shift(Op::Shl, a), shift(Op::Shr, b))
                && left + right == width
                && right > 0
                && right < width
            {
                let (x, y) = (self.value(x, class), self.value(y, class));
                let operands = [write(to), read(x), read(y)];
                self.b.push(insts::EXTR, class.size() as u8, &operands).imm = right as i64;
                return true;
            }
        }
        false
    }

    // ---- shifts ----

    pub fn shift(&mut self, inst: &Inst, to: VReg) {
        let (class, size) = (inst.class, inst.class.size() as u8);
        let width = 8 * class.size();
        let a = inst.args[0];
        let Some(count) = self.b.shift_count(inst) else {
            self.variable_shift(inst, to);
            return;
        };
        let count = count as u32;
        if count == 0 {
            let from = self.value(a, class);
            self.push1(insts::MOV, size, to, from);
            return;
        }
        match inst.op {
            Op::Shl => self.shift_left(a, count, class, to),
            Op::Shr | Op::Sar => self.shift_right(a, count, inst, to),
            op => {
                let count = if op == Op::Rotl { width - count } else { count };
                let from = self.value(a, class);
                self.push1(insts::ROR_I, size, to, from).imm = i64::from(count);
            }
        }
    }

    fn variable_shift(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        let row = match inst.op {
            Op::Shl => insts::LSL,
            Op::Shr => insts::LSR,
            Op::Sar => insts::ASR,
            _ => insts::ROR,
        };
        let from = self.value(inst.args[0], inst.class);
        let mut count = self.value(inst.args[1], Class::W);
        if inst.op == Op::Rotl {
            let opposite = self.b.int_reg(4);
            self.push1(insts::NEG, 4, opposite, count);
            count = opposite;
        }
        self.push2(row, size, to, from, count);
    }

    /// `r << count`; of an extension or a mask it is one field.
    pub fn shift_left(&mut self, r: Ref, count: u32, class: Class, to: VReg) {
        let size = class.size() as u8;
        let width = 8 * class.size();
        if count == 0 {
            let from = self.value(r, class);
            self.push1(insts::MOV, size, to, from);
            return;
        }
        if let Some((inner, bits, signed)) = self.narrow(r, class) {
            let bits = bits.min(width - count);
            let row = if signed { insts::SBFIZ } else { insts::UBFIZ };
            let from = self.value(inner, Class::L);
            self.push1(row, size, to, from).imm = field(count as u8, bits as u8);
            return;
        }
        let from = self.value(r, class);
        self.push1(insts::LSL_I, size, to, from).imm = i64::from(count);
    }

    /// The operand, the number of bits and the sign of what is extended or masked to `class`, unless a
    /// load does that.
    fn narrow(&self, r: Ref, class: Class) -> Option<(Ref, u32, bool)> {
        let inst = self.taken(r).filter(|i| i.class == class)?;
        let inner = inst.args[0];
        if self.b.resolve(inner).as_temp().is_none() || self.b.foldable_load(inner).is_some() {
            return None;
        }
        if let Some((bits, signed)) = inst.op.extension() {
            return Some((inner, bits, signed));
        }
        let mask = self.bits(inst.args[1], class).filter(|_| inst.op == Op::And)?;
        let wanted = field_of(mask).filter(|f| f.first == 0)?;
        Some((inner, wanted.bits, false))
    }

    fn shift_right(&mut self, r: Ref, count: u32, inst: &Inst, to: VReg) {
        let (class, size) = (inst.class, inst.class.size() as u8);
        let width = 8 * class.size();
        let signed = inst.op == Op::Sar;
        let rows = if signed { (insts::SBFX, insts::SBFIZ) } else { (insts::UBFX, insts::UBFIZ) };
        // Up and down again.
        if let Some(left) = self.taken(r).filter(|i| i.op == Op::Shl && i.class == class)
            && let Some(up) = self.b.shift_count(left)
            && up > 0
        {
            let up = up as u32;
            let (row, first, bits) = if count >= up {
                (rows.0, count - up, width - count)
            } else {
                (rows.1, up - count, width - up)
            };
            let from = self.value(left.args[0], class);
            self.push1(row, size, to, from).imm = field(first as u8, bits as u8);
            return;
        }
        // Of a mask: the field above the bits shifted out.
        if let Some(and) = self.taken(r).filter(|i| i.op == Op::And && i.class == class)
            && let Some(mask) = self.bits(and.args[1], class)
            && let Some(wanted) = field_of(mask >> count)
            && wanted.first == 0
            && (!signed || count + wanted.bits < width)
        {
            let from = self.value(and.args[0], class);
            let imm = field(count as u8, wanted.bits as u8);
            self.push1(insts::UBFX, size, to, from).imm = imm;
            return;
        }
        let from = self.value(r, class);
        let row = if signed { insts::ASR_I } else { insts::LSR_I };
        self.push1(row, size, to, from).imm = i64::from(count);
    }

    // ---- extensions ----

    pub fn extend(&mut self, inst: &Inst, to: VReg) {
        let (bits, signed) = inst.op.extension().expect("an extension");
        let size = (bits / 8) as u8;
        if signed {
            self.sign_extend(inst.args[0], size, inst.class, to);
        } else {
            self.zero_extend(inst.args[0], size, to);
        }
    }

    /// Zero-extends the low `size` bytes of `r`.
    pub fn zero_extend(&mut self, r: Ref, size: u8, to: VReg) {
        let load = match size {
            1 => Op::Loadub,
            2 => Op::Loaduh,
            _ => Op::Loaduw,
        };
        if self.extending_load(r, size, load, Class::W, to) {
            return;
        }
        if let Some((inner, first, class)) = self.shifted_down(r, size) {
            let from = self.value(inner, class);
            let imm = field(first as u8, 8 * size);
            self.push1(insts::UBFX, class.size() as u8, to, from).imm = imm;
            return;
        }
        let from = self.value(r, if size == 4 { Class::W } else { Class::L });
        let row = match size {
            1 => insts::UXTB,
            2 => insts::UXTH,
            _ => insts::MOV,
        };
        self.push1(row, 4, to, from);
    }

    /// Sign-extends the low `size` bytes of `r` to the whole of `class`.
    pub fn sign_extend(&mut self, r: Ref, size: u8, class: Class, to: VReg) {
        let load = match size {
            1 => Op::Loadsb,
            2 => Op::Loadsh,
            _ => Op::Loadsw,
        };
        if self.extending_load(r, size, load, class, to) {
            return;
        }
        if let Some((inner, first, inner_class)) = self.shifted_down(r, size)
            && inner_class == class
        {
            let from = self.value(inner, class);
            let imm = field(first as u8, 8 * size);
            self.push1(insts::SBFX, class.size() as u8, to, from).imm = imm;
            return;
        }
        let from = self.value(r, Class::W);
        let row = match size {
            1 => insts::SXTB,
            2 => insts::SXTH,
            _ => insts::SXTW,
        };
        self.push1(row, class.size() as u8, to, from);
    }

    /// Takes the bytes out of memory if the only use of a load is to have them extended.
    fn extending_load(&mut self, r: Ref, size: u8, op: Op, class: Class, to: VReg) -> bool {
        let Some(load) = self.b.foldable_load(r) else { return false };
        if load.op.load_size() < Some(u32::from(size)) || load.class.is_float() {
            return false;
        }
        let parts = self.parts_for(load.args[0], size);
        self.load_from(op, class, to, parts, false);
        true
    }

    /// What `r` is a part of, shifted to bit 0: its source, the first bit, the class.
    fn shifted_down(&self, r: Ref, size: u8) -> Option<(Ref, u32, Class)> {
        let inst = self.taken(r).filter(|i| matches!(i.op, Op::Shr | Op::Sar))?;
        let count = self.b.shift_count(inst)? as u32;
        let fits = count > 0 && count + 8 * u32::from(size) <= 8 * inst.class.size();
        fits.then_some((inst.args[0], count, inst.class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let field = |first, bits| Some(Field { first, bits });
        assert_eq!(field_of(0xff), field(0, 8));
        assert_eq!(field_of(0xff0), field(4, 8));
        assert_eq!(field_of(u64::MAX), field(0, 64));
        assert_eq!(field_of(1 << 63), field(63, 1));
        assert_eq!(field_of(0), None);
        assert_eq!(field_of(0x101), None);
    }
}
