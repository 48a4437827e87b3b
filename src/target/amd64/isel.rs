//! Instruction selection for x86-64: maximal munch from the end of each block to its start.
//!
//! An instruction takes what it can of its operands' definitions into itself: addresses, loads
//! that nothing writes between, immediates, comparisons into the branch or move that tests them.
//! What every user took is never selected (see [`lower`](crate::target::lower)).
//!
//! Registers of class `w` hold zeros above bit 31 if the instruction that made them is a 32-bit
//! one; parameters, results of calls and phis hold anything there.

use super::address::worth_lea;
use super::insts::{self, cond};
use super::regs::{RAX, RCX, RDX};
use super::{abi, flags, microsoft, vaarg};
use crate::analysis::{FactSet, Facts};
use crate::ir::ops::Cond;
use crate::ir::{AbiType, BlockId, Class, Function, Inst, Module, Op, Ref};
use crate::target::address::{Operands, Parts, address};
use crate::target::constants::Constant;
use crate::target::idioms;
use crate::target::lower::{
    Builder, clears_upper_half, read, read_in, write, write_in, write_over,
};
use crate::target::machine::{Address, Bank, Base, MFunction, MInst, MOp, Operand, PReg, VReg, op};
use crate::target::select::{Select, Stores};
use crate::target::{Features, ObjectFormat};
use smallvec::{SmallVec, smallvec};
use std::ops::{Deref, DerefMut};

/// The selector of one function.
pub struct Isel<'a> {
    pub b: Builder<'a>,
    pub features: &'a Features,
    /// Tells the systems apart.
    pub format: ObjectFormat,
    /// How a variadic function saves vector registers, and the registers it has defined for them.
    pub vectors: Option<vaarg::Vectors>,
    pub saved_vectors: Vec<(VReg, PReg)>,
    /// It starts a list of variadic arguments that begins in the caller's frame.
    pub reads_home: bool,
}

/// Instruction selection and ABI lowering of one function.
pub fn select(
    f: &Function,
    facts: &Facts,
    module: &Module,
    features: &Features,
    format: ObjectFormat,
) -> MFunction {
    let convention = match format {
        ObjectFormat::Elf | ObjectFormat::MachO => &abi::SYSV,
        ObjectFormat::Coff => &microsoft::WIN,
    };
    let expanded = vaarg::expand(f, format);
    let mut own = Facts::default();
    let (f, facts) = match &expanded {
        Some(expanded) => {
            own.require(&expanded.function, FactSet::LOOPS);
            (&expanded.function, &own)
        }
        None => (f, facts),
    };
    let mut isel = Isel {
        b: Builder::new(f, module, facts, convention),
        features,
        vectors: expanded.as_ref().and_then(|e| e.vectors),
        saved_vectors: Vec::new(),
        format,
        reads_home: false,
    };
    isel.run();
    flags::reuse_across(&mut isel.b.code);
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
        let parts = self.parts(inst.args[0]);
        self.load_from(inst.op, inst.class, to, parts);
    }

    fn store(&mut self, inst: &Inst) {
        self.store_inst(inst);
    }

    fn allocate(&mut self, inst: &Inst, to: VReg) {
        self.alloc(inst, to);
    }

    fn branch(&mut self, c: Ref) {
        let cond = self.test(c);
        self.b.push(insts::JCC, 0, &[]).cond = cond;
    }

    fn constant_into(&mut self, reg: VReg, constant: Constant) {
        self.make_constant(reg, constant);
    }

    fn move_bits(&mut self, to: VReg, from: VReg, size: u8) {
        let row = match self.b.code.vregs[to].bank {
            Bank::Float => insts::MOVD_FR,
            Bank::Int => insts::MOVD_RF,
        };
        self.b.push(row, size, &[write(to), read(from)]);
    }

    fn parts(&self, r: Ref) -> Parts {
        self.take_apart(r)
    }

    fn address_into(&mut self, reg: VReg, parts: Parts) {
        self.lea(reg, 8, parts);
    }

    fn copy_memory(&mut self, from: Parts, to: Parts, bytes: u64, _align: u64) {
        self.copy(from, to, bytes);
    }

    fn load_reg(&mut self, to: VReg, from: Parts, size: u8) {
        let row = match self.b.code.vregs[to].bank {
            Bank::Float => insts::FMOV_RM,
            Bank::Int if size < 4 => insts::MOVZX_RM,
            Bank::Int => insts::MOV_RM,
        };
        self.push_memory(row, size, &[write(to)], from);
    }

    fn load_piece(&mut self, from: Parts, bytes: u8, _align: u64) -> VReg {
        self.load_bytes(from, bytes)
    }

    fn store_reg(&mut self, to: Parts, reg: VReg, size: u8) {
        let row = match self.b.code.vregs[reg].bank {
            Bank::Int => insts::MOV_MR,
            Bank::Float => insts::FMOV_MR,
        };
        self.push_memory(row, size, &[read(reg)], to);
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

    fn vastart(&mut self, inst: &Inst) {
        self.start_list(inst);
    }

    fn save_registers(&mut self, defs: &mut SmallVec<[Operand; 16]>, stores: &mut Stores) {
        self.save_argument_registers(defs, stores);
    }

    fn block_start(&mut self, block: BlockId) {
        if self.vectors.is_some_and(|v| v.save == block) {
            self.save_vectors();
        }
    }

    fn block_end(&mut self) {
        flags::reuse_flags(&mut self.b.code, self.b.block);
    }
}

