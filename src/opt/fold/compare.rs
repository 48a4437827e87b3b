//! Rules for integer comparisons and for `select`.
//!
//! Canonical forms: a constant stands right; a relation that only one value meets is an equality;
//! orders against 1 and -1 are orders against 0; a comparison with 0 or 1 of a comparison is that
//! comparison; extended operands are compared narrow.

use super::{Folder, Rule, Step, is_power, rules};
use crate::analysis::bits::{Bits, low, mask};
use crate::ir::ops::Cond;
use crate::ir::{Class, Inst, Op, Ref, Value};

pub(super) const COMPARE: &[Rule] = rules![
    compare_swapped compare_self compare_range compare_edge compare_zero compare_comparison
    compare_boolean compare_sum compare_difference compare_bit compare_signed compare_unsigned
];
pub(super) const SELECT: &[Rule] = rules![
    select_same select_known select_condition select_boolean
];

/// The comparison `cond` of `class` for the instruction's result.
fn compare(cond: Cond, class: Class, a: Ref, b: Ref) -> Option<Step> {
    Some(Step::Inst(Op::compare(cond, class)?, [a, b, Ref::NONE]))
}

/// The result 0 or 1.
fn truth(fold: &mut Folder<'_>, inst: &Inst, holds: bool) -> Option<Step> {
    Some(Step::Value(fold.int(inst.class, u64::from(holds))))
}

/// True for an equality, false for its opposite.
fn equality(cond: Cond) -> Option<bool> {
    match cond {
        Cond::Eq => Some(true),
        Cond::Ne => Some(false),
        _ => None,
    }
}

/// True for relations that see operands as signed.
fn is_signed(cond: Cond) -> bool {
    matches!(cond, Cond::Sge | Cond::Sgt | Cond::Sle | Cond::Slt)
}

/// `c < x` is `x > c`.
fn compare_swapped(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (cond, class) = inst.op.comparison()?;
    let [a, b, _] = inst.args;
    if fold.rank(a) > fold.rank(b) { compare(cond.swapped(), class, b, a) } else { None }
}

/// A relation of a value to itself.
fn compare_self(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (cond, _) = inst.op.comparison()?;
    if inst.args[0] != inst.args[1] {
        return None;
    }
    let holds = match cond {
        Cond::Eq | Cond::Sge | Cond::Sle | Cond::Uge | Cond::Ule => true,
        Cond::Ne | Cond::Sgt | Cond::Slt | Cond::Ugt | Cond::Ult => false,
        Cond::FEq
        | Cond::FGe
        | Cond::FGt
        | Cond::FLe
        | Cond::FLt
        | Cond::FNe
        | Cond::O
        | Cond::Uo => return None,
    };
    truth(fold, inst, holds)
}

/// The least and greatest values of both operands, in an order that `i128` keeps.
fn ranges(fold: &Folder<'_>, inst: &Inst) -> Option<(Cond, Class, [i128; 2], [i128; 2])> {
    let (cond, class) = inst.op.comparison()?;
    let range = |r: Ref| {
        let known: Bits = fold.known(r, class);
        if is_signed(cond) {
            let (least, greatest) = known.signed_range(class);
            [i128::from(least), i128::from(greatest)]
        } else {
            let (least, greatest) = known.unsigned_range(class);
            [i128::from(least), i128::from(greatest)]
        }
    };
    Some((cond, class, range(inst.args[0]), range(inst.args[1])))
}

/// A relation that holds, or fails, for all values the operands can have.
fn compare_range(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (cond, class, [a_least, a_greatest], [b_least, b_greatest]) = ranges(fold, inst)?;
    let (less, greater) = (a_greatest < b_least, a_least > b_greatest);
    let (at_most, at_least) = (a_greatest <= b_least, a_least >= b_greatest);
    let a = fold.known(inst.args[0], class);
    let b = fold.known(inst.args[1], class);
    let differ = less || greater || a.ones & b.zeros != 0 || a.zeros & b.ones != 0;
    let (always, never) = match cond {
        Cond::Eq => (false, differ),
        Cond::Ne => (differ, false),
        Cond::Slt | Cond::Ult => (less, at_least),
        Cond::Sle | Cond::Ule => (at_most, greater),
        Cond::Sgt | Cond::Ugt => (greater, at_most),
        Cond::Sge | Cond::Uge => (at_least, less),
        _ => return None,
    };
    if always || never { truth(fold, inst, always) } else { None }
}

