//! Comparisons and what tests them: branches, selects, values 0 and 1.

use super::insts::{self, cond};
use super::isel::{Isel, int_condition};
use crate::ir::ops::Cond;
use crate::ir::{Class, Inst, Op, Ref};
use crate::target::address::{Operands, Parts};
use crate::target::lower::{bank, read, write, write_over};
use crate::target::machine::{Bank, VReg};
use crate::target::select::Select;
use smallvec::SmallVec;

/// A comparison whose operands are in the order that the machine wants.
#[derive(Copy, Clone)]
struct Comparison {
    cond: Cond,
    class: Class,
    a: Ref,
    b: Ref,
}

impl Isel<'_> {
    /// Sets the flags so that the returned condition holds if the low 32 bits of `c` are not 0.
    /// Nothing pushed after this may write flags before they are read.
    pub fn test(&mut self, c: Ref) -> u8 {
        if let Some(inst) = self.b.definition(self.b.resolve(c))
            && let Some((relation, class)) = inst.op.comparison()
        {
            let again = self.only_use(c).is_none();
            return self.compare(inst, relation, class, again);
        }
        if let Some(inst) = self.only_use(c)
            && inst.op == Op::And
        {
            self.test_bits(inst.args[0], inst.args[1], Class::W);
            return cond::NE;
        }
        if let Some(load) = self.foldable_load(c)
            && let Some(size) = load.op.load_size()
        {
            let parts = self.parts(load.args[0]);
            self.push_memory(insts::CMP_MI, size.min(4) as u8, &[], parts).imm = 0;
            return cond::NE;
        }
        if let Some(condition) = self.compare_extension(c, 0, Cond::Ne) {
            return condition;
        }
        let reg = self.tested(c, Class::W);
        self.b.push(insts::TEST_RR, 4, &[read(reg), read(reg)]);
        cond::NE
    }

    /// Sets the flags for a comparison. `again`: it is computed elsewhere too, so nothing may be
    /// taken from its operands' instructions.
    fn compare(&mut self, inst: &Inst, relation: Cond, class: Class, again: bool) -> u8 {
        let [a, b, _] = inst.args;
        let comparison = Comparison { cond: relation, class, a, b };
        if class.is_float() {
            return self.compare_floats(comparison, again);
        }
        self.compare_ints(comparison, again)
    }

    fn compare_ints(&mut self, c: Comparison, again: bool) -> u8 {
        let size = c.class.size() as u8;
        let Comparison { mut cond, class, mut a, mut b } = c;
        if self.b.f.bits(self.b.resolve(a)).is_some() {
            (a, b) = (b, a);
            cond = cond.swapped();
        }
        let condition = int_condition(cond);
        let memory = |this: &Self, r| if again { None } else { this.memory_operand(r, size) };
        if let Some(imm) = self.immediate(b, class) {
            if imm == 0
                && !again
                && let Some(inst) = self.only_use(a)
                && inst.op == Op::And
                && inst.class == class
            {
                self.test_bits(inst.args[0], inst.args[1], class);
            } else if let Some(parts) = memory(self, a) {
                self.push_memory(insts::CMP_MI, size, &[], parts).imm = imm;
            } else if !again && let Some(condition) = self.compare_narrow(a, imm, cond) {
                return condition;
            } else if !again && let Some(condition) = self.compare_extension(a, imm, cond) {
                return condition;
            } else {
                let test = imm == 0 && !again;
                let first = if test { self.tested(a, class) } else { self.value(a, class) };
                if imm == 0 {
                    self.b.push(insts::TEST_RR, size, &[read(first), read(first)]);
                } else {
                    let first = self.b.read_any(first, size);
                    self.b.push(insts::CMP_RI, size, &[first]).imm = imm;
                }
            }
            return condition;
        }
        if !again && let Some(condition) = self.compare_both_narrow(a, b, cond) {
            return condition;
        }
        if let Some(parts) = memory(self, b) {
            let first = self.value(a, class);
            self.push_memory(insts::CMP_RM, size, &[read(first)], parts);
        } else if let Some(parts) = memory(self, a) {
            let second = self.value(b, class);
            self.push_memory(insts::CMP_MR, size, &[read(second)], parts);
        } else {
            let (first, second) = (self.value(a, class), self.value(b, class));
            let second = self.b.read_any(second, size);
            self.b.push(insts::CMP_RR, size, &[read(first), second]);
        }
        condition
    }

    /// A value that is compared with 0 and not used otherwise, computed right here: then the flags
    /// of its own instruction may do (`flags`).
    fn tested(&mut self, r: Ref, class: Class) -> VReg {
        let r = self.b.resolve(r);
        let Some(inst) = self.only_use(r) else { return self.value(r, class) };
        let near = r.as_temp().is_some_and(|t| self.b.is_here(t));
        let sets = match inst.op {
            Op::Add | Op::Sub | Op::Neg | Op::And | Op::Or | Op::Xor => true,
            Op::Shl | Op::Shr | Op::Sar => self.b.f.bits(self.b.resolve(inst.args[1])).is_some(),
            _ => false,
        };
        if !near || !sets || inst.class != class {
            return self.value(r, class);
        }
        let reg = self.b.int_reg(class.size() as u8);
        self.pure_inst(inst, reg);
        reg
    }

    /// Compares a byte or half, whose extension nothing else uses, with a constant.
    fn compare_extension(&mut self, a: Ref, imm: i64, relation: Cond) -> Option<u8> {
        let inst = self.only_use(a)?;
        let (bits, signed) = inst.op.extension()?;
        let range = match (bits, signed) {
            (8, true) => -0x80..0x80,
            (8, false) => 0..0x100,
            // Immediates of 16 bits are slow to decode.
            (16, true) => -0x80..0x80,
            (16, false) => 0..0x80,
            _ => return None,
        };
        let from = self.b.resolve(inst.args[0]);
        if !range.contains(&imm) || from.as_temp().is_none() {
            return None;
        }
        let size = (bits / 8) as u8;
        let reg = self.value(from, Class::W);
        if imm == 0 {
            self.b.push(insts::TEST_RR, size, &[read(reg), read(reg)]);
        } else {
            let imm = if size == 1 { i64::from(imm as i8) } else { imm };
            let operand = self.b.read_any(reg, size);
            self.b.push(insts::CMP_RI, size, &[operand]).imm = imm;
        }
        Some(int_condition(narrow_relation(relation, signed)))
    }

    /// Compares an extended byte or half in memory with a constant, without extending it.
    fn compare_narrow(&mut self, a: Ref, imm: i64, relation: Cond) -> Option<u8> {
        let load = self.foldable_load(a)?;
        let (size, signed) = narrow_load(load.op)?;
        let bits = 8 * u32::from(size);
        let range = if signed { -(1 << (bits - 1))..1 << (bits - 1) } else { 0..1i64 << bits };
        if !range.contains(&imm) {
            return None;
        }
        let imm = if size == 1 { i64::from(imm as i8) } else { i64::from(imm as i16) };
        let parts = self.parts(load.args[0]);
        self.push_memory(insts::CMP_MI, size, &[], parts).imm = imm;
        Some(int_condition(narrow_relation(relation, signed)))
    }

    /// Compares two extended bytes or halves, one of them in memory, without extending that one.
    fn compare_both_narrow(&mut self, a: Ref, b: Ref, relation: Cond) -> Option<u8> {
        for (a, b, relation) in [(a, b, relation), (b, a, relation.swapped())] {
            if let Some(load) = self.foldable_load(b)
                && let Some((size, signed)) = narrow_load(load.op)
                && self.b.is_extended(a, size, signed)
            {
                let parts = self.parts(load.args[0]);
                let first = self.value(a, Class::W);
                self.push_memory(insts::CMP_RM, size, &[read(first)], parts);
                return Some(int_condition(narrow_relation(relation, signed)));
            }
        }
        None
    }

    /// Sets the flags of `a & b`.
    fn test_bits(&mut self, a: Ref, b: Ref, class: Class) {
        let (a, b) = if self.b.f.bits(self.b.resolve(a)).is_some() { (b, a) } else { (a, b) };
        let size = class.size() as u8;
        if let Some(imm) = self.immediate(b, class) {
            if let Some((parts, size)) = self.tested_memory(a, imm, class) {
                self.push_memory(insts::TEST_MI, size, &[], parts).imm = imm;
                return;
            }
            let first = self.value(a, class);
            let first = self.b.read_any(first, size);
            self.b.push(insts::TEST_RI, size, &[first]).imm = imm;
            return;
        }
        let (first, second) = (self.value(a, class), self.value(b, class));
        self.b.push(insts::TEST_RR, size, &[read(first), read(second)]);
    }

    /// Memory whose bits a constant selects from, and the fewest bytes of it that matter. A narrow
    /// constant has no sign bit, so the result is no more negative than the wide one.
    fn tested_memory(&self, a: Ref, imm: i64, class: Class) -> Option<(Parts, u8)> {
        let load = self.foldable_load(a)?;
        let bytes = load.op.load_size()?;
        let size = match imm {
            0..=0x7f => 1,
            0x80..=0x7fff if bytes >= 2 => 2,
            _ if bytes >= class.size() => class.size() as u8,
            _ => return None,
        };
        Some((self.parts(load.args[0]), size))
    }

    fn compare_floats(&mut self, c: Comparison, again: bool) -> u8 {
        let size = c.class.size() as u8;
        let Comparison { cond: mut relation, class, mut a, mut b } = c;
        // Only `above` is false for unordered operands.
        if matches!(relation, Cond::FLt | Cond::FLe) {
            (a, b) = (b, a);
            relation = relation.swapped();
        }
        let symmetric = matches!(relation, Cond::FEq | Cond::FNe | Cond::O | Cond::Uo);
        let memory = |this: &Self, r| if again { None } else { this.memory_operand(r, size) };
        if symmetric && memory(self, b).is_none() {
            let constant = self.b.f.bits(self.b.resolve(a)).is_some();
            if constant || memory(self, a).is_some() {
                (a, b) = (b, a);
            }
        }
        let bits = self.b.f.bits_as(self.b.resolve(b), class).filter(|&bits| bits != 0);
        if let Some(parts) = memory(self, b) {
            let first = self.value(a, class);
            self.push_memory(insts::UCOMI_RM, size, &[read(first)], parts);
        } else if let Some(bits) = bits {
            let first = self.value(a, class);
            let constant = super::isel::pool(bits, size);
            self.push_address(insts::UCOMI_RM, size, &[read(first)], constant);
        } else {
            let (first, second) = (self.value(a, class), self.value(b, class));
            let second = self.b.read_any(second, size);
            self.b.push(insts::UCOMI_RR, size, &[read(first), second]);
        }
        match relation {
            Cond::FGt => cond::A,
            Cond::FGe => cond::AE,
            Cond::FEq => cond::FEQ,
            Cond::FNe => cond::FNE,
            Cond::O => cond::NP,
            Cond::Uo => cond::P,
            _ => unreachable!("an integer relation, or swapped above"),
        }
    }

    /// A comparison whose result is a value, 0 or 1.
    pub fn comparison(&mut self, inst: &Inst, to: VReg) {
        let (relation, class) = inst.op.comparison().expect("a comparison");
        // The zero that the result is put into comes before the flags, where it can be an xor.
        let zero = self.b.int_reg(4);
        self.b.push(insts::MOV_RI, 4, &[write(zero)]).imm = 0;
        match relation {
            Cond::FEq | Cond::FNe => {
                let equal = relation == Cond::FEq;
                // Right unless the operands compare equal or not; then it is this.
                let other = self.int_constant(i64::from(!equal), 4);
                self.compare(inst, relation, class, false);
                let parity = self.b.int_reg(4);
                let set = if equal { cond::NP } else { cond::P };
                let operands = [write_over(parity, 1), read(zero)];
                self.b.push(insts::SETCC_R, 1, &operands).cond = set;
                let operands = [write_over(to, 1), read(parity), read(other)];
                self.b.push(insts::CMOV_RR, 4, &operands).cond = cond::NE;
            }
            _ => {
                let condition = self.compare(inst, relation, class, false);
                let operands = [write_over(to, 1), read(zero)];
                self.b.push(insts::SETCC_R, 1, &operands).cond = condition;
            }
        }
    }

    /// `select c, a, b`
    pub fn select(&mut self, inst: &Inst, to: VReg) {
        let [c, yes, no] = inst.args;
        let size = inst.class.size() as u8;
        let mut yes = self.value(yes, inst.class);
        let mut no = self.value(no, inst.class);
        if inst.class.is_int() {
            let condition = self.test(c);
            self.conditional_move(condition, size, to, yes, no);
            return;
        }
        // No conditional move of floats: through integer registers.
        for reg in [&mut yes, &mut no] {
            let int = self.b.int_reg(size);
            let from = self.b.read_any(*reg, size);
            self.b.push(insts::MOVD_RF, size, &[write(int), from]);
            *reg = int;
        }
        let condition = self.test(c);
        let chosen = self.b.int_reg(size);
        self.conditional_move(condition, size, chosen, yes, no);
        debug_assert_eq!(bank(inst.class), Bank::Float);
        self.b.push(insts::MOVD_FR, size, &[write(to), read(chosen)]);
    }

    /// `to` becomes `yes` if the condition holds, else `no`.
    fn conditional_move(&mut self, condition: u8, size: u8, to: VReg, yes: VReg, no: VReg) {
        let step = |this: &mut Self, condition: u8, to: VReg, yes: VReg, no: VReg| {
            let source = this.b.read_any(yes, size);
            let operands: Operands = SmallVec::from_slice(&[write_over(to, 1), read(no), source]);
            this.b.push(insts::CMOV_RR, size, &operands).cond = condition;
        };
        let (equal, different) = match condition {
            cond::FEQ => (yes, no),
            cond::FNE => (no, yes),
            _ => return step(self, condition, to, yes, no),
        };
        // Equal means neither "not equal" nor "unordered".
        let first = self.b.int_reg(size);
        step(self, cond::NE, first, different, equal);
        step(self, cond::P, to, different, first);
    }
}

/// The bytes that an extending load reads, and whether it repeats their sign.
fn narrow_load(load: Op) -> Option<(u8, bool)> {
    match load {
        Op::Loadub => Some((1, false)),
        Op::Loadsb => Some((1, true)),
        Op::Loaduh => Some((2, false)),
        Op::Loadsh => Some((2, true)),
        _ => None,
    }
}

/// The relation of two narrow values that is the one of the same values extended. Extending a sign
/// keeps the order of unsigned values; values extended with zeros are not negative.
fn narrow_relation(relation: Cond, signed: bool) -> Cond {
    match relation {
        Cond::Sge if !signed => Cond::Uge,
        Cond::Sgt if !signed => Cond::Ugt,
        Cond::Sle if !signed => Cond::Ule,
        Cond::Slt if !signed => Cond::Ult,
        _ => relation,
    }
}
