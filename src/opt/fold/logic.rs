//! Rules for bitwise logic, shifts and rotations.
//!
//! Canonical forms: a mask of 8, 16 or 32 low bits is an extension; shift counts are below the
//! width; a signed shift of a number that is not negative is unsigned; rotations go left where
//! the count is a constant.

use super::{Folder, Rule, Step, rules};
use crate::analysis::bits::{low, mask, width};
use crate::ir::{Class, Inst, Op, Ref};

pub(super) const AND: &[Rule] = rules![
    and_self and_constants and_redundant and_demanded and_extension and_absorb
];
pub(super) const OR: &[Rule] = rules![
    or_self or_constants or_redundant or_demanded or_absorb or_rotated or_rotated_by
];
pub(super) const XOR: &[Rule] = rules![
    xor_self xor_zero xor_constants xor_cancel xor_comparison xor_rotated
];
pub(super) const SHL: &[Rule] = rules![
    shift_zero shift_count shift_demanded shl_shl shl_shr shl_outward
];
pub(super) const SHR: &[Rule] = rules![shift_zero shift_count shift_demanded shr_shr shr_shl];
pub(super) const SAR: &[Rule] = rules![
    shift_zero shift_count sar_nonnegative shift_demanded sar_sar sar_shl
];
pub(super) const ROTL: &[Rule] = rules![shift_zero shift_count];
pub(super) const ROTR: &[Rule] = rules![shift_zero shift_count rotr_constant];

fn two(op: Op, a: Ref, b: Ref) -> Option<Step> {
    Some(Step::Inst(op, [a, b, Ref::NONE]))
}

fn one(op: Op, a: Ref) -> Option<Step> {
    Some(Step::Inst(op, [a, Ref::NONE, Ref::NONE]))
}

/// The operand as the result, if its class allows it.
fn operand(fold: &Folder<'_>, r: Ref, inst: &Inst) -> Option<Step> {
    fold.fits(r, inst.class).then_some(Step::Value(r))
}

/// `x & x` is `x`.
fn and_self(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    if inst.args[0] == inst.args[1] { operand(fold, inst.args[0], inst) } else { None }
}

/// `(x & c1) & c2` is `x & (c1 & c2)`; zero extensions count as masks.
fn and_constants(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c2 = fold.bits(inst.args[1], inst.class)?;
    let def = fold.def(inst.args[0], inst.class);
    let c1 = match def.op.extension() {
        Some((bits, false)) if fold.fits(def.args[0], inst.class) => low(bits),
        None if def.op == Op::And => fold.bits(def.args[1], inst.class)?,
        _ => return None,
    };
    let c = fold.int(inst.class, c1 & c2);
    two(Op::And, def.args[0], c)
}

/// `x & c` is `x` where the bits that `c` clears are 0 already.
fn and_redundant(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)?;
    let zeros = fold.known(inst.args[0], inst.class).zeros;
    if !c & mask(inst.class) & !zeros == 0 { operand(fold, inst.args[0], inst) } else { None }
}

/// Bits that a mask clears need not be computed.
fn and_demanded(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)? & mask(inst.class);
    let x = fold.strip(inst.args[0], inst.class, c);
    if x != inst.args[0] { two(Op::And, x, inst.args[1]) } else { None }
}

/// `x & 255` is an extension, and so on for 16 and 32 bits.
fn and_extension(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    match fold.bits(inst.args[1], inst.class)? {
        0xff => one(Op::Extub, inst.args[0]),
        0xffff => one(Op::Extuh, inst.args[0]),
        0xffff_ffff if inst.class == Class::L => one(Op::Extuw, inst.args[0]),
        _ => None,
    }
}

/// `x & (x | y)` is `x`.
fn and_absorb(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    absorb(fold, inst, Op::Or)
}

fn absorb(fold: &Folder<'_>, inst: &Inst, inner: Op) -> Option<Step> {
    for [a, b] in [[inst.args[0], inst.args[1]], [inst.args[1], inst.args[0]]] {
        if let Some([x, y]) = fold.operands_of(b, inner, inst.class)
            && (x == a || y == a)
        {
            return operand(fold, a, inst);
        }
    }
    None
}

/// `x | x` is `x`.
fn or_self(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    if inst.args[0] == inst.args[1] { operand(fold, inst.args[0], inst) } else { None }
}

/// `(x | c1) | c2` is `x | (c1 | c2)`.
fn or_constants(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c2 = fold.bits(inst.args[1], inst.class)?;
    let (x, c1) = fold.with_constant(inst.args[0], Op::Or, inst.class)?;
    let c = fold.int(inst.class, c1 | c2);
    two(Op::Or, x, c)
}

/// `x | c` is `x` where the bits of `c` are 1 already.
fn or_redundant(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)?;
    let ones = fold.known(inst.args[0], inst.class).ones;
    if c & mask(inst.class) & !ones == 0 { operand(fold, inst.args[0], inst) } else { None }
}

