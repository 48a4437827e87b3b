//! Rules for addition, subtraction, multiplication and division.
//!
//! Every identity holds modulo 2^32 and 2^64. Canonical forms: a subtracted constant is an added
//! one; constants move outwards through sums and products, to meet other constants and to end as
//! the displacement of an address; a product with a power of two is a shift.

use super::{Folder, Rule, Step, is_power, rules};
use crate::analysis::bits::mask;
use crate::ir::{Access, Class, Const, Inst, Op, Ref};

pub(super) const ADD: &[Rule] = rules![
    add_zero add_symbol add_constants add_subtracted add_complement add_negated add_cancel add_self
    add_rotated add_outward
];
pub(super) const SUB: &[Rule] = rules![
    sub_self sub_constant sub_from_zero sub_from_ones sub_symbols sub_from_constant sub_negated
    sub_cancel sub_common sub_outward
];
pub(super) const NEG: &[Rule] = rules![neg_neg neg_sub neg_add neg_complement neg_mul];
pub(super) const MUL: &[Rule] = rules![
    mul_minus_one mul_power mul_constants mul_shifted mul_negated mul_outward
];
pub(super) const DIV: &[Rule] = rules![div_one div_minus_one div_unsigned];
pub(super) const REM: &[Rule] = rules![rem_one rem_unsigned];
pub(super) const UDIV: &[Rule] = rules![udiv_power];
pub(super) const UREM: &[Rule] = rules![urem_power urem_small];

fn two(op: Op, a: Ref, b: Ref) -> Option<Step> {
    Some(Step::Inst(op, [a, b, Ref::NONE]))
}

fn one(op: Op, a: Ref) -> Option<Step> {
    Some(Step::Inst(op, [a, Ref::NONE, Ref::NONE]))
}

fn value(r: Ref) -> Option<Step> {
    Some(Step::Value(r))
}

/// `x + 0` is `x`.
fn add_zero(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    (fold.bits(inst.args[1], inst.class)? == 0).then_some(Step::Value(inst.args[0]))
}

/// `$s + c` is a constant, while its offset fits a relocation. What is reached through a table
/// stays an addition, so that the table is read once for all offsets.
fn add_symbol(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], Class::L)? as i64;
    let (symbol, access, offset) = fold.f.symbol_of(inst.args[0])?;
    let offset = offset.checked_add(c).filter(|&o| i32::try_from(o).is_ok())?;
    let direct = match access {
        Access::Direct | Access::Thread => true,
        Access::Extern | Access::ExternThread => false,
    };
    if !direct || inst.class != Class::L {
        return None;
    }
    value(fold.f.constant(Const::Symbol { symbol, access, offset }))
}

/// `(x + c1) + c2` is `x + (c1 + c2)`.
fn add_constants(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c2 = fold.bits(inst.args[1], inst.class)?;
    let (x, c1) = fold.with_constant(inst.args[0], Op::Add, inst.class)?;
    let c = fold.int(inst.class, c1.wrapping_add(c2));
    two(Op::Add, x, c)
}

/// `(c1 - x) + c2` is `(c1 + c2) - x`.
fn add_subtracted(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c2 = fold.bits(inst.args[1], inst.class)?;
    let [c1, x] = fold.operands_of(inst.args[0], Op::Sub, inst.class)?;
    let c1 = fold.bits(c1, inst.class)?;
    let c = fold.int(inst.class, c1.wrapping_add(c2));
    two(Op::Sub, c, x)
}

/// `!x + c` is `(c - 1) - x`.
fn add_complement(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)?;
    let (x, ones) = fold.with_constant(inst.args[0], Op::Xor, inst.class)?;
    let c = fold.int(inst.class, c.wrapping_sub(1));
    if ones == !0 { two(Op::Sub, c, x) } else { None }
}

/// `x + -y` is `x - y`.
fn add_negated(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let [a, b, _] = inst.args;
    if let Some([y, _]) = fold.operands_of(b, Op::Neg, inst.class) {
        return two(Op::Sub, a, y);
    }
    let [y, _] = fold.operands_of(a, Op::Neg, inst.class)?;
    two(Op::Sub, b, y)
}

/// `(x - y) + y` is `x`.
fn add_cancel(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    for [a, b] in [[inst.args[0], inst.args[1]], [inst.args[1], inst.args[0]]] {
        if let Some([x, y]) = fold.operands_of(a, Op::Sub, inst.class)
            && y == b
            && fold.fits(x, inst.class)
        {
            return value(x);
        }
    }
    None
}

/// `x + x` is a shift.
fn add_self(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let one = fold.int(Class::W, 1);
    if inst.args[0] == inst.args[1] { two(Op::Shl, inst.args[0], one) } else { None }
}

/// `(x << n) + (x >> (width - n))` is a rotation.
fn add_rotated(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    super::logic::rotation(fold, inst)
}

