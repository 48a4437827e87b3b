//! Comparisons and what tests them: branches, values 0 and 1, selects.

use super::insts::{self, cond};
use super::isel::Isel;
use super::materialise::fits12;
use crate::ir::ops::Cond;
use crate::ir::{Class, Inst, Op, Ref};
use crate::target::lower::{bank, read};
use crate::target::machine::{Bank, VReg};
use crate::target::select::Select;

/// A comparison of integers; a constant is the second operand.
#[derive(Copy, Clone)]
struct Ints {
    cond: Cond,
    class: Class,
    a: Ref,
    b: Ref,
}

impl Isel<'_> {
    fn ints(&self, cond: Cond, class: Class, a: Ref, b: Ref) -> Ints {
        if self.constant_int(a, class).is_some() {
            Ints { cond: cond.swapped(), class, a: b, b: a }
        } else {
            Ints { cond, class, a, b }
        }
    }

    // ---- branches ----

    /// Ends the block in a branch, taken if the low 32 bits of `c` are not 0.
    pub fn branch_if(&mut self, c: Ref) {
        let c = self.b.resolve(c);
        let computed = c.as_temp().is_some_and(|t| self.b.wanted(t).is_some());
        if let Some(inst) = self.b.definition(c)
            && let Some((relation, class)) = inst.op.comparison()
            && !computed
        {
            let [a, b, _] = inst.args;
            if class.is_float() {
                let to = self.b.int_reg(8);
                let inverted = self.compare_floats(relation, class, a, b, to);
                return self.branch_zero(if inverted { cond::EQ } else { cond::NE }, to);
            }
            let ints = self.ints(relation, class, a, b);
            return self.branch_ints(ints);
        }
        if let Some(inst) = self.b.only_use(c)
            && inst.op == Op::And
            && self.branch_bits(inst, Class::W, true)
        {
            return;
        }
        let reg = self.word(c);
        self.branch_zero(cond::NE, reg);
    }

    fn branch_zero(&mut self, cond: u8, reg: VReg) {
        self.b.push(insts::BRANCH, 8, &[read(reg)]).cond = cond;
    }

    fn branch_ints(&mut self, ints: Ints) {
        let Ints { cond: relation, class, a, b } = ints;
        let constant = self.constant_int(b, class);
        let against_zero = match (constant, relation) {
            (Some(0), Cond::Eq | Cond::Ule) => Some(cond::EQ),
            (Some(0), Cond::Ne | Cond::Ugt) => Some(cond::NE),
            (Some(0), Cond::Slt) => Some(cond::LT),
            (Some(0), Cond::Sge) => Some(cond::GE),
            (Some(0), Cond::Sle) => Some(cond::LE),
            (Some(0), Cond::Sgt) => Some(cond::GT),
            (Some(1), Cond::Slt) => Some(cond::LE),
            (Some(1), Cond::Sge) => Some(cond::GT),
            (Some(1), Cond::Ult) => Some(cond::EQ),
            (Some(1), Cond::Uge) => Some(cond::NE),
            (Some(-1), Cond::Sgt) => Some(cond::GE),
            (Some(-1), Cond::Sle) => Some(cond::LT),
            _ => None,
        };
        if let Some(condition) = against_zero {
            if matches!(condition, cond::EQ | cond::NE)
                && constant == Some(0)
                && let Some(inst) = self.b.only_use(a)
                && inst.op == Op::And
                && inst.class == class
                && self.branch_bits(inst, class, condition == cond::NE)
            {
                return;
            }
            let reg = self.int(a, class);
            return self.branch_zero(condition, reg);
        }
        let (first, second) = (self.int(a, class), self.int(b, class));
        let (condition, swap) = match relation {
            Cond::Eq => (cond::EQ, false),
            Cond::Ne => (cond::NE, false),
            Cond::Slt => (cond::LT, false),
            Cond::Sge => (cond::GE, false),
            Cond::Sgt => (cond::LT, true),
            Cond::Sle => (cond::GE, true),
            Cond::Ult => (cond::LTU, false),
            Cond::Uge => (cond::GEU, false),
            Cond::Ugt => (cond::LTU, true),
            Cond::Ule => (cond::GEU, true),
            _ => unreachable!("a relation of floats"),
        };
        let (first, second) = if swap { (second, first) } else { (first, second) };
        self.b.push(insts::BRANCH, 8, &[read(first), read(second)]).cond = condition;
    }

    /// A branch on the bits that an `and` with a constant selects: taken if one of them is set, or if
    /// none is. False for other constants than one instruction tests.
    fn branch_bits(&mut self, and: &Inst, class: Class, set: bool) -> bool {
        let [a, b, _] = and.args;
        let (a, b) = if self.constant_int(a, class).is_some() { (b, a) } else { (a, b) };
        let Some(bits) = self.constant_int(b, class) else { return false };
        let equal = if set { cond::NE } else { cond::EQ };
        let width = i64::from(class.size()) * 8;
        let unsigned = if class == Class::W { bits & 0xffff_ffff } else { bits };
        let low_ones = bits > 0 && bits & bits.wrapping_add(1) == 0;
        if fits12(bits) {
            let from = if bits >= 0 { self.low_int(a, class) } else { self.int(a, class) };
            let masked = self.new_immediate(insts::ANDI, from, bits);
            self.branch_zero(equal, masked);
        } else if unsigned.count_ones() == 1 {
            // The bit becomes the sign.
            let n = i64::from(unsigned.trailing_zeros());
            let sign = if n == width - 1 {
                self.int(a, class)
            } else {
                let from = self.low_int(a, class);
                self.new_immediate(insts::SLLI, from, 63 - n)
            };
            self.branch_zero(if set { cond::LT } else { cond::GE }, sign);
        } else if low_ones {
            let from = self.low_int(a, class);
            let n = 64 - i64::from(bits.count_ones());
            let shifted = self.new_immediate(insts::SLLI, from, n);
            self.branch_zero(equal, shifted);
        } else {
            return false;
        }
        true
    }

    // ---- values ----

    /// A comparison whose result is a value, 0 or 1.
    pub fn comparison(&mut self, inst: &Inst, to: VReg) {
        let (relation, class) = inst.op.comparison().expect("a comparison");
        let [a, b, _] = inst.args;
        if class.is_float() {
            self.set(to, |this, to| this.compare_floats(relation, class, a, b, to));
        } else {
            let ints = self.ints(relation, class, a, b);
            self.set(to, |this, to| this.compare_ints(ints, to));
        }
    }

    /// Puts what `compare` computes, which may be the opposite, into `to`.
    fn set(&mut self, to: VReg, compare: impl FnOnce(&mut Self, VReg) -> bool) {
        if !compare(self, to) {
            return;
        }
        // The last instruction defines its result first.
        let opposite = self.b.int_reg(8);
        let last = self.b.seq.last().expect("a comparison takes an instruction");
        let place = last.first as usize;
        debug_assert_eq!(self.b.code.operands[place].reg, to);
        self.b.code.operands[place].reg = opposite;
        self.immediate(insts::XORI, to, opposite, 1);
    }

    /// Puts the relation into `to`, as 0 or 1; returns true if it is the opposite one. The last
    /// instruction writes `to`.
    fn compare_ints(&mut self, ints: Ints, to: VReg) -> bool {
        let Ints { cond: relation, class, a, b } = ints;
        let constant = self.constant_int(b, class);
        let next = constant.and_then(|n| n.checked_add(1)).filter(|&n| fits12(n));
        match (relation, constant) {
            (Cond::Eq | Cond::Ne, _) => {
                let difference = self.difference(class, a, b);
                let row = if relation == Cond::Eq { insts::SEQZ } else { insts::SNEZ };
                self.unary(row, to, difference);
                false
            }
            (Cond::Slt, Some(0)) | (Cond::Sle, Some(-1)) => {
                let from = self.int(a, class);
                self.immediate(insts::SRLI, to, from, 63);
                false
            }
            (Cond::Sge, Some(0)) | (Cond::Sgt, Some(-1)) => {
                let from = self.int(a, class);
                let opposite = self.new_unary(insts::NOT, from);
                self.immediate(insts::SRLI, to, opposite, 63);
                false
            }
            (Cond::Sgt, Some(0)) => {
                let from = self.int(a, class);
                self.unary(insts::SGTZ, to, from);
                false
            }
            (Cond::Ult, Some(1)) | (Cond::Ule, Some(0)) => {
                let from = self.int(a, class);
                self.unary(insts::SEQZ, to, from);
                false
            }
            (Cond::Uge, Some(1)) | (Cond::Ugt, Some(0)) => {
                let from = self.int(a, class);
                self.unary(insts::SNEZ, to, from);
                false
            }
            (Cond::Slt | Cond::Sge, Some(n)) if fits12(n) => {
                let from = self.int(a, class);
                self.immediate(insts::SLTI, to, from, n);
                relation == Cond::Sge
            }
            (Cond::Ult | Cond::Uge, Some(n)) if fits12(n) => {
                let from = self.int(a, class);
                self.immediate(insts::SLTIU, to, from, n);
                relation == Cond::Uge
            }
            (Cond::Sle | Cond::Sgt, Some(_)) if next.is_some() => {
                let from = self.int(a, class);
                self.immediate(insts::SLTI, to, from, next.expect("just seen"));
                relation == Cond::Sgt
            }
            (Cond::Ule | Cond::Ugt, Some(n)) if n != -1 && next.is_some() => {
                let from = self.int(a, class);
                self.immediate(insts::SLTIU, to, from, next.expect("just seen"));
                relation == Cond::Ugt
            }
            _ => {
                let (first, second) = (self.int(a, class), self.int(b, class));
                let (row, swap, inverted) = match relation {
                    Cond::Slt => (insts::SLT, false, false),
                    Cond::Sge => (insts::SLT, false, true),
                    Cond::Sgt => (insts::SLT, true, false),
                    Cond::Sle => (insts::SLT, true, true),
                    Cond::Ult => (insts::SLTU, false, false),
                    Cond::Uge => (insts::SLTU, false, true),
                    Cond::Ugt => (insts::SLTU, true, false),
                    Cond::Ule => (insts::SLTU, true, true),
                    _ => unreachable!("handled above"),
                };
                let (first, second) = if swap { (second, first) } else { (first, second) };
                self.binary(row, to, first, second);
                inverted
            }
        }
    }

    /// A register that is 0 exactly if the operands are equal.
    fn difference(&mut self, class: Class, a: Ref, b: Ref) -> VReg {
        let first = self.int(a, class);
        match self.constant_int(b, class) {
            Some(0) => first,
            Some(n) if fits12(n.wrapping_neg()) => self.new_immediate(insts::ADDI, first, -n),
            _ => {
                let second = self.int(b, class);
                self.new_binary(insts::SUB, first, second)
            }
        }
    }

    /// As `compare_ints`, for floats: the machine's relations are false for NaNs.
    fn compare_floats(&mut self, relation: Cond, class: Class, a: Ref, b: Ref, to: VReg) -> bool {
        let by = |single| if class == Class::D { single + 1 } else { single };
        let (first, second) = (self.value(a, class), self.value(b, class));
        let (row, x, y) = match relation {
            Cond::FEq | Cond::FNe => (insts::FEQ_S, first, second),
            Cond::FLt => (insts::FLT_S, first, second),
            Cond::FGt => (insts::FLT_S, second, first),
            Cond::FLe => (insts::FLE_S, first, second),
            Cond::FGe => (insts::FLE_S, second, first),
            Cond::O | Cond::Uo => {
                if first == second {
                    self.binary(by(insts::FEQ_S), to, first, first);
                } else {
                    let x = self.new_binary(by(insts::FEQ_S), first, first);
                    let y = self.new_binary(by(insts::FEQ_S), second, second);
                    self.binary(insts::AND, to, x, y);
                }
                return relation == Cond::Uo;
            }
            _ => unreachable!("an integer relation"),
        };
        self.binary(by(row), to, x, y);
        relation == Cond::FNe
    }

    /// `select c, a, b`, by a mask of ones if `c` holds.
    pub fn select_value(&mut self, inst: &Inst, to: VReg) {
        let [c, yes, no] = inst.args;
        let size = inst.class.size() as u8;
        let float = bank(inst.class) == Bank::Float;
        let truth = {
            let c = self.word(c);
            self.new_unary(insts::SNEZ, c)
        };
        let (yes, no) = if float {
            let (yes, no) = (self.value(yes, inst.class), self.value(no, inst.class));
            (self.in_bank_of(yes, size, Bank::Int), self.in_bank_of(no, size, Bank::Int))
        } else {
            (self.int(yes, inst.class), self.int(no, inst.class))
        };
        let mask = self.new_unary(insts::NEG, truth);
        let different = self.new_binary(insts::XOR, yes, no);
        let chosen = self.new_binary(insts::AND, different, mask);
        if float {
            let bits = self.new_binary(insts::XOR, chosen, no);
            self.move_bits(to, bits, size);
        } else {
            self.binary(insts::XOR, to, chosen, no);
        }
    }
}
