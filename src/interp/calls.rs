//! Calls and returns: arguments, aggregates by value, variadic lists.

use super::machine::{Frame, Machine};
use super::memory::{Memory, Space};
use super::{Bits, Returned, Stop, Trap};
use crate::index::Index;
use crate::ir::{AbiType, BlockId, Class, FieldType, FunctionId, Inst, Op, Ref, Shape, TypeId};

/// A variadic list is a number in memory: this base, the frame it belongs to and the position.
const LISTS: u64 = 0x7e << 56;
const POSITION_BITS: u32 = 20;
/// No ABI passes an aggregate of more bytes in registers.
const PADDING_LIMIT: u64 = 64;
/// Bytes of a list that mean something; a target's own may be longer.
const LIST_SIZE: u32 = 8;

impl Machine<'_> {
    /// Starts a call. A libc function is done at once; of an IL function the frame is pushed.
    pub fn call(&mut self, inst: &Inst) -> Result<(), Stop> {
        let function = self.function();
        let call = &function.calls[inst.call().expect("a call has its row")];
        let symbol = match function.symbol_of(inst.args[0]) {
            Some((symbol, _, 0)) if !self.is_data(inst.args[0]) => symbol,
            _ => {
                let address = self.decide(self.get(inst.args[0]), "the callee of a call")?;
                let count = self.module.symbols.len();
                Memory::symbol_at(address, count).ok_or_else(|| {
                    let what = format!("a call of {address:#x}, which is no function,");
                    self.trap(Trap::Call, &what)
                })?
            }
        };
        let mut passed = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            passed.push((arg.ty, self.get(arg.value)));
        }
        if let Some(callee) = self.bodies[symbol] {
            let env = call.env.is_some().then(|| self.get(call.env));
            return self.enter(callee, &passed, env);
        }
        let result = self.call_libc(symbol, &passed)?;
        if let (Some(to), Some(ty)) = (inst.to, call.ret) {
            self.set(to, narrow(result, ty));
        }
        Ok(())
    }

    fn is_data(&self, callee: Ref) -> bool {
        Memory::symbol_at(self.get(callee).value, self.module.symbols.len()).is_none()
    }

    /// Pushes the frame of a call.
    pub fn enter(
        &mut self,
        id: FunctionId,
        passed: &[(AbiType, Bits)],
        env: Option<Bits>,
    ) -> Result<(), Stop> {
        let function = &self.module.functions[id];
        if self.frames.len() >= self.limits.depth {
            return Err(Stop::Limit("call depth"));
        }
        let mark = self.memory.mark();
        let base = self.values.len();
        let size = function.temps.len() + function.slots.len();
        if (base + size) as u64 * 16 > self.limits.memory {
            return Err(Stop::Limit("memory"));
        }
        let empty = self.settle(Bits::UNDEFINED);
        self.values.resize(base + function.temps.len(), empty);
        for slot in function.slots.iter() {
            let address = self.memory.allocate(Space::Stack, slot.size, slot.align.into())?;
            self.values.push(Bits::defined(address));
        }
        for (i, param) in function.params.iter().enumerate() {
            let value = match passed.get(i) {
                Some(&(ty, value)) => self.pass(ty, value, param.ty)?,
                None => Bits::UNDEFINED,
            };
            self.values[base + param.to.index()] = self.settle(value);
        }
        let mut variadic = Vec::new();
        for &(ty, value) in passed.iter().skip(function.params.len()) {
            variadic.push((ty, self.pass(ty, value, ty)?));
        }
        if let Some(to) = function.env {
            self.values[base + to.index()] = self.settle(env.unwrap_or(Bits::UNDEFINED));
        }
        self.calls_made += 1;
        self.frames.push(Frame {
            function: id,
            block: BlockId::new(0),
            next: 0,
            base,
            mark,
            variadic,
            serial: self.calls_made,
            results: Vec::new(),
        });
        Ok(())
    }

    /// An argument as the callee sees it in a parameter of type `wanted`.
    fn pass(&mut self, ty: AbiType, value: Bits, wanted: AbiType) -> Result<Bits, Stop> {
        Ok(match (ty, wanted) {
            (AbiType::Aggregate(id), AbiType::Aggregate(_)) => {
                let from = self.decide(value, "the address of an aggregate argument")?;
                let ty = &self.module.types[id];
                let to = self.memory.allocate(Space::Stack, ty.size, ty.align)?;
                self.memory
                    .copy(from, to, ty.size)
                    .ok_or_else(|| self.out_of_bounds("an argument", from, ty.size))?;
                let padding = self.padding(id);
                for i in (0..64).filter(|i| padding >> i & 1 != 0) {
                    let byte = self.settle(Bits::UNDEFINED);
                    self.memory.store(to + i, 1, byte).expect("it was just copied");
                }
                Bits::defined(to)
            }
            (AbiType::Aggregate(_), _) | (_, AbiType::Aggregate(_)) => Bits::UNDEFINED,
            _ if ty.class().is_float() != wanted.class().is_float() => Bits::UNDEFINED,
            _ => {
                let value = narrow(value, ty);
                // A double in a single's register is not its value, nor the other way.
                let mixed = ty.class().is_float() && ty.class() != wanted.class();
                let wide = wanted.class().is_wide() && !ty.class().is_wide();
                match (mixed, wide) {
                    (true, _) => Bits::UNDEFINED,
                    (false, true) => narrow(value.garbage_above(32), wanted),
                    (false, false) => narrow(value, wanted),
                }
            }
        })
    }

    /// Ends a call; what the entry function returned, if it was the last frame.
    pub fn leave(&mut self, value: Ref) -> Result<Option<Returned>, Stop> {
        let returned = match self.function().ret {
            _ if value.is_none() => Returned::Nothing,
            None => Returned::Nothing,
            Some(AbiType::Aggregate(id)) => self.returned_aggregate(id, value)?,
            Some(ty) => Returned::Value(ty.class(), narrow(self.get(value), ty)),
        };
        let frame = self.frames.pop().expect("a function is running");
        self.memory.release(frame.mark);
        self.values.truncate(frame.base);
        let Some(caller) = self.frames.last() else { return Ok(Some(returned)) };
        let function = &self.module.functions[caller.function];
        let inst = &function.blocks[caller.block].insts[caller.next - 1];
        let (Some(to), Some(id)) = (inst.to, inst.call()) else { return Ok(None) };
        let value = match (function.calls[id].ret, returned) {
            (Some(AbiType::Aggregate(ty)), Returned::Aggregate(bytes, undefined)) => {
                let ty = &self.module.types[ty];
                let known = caller.results.iter().find(|&&(call, _)| call == id);
                let address = match known {
                    Some(&(_, address)) => address,
                    None => {
                        let fresh = self.memory.allocate(Space::Stack, ty.size, ty.align)?;
                        self.frame_mut().results.push((id, fresh));
                        fresh
                    }
                };
                for (i, (&byte, &mask)) in bytes.iter().zip(&undefined).enumerate() {
                    let bits = Bits { value: byte.into(), undefined: mask.into() };
                    let stored = self.memory.store(address + i as u64, 1, bits);
                    if stored.is_none() {
                        break;
                    }
                }
                Bits::defined(address)
            }
            (Some(ty), Returned::Value(class, bits))
                if class.is_float() == ty.class().is_float()
                    && !matches!(ty, AbiType::Aggregate(_)) =>
            {
                let bits = if class.is_wide() { bits } else { bits.garbage_above(32) };
                narrow(bits, ty)
            }
            _ => Bits::UNDEFINED,
        };
        self.set(to, value);
        Ok(None)
    }

    fn returned_aggregate(&mut self, id: TypeId, value: Ref) -> Result<Returned, Stop> {
        let address = self.decide(self.get(value), "the address of an aggregate result")?;
        let size = self.module.types[id].size;
        let padding = self.padding(id);
        let Some((bytes, undefined)) = self.memory.read(address, size) else {
            return Err(self.out_of_bounds("a result", address, size));
        };
        let (mut bytes, mut undefined) = (bytes.to_vec(), undefined.to_vec());
        for i in (0..64).filter(|i| padding >> i & 1 != 0) {
            let garbage = self.settle(Bits::UNDEFINED);
            bytes[i] = garbage.value as u8;
            undefined[i] = garbage.undefined as u8;
        }
        Ok(Returned::Aggregate(bytes, undefined))
    }

    /// The bytes of an aggregate that no field covers, one bit each. What is passed in registers
    /// may lose them; larger aggregates are copied as they are.
    fn padding(&self, id: TypeId) -> u64 {
        let size = self.module.types[id].size;
        if size == 0 || size > PADDING_LIMIT {
            return 0;
        }
        let mut padding = u64::MAX >> (64 - size);
        let mut inside = vec![(id, 0)];
        let mut cover = |offset: u64, size: u64| padding &= !(low_ones(size) << offset);
        while let Some((id, start)) = inside.pop() {
            let fields: Vec<_> = match &self.module.types[id].shape {
                Shape::Opaque => {
                    cover(start, self.module.types[id].size);
                    continue;
                }
                Shape::Struct(fields) => fields.iter().collect(),
                Shape::Union(variants) => variants.iter().flatten().collect(),
            };
            for field in fields {
                let size = match field.ty {
                    FieldType::B => 1,
                    FieldType::H => 2,
                    FieldType::W | FieldType::S => 4,
                    FieldType::L | FieldType::D => 8,
                    FieldType::Aggregate(inner) => {
                        let size = self.module.types[inner].size;
                        let count = if size == 0 { 0 } else { field.count };
                        inside.extend((0..count).map(|i| (inner, start + field.offset + i * size)));
                        continue;
                    }
                };
                if field.count > 0 {
                    cover(start + field.offset, size * field.count);
                }
            }
        }
        padding
    }

    /// `vastart` and `vaarg`.
    pub fn variadic(&mut self, inst: &Inst) -> Result<Option<Bits>, Stop> {
        let list = self.decide(self.get(inst.args[0]), "the address of a variadic list")?;
        if inst.op == Op::Vastart {
            let serial = self.frame_mut().serial;
            let start = Bits::defined(LISTS | serial << POSITION_BITS);
            let done = self.memory.store(list, LIST_SIZE, start);
            return match done {
                Some(()) => Ok(None),
                None => Err(self.out_of_bounds("a variadic list", list, LIST_SIZE.into())),
            };
        }
        self.next_variadic(list, inst.class).map(Some)
    }

    /// Takes the next argument off the variadic list at an address.
    pub fn next_variadic(&mut self, list: u64, class: Class) -> Result<Bits, Stop> {
        let state = self
            .memory
            .load(list, LIST_SIZE)
            .ok_or_else(|| self.out_of_bounds("a variadic list", list, LIST_SIZE.into()))?;
        let state = self.decide(state, "a variadic list")?;
        let position = (state & ((1 << POSITION_BITS) - 1)) as usize;
        let serial = (state & !LISTS) >> POSITION_BITS;
        let frame = self.frames.binary_search_by_key(&serial, |frame| frame.serial);
        let (true, Ok(frame)) = (state & LISTS == LISTS, frame) else {
            return Err(self.trap(Trap::Bounds, "a variadic list that was never started"));
        };
        let next = self.frames[frame].variadic.get(position).copied();
        let moved = Bits::defined(state + 1);
        self.memory.store(list, LIST_SIZE, moved).expect("it was just read");
        match next {
            None => Ok(Bits::UNDEFINED),
            Some((AbiType::Aggregate(_), _)) => {
                Err(Stop::Unsupported("an aggregate in a variadic list".into()))
            }
            Some((ty, value)) => self.pass(ty, value, AbiType::Base(class)),
        }
    }
}

/// The lowest `n` bits, for up to 64.
fn low_ones(n: u64) -> u64 {
    if n == 0 { 0 } else { u64::MAX >> (64 - n) }
}

/// A value as a parameter or result of the type shows it: what lies above is garbage.
fn narrow(value: Bits, ty: AbiType) -> Bits {
    match ty {
        AbiType::Base(class) => value.cut(class),
        AbiType::Byte { .. } => value.garbage_above(8).cut(Class::W),
        AbiType::Half { .. } => value.garbage_above(16).cut(Class::W),
        AbiType::Aggregate(_) => value,
    }
}
