//! Addresses, loads, stores, copies of memory and run-time allocation.
//!
//! A load or store takes a base and a constant, or a base and an index that is scaled by the size of
//! the access or not at all and may be extended from 32 bits (Arm ARM C1.3.3). What else an address
//! is made of is computed before it.

use super::immediates;
use super::insts::{self, VOLATILE, kind, modifier};
use super::isel::Isel;
use super::regs::FP;
use crate::ir::{Access, Class, Inst, Op, Ref, SymbolId};
use crate::target::address::{Operands, PartBase, Parts, Term, address};
use crate::target::constants::Constant;
use crate::target::lower::{Def, read, scratch, write};
use crate::target::machine::{Address, Bank, Base, MInst, MOp, Operand, VReg};
use crate::target::select::Select;
use smallvec::SmallVec;

/// What one copying row takes.
const COPY_ROW: u64 = 256;

/// Offsets that an instruction can reach, with one before it.
const REACH: i64 = 1 << 24;

/// Offsets from symbols that relocations of all formats can hold.
pub const SYMBOL_REACH: i64 = 1 << 20;

/// Additions looked through in one address.
const DEPTH: u32 = 8;

impl Isel<'_> {
    // ---- addresses ----

    /// Takes the address `r` apart, for an access of `size` bytes (0: no index).
    pub fn parts_for(&self, r: Ref, size: u8) -> Parts {
        let r = self.b.resolve(r);
        let (inner, disp) = self.without_constant(r);
        let mut parts = self.base_of(inner);
        parts.disp = parts.disp.wrapping_add(disp);
        if parts.base == PartBase::Term(Term::Value(inner))
            && disp == 0
            && size > 0
            && let Some(indexed) = self.indexed(inner, size)
        {
            return indexed;
        }
        let reach = if matches!(parts.base, PartBase::Symbol(..)) { SYMBOL_REACH } else { REACH };
        if (-reach..reach).contains(&parts.disp) {
            return parts;
        }
        match self.b.f.symbol_of(r) {
            Some((symbol, access, offset)) => Parts::term(Term::Symbol(symbol, access, offset)),
            None => Parts::term(Term::Value(r)),
        }
    }

    /// The address without the constants added to it, and their sum.
    fn without_constant(&self, r: Ref) -> (Ref, i64) {
        let (mut r, mut disp) = (r, 0i64);
        for _ in 0..DEPTH {
            let Some(inst) = self.b.definition(r) else { break };
            let t = r.as_temp().expect("it has a definition");
            if inst.class != Class::L || self.b.uses[t] > 1 && self.b.wanted(t).is_some() {
                break;
            }
            let (inner, amount) = match (inst.op, self.bits(inst.args[1], Class::L)) {
                (Op::Add, Some(bits)) => (inst.args[0], bits as i64),
                (Op::Sub, Some(bits)) => (inst.args[0], (bits as i64).wrapping_neg()),
                _ => break,
            };
            let sum = disp.wrapping_add(amount);
            if !(-REACH..REACH).contains(&sum) || self.bits(inner, Class::L).is_some() {
                break;
            }
            (r, disp) = (self.b.resolve(inner), sum);
        }
        (r, disp)
    }

    /// An address that is no sum, as a base.
    fn base_of(&self, r: Ref) -> Parts {
        if let Some((symbol, access, offset)) = self.b.f.symbol_of(r) {
            if access != Access::Direct {
                return Parts { disp: offset, ..Parts::term(Term::Symbol(symbol, access, 0)) };
            }
            let base = PartBase::Symbol(symbol, access);
            return Parts { base, disp: offset, ..Parts::ZERO };
        }
        if let Some(slot) = r.as_slot() {
            return Parts::slot(slot);
        }
        if let Some(t) = r.as_temp()
            && let Def::Incoming(offset) = self.b.defs[t]
        {
            return Parts::incoming(offset);
        }
        Parts::term(Term::Value(r))
    }

    /// The sum of two registers, the second scaled by `size` or not.
    fn indexed(&self, r: Ref, size: u8) -> Option<Parts> {
        let inst = self.b.definition(r).filter(|i| i.op == Op::Add && i.class == Class::L)?;
        let t = r.as_temp()?;
        let once = self.b.uses[t] == 1;
        if !once && self.b.wanted(t).is_some() || !self.b.is_here(t) {
            return None;
        }
        let [a, b, _] = inst.args;
        let (a, b) = (self.b.resolve(a), self.b.resolve(b));
        if self.bits(a, Class::L).is_some() || self.bits(b, Class::L).is_some() {
            return None;
        }
        for (base, index) in [(a, b), (b, a)] {
            if let Some(scaled) = self.scaled(index, size) {
                return Some(self.with_index(base, scaled, size));
            }
        }
        // A sum or product that can take the addition into itself is better off.
        let takes = |r: Ref| {
            self.modification(r, Class::L, true).is_some_and(|(_, how)| how & 0xff != 0)
                || self.taken(r).is_some_and(|i| i.op == Op::Mul)
        };
        if takes(a) || takes(b) {
            return None;
        }
        let (base, index) = if self.index_extension(a).is_some() || b.as_temp().is_none() {
            (b, a)
        } else {
            (a, b)
        };
        Some(self.with_index(base, index, 1))
    }

    fn with_index(&self, base: Ref, index: Ref, scale: u8) -> Parts {
        let base = match self.b.f.symbol_of(base) {
            Some((symbol, access, offset)) => Term::Symbol(symbol, access, offset),
            None => Term::Value(base),
        };
        Parts { base: PartBase::Term(base), index: Some(Term::Value(index)), scale, disp: 0 }
    }

    /// What is multiplied by `size`, if `index` is that and nobody else wants it.
    fn scaled(&self, index: Ref, size: u8) -> Option<Ref> {
        let t = index.as_temp()?;
        let inst = self.b.definition(index).filter(|i| i.class == Class::L)?;
        if size == 1 || self.b.uses[t] > 1 && self.b.wanted(t).is_some() {
            return None;
        }
        let factor = self.bits(inst.args[1], Class::L);
        let is = match inst.op {
            Op::Shl => self.b.shift_count(inst) == Some(u64::from(size.trailing_zeros())),
            Op::Mul => factor == Some(u64::from(size)),
            _ => false,
        };
        let inner = self.b.resolve(inst.args[0]);
        (is && inner.as_temp().is_some()).then_some(inner)
    }

    /// The operand of an extension from 32 bits that nobody else wants, and its kind.
    fn index_extension(&self, index: Ref) -> Option<(Ref, u8)> {
        let t = index.as_temp()?;
        let inst = self.b.definition(index)?;
        let kind = match inst.op {
            Op::Extsw => kind::SXTW,
            Op::Extuw => kind::UXTW,
            _ => return None,
        };
        if self.b.uses[t] > 1 && self.b.wanted(t).is_some() {
            return None;
        }
        let inner = self.b.resolve(inst.args[0]);
        let loaded = self.b.foldable_load(inner).is_some();
        (!loaded && inner.as_temp().is_some()).then_some((inner, kind))
    }

    /// Appends `row` with `operands` and then the registers of `parts`, an access of `size` bytes.
    pub fn push_memory(
        &mut self,
        row: MOp,
        op_size: u8,
        operands: &[Operand],
        parts: Parts,
        size: u8,
    ) -> &mut MInst {
        let mut all: Operands = SmallVec::from_slice(operands);
        let (address, how) = self.memory_address(parts, size, &mut all);
        let id = self.b.address(address);
        let inst = self.b.push(row, op_size, &all);
        inst.address = Some(id);
        inst.imm = how;
        inst
    }

    /// The address of an access of `size` bytes, its registers appended to `operands`, and how the
    /// index is extended.
    fn memory_address(
        &mut self,
        parts: Parts,
        size: u8,
        operands: &mut Operands,
    ) -> (Address, i64) {
        if let PartBase::Symbol(symbol, Access::Direct) = parts.base {
            return (self.symbol_address(symbol, parts.disp, size, operands), 0);
        }
        let mut how = kind::LSL;
        let mut parts = parts;
        if let Some(Term::Value(index)) = parts.index
            && let Some((inner, kind)) = self.index_extension(index)
        {
            let reg = self.value(inner, Class::W);
            parts.index = Some(Term::Reg(reg));
            how = kind;
        }
        (address(self, parts, operands), i64::from(how))
    }

    /// A symbol as the operand of a load or store: by its page, if its low bits are known to be a
    /// multiple of `size` and that register is of no other use; else by its whole address.
    fn symbol_address(
        &mut self,
        symbol: SymbolId,
        disp: i64,
        size: u8,
        operands: &mut Operands,
    ) -> Address {
        let step = i64::from(size.max(1));
        let aligned = self.b.module.symbols.align(symbol) as i64 % step == 0 && disp % step == 0;
        let whole = self.whole.contains(&symbol);
        if !aligned || whole || size == 0 || self.b.hoists_around() {
            let constant = Constant::Symbol(symbol, Access::Direct, 0);
            let base = self.constant(constant);
            operands.push(read(base));
            let base = Base::Reg(operands.len() as u8 - 1);
            return Address { base, index: None, scale: 1, disp };
        }
        let page = self.b.constant_reg(Bank::Int, 8);
        let base = Base::Symbol(symbol, Access::Direct);
        let id = self.b.address(Address { base, index: None, scale: 1, disp });
        self.b.push(insts::ADRP, 8, &[write(page)]).address = Some(id);
        operands.push(read(page));
        Address { base, index: Some(operands.len() as u8 - 1), scale: 1, disp }
    }

    /// Puts an address into a register.
    pub fn lea(&mut self, reg: VReg, parts: Parts) {
        if let Some(index) = parts.index {
            let base = match parts.base {
                PartBase::Term(term) => self.term(term),
                _ => unreachable!("only registers have an index"),
            };
            let index = self.term(index);
            let how = modifier(kind::LSL, parts.scale.trailing_zeros() as u8);
            self.push2(insts::ADD, 8, reg, base, index).imm = how;
            return;
        }
        if let PartBase::Symbol(symbol, access) = parts.base {
            self.make_symbol(reg, symbol, access, parts.disp);
            return;
        }
        let mut operands: Operands = SmallVec::new();
        operands.push(write(reg));
        let address = address(self, parts, &mut operands);
        let id = self.b.address(address);
        self.b.push(insts::LEA, 8, &operands).address = Some(id);
    }

    // ---- loads and stores ----

    /// A load of one value into a register, as the op says.
    pub fn load_from(&mut self, load: Op, class: Class, to: VReg, parts: Parts, volatile: bool) {
        let size = class.size() as u8;
        let (row, op_size) = match load {
            Op::Loadub => (insts::LDRB, 4),
            Op::Loaduh => (insts::LDRH, 4),
            Op::Loadsb => (insts::LDRSB, size),
            Op::Loadsh => (insts::LDRSH, size),
            Op::Loadsw if class == Class::L => (insts::LDRSW, 8),
            Op::Loadsw | Op::Loaduw | Op::Loads => (insts::LDR, 4),
            Op::Loadl | Op::Loadd => (insts::LDR, 8),
            _ => unreachable!("{load:?} is not a load"),
        };
        let bytes = load.load_size().expect("a load") as u8;
        let inst = self.push_memory(row, op_size, &[write(to)], parts, bytes);
        if volatile {
            inst.imm |= VOLATILE;
        }
    }

    pub fn store_inst(&mut self, inst: &Inst) {
        let size = inst.op.store_size().expect("a store") as u8;
        let class = match inst.op {
            Op::Stores => Class::S,
            Op::Stored => Class::D,
            Op::Storel => Class::L,
            _ => Class::W,
        };
        let parts = self.parts_for(inst.args[1], size);
        self.store_to(parts, inst.args[0], class, size, inst.volatile);
    }

    /// Stores the low `size` bytes of a value.
    pub fn store_to(&mut self, to: Parts, value: Ref, class: Class, size: u8, volatile: bool) {
        let value = self.b.resolve(value);
        let flag = if volatile { VOLATILE } else { 0 };
        let constant = self.b.constant_bits(value, class);
        let low =
            constant.map(|bits| if size == 8 { bits } else { bits & ((1 << (8 * size)) - 1) });
        if low == Some(0) {
            self.push_memory(insts::STR_ZERO, size, &[], to, size).imm |= flag;
            return;
        }
        let reg = match low {
            // What is made in one instruction either way.
            Some(bits) if class.is_int() || immediates::float8(bits, size).is_none() => {
                let int = if class.is_wide() { Class::L } else { Class::W };
                self.constant(Constant::Number(bits, int))
            }
            _ => {
                let (value, class) = self.stored(value, class, size);
                self.value(value, class)
            }
        };
        let row = match size {
            1 => insts::STRB,
            2 => insts::STRH,
            _ => insts::STR,
        };
        self.push_memory(row, size, &[read(reg)], to, size).imm |= flag;
    }

    /// The value without what a store of `size` bytes does not see: extensions, and moves of its bits
    /// to the other file.
    fn stored(&self, value: Ref, class: Class, size: u8) -> (Ref, Class) {
        let (mut value, mut class) = (value, class);
        while let Some(inst) = self.b.only_use(value) {
            let inner = self.b.resolve(inst.args[0]);
            if inner.as_temp().is_none() {
                break;
            }
            if inst.op == Op::Cast && u32::from(size) == inst.class.size() {
                class = match inst.class {
                    Class::W => Class::S,
                    Class::L => Class::D,
                    Class::S => Class::W,
                    Class::D => Class::L,
                };
            } else if inst.op.extension().is_none_or(|(bits, _)| bits < 8 * u32::from(size)) {
                break;
            }
            value = inner;
        }
        (value, class)
    }

    // ---- copies of memory ----

    /// Copies `bytes` bytes from one address to another. The areas are apart or the same.
    pub fn copy(&mut self, from: Parts, to: Parts, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let (from, to) = (self.plain(from), self.plain(to));
        let mut done = 0;
        while done < bytes {
            let size = (bytes - done).min(COPY_ROW);
            self.copy_row(from.plus(done), to.plus(done), size);
            done += size;
        }
    }

    /// The address as a register or a part of the frame, and a constant.
    fn plain(&mut self, parts: Parts) -> Parts {
        match parts.base {
            PartBase::Symbol(symbol, access) => {
                let reg = self.constant(Constant::Symbol(symbol, access, 0));
                Parts { disp: parts.disp, ..Parts::reg(reg) }
            }
            PartBase::Term(term) => {
                let reg = self.term(term);
                Parts { disp: parts.disp, ..Parts::reg(reg) }
            }
            _ => parts,
        }
    }

    fn copy_row(&mut self, from: Parts, to: Parts, bytes: u64) {
        let bank = if bytes >= 4 { Bank::Float } else { Bank::Int };
        let mut operands: Operands = SmallVec::new();
        for _ in 0..2 {
            let temporary = self.b.new_reg(bank, 8);
            operands.push(scratch(temporary));
        }
        let source = address(self, from, &mut operands);
        let destination = address(self, to, &mut operands);
        let id = self.b.address(source);
        self.b.address(destination);
        let inst = self.b.push(insts::BLIT, 8, &operands);
        inst.address = Some(id);
        inst.imm = bytes as i64;
    }

    /// The `bytes` (1 to 8) bytes at an address in an integer register, the rest of it unspecified,
    /// without touching memory behind them.
    pub fn load_bytes(&mut self, parts: Parts, bytes: u8) -> VReg {
        let parts = if bytes.is_power_of_two() { parts } else { self.plain(parts) };
        let one = |this: &mut Self, row: MOp, op_size: u8, size: u8, offset: u64| {
            let to = this.b.int_reg(8);
            this.push_memory(row, op_size, &[write(to)], parts.plus(offset), size);
            to
        };
        let byte = |this: &mut Self, offset| one(this, insts::LDRB, 4, 1, offset);
        let half = |this: &mut Self, offset| one(this, insts::LDRH, 4, 2, offset);
        let word = |this: &mut Self, offset| one(this, insts::LDR, 4, 4, offset);
        let (low, high, shift) = match bytes {
            1 => return byte(self, 0),
            2 => return half(self, 0),
            4 => return word(self, 0),
            8 => return one(self, insts::LDR, 8, 8, 0),
            3 => (half(self, 0), byte(self, 2), 16),
            5 => (word(self, 0), byte(self, 4), 32),
            6 => (word(self, 0), half(self, 4), 32),
            7 => (word(self, 0), word(self, 3), 24),
            _ => unreachable!("a piece has 1 to 8 bytes"),
        };
        let both = self.b.int_reg(8);
        self.push2(insts::ORR, 8, both, low, high).imm = modifier(kind::LSL, shift);
        both
    }

    // ---- run-time allocation ----

    /// The stack pointer stays aligned to 16, which is all that is asked.
    pub fn alloc(&mut self, inst: &Inst, to: VReg) {
        self.b.code.dynamic = true;
        self.b.code.reserved.insert(FP);
        if let Some(bits) = self.b.f.bits(self.b.resolve(inst.args[0])) {
            let size = (bits.wrapping_add(15) & !15) as i64;
            self.b.push(insts::ALLOC_I, 8, &[write(to)]).imm = size;
            return;
        }
        let size = self.value(inst.args[0], Class::L);
        let (sum, rounded) = (self.b.int_reg(8), self.b.int_reg(8));
        self.push1(insts::ADD_I, 8, sum, size).imm = 15;
        self.push1(insts::AND_I, 8, rounded, sum).imm = -16;
        self.b.push(insts::ALLOC_R, 8, &[write(to), read(rounded)]);
    }
}
