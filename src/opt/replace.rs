//! Replacing temporaries by what they equal: the common ground of copies, value numbering and
//! folding.

use crate::index::IndexVec;
use crate::ir::{Class, Function, Ref, TempId, Value, for_each_use_mut};

/// What each temporary of a function was found to equal. One that is not replaced is itself.
pub struct Replacements {
    to: IndexVec<TempId, Ref>,
    any: bool,
}

impl Replacements {
    pub fn new(temps: usize) -> Replacements {
        Replacements { to: IndexVec::filled(Ref::NONE, temps), any: false }
    }

    /// `t` is `r` from now on.
    pub fn insert(&mut self, t: TempId, r: Ref) {
        debug_assert!(r.is_some() && r != Ref::temp(t) && self.to[t].is_none());
        self.to[t] = r;
        self.any = true;
    }

    /// What `r` stands for.
    #[inline]
    pub fn resolve(&self, mut r: Ref) -> Ref {
        while let Some(t) = r.as_temp()
            && self.to[t].is_some()
        {
            r = self.to[t];
        }
        r
    }

    /// True if `t` is replaced.
    pub fn contains(&self, t: TempId) -> bool {
        self.to[t].is_some()
    }

    /// True if nothing is replaced.
    pub fn is_empty(&self) -> bool {
        !self.any
    }

    /// Rewrites every operand of the function, dead blocks included.
    pub fn apply(&self, f: &mut Function) {
        if !self.any {
            return;
        }
        let Function { blocks, calls, .. } = f;
        for block in blocks.iter_mut() {
            for (_, r) in block.phis.iter_mut().flat_map(|phi| &mut phi.args) {
                *r = self.resolve(*r);
            }
            for inst in &mut block.insts {
                for_each_use_mut(inst, calls, |r| *r = self.resolve(*r));
            }
            if let Some(r) = block.jump.arg_mut() {
                *r = self.resolve(*r);
            }
        }
    }
}

/// True if `r` may stand where a value of `class` is wanted: one of that class, an `l` for a `w`,
/// or a constant.
pub fn fits(f: &Function, r: Ref, class: Class) -> bool {
    match r.value() {
        Value::Temp(t) => {
            let own = f.temps[t].class;
            own == class || (own == Class::L && class == Class::W)
        }
        Value::Int(_) => true,
        Value::Const(_) => class.is_int() || f.bits(r).is_some(),
        Value::Slot(_) => class.is_int(),
        Value::None | Value::Call(_) => false,
    }
}

/// A constant in a `w` context, sign-extended from 32 bits, so that equal ones are equal `Ref`s.
/// Other operands are left alone.
pub fn canonical(f: &mut Function, r: Ref, class: Class) -> Ref {
    match (r.value(), class, f.bits(r)) {
        (Value::Const(_), Class::W, Some(bits)) => f.int(i64::from(bits as i32)),
        _ => r,
    }
}
