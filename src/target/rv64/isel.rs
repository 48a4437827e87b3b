//! Instruction selection for RISC-V.
//!
//! Registers of class `w` hold their value with its sign repeated above bit 31. Parameters and
//! results of calls come so (psABI, "Integer Calling Convention"), every `W` instruction leaves it
//! so, and bitwise operations keep it. Where an `l` stands for a `w` and its upper half matters, it
//! is extended first ([`Isel::word`]).

use super::constants::Shared;
use super::insts;
use super::materialise::fits12;
use super::prepare;
use crate::analysis::{FactSet, Facts};
use crate::ir::{AbiType, BlockId, Class, Function, Inst, Module, Op, Ref, Value};
use crate::target::Features;
use crate::target::abi::Convention;
use crate::target::address::{Operands, Parts, address};
use crate::target::constants::Constant;
use crate::target::lower::{Builder, Def, read, write};
use crate::target::machine::{Address, Bank, MFunction, MInst, MOp, Operand, VReg, op};
use crate::target::select::{Select, Stores};
use smallvec::SmallVec;
use std::ops::{Deref, DerefMut};

/// The selector of one function.
pub struct Isel<'a> {
    pub b: Builder<'a>,
    pub features: Features,
    pub shared: Shared,
}

/// Instruction selection and ABI lowering of one function.
pub fn select(
    f: &Function,
    facts: &Facts,
    module: &Module,
    features: &Features,
    convention: &'static Convention,
) -> MFunction {
    let prepared = prepare::prepare(f);
    let mut own = Facts::default();
    let (f, facts) = match &prepared {
        Some(f) => {
            own.require(f, FactSet::LOOPS);
            (f, &own)
        }
        None => (f, facts),
    };
    let b = Builder::new(f, module, facts, convention);
    let mut isel = Isel { b, features: *features, shared: Shared::default() };
    isel.run();
    isel.b.code
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
        let r = b.resolve(inst.args[0]);
        let same = match inst.op {
            Op::Copy => inst.class != Class::W || is_word(b, r),
            Op::Extsw => is_word(b, r) && r.as_temp().is_some(),
            Op::Extuw => is_word(b, r) && r.as_temp().is_some() && is_not_negative(b, r),
            Op::Extsb | Op::Extub | Op::Extsh | Op::Extuh => {
                let (bits, signed) = inst.op.extension().expect("an extension");
                is_word(b, r) && r.as_temp().is_some() && is_extended(b, r, bits as u8 / 8, signed)
            }
            _ => false,
        };
        same.then_some(r)
    }

    fn pure(&mut self, inst: &Inst, to: VReg) {
        self.pure_inst(inst, to);
    }

    fn load(&mut self, inst: &Inst, to: VReg) {
        let parts = self.access_parts(inst.args[0]);
        self.load_from(inst.op, inst.class, to, parts);
    }

    fn store(&mut self, inst: &Inst) {
        self.store_inst(inst);
    }

    fn allocate(&mut self, inst: &Inst, to: VReg) {
        self.alloc(inst, to);
    }

    fn branch(&mut self, c: Ref) {
        self.branch_if(c);
    }

    fn constant_into(&mut self, reg: VReg, constant: Constant) {
        self.make_constant(reg, constant);
    }

    fn move_bits(&mut self, to: VReg, from: VReg, size: u8) {
        let row = match (self.b.code.vregs[to].bank, size) {
            (Bank::Float, 4) => insts::FMV_W_X,
            (Bank::Float, _) => insts::FMV_D_X,
            (Bank::Int, 4) => insts::FMV_X_W,
            (Bank::Int, _) => insts::FMV_X_D,
        };
        self.unary(row, to, from);
    }

    fn parts(&self, r: Ref) -> Parts {
        self.take_apart(r)
    }

    fn address_into(&mut self, reg: VReg, parts: Parts) {
        self.make_address(reg, parts);
    }

    fn copy_memory(&mut self, from: Parts, to: Parts, bytes: u64, align: u64) {
        self.copy(from, to, bytes, align);
    }

    fn load_reg(&mut self, to: VReg, from: Parts, size: u8) {
        let row = match (self.b.code.vregs[to].bank, size) {
            (Bank::Float, 4) => insts::FLW,
            (Bank::Float, _) => insts::FLD,
            (Bank::Int, 1) => insts::LBU,
            (Bank::Int, 2) => insts::LHU,
            (Bank::Int, 4) => insts::LW,
            (Bank::Int, _) => insts::LD,
        };
        self.push_memory(row, &[write(to)], from);
    }

    fn load_piece(&mut self, from: Parts, bytes: u8, _align: u64) -> VReg {
        self.load_bytes(from, bytes)
    }

    fn store_reg(&mut self, to: Parts, reg: VReg, size: u8) {
        let row = match (self.b.code.vregs[reg].bank, size) {
            (Bank::Float, 4) => insts::FSW,
            (Bank::Float, _) => insts::FSD,
            (Bank::Int, 1) => insts::SB,
            (Bank::Int, 2) => insts::SH,
            (Bank::Int, 4) => insts::SW,
            (Bank::Int, _) => insts::SD,
        };
        self.push_memory(row, &[read(reg)], to);
    }

    fn store_value(&mut self, to: Parts, value: Ref, class: Class, size: u8) {
        self.store_to(to, value, class, size);
    }

    fn extended(&mut self, value: Ref, ty: AbiType) -> VReg {
        self.extended_argument(value, ty)
    }

    fn push_call(&mut self, callee: Ref, operands: SmallVec<[Operand; 16]>) {
        self.emit_call(callee, operands);
    }

    fn constant(&mut self, constant: Constant) -> VReg {
        if let Some(reg) = self.b.hoist(constant) {
            return reg;
        }
        match self.share(constant) {
            Some(reg) => reg,
            None => self.constant_here(constant),
        }
    }

    fn before(&mut self, inst: &Inst) {
        if inst.op == Op::Call {
            self.make_shared();
        }
    }

    fn block_start(&mut self, _block: BlockId) {
        self.make_shared();
        self.shared.closed = Some(self.b.block);
    }

    fn vastart(&mut self, inst: &Inst) {
        self.start_list(inst);
    }

    fn save_registers(&mut self, defs: &mut SmallVec<[Operand; 16]>, stores: &mut Stores) {
        self.save_argument_registers(defs, stores);
    }

    /// Clang 14 does not extend what it stores on the stack, so a load does it again for nothing.
    fn stack_parameter(&mut self, to: VReg, ty: AbiType, from: Parts, _bytes: u8) {
        let load = match ty {
            AbiType::Byte { signed: false } => Op::Loadub,
            AbiType::Byte { signed: true } => Op::Loadsb,
            AbiType::Half { signed: false } => Op::Loaduh,
            AbiType::Half { signed: true } => Op::Loadsh,
            AbiType::Base(Class::W) => Op::Loadsw,
            AbiType::Base(Class::S) => Op::Loads,
            AbiType::Base(Class::D) => Op::Loadd,
            AbiType::Base(Class::L) | AbiType::Aggregate(_) => Op::Loadl,
        };
        self.load_from(load, ty.class(), to, from);
    }

    /// "Integer scalars narrower than XLEN bits are widened": on the stack too.
    fn stack_argument(&mut self, value: Ref, ty: AbiType, to: Parts, bytes: u8) {
        let class = ty.class();
        let size = if class.is_int() { bytes } else { class.size() as u8 };
        if self.b.constant_bits(value, class) == Some(0) {
            return self.store_to(to, value, class, size);
        }
        let reg = self.extended_argument(value, ty);
        self.store_reg(to, reg, size);
    }
}

