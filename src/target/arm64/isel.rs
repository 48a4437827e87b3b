//! Instruction selection for AArch64: what the walk of [`select`](crate::target::select) asks for.
//!
//! An instruction takes into itself what its operands are made of: shifts and extensions of the
//! last one, products that are added, the complement of a bitwise operand. Registers of class `w`
//! hold zeros above bit 31 if the instruction that made them is a 32-bit one; parameters, results of
//! calls and phis hold anything there.

use super::immediates;
use super::insts::{self, kind, modifier};
use super::regs::x;
use super::vaarg;
use crate::analysis::{FactSet, Facts};
use crate::ir::{AbiType, Access, Class, Function, Inst, Module, Op, Ref, SymbolId};
use crate::target::abi::Convention;
use crate::target::address::Parts;
use crate::target::constants::Constant;
use crate::target::lower::{Builder, clears_upper_half, read, read_in, write, write_in};
use crate::target::machine::{
    Address, Bank, Base, MFunction, MInst, MOp, Operand, PReg, PRegSet, VReg, op,
};
use crate::target::select::{Select, Stores};
use crate::target::{Features, ObjectFormat};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::ops::{Deref, DerefMut};

/// The selector of one function.
pub struct Isel<'a> {
    pub b: Builder<'a>,
    pub format: ObjectFormat,
    /// Symbols whose whole address is of use more than once.
    pub whole: FxHashSet<SymbolId>,
    /// Vector registers that a variadic function saves, and where they come in.
    pub saved: Vec<(VReg, PReg)>,
}

/// Instruction selection and ABI lowering of one function.
pub fn select(
    f: &Function,
    facts: &Facts,
    module: &Module,
    _features: &Features,
    convention: &'static Convention,
    format: ObjectFormat,
) -> MFunction {
    let expanded = vaarg::expand(f, format);
    let mut own = Facts::default();
    let (f, facts) = match &expanded {
        Some(f) => {
            own.require(f, FactSet::LOOPS);
            (f, &own)
        }
        None => (f, facts),
    };
    let whole = whole_symbols(f);
    let b = Builder::new(f, module, facts, convention);
    let mut isel = Isel { b, format, whole, saved: Vec::new() };
    isel.run();
    isel.b.code
}

/// All bits of an integer class.
pub fn all_ones(class: Class) -> u64 {
    if class == Class::L { u64::MAX } else { 0xffff_ffff }
}

/// Symbols that are named with different offsets, or otherwise than as an address to load from or
/// store to.
fn whole_symbols(f: &Function) -> FxHashSet<SymbolId> {
    let mut whole = FxHashSet::default();
    let mut seen = rustc_hash::FxHashMap::default();
    for inst in f.blocks.iter().flat_map(|b| &b.insts) {
        let address = match inst.op {
            op if op.is_load() => Some(0),
            op if op.is_store() => Some(1),
            _ => None,
        };
        for (n, &arg) in inst.args.iter().enumerate() {
            let Some((symbol, _, offset)) = f.symbol_of(arg) else { continue };
            if Some(n) != address || *seen.entry(symbol).or_insert(offset) != offset {
                whole.insert(symbol);
            }
        }
    }
    whole
}

impl<'a> Deref for Isel<'a> {
    type Target = Builder<'a>;

    fn deref(&self) -> &Builder<'a> {
        &self.b
    }
}

impl<'a> DerefMut for Isel<'a> {
    fn deref_mut(&mut self) -> &mut Builder<'a> {
        &mut self.b
    }
}