/// An order against the least or greatest value that `x` can have is an equality.
fn compare_edge(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (cond, class, [least, greatest], [c, c_greatest]) = ranges(fold, inst)?;
    if c != c_greatest || !inst.args[1].is_const() {
        return None;
    }
    let new = match cond {
        Cond::Ule | Cond::Sle if c == least => Cond::Eq,
        Cond::Ugt | Cond::Sgt if c == least => Cond::Ne,
        Cond::Uge | Cond::Sge if c == greatest => Cond::Eq,
        Cond::Ult | Cond::Slt if c == greatest => Cond::Ne,
        _ => return None,
    };
    compare(new, class, inst.args[0], inst.args[1])
}

/// Orders against 1 and -1 are orders against 0, and `x < 1`, unsigned, is `x == 0`.
fn compare_zero(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (cond, class) = inst.op.comparison()?;
    let c = fold.bits(inst.args[1], class)? as i64;
    let new = match (cond, c) {
        (Cond::Sgt, -1) => Cond::Sge,
        (Cond::Sle, -1) => Cond::Slt,
        (Cond::Slt, 1) => Cond::Sle,
        (Cond::Sge, 1) => Cond::Sgt,
        (Cond::Ult, 1) => Cond::Eq,
        (Cond::Uge, 1) => Cond::Ne,
        _ => return None,
    };
    let zero = fold.int(class, 0);
    compare(new, class, inst.args[0], zero)
}

/// Whether an (un)equality with 0 or 1 asks that `x`, which is 0 or 1, be 1; and `x`.
fn asks_for_one(fold: &Folder<'_>, inst: &Inst) -> Option<(bool, Ref)> {
    let (cond, class) = inst.op.comparison()?;
    let c = fold.bits(inst.args[1], class)?;
    if c > 1 {
        return None;
    }
    Some((equality(cond)? == (c == 1), inst.args[0]))
}

/// `(a < b) == 0` is `a >= b`, and so on.
fn compare_comparison(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (one, x) = asks_for_one(fold, inst)?;
    let def = fold.defs[x.as_temp()?];
    let (cond, class) = def.op.comparison()?;
    if one && fold.fits(x, inst.class) {
        return Some(Step::Value(x));
    }
    let cond = if one { cond } else { cond.negated()? };
    compare(cond, class, def.args[0], def.args[1])
}

/// `x != 0` and `x == 1` are `x` where that is 0 or 1.
fn compare_boolean(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (one, x) = asks_for_one(fold, inst)?;
    let (_, class) = inst.op.comparison()?;
    if !one || fold.known(x, class).unsigned_range(class).1 > 1 {
        return None;
    }
    // Of an l that was compared as a w, the upper half may be anything.
    if fold.fits(x, inst.class) && fold.known(x, inst.class).unsigned_range(inst.class).1 <= 1 {
        return Some(Step::Value(x));
    }
    Some(Step::Inst(Op::Extuw, [x, Ref::NONE, Ref::NONE]))
}

/// `x + c1 == c2` is `x == c2 - c1`, and the like for xor, negation and `c1 - x`. Only where the
/// sum has no other use: else `x` would have to live on beside it.
fn compare_sum(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (cond, class) = inst.op.comparison()?;
    equality(cond)?;
    let c2 = fold.bits(inst.args[1], class)?;
    if !fold.used_once(inst.args[0]) {
        return None;
    }
    let def = fold.def(inst.args[0], class);
    let [a, b, _] = def.args;
    let (x, c) = match def.op {
        Op::Add => (a, c2.wrapping_sub(fold.bits(b, class)?)),
        Op::Xor => (a, c2 ^ fold.bits(b, class)?),
        Op::Neg => (a, c2.wrapping_neg()),
        Op::Sub => (b, fold.bits(a, class)?.wrapping_sub(c2)),
        _ => return None,
    };
    let c = fold.int(class, c);
    compare(cond, class, x, c)
}