/// The operand is a `w` in its register: its sign is repeated above bit 31. So is a number's.
pub fn is_word(b: &Builder<'_>, r: Ref) -> bool {
    match r.value() {
        Value::Temp(t) => b.f.temps[t].class == Class::W,
        _ => b.f.bits(r).is_some(),
    }
}

/// The `w` is known to have no sign.
fn is_not_negative(b: &Builder<'_>, r: Ref) -> bool {
    if is_extended(b, r, 1, false) || is_extended(b, r, 2, false) {
        return true;
    }
    let Some(inst) = b.definition(r) else { return false };
    let constant = |n: usize| b.constant_bits(inst.args[n], Class::W);
    match inst.op {
        Op::And => [0, 1].iter().any(|&n| constant(n).is_some_and(|bits| (bits as i64) >= 0)),
        Op::Shr => b.shift_count(inst).is_some_and(|n| n > 0),
        Op::Urem => constant(1).is_some_and(|bits| (bits as i64) > 0),
        Op::Udiv => constant(1).is_some_and(|bits| (bits as u32) > 1),
        _ => false,
    }
}

/// The `w` is what the extension of its low `size` bytes gives. The convention extends arguments
/// and results.
pub fn is_extended(b: &Builder<'_>, r: Ref, size: u8, signed: bool) -> bool {
    if b.is_extended(r, size, signed) {
        return true;
    }
    let Some(t) = r.as_temp() else { return false };
    let ty = match b.defs[t] {
        Def::Param => b.f.params.iter().find(|param| param.to == t).map(|param| param.ty),
        _ => b.definition(r).and_then(|inst| b.f.calls[inst.call()?].ret),
    };
    let (from, from_signed) = match ty {
        Some(AbiType::Byte { signed }) => (1, signed),
        Some(AbiType::Half { signed }) => (2, signed),
        _ => return false,
    };
    if from_signed == signed { from <= size } else { signed && from < size }
}

