//! Calls, parameters, returns and `vastart`: the convention applied.

use super::abi::{self, Piece, Place};
use super::address::{PartBase, Parts, Term};
use super::insts;
use super::isel::{Isel, Operands};
use super::regs::SYSV;
use crate::ir::{AbiType, Access, Class, Inst, Op, Ref, Slot, SlotId, TempId};
use crate::target::lower::{Builder, Def, bank, read, read_in, write, write_in};
use crate::target::machine::{Address, Bank, Base, Operand, VReg, op};
use smallvec::SmallVec;

/// Stores of registers still to be made: where, what, bytes.
type Stores = SmallVec<[(Parts, VReg, u8); 8]>;

/// Bytes of the area where a variadic function saves its registers: six integer registers of 8
/// bytes, eight vector registers of 16.
const SAVE_AREA: u64 = 176;
const SAVE_FLOATS: u64 = 48;

/// The memory for the result of a call that returns an aggregate, which is what the call's result
/// names. It can hold whole registers, so they are stored whole.
pub fn result_pad(b: &mut Builder<'_>, inst: &Inst) -> Option<Ref> {
    let AbiType::Aggregate(id) = b.f.calls[inst.call()?].ret? else { return None };
    let ty = &b.module.types[id];
    let size = ty.size.next_multiple_of(8);
    let align = ty.align.clamp(8, 16) as u32;
    Some(Ref::slot(b.code.slots.push(Slot { size, align, name: None })))
}

fn outgoing(offset: u64) -> Parts {
    Parts { base: PartBase::Outgoing, ..Parts::ZERO }.plus(offset)
}

fn incoming(offset: u64) -> Parts {
    Parts { base: PartBase::Incoming, ..Parts::ZERO }.plus(offset)
}