/// `x - y == 0` and `(x ^ y) == 0` are `x == y`.
fn compare_difference(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (cond, class) = inst.op.comparison()?;
    equality(cond)?;
    if fold.bits(inst.args[1], class)? != 0 || !fold.used_once(inst.args[0]) {
        return None;
    }
    let def = fold.def(inst.args[0], class);
    match def.op {
        Op::Sub | Op::Xor => compare(cond, class, def.args[0], def.args[1]),
        _ => None,
    }
}

/// `(x & bit) == bit` is `(x & bit) != 0`.
fn compare_bit(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (cond, class) = inst.op.comparison()?;
    let equal = equality(cond)?;
    let bit = fold.bits(inst.args[1], class)? & mask(class);
    let possible = !fold.known(inst.args[0], class).zeros & mask(class);
    if bit != possible || !is_power(bit, class) {
        return None;
    }
    let zero = fold.int(class, 0);
    compare(if equal { Cond::Ne } else { Cond::Eq }, class, inst.args[0], zero)
}

/// The `w` that `r` is the extension of, or the constant as a `w`, if `r` is an extension of it.
fn narrowed(fold: &mut Folder<'_>, r: Ref, ext: Op) -> Option<Ref> {
    match r.value() {
        Value::Temp(t) => {
            let def = fold.defs[t];
            (def.op == ext).then_some(def.args[0])
        }
        _ => {
            let c = fold.bits(r, Class::L)?;
            let same = match ext {
                Op::Extsw => c as i32 as i64 as u64 == c,
                _ => c <= low(32),
            };
            same.then(|| fold.int(Class::W, c))
        }
    }
}

/// Sign-extended operands compare as the `w`s they come from: both orders are kept.
fn compare_signed(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (cond, class) = inst.op.comparison()?;
    if class != Class::L || inst.args.iter().take(2).all(|r| r.is_const()) {
        return None;
    }
    let a = narrowed(fold, inst.args[0], Op::Extsw)?;
    let b = narrowed(fold, inst.args[1], Op::Extsw)?;
    compare(cond, Class::W, a, b)
}

/// Operands below 2^32 compare as unsigned `w`s.
fn compare_unsigned(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (cond, class) = inst.op.comparison()?;
    if class != Class::L || inst.args.iter().take(2).all(|r| r.is_const()) {
        return None;
    }
    let mut half = |r: Ref| {
        if let Some(w) = narrowed(fold, r, Op::Extuw) {
            return Some(w);
        }
        let (_, greatest) = fold.known(r, Class::L).unsigned_range(Class::L);
        (greatest <= low(32)).then_some(r)
    };
    let (a, b) = (half(inst.args[0])?, half(inst.args[1])?);
    let cond = match cond {
        Cond::Sge => Cond::Uge,
        Cond::Sgt => Cond::Ugt,
        Cond::Sle => Cond::Ule,
        Cond::Slt => Cond::Ult,
        other => other,
    };
    compare(cond, Class::W, a, b)
}

/// A choice between a value and itself.
fn select_same(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let [_, a, b] = inst.args;
    (a == b && fold.fits(a, inst.class)).then_some(Step::Value(a))
}

/// A choice whose condition is known.
fn select_known(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let [c, a, b] = inst.args;
    let known = fold.known(c, Class::W);
    let chosen = match known.value(Class::W) {
        Some(0) => b,
        _ if known.is_nonzero() => a,
        _ => return None,
    };
    fold.fits(chosen, inst.class).then_some(Step::Value(chosen))
}

/// The condition is taken as a branch would take it.
fn select_condition(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let [c, a, b] = inst.args;
    let (new, swapped) = fold.condition(c);
    let (a, b) = if swapped { (b, a) } else { (a, b) };
    (new != c).then_some(Step::Inst(Op::Select, [new, a, b]))
}

/// A choice between 1 and 0 is the condition.
fn select_boolean(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let [c, a, b] = inst.args;
    if inst.class.is_float() {
        return None;
    }
    let zero = fold.int(Class::W, 0);
    match (fold.bits(a, inst.class)?, fold.bits(b, inst.class)?) {
        (1, 0) => compare(Cond::Ne, Class::W, c, zero),
        (0, 1) => compare(Cond::Eq, Class::W, c, zero),
        _ => None,
    }
}
