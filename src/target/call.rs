//! Calls, parameters and returns: a [`Convention`](super::abi::Convention) applied.

use super::abi::{Assignment, Piece, Place, Signature, Spot};
use super::address::Parts;
use super::constants::Constant;
use super::lower::{Builder, Def, read_in, write_in};
use super::machine::{Bank, Operand, VReg, op};
use super::select::{Select, Stores};
use crate::ir::{AbiType, CallId, Class, Inst, Ref, Slot, SlotId, TempId, TypeId};
use smallvec::SmallVec;

/// Registers of a call, of the parameters or of a return.
type Uses = SmallVec<[Operand; 16]>;

/// A slot for an aggregate. It can hold whole registers, so they are stored whole.
fn aggregate_slot(b: &mut Builder<'_>, id: TypeId) -> SlotId {
    let ty = &b.module.types[id];
    let (size, align) = (ty.size.next_multiple_of(8), ty.align.clamp(8, 16) as u32);
    b.code.slots.push(Slot { size, align, name: None })
}

/// The memory for the result of a call that returns an aggregate, which is what the call's result
/// names.
pub fn result_pad(b: &mut Builder<'_>, inst: &Inst) -> Option<Ref> {
    let AbiType::Aggregate(id) = b.f.calls[inst.call()?].ret? else { return None };
    Some(Ref::slot(aggregate_slot(b, id)))
}

fn assign(b: &Builder<'_>, id: CallId) -> Assignment {
    let call = &b.f.calls[id];
    let args: SmallVec<[AbiType; 8]> = call.args.iter().map(|a| a.ty).collect();
    let named = call.variadic.map_or(args.len(), |n| n as usize);
    let variadic = call.variadic.is_some();
    (b.convention.assign)(b.module, &Signature { ret: call.ret, args: &args, named, variadic })
}

/// Selects a call.
pub fn call<'a, S: Select<'a>>(s: &mut S, inst: &Inst) {
    let id = inst.call().expect("a call has a row");
    let call = &s.f.calls[id];
    let assignment = assign(s, id);
    s.code.calls = true;
    s.code.outgoing = s.code.outgoing.max(assignment.stack);
    if s.returns_twice(inst.args[0]) {
        s.code.returns_twice = true;
    }
    let mut copies: SmallVec<[VReg; 4]> = SmallVec::new();
    for (arg, place) in call.args.iter().zip(&assignment.places) {
        match place {
            Place::Stack { offset, bytes } => {
                s.stack_argument(arg.value, arg.ty, Parts::outgoing(*offset), *bytes);
            }
            Place::StackAggregate(offset) => {
                copy_aggregate(s, arg.value, arg.ty, Parts::outgoing(*offset));
            }
            Place::Reference(spot) => {
                let copy = reference(s, arg.value, arg.ty, copies.len());
                copies.push(copy);
                if let Spot::Stack(offset) = *spot {
                    s.store_reg(Parts::outgoing(offset), copy, 8);
                }
            }
            Place::Pieces(pieces) => stack_pieces(s, arg.value, arg.ty, pieces),
            Place::Reg(_) | Place::Both { .. } | Place::Nothing => {}
        }
    }
    let mut uses = Uses::new();
    let mut copies = copies.into_iter();
    for (arg, place) in call.args.iter().zip(&assignment.places) {
        if let Place::Reference(spot) = place {
            let copy = copies.next().expect("a copy was made of each");
            if let Spot::Reg(at) = *spot {
                uses.push(read_in(copy, at));
            }
            continue;
        }
        pass(s, arg.value, arg.ty, place, &mut uses);
    }
    // A result that nobody names has no memory yet.
    let pad = match inst.to {
        Some(to) => s.resolve(Ref::temp(to)),
        None => result_pad(s, inst).unwrap_or(Ref::NONE),
    };
    let pad = pad.as_slot();
    if let Some(at) = assignment.hidden {
        let pad = pad.expect("a result in memory has a pad");
        let reg = s.constant_here(Constant::Slot(pad));
        uses.push(read_in(reg, at));
    }
    let variadic = call.variadic.is_some();
    if call.env.is_some() {
        let reg = s.value(call.env, Class::L);
        uses.push(read_in(reg, s.env_register(variadic)));
    }
    if let (true, Some(at)) = (variadic, s.convention.vector_count) {
        let count = s.int_constant(assignment.floats as i64, 4);
        uses.push(read_in(count, at));
    }
    let results = results(s, inst, call.ret, pad);
    let mut operands = results.operands;
    operands.extend_from_slice(&uses);
    s.push_call(inst.args[0], operands);
    for (parts, reg, bytes) in results.stores {
        s.store_reg(parts, reg, bytes);
    }
    if let Some((to, from)) = results.moved {
        let size = s.code.vregs[to].size;
        s.move_bits(to, from, size);
    }
}