impl<'a> Select<'a> for Isel<'a> {
    fn same_value(b: &Builder<'_>, inst: &Inst) -> Option<Ref> {
        match inst.op {
            Op::Copy => Some(inst.args[0]),
            // A 32-bit operation has done it already.
            Op::Extuw => {
                let r = b.resolve(inst.args[0]);
                b.definition(r).is_some_and(clears_upper_half).then_some(r)
            }
            _ => None,
        }
    }

    fn pure(&mut self, inst: &Inst, to: VReg) {
        self.pure_inst(inst, to);
    }

    fn load(&mut self, inst: &Inst, to: VReg) {
        let size = inst.op.load_size().expect("a load") as u8;
        let parts = self.parts_for(inst.args[0], size);
        self.load_from(inst.op, inst.class, to, parts, inst.volatile);
    }

    fn store(&mut self, inst: &Inst) {
        self.store_inst(inst);
    }

    fn allocate(&mut self, inst: &Inst, to: VReg) {
        self.alloc(inst, to);
    }

    fn branch(&mut self, c: Ref) {
        self.branch_on(c);
    }

    fn constant_into(&mut self, reg: VReg, constant: Constant) {
        self.make_constant(reg, constant);
    }

    fn move_bits(&mut self, to: VReg, from: VReg, size: u8) {
        let row = match self.b.code.vregs[to].bank {
            Bank::Float => insts::FMOV_FI,
            Bank::Int => insts::FMOV_IF,
        };
        self.b.push(row, size, &[write(to), read(from)]);
    }

    fn parts(&self, r: Ref) -> Parts {
        self.parts_for(r, 0)
    }

    fn address_into(&mut self, reg: VReg, parts: Parts) {
        self.lea(reg, parts);
    }

    fn copy_memory(&mut self, from: Parts, to: Parts, bytes: u64, _align: u64) {
        self.copy(from, to, bytes);
    }

    fn load_reg(&mut self, to: VReg, from: Parts, size: u8) {
        let row = match size {
            1 => insts::LDRB,
            2 => insts::LDRH,
            _ => insts::LDR,
        };
        self.push_memory(row, size, &[write(to)], from, size);
    }

    fn load_piece(&mut self, from: Parts, bytes: u8, _align: u64) -> VReg {
        self.load_bytes(from, bytes)
    }

    fn store_reg(&mut self, to: Parts, reg: VReg, size: u8) {
        let row = match size {
            1 => insts::STRB,
            2 => insts::STRH,
            _ => insts::STR,
        };
        // All of a vector register: it must not be moved before, which keeps only a half.
        let saved = self.saved.iter().find(|s| size == 16 && s.0 == reg);
        let operand = match saved {
            Some(&(_, at)) => read_in(reg, at),
            None => read(reg),
        };
        self.push_memory(row, size, &[operand], to, size);
    }

    fn store_value(&mut self, to: Parts, value: Ref, class: Class, size: u8) {
        self.store_to(to, value, class, size, false);
    }

    fn extended(&mut self, value: Ref, ty: AbiType) -> VReg {
        self.extended_argument(value, ty)
    }

    fn push_call(&mut self, callee: Ref, operands: SmallVec<[Operand; 16]>) {
        self.emit_call(callee, operands);
    }

    fn vastart(&mut self, inst: &Inst) {
        self.start_list(inst);
    }

    fn save_registers(&mut self, defs: &mut SmallVec<[Operand; 16]>, stores: &mut Stores) {
        self.save_argument_registers(defs, stores);
    }
}

impl<'a> Isel<'a> {
    pub fn is_apple(&self) -> bool {
        self.format == ObjectFormat::MachO
    }