/// The number of a condition after an integer comparison.
pub fn int_condition(c: Cond) -> u8 {
    match c {
        Cond::Eq => cond::E,
        Cond::Ne => cond::NE,
        Cond::Sge => cond::GE,
        Cond::Sgt => cond::G,
        Cond::Sle => cond::LE,
        Cond::Slt => cond::L,
        Cond::Uge => cond::AE,
        Cond::Ugt => cond::A,
        Cond::Ule => cond::BE,
        Cond::Ult => cond::B,
        Cond::FEq
        | Cond::FGe
        | Cond::FGt
        | Cond::FLe
        | Cond::FLt
        | Cond::FNe
        | Cond::O
        | Cond::Uo => unreachable!("a relation of floats"),
    }
}

/// Rows of an operation of two integers, one a form.
pub struct Forms {
    pub rr: MOp,
    pub ri: MOp,
    pub rm: MOp,
    pub mr: MOp,
    pub mi: MOp,
}

macro_rules! forms {
    ($rr:ident $ri:ident $rm:ident $mr:ident $mi:ident) => {
        Forms { rr: insts::$rr, ri: insts::$ri, rm: insts::$rm, mr: insts::$mr, mi: insts::$mi }
    };
}

const ADD: Forms = forms!(ADD_RR ADD_RI ADD_RM ADD_MR ADD_MI);
const SUB: Forms = forms!(SUB_RR SUB_RI SUB_RM SUB_MR SUB_MI);
const AND: Forms = forms!(AND_RR AND_RI AND_RM AND_MR AND_MI);
const OR: Forms = forms!(OR_RR OR_RI OR_RM OR_MR OR_MI);
const XOR: Forms = forms!(XOR_RR XOR_RI XOR_RM XOR_MR XOR_MI);

pub fn forms(op: Op) -> Option<&'static Forms> {
    Some(match op {
        Op::Add => &ADD,
        Op::Sub => &SUB,
        Op::And => &AND,
        Op::Or => &OR,
        Op::Xor => &XOR,
        _ => return None,
    })
}

pub fn fits32(value: i64) -> bool {
    i32::try_from(value).is_ok()
}

impl<'a> Isel<'a> {
    // ---- operands ----

    /// Appends an instruction with a memory operand.
    pub fn push_address(
        &mut self,
        row: MOp,
        size: u8,
        operands: &[Operand],
        address: Address,
    ) -> &mut MInst {
        let id = self.b.address(address);
        let inst = self.b.push(row, size, operands);
        inst.address = Some(id);
        inst
    }

    /// Appends `row` with `operands` and then the registers of `parts`.
    pub fn push_memory(
        &mut self,
        row: MOp,
        size: u8,
        operands: &[Operand],
        parts: Parts,
    ) -> &mut MInst {
        let mut all: Operands = SmallVec::from_slice(operands);
        let address = address(self, parts, &mut all);
        self.push_address(row, size, &all, address)
    }