fn aggregate_of(ty: AbiType) -> TypeId {
    match ty {
        AbiType::Aggregate(id) => id,
        _ => unreachable!("an aggregate"),
    }
}

fn copy_aggregate<'a, S: Select<'a>>(s: &mut S, value: Ref, ty: AbiType, to: Parts) {
    let ty = &s.module.types[aggregate_of(ty)];
    let from = s.parts(value);
    s.copy_memory(from, to, ty.size, ty.align);
}

/// The address of a copy of an aggregate, the `n`th of its call. Calls share the memory of these
/// copies: each is dead after its call.
fn reference<'a, S: Select<'a>>(s: &mut S, value: Ref, ty: AbiType, n: usize) -> VReg {
    let id = aggregate_of(ty);
    let slot = match s.copies.get(n) {
        Some(&slot) => slot,
        None => {
            let slot = aggregate_slot(s, id);
            s.copies.push(slot);
            slot
        }
    };
    let ty = &s.module.types[id];
    let row = &mut s.code.slots[slot];
    row.size = row.size.max(ty.size.next_multiple_of(8));
    // Microsoft x64: aligned to 16. Others want the type's own alignment.
    row.align = 16;
    copy_aggregate(s, value, AbiType::Aggregate(id), Parts::slot(slot));
    s.constant_here(Constant::Slot(slot))
}

/// Stores the pieces that go to the stack.
fn stack_pieces<'a, S: Select<'a>>(s: &mut S, value: Ref, ty: AbiType, pieces: &[Piece]) {
    for piece in pieces {
        if let Spot::Stack(offset) = piece.at {
            let reg = piece_of(s, value, ty, piece, Bank::Int);
            s.store_reg(Parts::outgoing(offset), reg, 8);
        }
    }
}

/// The registers of an argument or a result.
fn pass<'a, S: Select<'a>>(s: &mut S, value: Ref, ty: AbiType, place: &Place, uses: &mut Uses) {
    match place {
        Place::Reg(at) => {
            let reg = s.extended(value, ty);
            let reg = s.in_bank_of(reg, ty.class().size() as u8, at.bank());
            uses.push(read_in(reg, *at));
        }
        Place::Both { float, int } => {
            let reg = s.extended(value, ty);
            let bits = s.in_bank_of(reg, ty.class().size() as u8, Bank::Int);
            uses.push(read_in(reg, *float));
            uses.push(read_in(bits, *int));
        }
        Place::Pieces(pieces) => {
            for piece in pieces {
                if let Spot::Reg(at) = piece.at {
                    let reg = piece_of(s, value, ty, piece, at.bank());
                    uses.push(read_in(reg, at));
                }
            }
        }
        Place::Stack { .. } | Place::StackAggregate(_) | Place::Reference(_) | Place::Nothing => {}
    }
}