    /// The definition of `r`, if it is in the block being selected and the instruction being
    /// selected is its only user: it may be computed there instead.
    pub fn taken(&self, r: Ref) -> Option<&'a Inst> {
        let t = self.b.resolve(r).as_temp()?;
        if self.b.is_here(t) { self.b.only_use(r) } else { None }
    }

    /// The constant operand, zeros above the bits of its class.
    pub fn bits(&self, r: Ref, class: Class) -> Option<u64> {
        Some(self.b.constant_bits(r, class)? & all_ones(class))
    }

    /// Appends `row`: definition and two uses.
    pub fn push2(&mut self, row: MOp, size: u8, to: VReg, a: VReg, b: VReg) -> &mut MInst {
        self.b.push(row, size, &[write(to), read(a), read(b)])
    }

    /// Appends `row`: definition and one use.
    pub fn push1(&mut self, row: MOp, size: u8, to: VReg, a: VReg) -> &mut MInst {
        self.b.push(row, size, &[write(to), read(a)])
    }

    fn pure_inst(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        match inst.op {
            Op::Add if inst.class.is_int() => self.add(inst, to),
            Op::Sub if inst.class.is_int() => self.sub(inst, to),
            Op::Mul if inst.class.is_int() => self.mul(inst, to),
            Op::Neg if inst.class.is_int() => self.negate(inst.args[0], inst.class, to),
            Op::And | Op::Or | Op::Xor => self.bitwise(inst, to),
            Op::Shl | Op::Shr | Op::Sar | Op::Rotl | Op::Rotr => self.shift(inst, to),
            Op::Div if inst.class.is_int() => self.divide(insts::SDIV, inst, to),
            Op::Udiv => self.divide(insts::UDIV, inst, to),
            Op::Rem => self.remainder(insts::SDIV, inst, to),
            Op::Urem => self.remainder(insts::UDIV, inst, to),
            Op::Smulh => self.multiply_high(insts::SMULL, insts::SMULH, inst, to),
            Op::Umulh => self.multiply_high(insts::UMULL, insts::UMULH, inst, to),
            Op::Bswap => {
                let from = self.value(inst.args[0], inst.class);
                self.push1(insts::REV, size, to, from);
            }
            Op::Neg => {
                let from = self.value(inst.args[0], inst.class);
                self.push1(insts::FNEG, size, to, from);
            }
            Op::Add => self.float(insts::FADD, inst, to),
            Op::Sub => self.float(insts::FSUB, inst, to),
            Op::Mul => self.float(insts::FMUL, inst, to),
            Op::Div => self.float(insts::FDIV, inst, to),
            Op::Select => self.select(inst, to),
            Op::Copy => {
                let from = self.value(inst.args[0], inst.class);
                self.push1(op::COPY, size, to, from);
            }
            Op::Cast => self.cast(inst, to),
            Op::Nop => {}
            _ if inst.op.comparison().is_some() => self.comparison(inst, to),
            _ if inst.op.extension().is_some() => self.extend(inst, to),
            _ => self.convert(inst, to),
        }
    }

    fn float(&mut self, row: MOp, inst: &Inst, to: VReg) {
        let a = self.value(inst.args[0], inst.class);
        let b = self.value(inst.args[1], inst.class);
        self.push2(row, inst.class.size() as u8, to, a, b);
    }

    // ---- constants ----

    fn make_constant(&mut self, reg: VReg, constant: Constant) {
        match constant {
            Constant::Slot(slot) => self.lea(reg, Parts::slot(slot)),
            Constant::Symbol(symbol, access, offset) => {
                self.make_symbol(reg, symbol, access, offset);
            }
            Constant::Number(bits, class) => {
                let row = if class.is_int() { insts::MOV_C } else { insts::FMOV_C };
                self.b.push(row, class.size() as u8, &[write(reg)]).imm = bits as i64;
            }
        }
    }

    /// Puts the address of a symbol into `reg`.
    pub fn make_symbol(&mut self, reg: VReg, symbol: SymbolId, access: Access, offset: i64) {
        let base = Base::Symbol(symbol, access);
        let address = Address { base, index: None, scale: 1, disp: offset };
        let id = self.b.address(address);
        let thread = matches!(access, Access::Thread | Access::ExternThread);
        if !(thread && self.is_apple()) {
            self.b.push(insts::SYMBOL, 8, &[write(reg)]).address = Some(id);
            return;
        }
        // A call that keeps everything but x0, x16, x17 and the flags.
        self.b.code.calls = true;
        self.b.code.vregs[reg].rematerialise = false;
        let clobbers = self.b.clobbers(PRegSet::of(&[x(17)]));
        let whole = self.b.int_reg(8);
        let inst = self.b.push(insts::TLV, 8, &[write_in(whole, x(0))]);
        inst.address = Some(id);
        inst.clobbers = clobbers;
        self.push1(op::COPY, 8, reg, whole);
    }

    // ---- operands that are shifted or extended ----

    /// A register operand of an instruction of `class`, with what can be done to it on the way in.
    /// `extend`: extensions too, else shifts only (`rotate`: all four).
    pub fn modified(&mut self, r: Ref, class: Class, extend: bool) -> (VReg, i64) {
        if let Some((inner, how)) = self.modification(r, class, extend) {
            let inner_class = if how >> 8 >= i64::from(kind::UXTB) { Class::W } else { class };
            return (self.value(inner, inner_class), how);
        }
        (self.value(r, class), 0)
    }

    /// What `r` is made of, and the modifier that makes it.
    pub fn modification(&self, r: Ref, class: Class, extend: bool) -> Option<(Ref, i64)> {
        let inst = self.taken(r)?;
        if inst.class != class {
            return None;
        }
        let width = 8 * class.size();
        let kind = match inst.op {
            Op::Shl => kind::LSL,
            Op::Shr => kind::LSR,
            Op::Sar => kind::ASR,
            Op::Mul => {
                let factor = self.bits(inst.args[1], class)?;
                if !factor.is_power_of_two() {
                    return None;
                }
                return self.shifted_left(inst.args[0], factor.trailing_zeros(), class, extend);
            }
            _ if extend => return self.extension(inst, class).map(|(r, k)| (r, modifier(k, 0))),
            _ => return None,
        };
        let count = self.b.shift_count(inst)? as u32;
        if kind == kind::LSL {
            return self.shifted_left(inst.args[0], count, class, extend);
        }
        self.is_register(inst.args[0])
            .then(|| (inst.args[0], modifier(kind, (count % width) as u8)))
    }

    fn is_register(&self, r: Ref) -> bool {
        self.b.resolve(r).as_temp().is_some()
    }

    /// `r << count`, of an extension of up to 4 bits too.
    fn shifted_left(&self, r: Ref, count: u32, class: Class, extend: bool) -> Option<(Ref, i64)> {
        if extend
            && count <= 4
            && let Some(inst) = self.taken(r)
            && let Some((inner, kind)) = self.extension(inst, class)
        {
            return Some((inner, modifier(kind, count as u8)));
        }
        self.is_register(r).then(|| (r, modifier(kind::LSL, count as u8)))
    }

    /// The operand of an extension to `class`, and its kind.
    fn extension(&self, inst: &Inst, class: Class) -> Option<(Ref, u8)> {
        if inst.class != class || !self.is_register(inst.args[0]) {
            return None;
        }
        let kind = match inst.op {
            Op::Extsb => kind::SXTB,
            Op::Extub => kind::UXTB,
            Op::Extsh => kind::SXTH,
            Op::Extuh => kind::UXTH,
            Op::Extsw => kind::SXTW,
            Op::Extuw => kind::UXTW,
            Op::And => {
                let kind = match self.bits(inst.args[1], class)? {
                    0xff => kind::UXTB,
                    0xffff => kind::UXTH,
                    0xffff_ffff if class == Class::L => kind::UXTW,
                    _ => return None,
                };
                return Some((inst.args[0], kind));
            }
            _ => return None,
        };
        // A load does the extension for nothing.
        if self.b.foldable_load(inst.args[0]).is_some() {
            return None;
        }
        Some((inst.args[0], kind))
    }

    /// The constant operand if it is an immediate of additions, else none; negated with the second
    /// result true.
    pub fn addend(&self, r: Ref, class: Class) -> Option<(u64, bool)> {
        let bits = self.bits(r, class)?;
        let opposite = bits.wrapping_neg() & all_ones(class);
        if immediates::is_arithmetic(bits) {
            Some((bits, false))
        } else if immediates::is_arithmetic(opposite) {
            Some((opposite, true))
        } else {
            None
        }
    }
}
