//! Computations that some machines have one instruction for, recognised where they end. What they
//! are made of is not selected then, unless something else uses it.

use super::lower::Builder;
use crate::ir::{Class, Inst, Op, Ref};

/// A byte in every byte of a value.
fn repeated(byte: u64, class: Class) -> u64 {
    (byte * 0x0101_0101_0101_0101) & if class == Class::W { 0xffff_ffff } else { u64::MAX }
}

/// Operands of the instruction that defines `r`, if it is `op` of `class`.
fn operands(b: &Builder<'_>, r: Ref, op: Op, class: Class) -> Option<[Ref; 2]> {
    let inst = b.definition(b.resolve(r))?;
    let [x, y, _] = inst.args;
    (inst.op == op && inst.class == class).then(|| [b.resolve(x), b.resolve(y)])
}

/// The other operand of an `op` with this constant.
fn with_constant(b: &Builder<'_>, r: Ref, op: Op, class: Class, constant: u64) -> Option<Ref> {
    let [x, y] = operands(b, r, op, class)?;
    if b.constant_bits(y, class) == Some(constant) {
        Some(x)
    } else if op.commutative() && b.constant_bits(x, class) == Some(constant) {
        Some(y)
    } else {
        None
    }
}

/// `x` where `r` is `(x >> n) & mask`.
fn shifted_field(b: &Builder<'_>, r: Ref, class: Class, n: u64, mask: u64) -> Option<Ref> {
    let shifted = with_constant(b, r, Op::And, class, mask)?;
    with_constant(b, shifted, Op::Shr, class, n)
}

/// `x` where `r` is `(x & mask) + ((x >> n) & mask)`.
fn sum_of_fields(b: &Builder<'_>, r: Ref, class: Class, n: u64, mask: u64) -> Option<Ref> {
    let [p, q] = operands(b, r, Op::Add, class)?;
    [(p, q), (q, p)].into_iter().find_map(|(low, high)| {
        let x = shifted_field(b, high, class, n, mask)?;
        (with_constant(b, low, Op::And, class, mask)? == x).then_some(x)
    })
}

/// The value whose bits `inst` counts: in pairs, in fours, in bytes, and those summed up by a
/// multiplication, as "Hacker's Delight" 5-1 has it.
pub fn bit_count(b: &Builder<'_>, inst: &Inst) -> Option<Ref> {
    let class = inst.class;
    let width = u64::from(class.size()) * 8;
    if inst.op != Op::Shr || b.shift_count(inst) != Some(width - 8) {
        return None;
    }
    let bytes = with_constant(b, inst.args[0], Op::Mul, class, repeated(1, class))?;
    let sums = with_constant(b, bytes, Op::And, class, repeated(0x0f, class))?;
    let [p, q] = operands(b, sums, Op::Add, class)?;
    let fours = [(p, q), (q, p)]
        .into_iter()
        .find_map(|(x, y)| (with_constant(b, y, Op::Shr, class, 4)? == x).then_some(x))?;
    let pairs = sum_of_fields(b, fours, class, 2, repeated(0x33, class))?;
    let ones = repeated(0x55, class);
    if let Some([x, y]) = operands(b, pairs, Op::Sub, class)
        && shifted_field(b, y, class, 1, ones) == Some(x)
    {
        return Some(x);
    }
    sum_of_fields(b, pairs, class, 1, ones)
}