/// A piece of the aggregate at `value` in a register.
fn piece_of<'a, S: Select<'a>>(
    s: &mut S,
    value: Ref,
    ty: AbiType,
    piece: &Piece,
    bank: Bank,
) -> VReg {
    let from = s.parts(value);
    let parts = from.plus(piece.offset);
    if bank == Bank::Int {
        let align = s.module.types[aggregate_of(ty)].align;
        // A slot of our own frame may be read past its end.
        let bytes = if from.is_own_slot() && piece.bytes > 4 { 8 } else { piece.bytes };
        return s.load_piece(parts, bytes, align);
    }
    let size = if piece.bytes > 4 { 8 } else { 4 };
    let reg = s.new_reg(Bank::Float, size);
    s.load_reg(reg, parts, size);
    reg
}

/// What a call defines, and what becomes of it.
struct Results {
    operands: Uses,
    stores: Stores,
    /// A result that came in a register of the other file: to, from.
    moved: Option<(VReg, VReg)>,
}

/// The registers that results come in, and where their parts of an aggregate go.
fn results<'a, S: Select<'a>>(
    s: &mut S,
    inst: &Inst,
    ty: Option<AbiType>,
    pad: Option<SlotId>,
) -> Results {
    let mut results = Results { operands: Uses::new(), stores: Stores::new(), moved: None };
    let Some(ty) = ty else { return results };
    match (s.convention.result)(s.module, ty) {
        Place::Reg(at) => {
            if let Some(reg) = inst.to.and_then(|to| s.wanted(to)) {
                let (define, moved) = defined_in(s, reg, at.bank());
                results.operands.push(write_in(define, at));
                results.moved = moved;
            }
        }
        Place::Pieces(pieces) => {
            let pad = pad.expect("an aggregate has a pad");
            receive_pieces(s, pad, &pieces, &mut results.operands, &mut results.stores);
        }
        _ => {}
    }
    results
}

/// The register to define for a value that comes in `from`, and the move it takes if that is not
/// the register's own file.
fn defined_in(b: &mut Builder<'_>, reg: VReg, from: Bank) -> (VReg, Option<(VReg, VReg)>) {
    let info = b.code.vregs[reg];
    if info.bank == from {
        return (reg, None);
    }
    let bits = b.new_reg(from, info.size);
    (bits, Some((reg, bits)))
}

/// Defines the registers of an aggregate's pieces and stores them to its slot.
fn receive_pieces(
    b: &mut Builder<'_>,
    slot: SlotId,
    pieces: &[Piece],
    defs: &mut Uses,
    stores: &mut Stores,
) {
    for piece in pieces {
        if let Spot::Reg(at) = piece.at {
            let size = if piece.bytes > 4 { 8 } else { 4 };
            let reg = b.new_reg(at.bank(), size);
            defs.push(write_in(reg, at));
            stores.push((Parts::slot(slot).plus(piece.offset), reg, size));
        }
    }
}

// ---- parameters ----

/// Gives aggregate parameters their memory: before anything is selected.
pub fn place_parameters(b: &mut Builder<'_>) {
    let f = b.f;
    for (n, param) in f.params.iter().enumerate() {
        let AbiType::Aggregate(id) = param.ty else { continue };
        match b.params.places[n] {
            Place::StackAggregate(offset) => b.defs[param.to] = Def::Incoming(offset),
            Place::Pieces(_) | Place::Nothing => {
                let slot = aggregate_slot(b, id);
                b.set_alias(param.to, Ref::slot(slot));
            }
            Place::Reference(_) => {}
            Place::Reg(_) | Place::Both { .. } | Place::Stack { .. } => {
                unreachable!("not a scalar")
            }
        }
    }
}

/// A parameter that comes from the stack: into which register, what, from where, how many bytes.
type Load = (TempId, AbiType, u64, u8);