/// Bits that are set anyway need not be computed.
fn or_demanded(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = fold.bits(inst.args[1], inst.class)?;
    let x = fold.strip(inst.args[0], inst.class, !c & mask(inst.class));
    if x != inst.args[0] { two(Op::Or, x, inst.args[1]) } else { None }
}

/// `x | (x & y)` is `x`.
fn or_absorb(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    absorb(fold, inst, Op::And)
}

/// `(x << n) | (x >> (width - n))` is a rotation.
fn or_rotated(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    rotation(fold, inst)
}

/// A sum, difference or union of `x << n` and `x >> (width - n)` with a constant n that is not 0:
/// no bit is set in both, so the three ops agree.
pub(super) fn rotation(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (x, left, right) = shift_pair(fold, inst)?;
    let left = fold.bits(left, Class::W)?;
    let right = fold.bits(right, Class::W)?;
    let count = fold.int(Class::W, left);
    if left != 0 && left + right == u64::from(width(inst.class)) {
        two(Op::Rotl, x, count)
    } else {
        None
    }
}

/// `x`, `n`, `m` where the instruction joins `x << n` and `x >> m`, in either order.
fn shift_pair(fold: &Folder<'_>, inst: &Inst) -> Option<(Ref, Ref, Ref)> {
    let [a, b, _] = inst.args;
    let class = inst.class;
    for (shl, shr) in [(a, b), (b, a)] {
        if let Some([x, n]) = fold.operands_of(shl, Op::Shl, class)
            && let Some([y, m]) = fold.operands_of(shr, Op::Shr, class)
            && x == y
        {
            return Some((x, n, m));
        }
    }
    None
}

/// `(x << n) | (x >> (width - n))` is a rotation for every n, 0 included, because counts are taken
/// modulo the width.
fn or_rotated_by(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (x, n, m) = shift_pair(fold, inst)?;
    if is_complement(fold, m, n, inst.class) {
        two(Op::Rotl, x, n)
    } else if is_complement(fold, n, m, inst.class) {
        two(Op::Rotr, x, m)
    } else {
        None
    }
}

/// True if `m` is `-n` modulo the width of `class`. Counts are a `w` or the low half of an `l`.
fn is_complement(fold: &Folder<'_>, m: Ref, n: Ref, class: Class) -> bool {
    let Some(t) = m.as_temp() else { return false };
    let def = fold.defs[t];
    let count = |r| fold.strip(r, Class::W, u64::from(width(class) - 1));
    match def.op {
        Op::Neg => def.class.is_int() && count(def.args[0]) == count(n),
        Op::Sub if def.class.is_int() => {
            let c = fold.bits(def.args[0], Class::W);
            let whole = c.is_some_and(|c| c % u64::from(width(class)) == 0);
            whole && count(def.args[1]) == count(n)
        }
        _ => false,
    }
}

/// `x ^ x` is 0.
fn xor_self(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let zero = fold.int(inst.class, 0);
    (inst.args[0] == inst.args[1]).then_some(Step::Value(zero))
}

/// `x ^ 0` is `x`.
fn xor_zero(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    if fold.bits(inst.args[1], inst.class)? == 0 { operand(fold, inst.args[0], inst) } else { None }
}

/// `(x ^ c1) ^ c2` is `x ^ (c1 ^ c2)`.
fn xor_constants(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c2 = fold.bits(inst.args[1], inst.class)?;
    let (x, c1) = fold.with_constant(inst.args[0], Op::Xor, inst.class)?;
    let c = fold.int(inst.class, c1 ^ c2);
    two(Op::Xor, x, c)
}

/// `(x ^ y) ^ y` is `x`.
fn xor_cancel(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    for [a, b] in [[inst.args[0], inst.args[1]], [inst.args[1], inst.args[0]]] {
        match fold.operands_of(a, Op::Xor, inst.class) {
            Some([x, y]) if x == b => return operand(fold, y, inst),
            Some([x, y]) if y == b => return operand(fold, x, inst),
            _ => {}
        }
    }
    None
}

/// `(a < b) ^ 1` is `a >= b`.
fn xor_comparison(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    if fold.bits(inst.args[1], inst.class)? != 1 {
        return None;
    }
    let def = fold.def(inst.args[0], inst.class);
    let (cond, class) = def.op.comparison()?;
    let op = Op::compare(cond.negated()?, class)?;
    Some(Step::Inst(op, def.args))
}

/// `(x << n) ^ (x >> (width - n))` is a rotation.
fn xor_rotated(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    rotation(fold, inst)
}

/// A shift or rotation by a multiple of the width changes nothing.
fn shift_zero(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let count = fold.bits(inst.args[1], Class::W)?;
    let nothing = count % u64::from(width(inst.class)) == 0;
    if nothing { operand(fold, inst.args[0], inst) } else { None }
}

