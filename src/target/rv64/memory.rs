//! Addresses, loads, stores, copies of memory and run-time allocation.

use super::constants::SYMBOL_REACH;
use super::insts;
use super::isel::Isel;
use super::materialise::{fits12, steps};
use super::regs::S0;
use crate::ir::{Access, Class, Inst, Op, Ref};
use crate::target::address::{Operands, PartBase, Parts, Term, address};
use crate::target::constants::Constant;
use crate::target::lower::{Def, read, scratch, write, write_over};
use crate::target::machine::{MOp, VReg, op};
use crate::target::select::Select;
use smallvec::{SmallVec, smallvec};

/// Additions looked through in one address.
const DEPTH: u32 = 8;

/// Loads and stores of one copy that are written out; beyond it is a loop.
const INLINE_COPIES: u64 = 32;

/// Loads of a copy that come before the first of their stores.
const GROUP: u64 = 4;

/// What one round of the copying loop does.
const ROUND: u64 = 4;

impl Isel<'_> {
    // ---- addresses ----

    /// Base plus displacement; a displacement from a register fits 12 bits.
    pub fn take_apart(&self, r: Ref) -> Parts {
        let mut r = self.b.resolve(r);
        let mut disp = 0i64;
        // What it is if nothing more can be looked through.
        let mut best = Parts::term(Term::Value(r));
        for _ in 0..DEPTH {
            if let Some(parts) = self.fixed_base(r, disp) {
                return parts;
            }
            let Some(t) = r.as_temp() else { return best };
            if fits12(disp) {
                best = Parts { disp, ..Parts::term(Term::Value(r)) };
            }
            // An address that is in a register anyway is used as it is.
            if self.b.uses[t] > 1 && self.b.wanted(t).is_some() {
                return best;
            }
            let Some(inst) = self.b.definition(r) else { return best };
            let Some((next, offset)) = self.offset_of(inst) else { return best };
            disp = disp.wrapping_add(offset);
            r = next;
        }
        best
    }

    /// As `take_apart`, for one load or store, which may also add a register to an address in the
    /// frame: that takes no more than making the address.
    pub fn access_parts(&self, r: Ref) -> Parts {
        let parts = self.take_apart(r);
        let PartBase::Term(Term::Value(base)) = parts.base else { return parts };
        let Some(inst) = self.b.only_use(base) else { return parts };
        if inst.op != Op::Add || inst.class != Class::L {
            return parts;
        }
        let [a, b, _] = inst.args;
        for (fixed, index) in [(a, b), (b, a)] {
            let fixed = self.take_apart(fixed);
            if let (PartBase::Slot(_), None) = (fixed.base, fixed.index)
                && let Some(disp) = fixed.disp.checked_add(parts.disp)
            {
                let index = Some(Term::Value(self.b.resolve(index)));
                return Parts { disp, index, ..fixed };
            }
        }
        parts
    }

    /// The operand and the constant that an addition adds to it.
    fn offset_of(&self, inst: &Inst) -> Option<(Ref, i64)> {
        if inst.class != Class::L {
            return None;
        }
        let (a, b) = self.constant_last(inst);
        match inst.op {
            Op::Add => {
                if let Some(offset) = self.constant_int(b, Class::L) {
                    return Some((self.b.resolve(a), offset));
                }
                None
            }
            Op::Sub => {
                let offset = self.constant_int(inst.args[1], Class::L)?;
                Some((self.b.resolve(inst.args[0]), offset.wrapping_neg()))
            }
            _ => None,
        }
    }

    /// The address `r + disp`, if it is a part of the frame, a symbol or a number.
    fn fixed_base(&self, r: Ref, disp: i64) -> Option<Parts> {
        let f = self.b.f;
        let with = |base, disp| Some(Parts { base, disp, ..Parts::ZERO });
        let near = |disp: i64| (-SYMBOL_REACH..SYMBOL_REACH).contains(&disp);
        if let Some(bits) = f.bits(r) {
            return with(PartBase::None, disp.wrapping_add(bits as i64));
        }
        if let Some((symbol, access, offset)) = f.symbol_of(r) {
            let all = disp.wrapping_add(offset);
            return match access {
                Access::Direct | Access::Thread if near(all) => {
                    with(PartBase::Symbol(symbol, access), all)
                }
                Access::Direct | Access::Thread => {
                    let term = Term::Symbol(symbol, access, offset);
                    fits12(disp).then(|| Parts { disp, ..Parts::term(term) })
                }
                Access::Extern | Access::ExternThread => {
                    let term = Term::Symbol(symbol, access, 0);
                    fits12(all).then(|| Parts { disp: all, ..Parts::term(term) })
                }
            };
        }
        if let Some(slot) = r.as_slot() {
            return if near(disp) { with(PartBase::Slot(slot), disp) } else { None };
        }
        match self.b.defs[r.as_temp()?] {
            Def::Incoming(offset) if near(disp) => {
                with(PartBase::Incoming, disp.wrapping_add(offset as i64))
            }
            _ => None,
        }
    }

    /// The result of an addition, if it is an address in the frame or from a symbol.
    pub fn fixed_address(&self, inst: &Inst) -> Option<Parts> {
        let (mut r, mut disp) = self.offset_of(inst)?;
        for _ in 0..DEPTH {
            if let Some(parts) = self.fixed_base(r, disp) {
                let fixed = !matches!(parts.base, PartBase::None | PartBase::Term(_));
                return fixed.then_some(parts);
            }
            let (next, offset) = self.offset_of(self.b.definition(r)?)?;
            disp = disp.wrapping_add(offset);
            r = next;
        }
        None
    }

    /// Puts an address into a register.
    pub fn make_address(&mut self, reg: VReg, parts: Parts) {
        match parts.base {
            PartBase::None => {
                self.b.push(insts::LI, 8, &[write(reg)]).imm = parts.disp;
            }
            PartBase::Term(term) => {
                let base = self.term(term);
                if parts.disp == 0 {
                    self.b.push(op::COPY, 8, &[write(reg), read(base)]);
                } else if fits12(parts.disp) {
                    self.immediate(insts::ADDI, reg, base, parts.disp);
                } else {
                    let far = self.int_constant(parts.disp, 8);
                    self.binary(insts::ADD, reg, base, far);
                }
            }
            PartBase::Slot(_) | PartBase::Incoming | PartBase::Outgoing | PartBase::Symbol(..) => {
                let mut operands: Operands = smallvec![write(reg)];
                let address = address(self, parts, &mut operands);
                self.push_address(insts::LEA, &operands, address);
            }
        }
    }

    // ---- loads and stores ----

    /// A load of one value into a register, as the op says.
    pub fn load_from(&mut self, load: Op, class: Class, to: VReg, parts: Parts) {
        let row = match load {
            Op::Loadub => insts::LBU,
            Op::Loadsb => insts::LB,
            Op::Loaduh => insts::LHU,
            Op::Loadsh => insts::LH,
            Op::Loaduw if class == Class::L => insts::LWU,
            Op::Loaduw | Op::Loadsw => insts::LW,
            Op::Loadl => insts::LD,
            Op::Loads => insts::FLW,
            Op::Loadd => insts::FLD,
            _ => unreachable!("{load:?} is not a load"),
        };
        self.push_memory(row, &[write(to)], parts);
    }

    pub fn store_inst(&mut self, inst: &Inst) {
        let size = inst.op.store_size().expect("a store") as u8;
        let parts = self.access_parts(inst.args[1]);
        let class = match inst.op {
            Op::Stores => Class::S,
            Op::Stored => Class::D,
            Op::Storel => Class::L,
            _ => Class::W,
        };
        self.store_to(parts, inst.args[0], class, size);
    }

    /// Stores the low `size` bytes of a value.
    pub fn store_to(&mut self, parts: Parts, value: Ref, class: Class, size: u8) {
        let value = self.b.resolve(value);
        if let Some(bits) = self.b.constant_bits(value, class) {
            let bits = match size {
                1 => i64::from(bits as i8),
                2 => i64::from(bits as i16),
                4 => i64::from(bits as i32),
                _ => bits as i64,
            };
            if bits == 0 {
                let parts = self.near_base(parts);
                let mut operands = Operands::new();
                let address = address(self, parts, &mut operands);
                let id = self.b.address(address);
                self.b.push(insts::STORE_ZERO, size, &operands).address = Some(id);
                return;
            }
            // The bits of a float come cheaper by way of an integer register.
            if class.is_int() || steps(bits, self.features.zbs).len() <= 2 {
                let constant = if size == 8 { Class::L } else { Class::W };
                let number = Constant::Number(bits as u64, constant);
                let reg = self.constant(number);
                return self.store_reg(parts, reg, size);
            }
        }
        let reg = if class.is_int() {
            let value = self.narrowed(value, size);
            self.low(value)
        } else {
            self.value(value, class)
        };
        self.store_reg(parts, reg, size);
    }

    /// The operand without extensions that change only bits above the low `size` bytes.
    fn narrowed(&self, value: Ref, size: u8) -> Ref {
        let mut value = value;
        while let Some(inst) = self.b.only_use(value)
            && let Some((bits, _)) = inst.op.extension()
            && bits >= 8 * u32::from(size)
            && self.b.resolve(inst.args[0]).as_temp().is_some()
        {
            value = self.b.resolve(inst.args[0]);
        }
        value
    }

    // ---- copies ----

    /// The bytes that a copy moves at once. Accesses that are not aligned may be slow, so without
    /// the feature nothing is taken for better aligned than it is known to be, or than a C object
    /// of that size can be: its alignment divides its size.
    fn copy_unit(&self, from: Parts, to: Parts, bytes: u64, align: u64) -> u64 {
        if self.features.unaligned {
            return 8;
        }
        let known = self.alignment(from).min(self.alignment(to)).max(align);
        known.max(1 << bytes.trailing_zeros().min(3)).min(8)
    }

    fn alignment(&self, parts: Parts) -> u64 {
        let base = match parts.base {
            PartBase::Slot(slot) => u64::from(self.b.code.slots[slot].align),
            PartBase::Incoming | PartBase::Outgoing => 8,
            PartBase::None | PartBase::Term(_) | PartBase::Symbol(..) => 1,
        };
        base.min(1 << parts.disp.trailing_zeros().min(3))
    }

    /// Copies memory. The areas are apart or the same.
    pub fn copy(&mut self, from: Parts, to: Parts, bytes: u64, align: u64) {
        if bytes == 0 {
            return;
        }
        let unit = self.copy_unit(from, to, bytes, align);
        if bytes / unit > INLINE_COPIES {
            return self.copy_loop(from, to, bytes, unit);
        }
        let one = bytes <= unit && bytes.is_power_of_two();
        let from = if one { from } else { self.base_in_register(from, bytes) };
        let to = if one { to } else { self.base_in_register(to, bytes) };
        self.copy_chunks(from, to, bytes, unit);
    }

    /// The address in a form that `bytes` bytes from it on have too.
    fn base_in_register(&mut self, parts: Parts, bytes: u64) -> Parts {
        let last = parts.disp.saturating_add_unsigned(bytes);
        match parts.base {
            PartBase::Term(term) if fits12(parts.disp) && fits12(last) => {
                let reg = self.term(term);
                Parts { disp: parts.disp, ..Parts::reg(reg) }
            }
            PartBase::Slot(_) | PartBase::Incoming | PartBase::Outgoing => parts,
            PartBase::None | PartBase::Term(_) | PartBase::Symbol(..) => {
                let reg = self.b.int_reg(8);
                self.make_address(reg, parts);
                Parts::reg(reg)
            }
        }
    }

    fn copy_chunks(&mut self, from: Parts, to: Parts, bytes: u64, unit: u64) {
        let mut done = 0;
        while done < bytes {
            let mut stores: SmallVec<[(u64, VReg, u8); GROUP as usize]> = SmallVec::new();
            while done < bytes && stores.len() < GROUP as usize {
                let rest = bytes - done;
                let mut size = unit.min(1 << rest.ilog2());
                if self.features.unaligned && rest < unit && bytes >= unit {
                    // The last bytes once more, with some of those before them.
                    size = rest.next_power_of_two();
                    done = bytes - size;
                }
                let reg = self.b.int_reg(8);
                self.load_reg(reg, from.plus(done), size as u8);
                stores.push((done, reg, size as u8));
                done += size;
            }
            for (at, reg, size) in stores {
                self.store_reg(to.plus(at), reg, size);
            }
        }
    }

    fn copy_loop(&mut self, from: Parts, to: Parts, bytes: u64, unit: u64) {
        let (source, destination) = (self.b.int_reg(8), self.b.int_reg(8));
        self.make_address(source, from);
        self.make_address(destination, to);
        let whole = bytes / (unit * ROUND) * (unit * ROUND);
        let end = self.b.int_reg(8);
        self.make_address(end, Parts { disp: whole as i64, ..Parts::reg(source) });
        let temporary = self.b.int_reg(8);
        let (source_end, destination_end) = (self.b.int_reg(8), self.b.int_reg(8));
        let operands = [
            scratch(temporary),
            write_over(source_end, 3),
            write_over(destination_end, 4),
            read(source),
            read(destination),
            read(end),
        ];
        self.b.push(insts::BLIT_LOOP, unit as u8, &operands).imm = ROUND as i64;
        let (from, to) = (Parts::reg(source_end), Parts::reg(destination_end));
        self.copy_chunks(from, to, bytes - whole, unit);
    }

    /// The `bytes` (1 to 8) bytes at an address in an integer register, the rest of it unspecified,
    /// without touching memory behind them.
    pub fn load_bytes(&mut self, from: Parts, bytes: u8) -> VReg {
        // Bytes, where they start, by the size of loads.
        let chunks: &[(MOp, u64)] = match bytes {
            1 => &[(insts::LBU, 0)],
            2 => &[(insts::LHU, 0)],
            3 => &[(insts::LHU, 0), (insts::LBU, 2)],
            4 => &[(insts::LW, 0)],
            5 => &[(insts::LWU, 0), (insts::LBU, 4)],
            6 => &[(insts::LWU, 0), (insts::LHU, 4)],
            7 => &[(insts::LWU, 0), (insts::LHU, 4), (insts::LBU, 6)],
            8 => &[(insts::LD, 0)],
            _ => unreachable!("a piece has 1 to 8 bytes"),
        };
        let from =
            if chunks.len() > 1 { self.base_in_register(from, u64::from(bytes)) } else { from };
        let mut all: Option<VReg> = None;
        for &(row, at) in chunks {
            let part = self.b.int_reg(8);
            self.push_memory(row, &[write(part)], from.plus(at));
            all = Some(match all {
                None => part,
                Some(low) => {
                    let high = self.new_immediate(insts::SLLI, part, 8 * at as i64);
                    self.new_binary(insts::OR, low, high)
                }
            });
        }
        all.expect("a piece has a byte")
    }

    // ---- run-time allocation ----

    /// The stack pointer stays aligned to 16, which is all that is asked.
    pub fn alloc(&mut self, inst: &Inst, to: VReg) {
        self.b.code.dynamic = true;
        self.b.code.reserved.insert(S0);
        if let Some(bits) = self.b.f.bits(self.b.resolve(inst.args[0])) {
            let size = (bits.wrapping_add(15) & !15) as i64;
            self.b.push(insts::ALLOC_IMM, 8, &[write(to)]).imm = size;
            return;
        }
        let size = self.value(inst.args[0], Class::L);
        let sum = self.new_immediate(insts::ADDI, size, 15);
        let rounded = self.new_immediate(insts::ANDI, sum, -16);
        self.unary(insts::ALLOC, to, rounded);
    }
}
