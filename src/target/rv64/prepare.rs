//! What is rewritten before selection: `vaarg` as loads and stores, and phis of class `w` whose
//! values are no words yet.

use crate::ir::{BlockId, Class, Function, Inst, Op, Ref, Value};
use crate::target::vaarg;

/// The function without either; `None` if it has neither.
pub fn prepare(f: &Function) -> Option<Function> {
    let variadic = vaarg::has(f, Op::Vaarg);
    let wide = has_wide_phi(f);
    if !variadic && !wide {
        return None;
    }
    let mut f = f.clone();
    if variadic {
        vaarg::expand(&mut f, vaarg::expand_pointer);
    }
    if wide {
        narrow_phis(&mut f);
    }
    Some(f)
}

/// The operand of a `w` has bits of its own above bit 31: an `l`, or an address.
fn is_wide(f: &Function, r: Ref) -> bool {
    match r.value() {
        Value::Temp(t) => f.temps[t].class != Class::W,
        _ => f.bits(r).is_none(),
    }
}

fn has_wide_phi(f: &Function) -> bool {
    f.blocks
        .iter()
        .flat_map(|b| &b.phis)
        .any(|phi| phi.class == Class::W && phi.args.iter().any(|&(_, arg)| is_wide(f, arg)))
}

/// Makes words of the values where they come from.
fn narrow_phis(f: &mut Function) {
    for b in f.blocks.indices() {
        for p in 0..f.blocks[b].phis.len() {
            for n in 0..f.blocks[b].phis[p].args.len() {
                let phi = &f.blocks[b].phis[p];
                let (from, arg) = phi.args[n];
                if phi.class == Class::W && is_wide(f, arg) {
                    let word = copy_at_end(f, from, arg);
                    f.blocks[b].phis[p].args[n].1 = word;
                }
            }
        }
    }
}

fn copy_at_end(f: &mut Function, b: BlockId, value: Ref) -> Ref {
    let to = f.new_temp(Class::W);
    f.blocks[b].insts.push(Inst::new(Op::Copy, Class::W, to, &[value]));
    Ref::temp(to)
}