/// `(x + c) + y` is `(x + y) + c`.
fn add_outward(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    for [a, y] in [[inst.args[0], inst.args[1]], [inst.args[1], inst.args[0]]] {
        if y.is_const() || !fold.used_once(a) {
            continue;
        }
        if let Some((x, c)) = fold.with_constant(a, Op::Add, inst.class) {
            let sum = fold.build(Op::Add, inst.class, &[x, y]);
            let c = fold.int(inst.class, c);
            return two(Op::Add, sum, c);
        }
    }
    None
}

/// `x - x` is 0.
fn sub_self(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    if inst.args[0] == inst.args[1] { value(fold.int(inst.class, 0)) } else { None }
}

/// `x - c` is `x + -c`.
fn sub_constant(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)?;
    let c = fold.int(inst.class, c.wrapping_neg());
    two(Op::Add, inst.args[0], c)
}

/// `0 - x` is `-x`.
fn sub_from_zero(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    if fold.bits(inst.args[0], inst.class)? == 0 { one(Op::Neg, inst.args[1]) } else { None }
}

/// `-1 - x` is `!x`.
fn sub_from_ones(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let ones = fold.bits(inst.args[0], inst.class)? == !0;
    if ones { two(Op::Xor, inst.args[1], inst.args[0]) } else { None }
}

/// `($s + c1) - ($s + c2)` is `c1 - c2`.
fn sub_symbols(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (a, _, c1) = fold.f.symbol_of(inst.args[0])?;
    let (b, _, c2) = fold.f.symbol_of(inst.args[1])?;
    if a == b { value(fold.int(inst.class, c1.wrapping_sub(c2) as u64)) } else { None }
}

/// `c1 - (x + c2)` is `(c1 - c2) - x`, and `c1 - (c2 - x)` is `x + (c1 - c2)`.
fn sub_from_constant(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c1 = fold.bits(inst.args[0], inst.class)?;
    if let Some((x, c2)) = fold.with_constant(inst.args[1], Op::Add, inst.class) {
        let c = fold.int(inst.class, c1.wrapping_sub(c2));
        return two(Op::Sub, c, x);
    }
    let [c2, x] = fold.operands_of(inst.args[1], Op::Sub, inst.class)?;
    let c2 = fold.bits(c2, inst.class)?;
    let c = fold.int(inst.class, c1.wrapping_sub(c2));
    two(Op::Add, x, c)
}

/// `x - -y` is `x + y`.
fn sub_negated(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let [y, _] = fold.operands_of(inst.args[1], Op::Neg, inst.class)?;
    two(Op::Add, inst.args[0], y)
}

/// `(x + y) - y` is `x`, `x - (x - y)` is `y`, `(x - y) - x` and `x - (x + y)` are `-y`.
fn sub_cancel(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let [a, b, _] = inst.args;
    let class = inst.class;
    let other = |pair: [Ref; 2], r: Ref| match pair {
        [x, y] if x == r => Some(y),
        [x, y] if y == r => Some(x),
        _ => None,
    };
    if let Some(pair) = fold.operands_of(a, Op::Add, class)
        && let Some(x) = other(pair, b)
    {
        return value(x);
    }
    if let Some(pair) = fold.operands_of(b, Op::Add, class)
        && let Some(y) = other(pair, a)
    {
        return one(Op::Neg, y);
    }
    if let Some([x, y]) = fold.operands_of(b, Op::Sub, class)
        && x == a
    {
        return value(y);
    }
    let [x, y] = fold.operands_of(a, Op::Sub, class)?;
    if x == b { one(Op::Neg, y) } else { None }
}

/// `(x + c1) - (x + c2)` is `c1 - c2`.
fn sub_common(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (x, c1) = fold.with_constant(inst.args[0], Op::Add, inst.class)?;
    let (y, c2) = fold.with_constant(inst.args[1], Op::Add, inst.class)?;
    if x == y { value(fold.int(inst.class, c1.wrapping_sub(c2))) } else { None }
}

/// `(x + c) - y` is `(x - y) + c`, and `x - (y + c)` is `(x - y) + -c`.
fn sub_outward(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let [a, b, _] = inst.args;
    let class = inst.class;
    let (x, y, c) = if fold.used_once(a)
        && let Some((x, c)) = fold.with_constant(a, Op::Add, class)
    {
        (x, b, c)
    } else if fold.used_once(b)
        && let Some((y, c)) = fold.with_constant(b, Op::Add, class)
    {
        (a, y, c.wrapping_neg())
    } else {
        return None;
    };
    let difference = fold.build(Op::Sub, class, &[x, y]);
    let c = fold.int(class, c);
    two(Op::Add, difference, c)
}

/// `- -x` is `x`.
fn neg_neg(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let [x, _] = fold.operands_of(inst.args[0], Op::Neg, inst.class)?;
    value(x)
}

/// `-(x - y)` is `y - x`.
fn neg_sub(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let [x, y] = fold.operands_of(inst.args[0], Op::Sub, inst.class)?;
    two(Op::Sub, y, x)
}