/// Counts are taken modulo the width: constants are reduced, masks that do the same are dropped.
fn shift_count(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let width = u64::from(width(inst.class));
    let count = match fold.bits(inst.args[1], Class::W) {
        Some(count) => fold.int(Class::W, count & (width - 1)),
        None => fold.strip(inst.args[1], Class::W, width - 1),
    };
    if count != inst.args[1] { two(inst.op, inst.args[0], count) } else { None }
}

/// Bits that a shift by a constant pushes out need not be computed.
fn shift_demanded(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let count = count(fold, inst.args[1])?;
    let mask = mask(inst.class);
    let demanded = if inst.op == Op::Shl { mask >> count } else { mask << count & mask };
    let x = fold.strip(inst.args[0], inst.class, demanded);
    if x != inst.args[0] { two(inst.op, x, inst.args[1]) } else { None }
}

/// A constant count, already below the width.
fn count(fold: &Folder<'_>, r: Ref) -> Option<u32> {
    fold.bits(r, Class::W).map(|c| c as u32)
}

/// The operand and the count where `r` is a shift `op` by a constant.
fn shifted(fold: &Folder<'_>, r: Ref, op: Op, class: Class) -> Option<(Ref, u32)> {
    let [x, c] = fold.operands_of(r, op, class)?;
    Some((x, count(fold, c)?))
}

/// `(x << a) << b` is `x << (a + b)`, or 0.
fn shl_shl(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    shift_twice(fold, inst)
}

/// `(x >> a) >> b`, unsigned, is `x >> (a + b)`, or 0.
fn shr_shr(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    shift_twice(fold, inst)
}

fn shift_twice(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let b = count(fold, inst.args[1])?;
    let (x, a) = shifted(fold, inst.args[0], inst.op, inst.class)?;
    if a + b >= width(inst.class) {
        return Some(Step::Value(fold.int(inst.class, 0)));
    }
    let sum = fold.int(Class::W, u64::from(a + b));
    two(inst.op, x, sum)
}

/// `(x >> a) >> b`, signed, is `x >> (a + b)`, at most the width less one.
fn sar_sar(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let b = count(fold, inst.args[1])?;
    let (x, a) = shifted(fold, inst.args[0], Op::Sar, inst.class)?;
    let sum = fold.int(Class::W, u64::from((a + b).min(width(inst.class) - 1)));
    two(Op::Sar, x, sum)
}

/// `(x >> c) << c` is a mask.
fn shl_shr(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = count(fold, inst.args[1])?;
    let unsigned = shifted(fold, inst.args[0], Op::Shr, inst.class);
    let (x, inner) = unsigned.or_else(|| shifted(fold, inst.args[0], Op::Sar, inst.class))?;
    if inner != c || !fold.used_once(inst.args[0]) {
        return None;
    }
    let high = fold.int(inst.class, !low(c));
    two(Op::And, x, high)
}

/// `(x << c) >> c` is a mask.
fn shr_shl(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = count(fold, inst.args[1])?;
    let (x, inner) = shifted(fold, inst.args[0], Op::Shl, inst.class)?;
    if inner != c || !fold.used_once(inst.args[0]) {
        return None;
    }
    let kept = fold.int(inst.class, mask(inst.class) >> c);
    two(Op::And, x, kept)
}

/// `(x << c) >> c`, signed, is an extension if it keeps 8, 16 or 32 bits.
fn sar_shl(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let c = count(fold, inst.args[1])?;
    let (x, inner) = shifted(fold, inst.args[0], Op::Shl, inst.class)?;
    if inner != c {
        return None;
    }
    match width(inst.class) - c {
        8 => one(Op::Extsb, x),
        16 => one(Op::Extsh, x),
        32 => one(Op::Extsw, x),
        _ => None,
    }
}

/// A signed shift of a number that is not negative is an unsigned one.
fn sar_nonnegative(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let nonnegative = fold.known(inst.args[0], inst.class).is_nonnegative(inst.class);
    if nonnegative { two(Op::Shr, inst.args[0], inst.args[1]) } else { None }
}

/// `(x + c) << k` is `(x << k) + (c << k)`.
fn shl_outward(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let k = count(fold, inst.args[1])?;
    let (x, c) = fold.with_constant(inst.args[0], Op::Add, inst.class)?;
    if !fold.used_once(inst.args[0]) {
        return None;
    }
    let shifted = fold.build(Op::Shl, inst.class, &[x, inst.args[1]]);
    let c = fold.int(inst.class, c << k);
    two(Op::Add, shifted, c)
}

/// A rotation right by a constant is one left.
fn rotr_constant(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let right = count(fold, inst.args[1])?;
    let left = fold.int(Class::W, u64::from(width(inst.class) - right));
    two(Op::Rotl, inst.args[0], left)
}
