//! Comparisons and what tests them: branches, selects, values 0 and 1.

use super::immediates;
use super::insts::{self, cond};
use super::isel::{Isel, all_ones};
use crate::ir::ops::Cond;
use crate::ir::{Class, Inst, Op, Ref};
use crate::target::lower::{read, write};
use crate::target::machine::{MOp, Operand, VReg};
use crate::target::select::Select;
use smallvec::SmallVec;

/// The number of a condition after a comparison: that of floats is false for unordered ones where
/// the relation is (Arm ARM C1.2.4).
fn condition(c: Cond) -> u8 {
    match c {
        Cond::Eq | Cond::FEq => cond::EQ,
        Cond::Ne | Cond::FNe => cond::NE,
        Cond::Sge | Cond::FGe => cond::GE,
        Cond::Sgt | Cond::FGt => cond::GT,
        Cond::Sle => cond::LE,
        Cond::Slt => cond::LT,
        Cond::Uge => cond::HS,
        Cond::Ugt => cond::HI,
        Cond::Ule | Cond::FLe => cond::LS,
        Cond::Ult => cond::LO,
        Cond::FLt => cond::MI,
        Cond::O => cond::VC,
        Cond::Uo => cond::VS,
    }
}

/// A test that a branch does itself.
enum Test {
    /// The register is 0, or is not.
    Zero { of: Ref, class: Class, is: bool },
    /// A bit of the register is 0, or is not.
    Bit { of: Ref, class: Class, bit: u32, is_zero: bool },
}