    /// The constant operand, as an immediate of 32 bits.
    pub fn immediate(&self, r: Ref, class: Class) -> Option<i64> {
        let bits = self.b.f.bits_as(self.b.resolve(r), class)? as i64;
        fits32(bits).then_some(bits)
    }

    /// The address of a foldable load, as a value of `size` bytes: of one that reads as many, or
    /// more, as the low bytes come first.
    pub fn memory_operand(&self, r: Ref, size: u8) -> Option<Parts> {
        let load = self.foldable_load(r)?;
        (load.op.load_size() >= Some(u32::from(size))).then(|| self.parts(load.args[0]))
    }

    // ---- pure instructions ----

    pub fn pure_inst(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        match inst.op {
            Op::Add if inst.class.is_int() => self.add(inst, to),
            Op::Sub if inst.class.is_int() => self.sub(inst, to),
            Op::Mul if inst.class.is_int() => self.mul(inst, to),
            Op::And | Op::Or | Op::Xor => self.bitwise(inst, to),
            Op::Neg if inst.class.is_int() => self.unary(insts::NEG_R, inst, to),
            Op::Neg => {
                let bits = if size == 4 { 1 << 31 } else { 1 << 63 };
                let from = self.value(inst.args[0], inst.class);
                let operands = [write_over(to, 1), read(from)];
                self.push_address(insts::FXOR_RM, size, &operands, pool(bits, 16));
            }
            Op::Bswap => self.reverse_bytes(inst, to),
            Op::Shl => self.shl(inst, to),
            Op::Shr => self.shr(inst, to),
            Op::Sar | Op::Rotl | Op::Rotr => self.shift(inst, to),
            Op::Div if inst.class.is_int() => self.divide(inst, true, true, to),
            Op::Rem => self.divide(inst, true, false, to),
            Op::Udiv => self.divide(inst, false, true, to),
            Op::Urem => self.divide(inst, false, false, to),
            Op::Smulh => self.multiply_high(insts::IMUL1_R, inst, to),
            Op::Umulh => self.multiply_high(insts::MUL_R, inst, to),
            Op::Add => self.float(insts::FADD_RR, insts::FADD_RM, inst, to),
            Op::Sub => self.float(insts::FSUB_RR, insts::FSUB_RM, inst, to),
            Op::Mul => self.float(insts::FMUL_RR, insts::FMUL_RM, inst, to),
            Op::Div => self.float(insts::FDIV_RR, insts::FDIV_RM, inst, to),
            Op::Select => self.select(inst, to),
            Op::Copy => {
                let from = self.value(inst.args[0], inst.class);
                self.b.push(op::COPY, size, &[write(to), read(from)]);
            }
            Op::Cast => self.cast(inst, to),
            Op::Nop => {}
            _ if inst.op.comparison().is_some() => self.comparison(inst, to),
            _ if inst.op.extension().is_some() => self.extend(inst, to),
            _ => self.convert(inst, to),
        }
    }

    /// Tied operation in place, second operand from a register or memory.
    fn in_place(&mut self, rr: MOp, rm: MOp, class: Class, to: VReg, a: Ref, b: Ref) {
        let size = class.size() as u8;
        if let Some(parts) = self.memory_operand(b, size) {
            let first = self.overwritten(a, class);
            self.push_memory(rm, size, &[write_over(to, 1), read(first)], parts);
            return;
        }
        let first = self.overwritten(a, class);
        let second = self.value(b, class);
        let second = self.b.read_any(second, size);
        self.b.push(rr, size, &[write_over(to, 1), read(first), second]);
    }

