//! The walk of instruction selection: maximal munch from the end of each block to its start, what
//! of it is the same for every target.
//!
//! An instruction takes what it can of its operands' definitions into itself: addresses, loads
//! that nothing writes between, immediates, comparisons into the branch that tests them. What every
//! user took is never selected (see [`lower`](super::lower)). A target's selector is a [`Builder`]
//! with the methods that [`Select`] asks for.

use super::abi::Convention;
use super::address::{Parts, Term};
use super::call;
use super::constants::Constant;
use super::lower::{Builder, Source, bank};
use super::machine::{Bank, Operand, PReg, VReg, op};
use crate::index::Index;
use crate::ir::ops::Effect;
use crate::ir::{AbiType, BlockId, Class, Inst, Jump, Op, Ref, Value};
use smallvec::SmallVec;
use std::ops::DerefMut;

/// Stores of registers still to be made: where, what, bytes.
pub type Stores = SmallVec<[(Parts, VReg, u8); 8]>;

/// Instruction selection of one target.
pub trait Select<'a>: Sized + DerefMut<Target = Builder<'a>> {
    // ---- what a target gives ----

    /// What an instruction's result is another name for, if it needs no code here. (Results of
    /// calls are not asked for.)
    fn same_value(b: &Builder<'_>, inst: &Inst) -> Option<Ref>;

    /// Selects an instruction without effects.
    fn pure(&mut self, inst: &Inst, to: VReg);

    fn load(&mut self, inst: &Inst, to: VReg);

    fn store(&mut self, inst: &Inst);

    /// Run-time allocation.
    fn allocate(&mut self, inst: &Inst, to: VReg);

    /// Ends the block in a branch to its first successor if the low 32 bits of `c` are not 0, else to
    /// its second.
    fn branch(&mut self, c: Ref);

    /// Puts a constant into a register.
    fn constant_into(&mut self, reg: VReg, constant: Constant);

    /// Moves the bits of a register to one of the other file.
    fn move_bits(&mut self, to: VReg, from: VReg, size: u8);

    /// Takes an address apart as memory operands here can have it.
    fn parts(&self, r: Ref) -> Parts;

    /// Puts an address into a register.
    fn address_into(&mut self, reg: VReg, parts: Parts);

    /// Copies `bytes` bytes. The areas are apart or the same; both are aligned to `align` (1:
    /// nothing is known).
    fn copy_memory(&mut self, from: Parts, to: Parts, bytes: u64, align: u64);

    /// Loads `size` bytes: 1 to 8 into an integer register (bits above them are unspecified), 4 or
    /// 8 into a float register.
    fn load_reg(&mut self, to: VReg, from: Parts, size: u8);

    /// The `bytes` (1 to 8) bytes at an address in an integer register, the rest of it
    /// unspecified, without touching memory behind them.
    fn load_piece(&mut self, from: Parts, bytes: u8, align: u64) -> VReg;

    /// Stores the low `size` bytes of a register.
    fn store_reg(&mut self, to: Parts, reg: VReg, size: u8);

    /// Stores the low `size` bytes of a value of `class`.
    fn store_value(&mut self, to: Parts, value: Ref, class: Class, size: u8);

    /// A scalar argument or result in a register, extended as the convention wants it.
    fn extended(&mut self, value: Ref, ty: AbiType) -> VReg;

    /// The call itself.
    fn push_call(&mut self, callee: Ref, operands: SmallVec<[Operand; 16]>);

    fn vastart(&mut self, inst: &Inst);

    /// A variadic function's registers that no named parameter took: their definitions, and the
    /// stores that save them.
    fn save_registers(&mut self, defs: &mut SmallVec<[Operand; 16]>, stores: &mut Stores);

    /// A scalar argument among the stack arguments, where `bytes` bytes are its own.
    fn stack_argument(&mut self, value: Ref, ty: AbiType, to: Parts, bytes: u8) {
        let class = ty.class();
        match ty {
            AbiType::Byte { .. } | AbiType::Half { .. } if bytes >= 4 => {
                let reg = self.extended(value, ty);
                self.store_reg(to, reg, 4);
            }
            _ => self.store_value(to, value, class, bytes.min(class.size() as u8)),
        }
    }

    /// Loads a scalar parameter from its place among the stack arguments, where `bytes` bytes are
    /// its own.
    fn stack_parameter(&mut self, to: VReg, ty: AbiType, from: Parts, bytes: u8) {
        let size = ty.class().size() as u8;
        let size = if bank(ty.class()) == Bank::Int { bytes.min(size) } else { size };
        self.load_reg(to, from, size);
    }

    /// Called before each IL instruction is selected; what it appends comes after all of that
    /// instruction's code.
    fn before(&mut self, _inst: &Inst) {}

    /// Code in front of a block that no instruction stands for.
    fn block_start(&mut self, _block: BlockId) {}

    /// A selected block may be improved.
    fn block_end(&mut self) {}

    // ---- what is the same everywhere ----

    /// Selects the function.
    fn run(&mut self) {
        call::place_parameters(self);
        self.find_definitions(Self::same_value);
        self.prepare_phis();
        for n in (0..self.order.len()).rev() {
            self.select_block(n);
        }
        let code = &mut self.code;
        code.outgoing = code.outgoing.next_multiple_of(16);
    }

    fn select_block(&mut self, n: usize) {
        self.block = Index::new(n);
        let Source::Block(block) = self.order[n] else {
            self.source = None;
            self.push_jump();
            self.edge_values();
            self.finish_block();
            return;
        };
        self.start_block(block);
        let f = self.f;
        self.jump(f.blocks[block].jump);
        self.flush();
        self.edge_values();
        self.flush();
        for (i, inst) in f.blocks[block].insts.iter().enumerate().rev() {
            self.position = i;
            self.before(inst);
            self.inst(inst);
            self.flush();
        }
        self.block_start(block);
        self.flush();
        if n == 0 {
            call::receive_parameters(self);
        }
        self.finish_block();
        self.block_end();
    }

    /// Makes the values that phis of the successor want from here and that are no temporaries.
    fn edge_values(&mut self) {
        let mut rows: SmallVec<[(VReg, Ref, Class); 8]> = SmallVec::new();
        self.for_each_edge_value(|_, reg, value, class| rows.push((reg, value, class)));
        self.flush();
        for (reg, value, class) in rows {
            let constant = self.constant_of(value, class);
            self.constant_into(reg, constant);
        }
        for (reg, constant) in self.hoisted_here() {
            self.constant_into(reg, constant);
        }
        self.flush();
    }

    fn jump(&mut self, jump: Jump) {
        match jump {
            Jump::Jmp(_) => self.push_jump(),
            Jump::Hlt => {
                self.push(op::TRAP, 0, &[]);
            }
            Jump::Ret(value) => call::ret(self, value),
            Jump::Jnz(..) if self.code.blocks[self.block].succs.len() == 1 => self.push_jump(),
            Jump::Jnz(c, _, _) => self.branch(c),
        }
    }

    fn inst(&mut self, inst: &Inst) {
        let wanted = match inst.to {
            Some(to) => self.wanted(to),
            None => None,
        };
        match (inst.op.row().effect, wanted) {
            (Effect::Pure, None) => {}
            (Effect::Read, None) if !inst.volatile => {}
            (Effect::Pure, Some(reg)) => self.pure(inst, reg),
            (Effect::Read, wanted) => {
                let reg = wanted
                    .unwrap_or_else(|| self.new_reg(bank(inst.class), inst.class.size() as u8));
                self.load(inst, reg);
            }
            (Effect::Write | Effect::Any | Effect::Pinned, wanted) => self.effect(inst, wanted),
        }
    }

    fn effect(&mut self, inst: &Inst, wanted: Option<VReg>) {
        match inst.op {
            Op::Call => call::call(self, inst),
            Op::Blit => {
                let bytes = self.f.bits(inst.args[2]).unwrap_or(0);
                let (from, to) = (self.parts(inst.args[0]), self.parts(inst.args[1]));
                self.copy_memory(from, to, bytes, 1);
            }
            Op::Vastart => self.vastart(inst),
            Op::Vaarg => unreachable!("expanded before selection"),
            Op::Alloc4 | Op::Alloc8 | Op::Alloc16 => {
                let to = wanted.unwrap_or_else(|| self.int_reg(8));
                self.allocate(inst, to);
            }
            Op::Dbgloc => {
                let number = |r| self.f.bits(r).unwrap_or(0);
                let imm = (number(inst.args[0]) as u32 as u64) | number(inst.args[1]) << 32;
                self.push(op::LOCATION, 0, &[]).imm = imm as i64;
            }
            _ => self.store(inst),
        }
    }

    // ---- operands ----

    /// The value `r` in a register, for a use of `class`.
    fn value(&mut self, r: Ref, class: Class) -> VReg {
        let r = self.resolve(r);
        if let Value::Temp(t) = r.value() {
            return self.temp_reg(t);
        }
        let constant = self.constant_of(r, class);
        let reg = self.constant(constant);
        self.in_class(reg, class)
    }

    /// The value `r` in a register that the instruction writes its result over. A constant is made
    /// here and now, because a copy of it costs no less.
    fn overwritten(&mut self, r: Ref, class: Class) -> VReg {
        let r = self.resolve(r);
        if let Value::Temp(t) = r.value() {
            return self.temp_reg(t);
        }
        let constant = self.constant_of(r, class);
        let reg = self.constant_here(constant);
        self.in_class(reg, class)
    }

    /// The bits of an address as a float are legal, and of no use.
    fn in_class(&mut self, reg: VReg, class: Class) -> VReg {
        self.in_bank_of(reg, class.size() as u8, bank(class))
    }

    /// The value of a register, or its bits, in a register of `bank`.
    fn in_bank_of(&mut self, reg: VReg, size: u8, bank: Bank) -> VReg {
        if bank == self.code.vregs[reg].bank {
            return reg;
        }
        let other = self.new_reg(bank, size);
        self.move_bits(other, reg, size);
        other
    }

    /// The constant in a register, which may be made before the loop.
    fn constant(&mut self, constant: Constant) -> VReg {
        self.hoist(constant).unwrap_or_else(|| self.constant_here(constant))
    }

    /// The constant in a register, made here.
    fn constant_here(&mut self, constant: Constant) -> VReg {
        let (bank, size) = constant.register();
        let reg = self.constant_reg(bank, size);
        self.constant_into(reg, constant);
        reg
    }

    /// An integer in a register, made here.
    fn int_constant(&mut self, value: i64, size: u8) -> VReg {
        let class = if size == 8 { Class::L } else { Class::W };
        self.constant_here(Constant::Number(value as u64, class))
    }

    /// A term of an address in a register.
    fn term(&mut self, term: Term) -> VReg {
        match term {
            Term::Value(r) => self.value(r, Class::L),
            Term::Symbol(symbol, access, offset) => {
                self.constant(Constant::Symbol(symbol, access, offset))
            }
            Term::Reg(reg) => reg,
        }
    }

    /// Where `env` is passed.
    fn env_register(&self, variadic: bool) -> PReg {
        let convention: &'static Convention = self.convention;
        if variadic { convention.env_variadic } else { convention.env }
    }
}