impl Isel<'_> {
    /// Ends the block in a branch to its first successor if the low 32 bits of `c` are not 0.
    pub fn branch_on(&mut self, c: Ref) {
        match self.direct_test(c) {
            Some(Test::Zero { of, class, is }) => {
                let reg = self.value(of, class);
                let row = if is { insts::CBZ } else { insts::CBNZ };
                self.b.push(row, class.size() as u8, &[read(reg)]);
            }
            Some(Test::Bit { of, class, bit, is_zero }) => {
                let reg = self.value(of, class);
                let row = if is_zero { insts::TBZ } else { insts::TBNZ };
                let size = if bit < 32 { 4 } else { 8 };
                self.b.push(row, size, &[read(reg)]).imm = i64::from(bit);
            }
            None => {
                let condition = self.test(c);
                self.b.push(insts::B_IF, 8, &[]).cond = condition;
            }
        }
    }

    /// The test that a branch on `c` can do without flags.
    fn direct_test(&self, c: Ref) -> Option<Test> {
        let Some(inst) = self.b.definition(self.b.resolve(c)) else {
            return Some(Test::Zero { of: c, class: Class::W, is: false });
        };
        let Some((relation, class)) = inst.op.comparison() else {
            return match self.single_bit(c, Class::W) {
                Some((of, bit)) => Some(Test::Bit { of, class: Class::W, bit, is_zero: false }),
                None if self.is_test(c, Class::W) => None,
                None => Some(Test::Zero { of: c, class: Class::W, is: false }),
            };
        };
        if class.is_float() {
            return None;
        }
        let [mut a, mut b, _] = inst.args;
        let mut relation = relation;
        if self.bits(a, class).is_some() {
            (a, b) = (b, a);
            relation = relation.swapped();
        }
        let sign = 8 * class.size() - 1;
        let bits = self.bits(b, class)?;
        match relation {
            Cond::Eq | Cond::Ne if bits == 0 => {
                let is = relation == Cond::Eq;
                match self.single_bit(a, class) {
                    Some((of, bit)) => Some(Test::Bit { of, class, bit, is_zero: is }),
                    None if self.is_test(a, class) => None,
                    None => Some(Test::Zero { of: a, class, is }),
                }
            }
            Cond::Slt if bits == 0 => Some(Test::Bit { of: a, class, bit: sign, is_zero: false }),
            Cond::Sge if bits == 0 => Some(Test::Bit { of: a, class, bit: sign, is_zero: true }),
            Cond::Sle if bits == all_ones(class) => {
                Some(Test::Bit { of: a, class, bit: sign, is_zero: false })
            }
            Cond::Sgt if bits == all_ones(class) => {
                Some(Test::Bit { of: a, class, bit: sign, is_zero: true })
            }
            Cond::Ult if bits == 1 => Some(Test::Zero { of: a, class, is: true }),
            Cond::Uge if bits == 1 => Some(Test::Zero { of: a, class, is: false }),
            Cond::Ugt if bits == 0 => Some(Test::Zero { of: a, class, is: false }),
            Cond::Ule if bits == 0 => Some(Test::Zero { of: a, class, is: true }),
            _ => None,
        }
    }

    /// The value and the bit of it, if `r` is a bit masked out and nothing else wants that.
    fn single_bit(&self, r: Ref, class: Class) -> Option<(Ref, u32)> {
        let inst = self.b.only_use(r).filter(|i| i.op == Op::And && i.class == class)?;
        let mask = self.bits(inst.args[1], class)?;
        if !mask.is_power_of_two() {
            return None;
        }
        let mut bit = mask.trailing_zeros();
        let mut of = inst.args[0];
        if let Some(shift) = self.taken(of).filter(|i| i.op == Op::Shr && i.class == class)
            && let Some(count) = self.b.shift_count(shift)
            && bit + (count as u32) < 8 * class.size()
        {
            bit += count as u32;
            of = shift.args[0];
        }
        self.b.resolve(of).as_temp().map(|_| (of, bit))
    }

    /// A bitwise operation, of which only the flags are wanted.
    fn is_test(&self, r: Ref, class: Class) -> bool {
        self.b.only_use(r).is_some_and(|inst| {
            inst.op == Op::And
                && inst.class == class
                && match self.bits(inst.args[1], class) {
                    Some(bits) => immediates::is_logical(bits, class.size() as u8),
                    None => true,
                }
        })
    }

    /// Sets the flags so that the returned condition holds if the low 32 bits of `c` are not 0.
    /// Nothing pushed after this may write flags before they are read.
    fn test(&mut self, c: Ref) -> u8 {
        if let Some(inst) = self.b.definition(self.b.resolve(c))
            && let Some((relation, class)) = inst.op.comparison()
        {
            let again = self.b.only_use(c).is_none();
            return self.compare(inst, relation, class, again);
        }
        if self.is_test(c, Class::W) {
            let inst = self.b.only_use(c).expect("a bitwise operation");
            self.test_bits(inst.args[0], inst.args[1], Class::W);
            return cond::NE;
        }
        let reg = self.value(c, Class::W);
        self.b.push(insts::CMP_I, 4, &[read(reg)]).imm = 0;
        cond::NE
    }

    /// Sets the flags for a comparison. `again`: it is computed elsewhere too, so nothing is taken
    /// from its operands' instructions.
    fn compare(&mut self, inst: &Inst, relation: Cond, class: Class, again: bool) -> u8 {
        let [mut a, mut b, _] = inst.args;
        let mut relation = relation;
        if self.bits(a, class).is_some() {
            (a, b) = (b, a);
            relation = relation.swapped();
        }
        if class.is_float() {
            self.compare_floats(a, b, class);
            return condition(relation);
        }
        let size = class.size() as u8;
        if let Some(bits) = self.bits(b, class) {
            let signed_or_equal =
                !matches!(relation, Cond::Uge | Cond::Ugt | Cond::Ule | Cond::Ult);
            if bits == 0 && signed_or_equal && !again && self.is_test(a, class) {
                let inst = self.b.only_use(a).expect("a bitwise operation");
                self.test_bits(inst.args[0], inst.args[1], class);
                return condition(relation);
            }
            for (bits, relation) in neighbours(bits, relation, class) {
                if let Some((row, imm)) = immediate_comparison(bits, class) {
                    let first = self.value(a, class);
                    self.b.push(row, size, &[read(first)]).imm = imm as i64;
                    return condition(relation);
                }
            }
        }
        if !again {
            if self.modification(a, class, true).is_some()
                && self.modification(b, class, true).is_none()
            {
                (a, b) = (b, a);
                relation = relation.swapped();
            }
            let first = self.value(a, class);
            let (second, how) = self.modified(b, class, true);
            self.b.push(insts::CMP, size, &[read(first), read(second)]).imm = how;
            return condition(relation);
        }
        let (first, second) = (self.value(a, class), self.value(b, class));
        self.b.push(insts::CMP, size, &[read(first), read(second)]);
        condition(relation)
    }

    /// Sets the flags of `a & b`.
    fn test_bits(&mut self, a: Ref, b: Ref, class: Class) {
        let size = class.size() as u8;
        if let Some(bits) = self.bits(b, class) {
            let first = self.value(a, class);
            self.b.push(insts::TST_I, size, &[read(first)]).imm = bits as i64;
            return;
        }
        let first = self.value(a, class);
        let (second, how) = self.modified(b, class, false);
        self.b.push(insts::TST, size, &[read(first), read(second)]).imm = how;
    }

    fn compare_floats(&mut self, a: Ref, b: Ref, class: Class) {
        let size = class.size() as u8;
        let sign = 1 << (8 * size - 1);
        let zero = self.b.constant_bits(b, class).is_some_and(|bits| bits & !sign == 0);
        let first = self.value(a, class);
        if zero {
            self.b.push(insts::FCMP_Z, size, &[read(first)]);
            return;
        }
        let second = self.value(b, class);
        self.b.push(insts::FCMP, size, &[read(first), read(second)]);
    }

    /// A comparison whose result is a value, 0 or 1.
    pub fn comparison(&mut self, inst: &Inst, to: VReg) {
        let (relation, class) = inst.op.comparison().expect("a comparison");
        // The sign is there already.
        if relation == Cond::Slt && class.is_int() && self.bits(inst.args[1], class) == Some(0) {
            let from = self.value(inst.args[0], class);
            let size = class.size() as u8;
            self.push1(insts::LSR_I, size, to, from).imm = i64::from(8 * size - 1);
            return;
        }
        let condition = self.compare(inst, relation, class, false);
        self.b.push(insts::CSET, 4, &[write(to)]).cond = condition;
    }

    /// `select c, a, b`
    pub fn select(&mut self, inst: &Inst, to: VReg) {
        let [c, yes, no] = inst.args;
        let (class, size) = (inst.class, inst.class.size() as u8);
        if class.is_float() {
            let (yes, no) = (self.value(yes, class), self.value(no, class));
            let condition = self.test(c);
            let operands = [write(to), read(yes), read(no)];
            self.b.push(insts::FCSEL, size, &operands).cond = condition;
            return;
        }
        // The second operand may be changed on the way; if it is the first that is, the condition
        // is turned round.
        let (row, first, second, turned) = match (self.changed(yes, class), self.changed(no, class))
        {
            (_, Some((row, inner))) => (row, Choice::Value(yes), inner, false),
            (Some((row, inner)), None) => (row, Choice::Value(no), inner, true),
            (None, None) => (insts::CSEL, Choice::Value(yes), Choice::Value(no), false),
        };
        let mut zeros = 0;
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        operands.push(write(to));
        for (n, choice) in [first, second].into_iter().enumerate() {
            match choice {
                Choice::Value(r) if self.bits(r, class) != Some(0) => {
                    let reg = self.value(r, class);
                    operands.push(read(reg));
                }
                _ => zeros |= 2 << n,
            }
        }
        let condition = self.test(c);
        let condition = if turned { cond::negated(condition) } else { condition };
        let inst = self.b.push(row, size, &operands);
        inst.cond = condition;
        inst.imm = zeros;
    }

    /// The row that makes `r` from something else while it chooses, and from what.
    fn changed(&self, r: Ref, class: Class) -> Option<(MOp, Choice)> {
        match self.bits(r, class) {
            Some(1) => return Some((insts::CSINC, Choice::Zero)),
            Some(bits) if bits == all_ones(class) => return Some((insts::CSINV, Choice::Zero)),
            Some(_) => return None,
            None => {}
        }
        let inst = self.taken(r).filter(|i| i.class == class)?;
        let row = match (inst.op, self.bits(inst.args[1], class)) {
            (Op::Add, Some(1)) => insts::CSINC,
            (Op::Xor, Some(bits)) if bits == all_ones(class) => insts::CSINV,
            (Op::Neg, _) => insts::CSNEG,
            _ => return None,
        };
        self.b.resolve(inst.args[0]).as_temp()?;
        Some((row, Choice::Value(inst.args[0])))
    }
}