    /// Puts the operands of a commutative operation in order: the second is the one to be taken
    /// from memory; the result goes into the register of the first, so that is the phi whose next
    /// value it is, or else one that dies here.
    fn ordered(&mut self, inst: &Inst) -> (Ref, Ref) {
        let [a, b, _] = inst.args;
        let size = inst.class.size() as u8;
        let next = inst.to.and_then(|to| self.b.next_of[to]);
        let in_memory = |r| self.memory_operand(r, size).is_some();
        let is_next = |r| next.is_some() && self.b.resolve(r).as_temp() == next;
        let (first, second) = if in_memory(b) {
            (a, b)
        } else if in_memory(a) {
            (b, a)
        } else if inst.class.is_float() && self.calls_around() {
            // A float that lives across a call is in memory, and can be added from there.
            if is_next(a) || (self.b.value_dies(b) && !self.b.value_dies(a)) {
                (b, a)
            } else {
                (a, b)
            }
        } else if is_next(b) || (self.b.value_dies(b) && !self.b.value_dies(a) && !is_next(a)) {
            (b, a)
        } else {
            (a, b)
        };
        if self.only_use(first).is_some()
            && let Some(t) = self.b.resolve(first).as_temp()
            && self.b.next_of[t].is_none()
        {
            self.b.next_of[t] = next;
        }
        (first, second)
    }

    /// Constant second, whatever the order was.
    fn constant_last(&self, inst: &Inst) -> (Ref, Ref) {
        let [a, b, _] = inst.args;
        if self.immediate(a, inst.class).is_some() && self.b.resolve(b).as_temp().is_some() {
            (b, a)
        } else {
            (a, b)
        }
    }

    fn add(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        let t = inst.to.expect("an add has a result");
        let (a, b) = self.constant_last(inst);
        let memory =
            self.memory_operand(a, size).is_some() || self.memory_operand(b, size).is_some();
        if !memory
            && let Some(parts) = self.parts_of_result(t, inst.class)
            && worth_lea(&parts)
        {
            self.lea(to, size, parts);
        } else if let Some(imm) = self.immediate(b, inst.class) {
            let from = self.value(a, inst.class);
            self.b.push(insts::ADD3_RI, size, &[write(to), read(from)]).imm = imm;
        } else if memory {
            let (a, b) = self.ordered(inst);
            self.in_place(insts::ADD_RR, insts::ADD_RM, inst.class, to, a, b);
        } else {
            let (a, b) = self.ordered(inst);
            let first = self.value(a, inst.class);
            let second = self.value(b, inst.class);
            self.b.push(insts::ADD3_RR, size, &[write(to), read(first), read(second)]);
        }
    }

    fn sub(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        let [a, b, _] = inst.args;
        if let Some(imm) = self.immediate(b, inst.class)
            && fits32(-imm)
        {
            let t = inst.to.expect("a sub has a result");
            if let Some(parts) = self.parts_of_result(t, inst.class)
                && worth_lea(&parts)
            {
                self.lea(to, size, parts);
                return;
            }
            let from = self.value(a, inst.class);
            self.b.push(insts::ADD3_RI, size, &[write(to), read(from)]).imm = -imm;
        } else if self.b.f.bits_as(self.b.resolve(a), inst.class) == Some(0) {
            let from = self.value(b, inst.class);
            self.b.push(insts::NEG_R, size, &[write_over(to, 1), read(from)]);
        } else if let Some(imm) = self.immediate(b, inst.class) {
            let from = self.value(a, inst.class);
            self.b.push(insts::SUB_RI, size, &[write_over(to, 1), read(from)]).imm = imm;
        } else {
            self.in_place(insts::SUB_RR, insts::SUB_RM, inst.class, to, a, b);
        }
    }

    fn mul(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        let (a, b) = self.constant_last(inst);
        if let Some(imm) = self.immediate(b, inst.class) {
            let t = inst.to.expect("a mul has a result");
            if imm != 2
                && let Some(parts) = self.parts_of_result(t, inst.class)
            {
                self.lea(to, size, parts);
            } else if let Some(parts) = self.memory_operand(a, size) {
                self.push_memory(insts::IMUL_RMI, size, &[write(to)], parts).imm = imm;
            } else {
                let from = self.value(a, inst.class);
                let from = self.b.read_any(from, size);
                self.b.push(insts::IMUL_RRI, size, &[write(to), from]).imm = imm;
            }
            return;
        }
        let (a, b) = self.ordered(inst);
        self.in_place(insts::IMUL_RR, insts::IMUL_RM, inst.class, to, a, b);
    }