impl Isel<'_> {
    // ---- calls ----

    pub fn call(&mut self, inst: &Inst) {
        let f = self.b.f;
        let id = inst.call().expect("a call has a row");
        let call = &f.calls[id];
        let assignment =
            abi::assign(self.convention, self.b.module, call.ret, call.args.iter().map(|a| a.ty));
        self.b.code.calls = true;
        self.b.code.outgoing = self.b.code.outgoing.max(assignment.stack);
        if self.b.returns_twice(inst.args[0]) {
            self.b.code.returns_twice = true;
        }
        for (arg, place) in call.args.iter().zip(&assignment.places) {
            match *place {
                Place::Stack(offset) => self.stack_argument(arg.value, arg.ty, outgoing(offset)),
                Place::StackAggregate(offset) => {
                    let AbiType::Aggregate(id) = arg.ty else { unreachable!("an aggregate") };
                    let size = self.b.module.types[id].size;
                    let from = self.parts(arg.value);
                    self.copy_memory(from, outgoing(offset), size);
                }
                Place::Reg(_) | Place::Pieces(_) | Place::Nothing => {}
            }
        }
        let mut uses: SmallVec<[Operand; 16]> = SmallVec::new();
        for (arg, place) in call.args.iter().zip(&assignment.places) {
            match place {
                Place::Reg(at) => {
                    let reg = self.extended(arg.value, arg.ty);
                    uses.push(read_in(reg, *at));
                }
                Place::Pieces(pieces) => {
                    let from = self.parts(arg.value);
                    for &piece in pieces {
                        let reg = self.piece_of(from, piece);
                        uses.push(read_in(reg, piece.reg));
                    }
                }
                Place::Stack(_) | Place::StackAggregate(_) | Place::Nothing => {}
            }
        }
        // A result that nobody names has no memory yet.
        let pad = match inst.to {
            Some(to) => self.b.resolve(Ref::temp(to)),
            None => result_pad(&mut self.b, inst).unwrap_or(Ref::NONE),
        };
        let pad = pad.as_slot();
        if let Some(at) = assignment.hidden {
            let reg = self.b.constant_reg(Bank::Int, 8);
            self.lea(reg, 8, Parts::slot(pad.expect("a result in memory has a pad")));
            uses.push(read_in(reg, at));
        }
        if call.env.is_some() {
            let reg = self.value(call.env, Class::L);
            let variadic = call.variadic.is_some();
            let at = if variadic { self.convention.env_variadic } else { self.convention.env };
            uses.push(read_in(reg, at));
        }
        if call.variadic.is_some() {
            let count = self.int_constant(assignment.floats as i64, 4);
            uses.push(read_in(count, self.convention.vector_count));
        }
        let (mut operands, after) = self.results(inst, call.ret, pad);
        operands.extend_from_slice(&uses);
        self.push_call(inst.args[0], operands);
        for (parts, reg, bytes) in after {
            self.store_reg(parts, reg, bytes);
        }
    }

    /// The registers that results come in, and where their parts of an aggregate go.
    fn results(
        &mut self,
        inst: &Inst,
        ty: Option<AbiType>,
        pad: Option<SlotId>,
    ) -> (SmallVec<[Operand; 16]>, Stores) {
        let mut operands = SmallVec::new();
        let mut after = SmallVec::new();
        let Some(ty) = ty else { return (operands, after) };
        match abi::result(self.convention, self.b.module, ty) {
            Place::Reg(at) => {
                if let Some(reg) = inst.to.and_then(|to| self.b.wanted(to)) {
                    operands.push(write_in(reg, at));
                }
            }
            Place::Pieces(pieces) => {
                let pad = pad.expect("an aggregate has a pad");
                for piece in pieces {
                    let reg = self.b.new_reg(piece.reg.bank(), 8);
                    operands.push(write_in(reg, piece.reg));
                    after.push((Parts::slot(pad).plus(piece.offset), reg, 8));
                }
            }
            Place::StackAggregate(_) | Place::Stack(_) | Place::Nothing => {}
        }
        (operands, after)
    }

    fn push_call(&mut self, callee: Ref, mut operands: SmallVec<[Operand; 16]>) {
        let callee = self.b.resolve(callee);
        let clobbers = self.b.clobbers(SYSV.caller_saved);
        if let Some((symbol, access, disp)) = self.b.f.symbol_of(callee)
            && (access == Access::Direct || access == Access::Extern && disp == 0)
            && i32::try_from(disp).is_ok()
        {
            let base = Base::Symbol(symbol, access);
            let address = Address { base, index: None, scale: 1, disp };
            self.push_address(insts::CALL, 8, &operands, address).clobbers = clobbers;
        } else if let Some(parts) = self.memory_operand(callee, 8) {
            let mut all: Operands = SmallVec::from_slice(&operands);
            let address = self.address(parts, &mut all);
            self.push_address(insts::CALL_M, 8, &all, address).clobbers = clobbers;
        } else {
            let reg = self.value(callee, Class::L);
            operands.push(read(reg));
            let number = operands.len() as i64 - 1;
            let inst = self.b.push(insts::CALL_R, 8, &operands);
            inst.imm = number;
            inst.clobbers = clobbers;
        }
    }

    /// An argument in a register, extended to 32 bits if its type is smaller.
    fn extended(&mut self, value: Ref, ty: AbiType) -> VReg {
        let (size, signed) = match ty {
            AbiType::Byte { signed } => (1, signed),
            AbiType::Half { signed } => (2, signed),
            AbiType::Base(class) => return self.value(value, class),
            AbiType::Aggregate(_) => unreachable!("not a scalar"),
        };
        if let Some(value) = self.extended_constant(value, size, signed) {
            return self.int_constant(value, 4);
        }
        if self.is_extended(value, size, signed) {
            return self.value(value, Class::W);
        }
        let to = self.b.int_reg(4);
        if signed {
            self.sign_extend(value, size, Class::W, to);
        } else {
            self.zero_extend(value, size, to);
        }
        to
    }

    fn extended_constant(&self, value: Ref, size: u8, signed: bool) -> Option<i64> {
        let bits = self.b.f.bits(self.b.resolve(value))?;
        Some(match (size, signed) {
            (1, true) => i64::from(bits as i8),
            (1, false) => i64::from(bits as u8),
            (_, true) => i64::from(bits as i16),
            (_, false) => i64::from(bits as u16),
        })
    }

    /// The definition of `value` has extended it as wanted.
    pub fn is_extended(&self, value: Ref, size: u8, signed: bool) -> bool {
        let Some(inst) = self.b.definition(self.b.resolve(value)) else { return false };
        let (bits, from_signed) = match inst.op {
            Op::Loadsb | Op::Extsb => (8, true),
            Op::Loadub | Op::Extub => (8, false),
            Op::Loadsh | Op::Extsh => (16, true),
            Op::Loaduh | Op::Extuh => (16, false),
            op if op.comparison().is_some() => (1, false),
            _ => return false,
        };
        let wanted = 8 * u32::from(size);
        if from_signed == signed { bits <= wanted } else { signed && bits < wanted }
    }

    fn stack_argument(&mut self, value: Ref, ty: AbiType, to: Parts) {
        match ty {
            AbiType::Base(class) => self.store_to(to, value, class, class.size() as u8),
            AbiType::Byte { .. } | AbiType::Half { .. } => {
                let reg = self.extended(value, ty);
                self.store_reg(to, reg, 4);
            }
            AbiType::Aggregate(_) => unreachable!("not a scalar"),
        }
    }

    /// A piece of the aggregate at `from` in a register.
    fn piece_of(&mut self, from: Parts, piece: Piece) -> VReg {
        let parts = from.plus(piece.offset);
        if piece.reg.bank() == Bank::Int {
            // A slot of our own frame may be read past its end.
            let own = matches!(parts.base, PartBase::Slot(_)) && parts.index.is_none();
            let bytes = if own && piece.bytes > 4 { 8 } else { piece.bytes };
            return self.load_piece(parts, bytes);
        }
        let size = if piece.bytes > 4 { 8 } else { 4 };
        let reg = self.b.new_reg(Bank::Float, size);
        self.push_memory(insts::FMOV_RM, size, &[write(reg)], parts);
        reg
    }

    // ---- parameters ----

    /// Gives aggregate parameters their memory: before anything is selected.
    pub fn place_parameters(&mut self) {
        let f = self.b.f;
        for (n, param) in f.params.iter().enumerate() {
            let AbiType::Aggregate(id) = param.ty else { continue };
            match self.params.places[n] {
                Place::StackAggregate(offset) => self.b.defs[param.to] = Def::Incoming(offset),
                Place::Pieces(_) | Place::Nothing => {
                    let ty = &self.b.module.types[id];
                    let size = ty.size.next_multiple_of(8);
                    let align = ty.align.clamp(8, 16) as u32;
                    let slot = self.b.code.slots.push(Slot { size, align, name: None });
                    self.b.set_alias(param.to, Ref::slot(slot));
                }
                Place::Reg(_) | Place::Stack(_) => unreachable!("not a scalar"),
            }
        }
    }

    /// The start of the entry block: parameters come out of their registers and the stack.
    pub fn receive_parameters(&mut self) {
        let f = self.b.f;
        let mut defs: SmallVec<[Operand; 16]> = SmallVec::new();
        let mut stores: Stores = SmallVec::new();
        let mut loads: SmallVec<[(TempId, AbiType, u64); 8]> = SmallVec::new();
        for (n, param) in f.params.iter().enumerate() {
            match &self.params.places[n] {
                Place::Reg(at) => {
                    if let Some(reg) = self.b.wanted(param.to) {
                        defs.push(write_in(reg, *at));
                    }
                }
                Place::Stack(offset) | Place::StackAggregate(offset) => {
                    if self.b.wanted(param.to).is_some() {
                        loads.push((param.to, param.ty, *offset));
                    }
                }
                Place::Pieces(pieces) => {
                    let slot = self.b.resolve(Ref::temp(param.to)).as_slot();
                    let slot = slot.expect("an aggregate parameter has a slot");
                    for piece in pieces {
                        let reg = self.b.new_reg(piece.reg.bank(), 8);
                        defs.push(write_in(reg, piece.reg));
                        stores.push((Parts::slot(slot).plus(piece.offset), reg, 8));
                    }
                }
                Place::Nothing => {}
            }
        }
        if let Some(env) = f.env
            && let Some(reg) = self.b.wanted(env)
        {
            let at = if f.variadic { self.convention.env_variadic } else { self.convention.env };
            defs.push(write_in(reg, at));
        }
        if let (Some(at), Some(reg)) = (self.params.hidden, self.hidden) {
            defs.push(write_in(reg, at));
        }
        if f.variadic {
            self.save_registers(&mut defs, &mut stores);
        }
        self.b.push(op::PARAMS, 0, &defs);
        for (parts, reg, size) in stores {
            self.store_reg(parts, reg, size);
        }
        for (to, ty, offset) in loads {
            self.load_parameter(to, ty, offset);
        }
        self.b.flush();
    }

    /// A parameter among the stack arguments, which nobody else writes: where it does not fit into
    /// registers it is read again.
    fn load_parameter(&mut self, to: TempId, ty: AbiType, offset: u64) {
        let reg = self.b.temp_reg(to);
        self.b.set_rematerialise(reg);
        let class = ty.class();
        match (ty, bank(class)) {
            (AbiType::Aggregate(_), _) => self.lea(reg, 8, incoming(offset)),
            (_, Bank::Int) => {
                let size = class.size() as u8;
                self.push_memory(insts::MOV_RM, size, &[write(reg)], incoming(offset));
            }
            (_, Bank::Float) => {
                let size = class.size() as u8;
                self.push_memory(insts::FMOV_RM, size, &[write(reg)], incoming(offset));
            }
        }
    }

    /// A variadic function writes the integer registers that no named parameter took into its save
    /// area. It knows the vector registers by now, as the entry is selected last.
    fn save_registers(&mut self, defs: &mut SmallVec<[Operand; 16]>, stores: &mut Stores) {
        let Some(area) = self.save_area else { return };
        for (n, &at) in self.convention.int_args.iter().enumerate().skip(self.params.ints) {
            let reg = self.b.int_reg(8);
            defs.push(write_in(reg, at));
            stores.push((Parts::slot(area).plus(8 * n as u64), reg, 8));
        }
        if let Some(vectors) = self.vectors
            && let Some(reg) = self.b.wanted(vectors.count)
        {
            defs.push(write_in(reg, self.convention.vector_count));
        }
        defs.extend(self.saved_vectors.drain(..).map(|(reg, at)| write_in(reg, at)));
    }

    /// The block that saves the vector registers that no named parameter took.
    pub fn save_vectors(&mut self) {
        let Some(area) = self.save_area else { return };
        for (n, &at) in self.convention.float_args.iter().enumerate().skip(self.params.floats) {
            let reg = self.b.new_reg(Bank::Float, 8);
            let to = Parts::slot(area).plus(SAVE_FLOATS + 16 * n as u64);
            self.push_memory(insts::FMOV16_MR, 16, &[read_in(reg, at)], to);
            self.saved_vectors.push((reg, at));
        }
        self.b.flush();
    }

    /// Fills the list: offsets of the next integer and float argument in the save area, address of
    /// the next stack argument, address of the save area.
    pub fn vastart(&mut self, inst: &Inst) {
        let list = self.parts(inst.args[0]);
        let area = *self.save_area.get_or_insert_with(|| {
            self.b.code.slots.push(Slot { size: SAVE_AREA, align: 16, name: None })
        });
        let ints = 8 * self.params.ints as i64;
        let floats = SAVE_FLOATS as i64 + 16 * self.params.floats as i64;
        self.push_memory(insts::MOV_MI, 4, &[], list).imm = ints;
        self.push_memory(insts::MOV_MI, 4, &[], list.plus(4)).imm = floats;
        for (offset, parts) in [(8, incoming(self.params.stack)), (16, Parts::slot(area))] {
            let reg = self.b.constant_reg(Bank::Int, 8);
            self.lea(reg, 8, parts);
            self.store_reg(list.plus(offset), reg, 8);
        }
    }

    // ---- returns ----

    pub fn ret(&mut self, value: Ref) {
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        if let Some(ty) = self.b.f.ret
            && value.is_some()
        {
            self.result(value, ty, &mut operands);
        }
        self.b.push(op::RETURN, 0, &operands);
    }

    fn result(&mut self, value: Ref, ty: AbiType, operands: &mut SmallVec<[Operand; 4]>) {
        match abi::result(self.convention, self.b.module, ty) {
            Place::Reg(at) => {
                let reg = self.extended(value, ty);
                operands.push(read_in(reg, at));
            }
            Place::Pieces(pieces) => {
                let from = self.parts(value);
                for piece in pieces {
                    let reg = self.piece_of(from, piece);
                    operands.push(read_in(reg, piece.reg));
                }
            }
            Place::StackAggregate(_) => {
                let AbiType::Aggregate(id) = ty else { unreachable!("an aggregate") };
                let size = self.b.module.types[id].size;
                let hidden = match self.hidden {
                    Some(reg) => reg,
                    None => *self.hidden.insert(self.b.int_reg(8)),
                };
                let from = self.parts(value);
                self.copy_memory(from, Parts::term(Term::Reg(hidden)), size);
                operands.push(read_in(hidden, self.convention.int_results[0]));
            }
            Place::Stack(_) | Place::Nothing => {}
        }
    }
}