/// An operand of a select.
#[derive(Copy, Clone)]
enum Choice {
    Value(Ref),
    Zero,
}

/// The comparison with a constant and the two that are the same: `x < n` is `x <= n - 1`.
fn neighbours(bits: u64, relation: Cond, class: Class) -> SmallVec<[(u64, Cond); 2]> {
    let mut all: SmallVec<[(u64, Cond); 2]> = SmallVec::new();
    all.push((bits, relation));
    let ones = all_ones(class);
    let (least, most) = (ones / 2 + 1, ones / 2);
    let less = bits.wrapping_sub(1) & ones;
    let more = bits.wrapping_add(1) & ones;
    match relation {
        Cond::Slt if bits != least => all.push((less, Cond::Sle)),
        Cond::Sge if bits != least => all.push((less, Cond::Sgt)),
        Cond::Sle if bits != most => all.push((more, Cond::Slt)),
        Cond::Sgt if bits != most => all.push((more, Cond::Sge)),
        Cond::Ult if bits != 0 => all.push((less, Cond::Ule)),
        Cond::Uge if bits != 0 => all.push((less, Cond::Ugt)),
        Cond::Ule if bits != ones => all.push((more, Cond::Ult)),
        Cond::Ugt if bits != ones => all.push((more, Cond::Uge)),
        _ => {}
    }
    all
}

/// The row that compares with a constant, and its immediate.
fn immediate_comparison(bits: u64, class: Class) -> Option<(MOp, u64)> {
    let opposite = bits.wrapping_neg() & all_ones(class);
    if immediates::is_arithmetic(bits) {
        Some((insts::CMP_I, bits))
    } else if immediates::is_arithmetic(opposite) {
        Some((insts::CMN_I, opposite))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::eval;

    #[test]
    fn comparisons_with_neighbours_are_the_same() {
        let relations = [
            Cond::Eq,
            Cond::Ne,
            Cond::Sge,
            Cond::Sgt,
            Cond::Sle,
            Cond::Slt,
            Cond::Uge,
            Cond::Ugt,
            Cond::Ule,
            Cond::Ult,
        ];
        for class in [Class::W, Class::L] {
            let ones = all_ones(class);
            let edges =
                [0, 1, 2, ones / 2 - 1, ones / 2, ones / 2 + 1, ones / 2 + 2, ones - 1, ones];
            for relation in relations {
                for n in edges {
                    for (m, other) in neighbours(n, relation, class) {
                        for x in edges {
                            assert_eq!(
                                eval::compare(relation, class, x, n),
                                eval::compare(other, class, x, m),
                                "{relation:?} {x:#x} {n:#x}"
                            );
                        }
                    }
                }
            }
        }
    }
}