    fn bitwise(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        let forms = forms(inst.op).expect("and, or, xor");
        let (a, b) = self.constant_last(inst);
        let bits = self.b.f.bits_as(self.b.resolve(b), inst.class);
        match (inst.op, bits) {
            (Op::And, Some(0xff)) => return self.zero_extend(a, 1, to),
            (Op::And, Some(0xffff)) => return self.zero_extend(a, 2, to),
            (Op::And, Some(0xffff_ffff)) => return self.zero_extend(a, 4, to),
            // A 32-bit operation clears the upper half as the constant would.
            (Op::And, Some(bits @ 0..=0xffff_ffff)) => {
                let from = self.value(a, inst.class);
                let imm = i64::from(bits as i32);
                self.b.push(insts::AND_RI, 4, &[write_over(to, 1), read(from)]).imm = imm;
                return;
            }
            (Op::Xor, Some(u64::MAX)) => {
                let from = self.value(a, inst.class);
                self.b.push(insts::NOT_R, size, &[write_over(to, 1), read(from)]);
                return;
            }
            _ => {}
        }
        if let Some(imm) = self.immediate(b, inst.class) {
            let from = self.value(a, inst.class);
            self.b.push(forms.ri, size, &[write_over(to, 1), read(from)]).imm = imm;
            return;
        }
        let (a, b) = self.ordered(inst);
        self.in_place(forms.rr, forms.rm, inst.class, to, a, b);
    }

    fn unary(&mut self, row: MOp, inst: &Inst, to: VReg) {
        let from = self.value(inst.args[0], inst.class);
        self.b.push(row, inst.class.size() as u8, &[write_over(to, 1), read(from)]);
    }

    fn shl(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        match self.b.shift_count(inst) {
            Some(1) => {
                let from = self.value(inst.args[0], inst.class);
                self.b.push(insts::ADD3_RR, size, &[write(to), read(from), read(from)]);
            }
            Some(2 | 3) if !self.b.value_dies(inst.args[0]) => {
                let t = inst.to.expect("a shift has a result");
                match self.parts_of_result(t, inst.class) {
                    Some(parts) => self.lea(to, size, parts),
                    None => self.shift(inst, to),
                }
            }
            _ => self.shift(inst, to),
        }
    }

    fn shr(&mut self, inst: &Inst, to: VReg) {
        if self.features.popcnt
            && let Some(x) = idioms::bit_count(&self.b, inst)
        {
            let size = inst.class.size() as u8;
            if let Some(parts) = self.memory_operand(x, size) {
                self.push_memory(insts::POPCNT_RM, size, &[write(to)], parts);
                return;
            }
            let from = self.value(x, inst.class);
            let from = self.b.read_any(from, size);
            self.b.push(insts::POPCNT_RR, size, &[write(to), from]);
            return;
        }
        self.shift(inst, to);
    }

    fn reverse_bytes(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        if self.features.movbe
            && let Some(parts) = self.memory_operand(inst.args[0], size)
        {
            self.push_memory(insts::MOVBE_RM, size, &[write(to)], parts);
            return;
        }
        self.unary(insts::BSWAP_R, inst, to);
    }

    /// A shift or rotation in an instruction of BMI2: without a tie, without cl.
    fn untied_shift(&mut self, inst: &Inst, to: VReg) -> bool {
        let size = inst.class.size() as u8;
        let width = u64::from(inst.class.size()) * 8;
        match (self.b.shift_count(inst), inst.op) {
            (Some(1..), Op::Rotl | Op::Rotr) if !self.b.value_dies(inst.args[0]) => {
                let n = self.b.shift_count(inst).expect("just seen");
                let right = if inst.op == Op::Rotr { n } else { width - n };
                let from = self.value(inst.args[0], inst.class);
                let from = self.b.read_any(from, size);
                self.b.push(insts::RORX, size, &[write(to), from]).imm = right as i64;
                true
            }
            (None, Op::Shl | Op::Shr | Op::Sar) => {
                let row = match inst.op {
                    Op::Shl => insts::SHLX,
                    Op::Shr => insts::SHRX,
                    _ => insts::SARX,
                };
                let from = self.value(inst.args[0], inst.class);
                let count = self.value(inst.args[1], Class::W);
                let from = self.b.read_any(from, size);
                self.b.push(row, size, &[write(to), from, read(count)]);
                true
            }
            _ => false,
        }
    }