impl Isel<'_> {
    // ---- pushing ----

    /// `row to, a, b`
    pub fn binary(&mut self, row: MOp, to: VReg, a: VReg, b: VReg) {
        self.b.push(row, 8, &[write(to), read(a), read(b)]);
    }

    /// `row to, a, imm`
    pub fn immediate(&mut self, row: MOp, to: VReg, a: VReg, imm: i64) {
        self.b.push(row, 8, &[write(to), read(a)]).imm = imm;
    }

    /// `row to, a`
    pub fn unary(&mut self, row: MOp, to: VReg, a: VReg) {
        self.b.push(row, 8, &[write(to), read(a)]);
    }

    /// The result of `row a, b` in a fresh register.
    pub fn new_binary(&mut self, row: MOp, a: VReg, b: VReg) -> VReg {
        let to = self.b.int_reg(8);
        self.binary(row, to, a, b);
        to
    }

    /// The result of `row a, imm` in a fresh register.
    pub fn new_immediate(&mut self, row: MOp, a: VReg, imm: i64) -> VReg {
        let to = self.b.int_reg(8);
        self.immediate(row, to, a, imm);
        to
    }

    /// The result of `row a` in a fresh register.
    pub fn new_unary(&mut self, row: MOp, a: VReg) -> VReg {
        let to = self.b.int_reg(8);
        self.unary(row, to, a);
        to
    }

    /// Appends an instruction with a memory operand.
    pub fn push_address(&mut self, row: MOp, operands: &[Operand], address: Address) -> &mut MInst {
        let id = self.b.address(address);
        let inst = self.b.push(row, 8, operands);
        inst.address = Some(id);
        inst
    }

    /// Appends `row` with `operands` and then the register of `parts`.
    pub fn push_memory(&mut self, row: MOp, operands: &[Operand], parts: Parts) -> &mut MInst {
        let parts = self.near_base(parts);
        let mut all: Operands = SmallVec::from_slice(operands);
        let address = address(self, parts, &mut all);
        self.push_address(row, &all, address)
    }

    // ---- operands ----

    /// The value as a `w` in a register, its sign repeated.
    pub fn word(&mut self, r: Ref) -> VReg {
        let r = self.b.resolve(r);
        if is_word(&self.b, r) {
            return self.value(r, Class::W);
        }
        let wide = self.value(r, Class::L);
        let to = self.b.int_reg(4);
        self.unary(insts::SEXT_W, to, wide);
        to
    }

    /// The value in a register of which only the low 32 bits are looked at.
    pub fn low(&mut self, r: Ref) -> VReg {
        self.value(r, Class::W)
    }

    /// An integer of a class in a register.
    pub fn int(&mut self, r: Ref, class: Class) -> VReg {
        if class == Class::W { self.word(r) } else { self.value(r, Class::L) }
    }

    /// The operand of an instruction that reads the low 32 bits if the class is `w`.
    pub fn low_int(&mut self, r: Ref, class: Class) -> VReg {
        self.value(r, class)
    }

    /// The constant operand, as a signed number.
    pub fn constant_int(&self, r: Ref, class: Class) -> Option<i64> {
        self.b.constant_bits(r, class).map(|bits| bits as i64)
    }

    /// Constant second, whatever the order was.
    pub fn constant_last(&self, inst: &Inst) -> (Ref, Ref) {
        let [a, b, _] = inst.args;
        if self.constant_int(a, inst.class).is_some() && self.b.resolve(b).as_temp().is_some() {
            (b, a)
        } else {
            (a, b)
        }
    }

    // ---- pure instructions ----

    fn pure_inst(&mut self, inst: &Inst, to: VReg) {
        let class = inst.class;
        let by = |w: MOp, l: MOp| if class == Class::W { w } else { l };
        let float = |single: MOp| if class == Class::D { single + 1 } else { single };
        match inst.op {
            Op::Add if class.is_int() => self.add(inst, to),
            Op::Sub if class.is_int() => self.sub(inst, to),
            Op::Mul if class.is_int() => self.mul(inst, to),
            Op::And | Op::Or | Op::Xor => self.bitwise(inst, to),
            Op::Neg if class.is_int() => {
                let from = self.low_int(inst.args[0], class);
                self.unary(by(insts::NEGW, insts::NEG), to, from);
            }
            Op::Neg => {
                let from = self.value(inst.args[0], class);
                self.unary(float(insts::FNEG_S), to, from);
            }
            Op::Bswap => self.swap_bytes(inst, to),
            Op::Sar => self.sar(inst, to),
            Op::Shr => self.shr(inst, to),
            Op::Shl => self.shl(inst, to),
            Op::Rotl | Op::Rotr => self.rotate(inst, to),
            Op::Div if class.is_int() => self.divide(by(insts::DIVW, insts::DIV), inst, to),
            Op::Rem => self.divide(by(insts::REMW, insts::REM), inst, to),
            Op::Udiv => self.divide(by(insts::DIVUW, insts::DIVU), inst, to),
            Op::Urem => self.divide(by(insts::REMUW, insts::REMU), inst, to),
            Op::Smulh | Op::Umulh => self.multiply_high(inst, 0, to),
            Op::Add => self.float_binary(float(insts::FADD_S), inst, to),
            Op::Sub => self.float_binary(float(insts::FSUB_S), inst, to),
            Op::Mul => self.float_binary(float(insts::FMUL_S), inst, to),
            Op::Div => self.float_binary(float(insts::FDIV_S), inst, to),
            Op::Select => self.select_value(inst, to),
            Op::Copy => {
                if class == Class::W {
                    let from = self.value(inst.args[0], Class::L);
                    self.unary(insts::SEXT_W, to, from);
                } else {
                    let from = self.value(inst.args[0], class);
                    self.b.push(op::COPY, class.size() as u8, &[write(to), read(from)]);
                }
            }
            Op::Cast => self.cast(inst, to),
            Op::Nop => {}
            _ if inst.op.comparison().is_some() => self.comparison(inst, to),
            _ if inst.op.extension().is_some() => self.extend(inst, to),
            _ => self.convert(inst, to),
        }
    }

    fn float_binary(&mut self, row: MOp, inst: &Inst, to: VReg) {
        let a = self.value(inst.args[0], inst.class);
        let b = self.value(inst.args[1], inst.class);
        self.binary(row, to, a, b);
    }

    fn divide(&mut self, row: MOp, inst: &Inst, to: VReg) {
        let a = self.low_int(inst.args[0], inst.class);
        let b = self.low_int(inst.args[1], inst.class);
        self.binary(row, to, a, b);
    }

    fn add(&mut self, inst: &Inst, to: VReg) {
        let class = inst.class;
        if class == Class::L
            && let Some(parts) = self.fixed_address(inst)
        {
            return self.make_address(to, parts);
        }
        let (a, b) = self.constant_last(inst);
        if let Some(imm) = self.constant_int(b, class)
            && self.add_constant(a, imm, class, to)
        {
            return;
        }
        if class == Class::L && self.features.zba && self.shifted_add(a, b, to) {
            return;
        }
        let (first, second) = (self.low_int(a, class), self.low_int(b, class));
        let row = if class == Class::W { insts::ADDW } else { insts::ADD };
        self.binary(row, to, first, second);
    }

    /// `a + imm` in one or two instructions; false if that takes the constant in a register.
    fn add_constant(&mut self, a: Ref, imm: i64, class: Class, to: VReg) -> bool {
        let row = if class == Class::W { insts::ADDIW } else { insts::ADDI };
        if fits12(imm) {
            let from = self.low_int(a, class);
            self.immediate(row, to, from, imm);
            return true;
        }
        let first = if imm < 0 { -2048 } else { 2047 };
        if !fits12(imm - first) || imm.trailing_zeros() >= 12 {
            return false;
        }
        let from = self.low_int(a, class);
        let part = self.new_immediate(insts::ADDI, from, first);
        self.immediate(row, to, part, imm - first);
        true
    }

    /// `sh1add` and its kin. False if neither operand is shifted or extended.
    fn shifted_add(&mut self, a: Ref, b: Ref, to: VReg) -> bool {
        for (a, b) in [(a, b), (b, a)] {
            let Some(inst) = self.b.only_use(b) else { continue };
            if inst.op == Op::Extuw {
                let (low, other) = (self.low(inst.args[0]), self.value(a, Class::L));
                self.binary(insts::ADD_UW, to, low, other);
                return true;
            }
            if inst.op != Op::Shl || inst.class != Class::L {
                continue;
            }
            let Some(n @ 1..=3) = self.b.shift_count(inst) else { continue };
            let n = n as usize - 1;
            let shifted = inst.args[0];
            let (row, shifted) = match self.b.only_use(shifted) {
                Some(inner) if inner.op == Op::Extuw => {
                    let rows = [insts::SH1ADD_UW, insts::SH2ADD_UW, insts::SH3ADD_UW];
                    (rows[n], self.low(inner.args[0]))
                }
                _ => {
                    let rows = [insts::SH1ADD, insts::SH2ADD, insts::SH3ADD];
                    (rows[n], self.value(shifted, Class::L))
                }
            };
            let other = self.value(a, Class::L);
            self.binary(row, to, shifted, other);
            return true;
        }
        false
    }

    fn sub(&mut self, inst: &Inst, to: VReg) {
        let class = inst.class;
        let [a, b, _] = inst.args;
        let by = |w: MOp, l: MOp| if class == Class::W { w } else { l };
        if class == Class::L
            && let Some(parts) = self.fixed_address(inst)
        {
            return self.make_address(to, parts);
        }
        if let Some(imm) = self.constant_int(b, class)
            && let Some(imm) = imm.checked_neg()
            && self.add_constant(a, imm, class, to)
        {
            return;
        }
        if self.constant_int(a, class) == Some(0) {
            let from = self.low_int(b, class);
            return self.unary(by(insts::NEGW, insts::NEG), to, from);
        }
        let (first, second) = (self.low_int(a, class), self.low_int(b, class));
        self.binary(by(insts::SUBW, insts::SUB), to, first, second);
    }

    fn bitwise(&mut self, inst: &Inst, to: VReg) {
        let class = inst.class;
        let (a, b) = self.constant_last(inst);
        if let Some(bits) = self.constant_int(b, class)
            && self.bitwise_constant(inst.op, a, bits, class, to)
        {
            return;
        }
        let (plain, negated) = match inst.op {
            Op::And => (insts::AND, insts::ANDN),
            Op::Or => (insts::OR, insts::ORN),
            _ => (insts::XOR, insts::XNOR),
        };
        if self.features.zbb {
            for (a, b) in [(a, b), (b, a)] {
                if let Some(not) = self.b.only_use(b)
                    && not.op == Op::Xor
                    && not.class == class
                    && self.constant_int(not.args[1], class) == Some(-1)
                {
                    let (first, second) = (self.int(a, class), self.int(not.args[0], class));
                    return self.binary(negated, to, first, second);
                }
            }
        }
        let (first, second) = (self.int(a, class), self.int(b, class));
        self.binary(plain, to, first, second);
    }

    /// `op a, bits` without the constant in a register; false if it takes one.
    fn bitwise_constant(&mut self, op: Op, a: Ref, bits: i64, class: Class, to: VReg) -> bool {
        if op == Op::And {
            return self.mask(a, bits, class, to);
        }
        let single = |bits: i64| {
            let n = i64::from(bits.trailing_zeros());
            let whole = class == Class::L || n < 31;
            (bits.count_ones() == 1 && whole).then_some(n)
        };
        let (row, by_bit) = match op {
            Op::Or => (insts::ORI, insts::BSETI),
            _ => (insts::XORI, insts::BINVI),
        };
        if op == Op::Xor && bits == -1 {
            let from = self.int(a, class);
            self.unary(insts::NOT, to, from);
        } else if fits12(bits) {
            let from = self.int(a, class);
            self.immediate(row, to, from, bits);
        } else if self.features.zbs
            && let Some(n) = single(bits)
        {
            let from = self.int(a, class);
            self.immediate(by_bit, to, from, n);
        } else {
            return false;
        }
        true
    }

    /// `a & bits` without the constant in a register; false if it takes one.
    fn mask(&mut self, a: Ref, bits: i64, class: Class, to: VReg) -> bool {
        let clear = !bits;
        if fits12(bits) {
            let from = if bits >= 0 { self.low_int(a, class) } else { self.int(a, class) };
            self.immediate(insts::ANDI, to, from, bits);
        } else if bits > 0 && bits & bits.wrapping_add(1) == 0 {
            let n = i64::from(bits.count_ones());
            let from = if n <= 32 { self.low(a) } else { self.value(a, Class::L) };
            self.zero_extend(from, n as u32, to);
        } else if clear > 0 && clear & clear.wrapping_add(1) == 0 {
            let n = i64::from(clear.count_ones());
            let from = self.int(a, class);
            let high = self.new_immediate(insts::SRAI, from, n);
            self.immediate(insts::SLLI, to, high, n);
        } else if self.features.zbs
            && clear.count_ones() == 1
            && (class == Class::L || clear < 1 << 31)
        {
            let from = self.int(a, class);
            self.immediate(insts::BCLRI, to, from, i64::from(clear.trailing_zeros()));
        } else {
            return false;
        }
        true
    }
}
