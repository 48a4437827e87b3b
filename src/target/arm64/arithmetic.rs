//! Sums, products and quotients.

use super::immediates;
use super::insts::{self, kind, modifier};
use super::isel::Isel;
use crate::ir::{Class, Inst, Op, Ref};
use crate::target::address::PartBase;
use crate::target::lower::{read, write};
use crate::target::machine::{MOp, VReg};
use crate::target::select::Select;

/// Which operands of a product are extended: rows of `a * b`, `c + a * b` and `c - a * b`.
struct Product {
    a: Ref,
    b: Ref,
    /// The class of the operands.
    class: Class,
    rows: [MOp; 3],
}

impl Isel<'_> {
    pub fn add(&mut self, inst: &Inst, to: VReg) {
        let (class, size) = (inst.class, inst.class.size() as u8);
        let [mut a, mut b, _] = inst.args;
        if self.bits(a, class).is_some() {
            (a, b) = (b, a);
        }
        if self.bits(b, class).is_some() {
            self.add_constant(inst, a, b, to);
            return;
        }
        for (a, b) in [(a, b), (b, a)] {
            if let Some(product) = self.product(b, class) {
                let rest = self.value(a, class);
                self.push_product(&product, 1, to, Some(rest));
                return;
            }
        }
        if self.modification(a, class, true).is_some()
            && self.modification(b, class, true).is_none()
        {
            (a, b) = (b, a);
        }
        let first = self.value(a, class);
        let (second, how) = self.modified(b, class, true);
        self.push2(insts::ADD, size, to, first, second).imm = how;
    }

    fn add_constant(&mut self, inst: &Inst, a: Ref, b: Ref, to: VReg) {
        let (class, size) = (inst.class, inst.class.size() as u8);
        // The address of a slot and an offset.
        if class == Class::L && self.b.resolve(a).as_temp().is_none() {
            let parts = self.parts(a);
            if matches!(parts.base, PartBase::Slot(_) | PartBase::Incoming) {
                let offset = self.bits(b, class).unwrap_or(0);
                self.lea(to, parts.plus(offset));
                return;
            }
        }
        if let Some((imm, negative)) = self.addend(b, class) {
            let from = self.value(a, class);
            let row = if negative { insts::SUB_I } else { insts::ADD_I };
            self.push1(row, size, to, from).imm = imm as i64;
            return;
        }
        let bits = self.bits(b, class).unwrap_or(0);
        let signed = if class == Class::L { bits as i64 } else { i64::from(bits as i32) };
        let from = self.value(a, class);
        if signed.unsigned_abs() < 1 << 24 && immediates::parts(bits, size).parts.len() > 1 {
            self.push1(insts::ADD_C, size, to, from).imm = signed;
            return;
        }
        let second = self.value(b, class);
        self.push2(insts::ADD, size, to, from, second);
    }

    pub fn sub(&mut self, inst: &Inst, to: VReg) {
        let (class, size) = (inst.class, inst.class.size() as u8);
        let [a, b, _] = inst.args;
        if self.bits(a, class) == Some(0) {
            self.negate(b, class, to);
            return;
        }
        if let Some((imm, negative)) = self.addend(b, class) {
            let from = self.value(a, class);
            let row = if negative { insts::ADD_I } else { insts::SUB_I };
            self.push1(row, size, to, from).imm = imm as i64;
            return;
        }
        if let Some(product) = self.product(b, class) {
            let rest = self.value(a, class);
            self.push_product(&product, 2, to, Some(rest));
            return;
        }
        let first = self.value(a, class);
        let (second, how) = self.modified(b, class, true);
        self.push2(insts::SUB, size, to, first, second).imm = how;
    }

    /// `to = 0 - r`
    pub fn negate(&mut self, r: Ref, class: Class, to: VReg) {
        let size = class.size() as u8;
        if let Some(product) = self.product(r, class)
            && product.class == class
        {
            let (a, b) = (self.value(product.a, class), self.value(product.b, class));
            self.push2(insts::MNEG, size, to, a, b);
            return;
        }
        let (from, how) = self.modified(r, class, false);
        self.push1(insts::NEG, size, to, from).imm = how;
    }

    /// The product that `r` is, if it can be a part of a sum and is no shift.
    fn product(&self, r: Ref, class: Class) -> Option<Product> {
        let inst = self.taken(r)?;
        if inst.op != Op::Mul || inst.class != class {
            return None;
        }
        let [a, b, _] = inst.args;
        if self.bits(b, class).is_some_and(|bits| self.cheap_factor(bits)) {
            return None;
        }
        Some(self.widened(a, b, class))
    }

    /// A factor for which there is something better than a multiplication.
    fn cheap_factor(&self, bits: u64) -> bool {
        bits.is_power_of_two() || bits > 2 && (bits - 1).is_power_of_two()
    }

    /// The product of `a` and `b`, of their extensions' operands where both are extended alike.
    fn widened(&self, a: Ref, b: Ref, class: Class) -> Product {
        let plain = Product { a, b, class, rows: [insts::MUL, insts::MADD, insts::MSUB] };
        if class == Class::W {
            return plain;
        }
        let narrow = |r: Ref, op: Op| {
            let inst = self.taken(r).filter(|inst| inst.op == op)?;
            let loaded = self.b.foldable_load(inst.args[0]).is_some();
            (!loaded && self.b.resolve(inst.args[0]).as_temp().is_some()).then_some(inst.args[0])
        };
        if let (Some(a), Some(b)) = (narrow(a, Op::Extsw), narrow(b, Op::Extsw)) {
            let rows = [insts::SMULL, insts::SMADDL, insts::SMSUBL];
            return Product { a, b, class: Class::W, rows };
        }
        if let (Some(a), Some(b)) = (narrow(a, Op::Extuw), narrow(b, Op::Extuw)) {
            let rows = [insts::UMULL, insts::UMADDL, insts::UMSUBL];
            return Product { a, b, class: Class::W, rows };
        }
        // A constant that is the same extended.
        if let (Some(inner), Some(bits)) = (narrow(a, Op::Extsw), self.bits(b, class))
            && i64::from(bits as i32) as u64 == bits
        {
            let rows = [insts::SMULL, insts::SMADDL, insts::SMSUBL];
            return Product { a: inner, b, class: Class::W, rows };
        }
        plain
    }

    /// Appends row number `n` of a product.
    fn push_product(&mut self, product: &Product, n: usize, to: VReg, rest: Option<VReg>) {
        let a = self.value(product.a, product.class);
        let b = self.value(product.b, product.class);
        // Of the widening rows the size is nobody's business.
        let size = product.class.size() as u8;
        let row = product.rows[n];
        match rest {
            Some(rest) => {
                self.b.push(row, size, &[write(to), read(a), read(b), read(rest)]);
            }
            None => {
                self.push2(row, size, to, a, b);
            }
        }
    }

    pub fn mul(&mut self, inst: &Inst, to: VReg) {
        let (class, size) = (inst.class, inst.class.size() as u8);
        let [mut a, mut b, _] = inst.args;
        if self.bits(a, class).is_some() {
            (a, b) = (b, a);
        }
        match self.bits(b, class) {
            Some(bits) if bits.is_power_of_two() => {
                self.shift_left(a, bits.trailing_zeros(), class, to);
                return;
            }
            Some(bits) if self.cheap_factor(bits) => {
                let from = self.value(a, class);
                let how = modifier(kind::LSL, (bits - 1).trailing_zeros() as u8);
                self.push2(insts::ADD, size, to, from, from).imm = how;
                return;
            }
            _ => {}
        }
        for (a, b) in [(a, b), (b, a)] {
            if let Some(negated) = self.taken(b)
                && negated.op == Op::Neg
                && negated.class == class
            {
                let (a, b) = (self.value(a, class), self.value(negated.args[0], class));
                self.push2(insts::MNEG, size, to, a, b);
                return;
            }
        }
        let product = self.widened(a, b, class);
        self.push_product(&product, 0, to, None);
    }

    pub fn divide(&mut self, row: MOp, inst: &Inst, to: VReg) {
        let a = self.value(inst.args[0], inst.class);
        let b = self.value(inst.args[1], inst.class);
        self.push2(row, inst.class.size() as u8, to, a, b);
    }

    pub fn remainder(&mut self, row: MOp, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        let a = self.value(inst.args[0], inst.class);
        let b = self.value(inst.args[1], inst.class);
        let quotient = self.b.int_reg(size);
        self.push2(row, size, quotient, a, b);
        self.b.push(insts::MSUB, size, &[write(to), read(quotient), read(b), read(a)]);
    }

    pub fn multiply_high(&mut self, narrow: MOp, wide: MOp, inst: &Inst, to: VReg) {
        let a = self.value(inst.args[0], inst.class);
        let b = self.value(inst.args[1], inst.class);
        if inst.class == Class::L {
            self.push2(wide, 8, to, a, b);
            return;
        }
        let product = self.b.int_reg(8);
        self.push2(narrow, 8, product, a, b);
        self.push1(insts::LSR_I, 8, to, product).imm = 32;
    }
}