/// `-(x + c)` is `-c - x`.
fn neg_add(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (x, c) = fold.with_constant(inst.args[0], Op::Add, inst.class)?;
    let c = fold.int(inst.class, c.wrapping_neg());
    two(Op::Sub, c, x)
}

/// `-!x` is `x + 1`.
fn neg_complement(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (x, ones) = fold.with_constant(inst.args[0], Op::Xor, inst.class)?;
    let c = fold.int(inst.class, 1);
    if ones == !0 { two(Op::Add, x, c) } else { None }
}

/// `-(x * c)` is `x * -c`.
fn neg_mul(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (x, c) = fold.with_constant(inst.args[0], Op::Mul, inst.class)?;
    if !fold.used_once(inst.args[0]) {
        return None;
    }
    let c = fold.int(inst.class, c.wrapping_neg());
    two(Op::Mul, x, c)
}

/// `x * -1` is `-x`.
fn mul_minus_one(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    if fold.bits(inst.args[1], inst.class)? == !0 { one(Op::Neg, inst.args[0]) } else { None }
}

/// `x * 2^k` is `x << k`.
fn mul_power(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)?;
    if !is_power(c, inst.class) {
        return None;
    }
    let count = fold.int(Class::W, u64::from(c.trailing_zeros()));
    two(Op::Shl, inst.args[0], count)
}

/// `(x * c1) * c2` is `x * (c1 * c2)`.
fn mul_constants(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c2 = fold.bits(inst.args[1], inst.class)?;
    let (x, c1) = fold.with_constant(inst.args[0], Op::Mul, inst.class)?;
    let c = fold.int(inst.class, c1.wrapping_mul(c2));
    two(Op::Mul, x, c)
}

/// `(x << k) * c` is `x * (c << k)`.
fn mul_shifted(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)?;
    let [x, k] = fold.operands_of(inst.args[0], Op::Shl, inst.class)?;
    let k = fold.bits(k, Class::W)? as u32 % (inst.class.size() * 8);
    let c = fold.int(inst.class, c << k);
    two(Op::Mul, x, c)
}

/// `-x * c` is `x * -c`.
fn mul_negated(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)?;
    let [x, _] = fold.operands_of(inst.args[0], Op::Neg, inst.class)?;
    let c = fold.int(inst.class, c.wrapping_neg());
    two(Op::Mul, x, c)
}

/// `(x + c1) * c2` is `x * c2 + c1 * c2`.
fn mul_outward(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c2 = fold.bits(inst.args[1], inst.class)?;
    let (x, c1) = fold.with_constant(inst.args[0], Op::Add, inst.class)?;
    if !fold.used_once(inst.args[0]) {
        return None;
    }
    let product = fold.build(Op::Mul, inst.class, &[x, inst.args[1]]);
    let c = fold.int(inst.class, c1.wrapping_mul(c2));
    two(Op::Add, product, c)
}

/// `x / 1` is `x`.
fn div_one(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    (fold.bits(inst.args[1], inst.class)? == 1).then_some(Step::Value(inst.args[0]))
}

/// `x / -1` is `-x`. (The least number divided by -1 has no defined result.)
fn div_minus_one(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    if fold.bits(inst.args[1], inst.class)? == !0 { one(Op::Neg, inst.args[0]) } else { None }
}

/// A signed division of numbers that are not negative is an unsigned one.
fn div_unsigned(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    both_nonnegative(fold, inst)?;
    two(Op::Udiv, inst.args[0], inst.args[1])
}

/// `x % 1` and `x % -1` are 0.
fn rem_one(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)?;
    if c == 1 || c == !0 { value(fold.int(inst.class, 0)) } else { None }
}

/// A signed remainder of numbers that are not negative is an unsigned one.
fn rem_unsigned(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    both_nonnegative(fold, inst)?;
    two(Op::Urem, inst.args[0], inst.args[1])
}

fn both_nonnegative(fold: &Folder<'_>, inst: &Inst) -> Option<()> {
    let nonnegative = |r| fold.known(r, inst.class).is_nonnegative(inst.class);
    (nonnegative(inst.args[0]) && nonnegative(inst.args[1])).then_some(())
}

/// An unsigned `x / 2^k` is `x >> k`.
fn udiv_power(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)?;
    if !is_power(c, inst.class) {
        return None;
    }
    let count = fold.int(Class::W, u64::from(c.trailing_zeros()));
    two(Op::Shr, inst.args[0], count)
}

/// An unsigned `x % 2^k` is `x & (2^k - 1)`.
fn urem_power(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)? & mask(inst.class);
    if !is_power(c, inst.class) {
        return None;
    }
    let low = fold.int(inst.class, c - 1);
    two(Op::And, inst.args[0], low)
}

/// An unsigned `x % c` is `x` where `x` is known to be less.
fn urem_small(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)? & mask(inst.class);
    let (_, greatest) = fold.known(inst.args[0], inst.class).unsigned_range(inst.class);
    (greatest < c).then_some(Step::Value(inst.args[0]))
}
