//! Rules for extensions, copies, casts and stores of part of a value.
//!
//! Canonical forms: an extension that changes nothing goes; a signed extension of what is not
//! negative is unsigned, and one to `l` of what is already extended is `extuw`, which is free on
//! most targets; the only extension of a load is the load's own.

use super::{Folder, Rule, Step, rules};
use crate::analysis::bits::{Bits, low, mask};
use crate::ir::{Class, Inst, Op, Ref};

pub(super) const EXTEND: &[Rule] = rules![
    extend_redundant extend_narrow extend_demanded extend_extension extend_load extend_comparison
    extend_unsigned
];
pub(super) const COPY: &[Rule] = rules![copy_value];
pub(super) const CAST: &[Rule] = rules![cast_cast];
pub(super) const STORE: &[Rule] = rules![store_demanded];

fn one(op: Op, a: Ref) -> Option<Step> {
    Some(Step::Inst(op, [a, Ref::NONE, Ref::NONE]))
}

/// An extension of a value that is extended already.
fn extend_redundant(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let x = inst.args[0];
    let (bits, signed) = inst.op.extension()?;
    // Where a temporary of class l is extended to l, its own upper half must be right too.
    if !fold.fits(x, inst.class) {
        return None;
    }
    let known = fold.known(x, inst.class);
    (is_extended(known, bits, signed, inst.class)).then_some(Step::Value(x))
}

/// True if the value equals the extension of its low `bits` bits.
fn is_extended(known: Bits, bits: u32, signed: bool, class: Class) -> bool {
    if signed {
        known.signs > class.size() * 8 - bits
    } else {
        mask(class) & !low(bits) & !known.zeros == 0
    }
}

/// Bits above the extended ones need not be computed.
fn extend_demanded(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (bits, _) = inst.op.extension()?;
    let x = fold.strip(inst.args[0], Class::W, low(bits));
    if x != inst.args[0] { one(inst.op, x) } else { None }
}

/// An extension of an extension from fewer bits is one extension.
fn extend_extension(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (bits, signed) = inst.op.extension()?;
    let def = fold.defs[inst.args[0].as_temp()?];
    let (inner, inner_signed) = def.op.extension()?;
    // The unsigned one that is used elsewhere leaves the upper half clear on most targets.
    let shared = !inner_signed && !fold.used_once(inst.args[0]);
    if inner >= bits || (inner_signed && !signed) || shared {
        return None;
    }
    one(def.op, def.args[0])
}

/// The only use of a load is an extension of what it read: the load extends.
fn extend_load(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (bits, signed) = inst.op.extension()?;
    let t = inst.args[0].as_temp()?;
    let load = fold.defs[t];
    let size = load.op.load_size()? * 8;
    if !fold.used_once(inst.args[0]) || load.class != Class::W || bits < size {
        return None;
    }
    let load_signed = matches!(load.op, Op::Loadsb | Op::Loadsh);
    let new_signed = if bits == size { signed } else { load_signed };
    if bits > size && load_signed && !signed {
        return None;
    }
    let op = match (size, new_signed) {
        (8, true) => Op::Loadsb,
        (8, false) => Op::Loadub,
        (16, true) => Op::Loadsh,
        (16, false) => Op::Loaduh,
        (32, true) => Op::Loadsw,
        (32, false) => Op::Loaduw,
        _ => return None,
    };
    fold.redefine(t, Inst { op, class: inst.class, to: inst.to, ..load });
    Some(Step::Done)
}

/// An extension of a comparison that has no other use: comparisons come in both classes.
fn extend_comparison(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let def = fold.defs[inst.args[0].as_temp()?];
    if def.op.comparison().is_none() || !fold.used_once(inst.args[0]) {
        return None;
    }
    Some(Step::Inst(def.op, def.args))
}

/// A signed extension of a value whose sign bit is known to be 0 is unsigned.
fn extend_unsigned(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (bits, signed) = inst.op.extension()?;
    let known = fold.known(inst.args[0], Class::W);
    if !signed || known.zeros >> (bits - 1) & 1 == 0 {
        return None;
    }
    one(unsigned(inst.op)?, inst.args[0])
}

fn unsigned(op: Op) -> Option<Op> {
    match op {
        Op::Extsb => Some(Op::Extub),
        Op::Extsh => Some(Op::Extuh),
        Op::Extsw => Some(Op::Extuw),
        _ => None,
    }
}

/// An extension to `l` of a `w` that is extended already only has to clear the upper half.
fn extend_narrow(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let (bits, signed) = inst.op.extension()?;
    let known = fold.known(inst.args[0], Class::W);
    if inst.class != Class::L || bits == 32 || !is_extended(known, bits, signed, Class::W) {
        return None;
    }
    one(if signed { Op::Extsw } else { Op::Extuw }, inst.args[0])
}

/// A copy is what it copies.
fn copy_value(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    fold.fits(inst.args[0], inst.class).then_some(Step::Value(inst.args[0]))
}

/// A cast of a cast back is the value, bit for bit.
fn cast_cast(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let def = fold.defs[inst.args[0].as_temp()?];
    let x = def.args[0];
    let back = def.op == Op::Cast && fold.fits(x, inst.class);
    back.then_some(Step::Value(x))
}

/// Bits that a store does not store need not be computed.
fn store_demanded(fold: &mut Folder<'_>, inst: &Inst) -> Option<Step> {
    let demanded = low(inst.op.store_size()? * 8);
    let x = fold.strip(inst.args[0], Class::W, demanded);
    if x != inst.args[0] { Some(Step::Inst(inst.op, [x, inst.args[1], Ref::NONE])) } else { None }
}