/// The start of the entry block: parameters come out of their registers and the stack.
pub fn receive_parameters<'a, S: Select<'a>>(s: &mut S) {
    let f = s.f;
    let mut defs = Uses::new();
    let mut stores = Stores::new();
    let mut moves: SmallVec<[(VReg, VReg); 4]> = SmallVec::new();
    let mut loads: SmallVec<[Load; 8]> = SmallVec::new();
    let mut on_stack: SmallVec<[(Parts, u64); 2]> = SmallVec::new();
    let places = std::mem::take(&mut s.params.places);
    for (param, place) in f.params.iter().zip(&places) {
        let wanted = s.wanted(param.to);
        match place {
            Place::Reg(at) | Place::Both { float: at, .. } | Place::Reference(Spot::Reg(at)) => {
                if let Some(reg) = wanted {
                    let (define, moved) = defined_in(s, reg, at.bank());
                    defs.push(write_in(define, *at));
                    moves.extend(moved);
                }
            }
            Place::Stack { offset, bytes } if wanted.is_some() => {
                loads.push((param.to, param.ty, *offset, *bytes));
            }
            Place::Reference(Spot::Stack(offset)) if wanted.is_some() => {
                loads.push((param.to, AbiType::Base(Class::L), *offset, 8));
            }
            Place::StackAggregate(offset) if wanted.is_some() => {
                loads.push((param.to, param.ty, *offset, 8));
            }
            Place::Pieces(pieces) => {
                let slot = s.resolve(Ref::temp(param.to)).as_slot();
                let slot = slot.expect("an aggregate parameter has a slot");
                receive_pieces(s, slot, pieces, &mut defs, &mut stores);
                on_stack.extend(pieces.iter().filter_map(|piece| match piece.at {
                    Spot::Stack(from) => Some((Parts::slot(slot).plus(piece.offset), from)),
                    Spot::Reg(_) => None,
                }));
            }
            _ => {}
        }
    }
    s.params.places = places;
    if let Some(env) = f.env
        && let Some(reg) = s.wanted(env)
    {
        defs.push(write_in(reg, s.env_register(f.variadic)));
    }
    if let (Some(at), Some(reg)) = (s.params.hidden, s.hidden) {
        defs.push(write_in(reg, at));
    }
    if f.variadic {
        s.save_registers(&mut defs, &mut stores);
    }
    s.push(op::PARAMS, 0, &defs);
    for (parts, reg, size) in stores {
        s.store_reg(parts, reg, size);
    }
    for (to, from) in moves {
        let size = s.code.vregs[to].size;
        s.move_bits(to, from, size);
    }
    for (to, from) in on_stack {
        let reg = s.int_reg(8);
        s.load_reg(reg, Parts::incoming(from), 8);
        s.store_reg(to, reg, 8);
    }
    for (to, ty, offset, bytes) in loads {
        load_parameter(s, to, ty, offset, bytes);
    }
    s.flush();
}

/// A parameter among the stack arguments, which nobody else writes: where it does not fit into
/// registers it is read again.
fn load_parameter<'a, S: Select<'a>>(s: &mut S, to: TempId, ty: AbiType, offset: u64, bytes: u8) {
    let reg = s.temp_reg(to);
    s.set_rematerialise(reg);
    let from = Parts::incoming(offset);
    if let AbiType::Aggregate(_) = ty {
        s.address_into(reg, from);
        return;
    }
    s.stack_parameter(reg, ty, from, bytes);
}

// ---- returns ----

/// Ends the block in a return of `value`.
pub fn ret<'a, S: Select<'a>>(s: &mut S, value: Ref) {
    let mut uses = Uses::new();
    if let Some(ty) = s.f.ret
        && value.is_some()
    {
        match (s.convention.result)(s.module, ty) {
            Place::StackAggregate(_) => {
                let hidden = match s.hidden {
                    Some(reg) => reg,
                    None => {
                        let reg = s.int_reg(8);
                        *s.hidden.insert(reg)
                    }
                };
                copy_aggregate(s, value, ty, Parts::reg(hidden));
                if let Some(at) = s.convention.hidden_result {
                    uses.push(read_in(hidden, at));
                }
            }
            place => pass(s, value, ty, &place, &mut uses),
        }
    }
    s.push(op::RETURN, 0, &uses);
}