    fn shift(&mut self, inst: &Inst, to: VReg) {
        if self.features.bmi2 && self.untied_shift(inst, to) {
            return;
        }
        let (by_imm, by_cl) = match inst.op {
            Op::Shl => (insts::SHL_RI, insts::SHL_RC),
            Op::Shr => (insts::SHR_RI, insts::SHR_RC),
            Op::Sar => (insts::SAR_RI, insts::SAR_RC),
            Op::Rotl => (insts::ROL_RI, insts::ROL_RC),
            _ => (insts::ROR_RI, insts::ROR_RC),
        };
        let size = inst.class.size() as u8;
        let from = self.overwritten(inst.args[0], inst.class);
        match self.b.shift_count(inst) {
            Some(0) => {
                // A 32-bit move, so that a w keeps its zeros above.
                let from = self.b.read_any(from, size);
                if size == 4 {
                    self.b.push(insts::MOVZX_RR, 4, &[write(to), from]);
                } else {
                    self.b.push(op::COPY, 8, &[write(to), read(from.reg)]);
                }
            }
            Some(n) => {
                self.b.push(by_imm, size, &[write_over(to, 1), read(from)]).imm = n as i64;
            }
            None => {
                let count = self.value(inst.args[1], Class::W);
                self.b.push(by_cl, size, &[write_over(to, 1), read(from), read_in(count, RCX)]);
            }
        }
    }

    fn divide(&mut self, inst: &Inst, signed: bool, quotient: bool, to: VReg) {
        let size = inst.class.size() as u8;
        let memory = self.memory_operand(inst.args[1], size);
        let low = self.value(inst.args[0], inst.class);
        let divisor = match memory {
            Some(_) => None,
            None => Some(self.value(inst.args[1], inst.class)),
        };
        let high = if signed {
            let high = self.b.int_reg(size);
            self.b.push(insts::CDQ, size, &[write_in(high, RDX), read_in(low, RAX)]);
            high
        } else {
            self.int_constant(0, 4)
        };
        let other = self.b.int_reg(size);
        let (first, second) = if quotient { (to, other) } else { (other, to) };
        let mut operands: Operands = smallvec![
            write_in(first, RAX),
            write_in(second, RDX),
            read_in(low, RAX),
            read_in(high, RDX)
        ];
        match (memory, divisor) {
            (Some(parts), _) => {
                let row = if signed { insts::IDIV_M } else { insts::DIV_M };
                self.push_memory(row, size, &operands, parts);
            }
            (None, Some(divisor)) => {
                let row = if signed { insts::IDIV_R } else { insts::DIV_R };
                operands.push(self.b.read_any(divisor, size));
                self.b.push(row, size, &operands);
            }
            (None, None) => unreachable!("a divisor is in memory or in a register"),
        }
    }

    fn multiply_high(&mut self, row: MOp, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        let (a, b) = self.ordered(inst);
        let (first, second) = (self.value(a, inst.class), self.value(b, inst.class));
        let low = self.b.int_reg(size);
        let second = self.b.read_any(second, size);
        let operands = [write_in(low, RAX), write_in(to, RDX), read_in(first, RAX), second];
        self.b.push(row, size, &operands);
    }

    fn float(&mut self, rr: MOp, rm: MOp, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        let (mut a, mut b) = (inst.args[0], inst.args[1]);
        if inst.op.commutative() {
            (a, b) = self.ordered(inst);
            if self.b.f.bits(self.b.resolve(a)).is_some() {
                std::mem::swap(&mut a, &mut b);
            }
        }
        if let Some(bits) = self.b.f.bits_as(self.b.resolve(b), inst.class)
            && bits != 0
        {
            let first = self.value(a, inst.class);
            self.push_address(rm, size, &[write_over(to, 1), read(first)], pool(bits, size));
            return;
        }
        self.in_place(rr, rm, inst.class, to, a, b);
    }
}

/// The address of a constant in read-only data.
pub fn pool(bits: u64, size: u8) -> Address {
    Address { base: Base::Pool(bits, size), index: None, scale: 1, disp: 0 }
}
