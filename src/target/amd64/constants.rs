//! Constants and addresses of symbols in registers.
//!
//! What a loop without calls needs in a register is made once, before the outermost such loop; it
//! can be made again where registers are short, so nothing is lost if they are. A few of each bank
//! a loop, because more would find no register anyway.

use super::address::{Parts, SYMBOL_REACH, Term};
use super::insts;
use super::isel::{Isel, pool};
use crate::analysis::Facts;
use crate::analysis::loops::LoopId;
use crate::index::IndexVec;
use crate::ir::{Access, BlockId, Class, Function, Op, Ref, SlotId, SymbolId, Value};
use crate::target::lower::{bank, read, write};
use crate::target::machine::{Address, Bank, Base, VReg};
use rustc_hash::FxHashMap;

/// A value that is the same everywhere in the function.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Constant {
    /// The bits of a number of a class.
    Number(u64, Class),
    Symbol(SymbolId, Access, i64),
    Slot(SlotId),
}

impl Constant {
    /// The register file and size of its register.
    fn register(self) -> (Bank, u8) {
        match self {
            Constant::Number(_, class) => (bank(class), class.size() as u8),
            Constant::Symbol(..) | Constant::Slot(_) => (Bank::Int, 8),
        }
    }
}

/// Values of each bank that are made before one loop.
const LIMIT: u32 = 5;

/// The constants that loops want before them.
#[derive(Default)]
pub struct Hoists {
    /// For each loop without calls, the outermost such loop around it.
    outermost: IndexVec<LoopId, Option<LoopId>>,
    /// By that loop.
    made: FxHashMap<(LoopId, Constant), VReg>,
    counts: IndexVec<LoopId, [u32; 2]>,
    /// By the IL block at whose end they are made.
    rows: FxHashMap<BlockId, Vec<(VReg, Constant)>>,
}

impl Hoists {
    pub fn new(f: &Function, facts: &Facts) -> Hoists {
        let loops = &facts.loops.loops;
        if loops.is_empty() {
            return Hoists::default();
        }
        let mut calls = IndexVec::filled(false, loops.len());
        for &b in &facts.cfg.rpo {
            let Some(l) = facts.loops.innermost[b] else { continue };
            if f.blocks[b].insts.iter().any(|i| i.op == Op::Call) {
                calls[l] = true;
            }
        }
        // Outer loops come before inner ones.
        for l in loops.indices().rev() {
            if let (true, Some(parent)) = (calls[l], loops[l].parent) {
                calls[parent] = true;
            }
        }
        let mut outermost: IndexVec<LoopId, Option<LoopId>> = IndexVec::filled(None, loops.len());
        for l in loops.indices().filter(|&l| !calls[l]) {
            let around = loops[l].parent.and_then(|parent| outermost[parent]);
            outermost[l] = Some(around.unwrap_or(l));
        }
        let counts = IndexVec::filled([0; 2], loops.len());
        Hoists { outermost, counts, ..Hoists::default() }
    }
}

impl Isel<'_> {
    /// The value `r` in a register, for a use of `class`.
    pub fn value(&mut self, r: Ref, class: Class) -> VReg {
        let r = self.b.resolve(r);
        if let Value::Temp(t) = r.value() {
            return self.b.temp_reg(t);
        }
        let constant = self.constant_of(r, class);
        let reg = self.constant(constant);
        self.in_class(reg, class)
    }

    /// The value `r` in a register that the instruction writes its result over. A constant is made
    /// here and now, because a copy of it costs no less.
    pub fn overwritten(&mut self, r: Ref, class: Class) -> VReg {
        let r = self.b.resolve(r);
        if let Value::Temp(t) = r.value() {
            return self.b.temp_reg(t);
        }
        let constant = self.constant_of(r, class);
        let reg = self.constant_here(constant);
        self.in_class(reg, class)
    }

    /// The bits of an address as a float are legal, and of no use.
    fn in_class(&mut self, reg: VReg, class: Class) -> VReg {
        if bank(class) == self.b.code.vregs[reg].bank {
            return reg;
        }
        let size = class.size() as u8;
        let float = self.b.new_reg(Bank::Float, size);
        self.b.push(insts::MOVD_FR, size, &[write(float), read(reg)]);
        float
    }

    /// The constant that an operand which is no temporary stands for.
    pub fn constant_of(&self, r: Ref, class: Class) -> Constant {
        let f = self.b.f;
        if let Some(slot) = r.as_slot() {
            Constant::Slot(slot)
        } else if let Some((symbol, access, offset)) = f.symbol_of(r) {
            Constant::Symbol(symbol, access, offset)
        } else {
            Constant::Number(f.bits_as(r, class).expect("a number"), class)
        }
    }

    /// The constant in a register, which may be made before the loop.
    pub fn constant(&mut self, constant: Constant) -> VReg {
        self.hoist(constant).unwrap_or_else(|| self.constant_here(constant))
    }

    fn constant_here(&mut self, constant: Constant) -> VReg {
        let (bank, size) = constant.register();
        let reg = self.b.constant_reg(bank, size);
        self.constant_into(reg, constant);
        reg
    }

    /// An integer in a register, made here.
    pub fn int_constant(&mut self, value: i64, size: u8) -> VReg {
        let class = if size == 8 { Class::L } else { Class::W };
        self.constant_here(Constant::Number(value as u64, class))
    }

    /// A register for the constant before the loop, if there is a loop where that is worth it.
    fn hoist(&mut self, constant: Constant) -> Option<VReg> {
        let facts = self.b.facts;
        let l = self.hoists.outermost[facts.loops.innermost[self.source?]?]?;
        let before = facts.dominators.idom[facts.loops.loops[l].header]?;
        let here = self.b.code.blocks[self.b.block].frequency;
        if here <= facts.frequency.of(before) {
            return None;
        }
        if let Some(&reg) = self.hoists.made.get(&(l, constant)) {
            return Some(reg);
        }
        let (bank, size) = constant.register();
        let count = &mut self.hoists.counts[l][bank as usize];
        if *count == LIMIT {
            return None;
        }
        *count += 1;
        let reg = self.b.constant_reg(bank, size);
        self.hoists.made.insert((l, constant), reg);
        self.hoists.rows.entry(before).or_default().push((reg, constant));
        Some(reg)
    }

    /// The block being selected is in a loop that has calls.
    pub fn calls_around(&self) -> bool {
        let innermost = self.source.and_then(|b| self.b.facts.loops.innermost[b]);
        innermost.is_some_and(|l| self.hoists.outermost[l].is_none())
    }

    /// Makes what loops want at the end of the block being selected.
    pub fn hoisted_here(&mut self) {
        let Some(block) = self.source else { return };
        for (reg, constant) in self.hoists.rows.remove(&block).unwrap_or_default() {
            self.constant_into(reg, constant);
        }
    }

    /// Puts a constant into a register.
    pub fn constant_into(&mut self, reg: VReg, constant: Constant) {
        match constant {
            Constant::Slot(slot) => self.lea(reg, 8, Parts::slot(slot)),
            Constant::Symbol(symbol, access, offset) => {
                self.symbol_into(reg, symbol, access, offset);
            }
            Constant::Number(bits, class) => {
                let size = class.size() as u8;
                if class.is_int() {
                    self.b.push(insts::MOV_RI, size, &[write(reg)]).imm = bits as i64;
                } else if bits == 0 {
                    self.b.push(insts::FZERO, size, &[write(reg)]);
                } else {
                    self.push_address(insts::FMOV_RM, size, &[write(reg)], pool(bits, size));
                }
            }
        }
    }

    /// Puts the address of a symbol into `reg`. If it takes more than one instruction, `reg`
    /// cannot be made again elsewhere.
    fn symbol_into(&mut self, reg: VReg, symbol: SymbolId, access: Access, offset: i64) {
        let near = (-SYMBOL_REACH..SYMBOL_REACH).contains(&offset);
        let whole = match access {
            Access::Direct | Access::Thread => near,
            Access::Extern => offset == 0,
            Access::ExternThread => false,
        };
        let to = if whole { reg } else { self.b.constant_reg(Bank::Int, 8) };
        let in_place = near && matches!(access, Access::Direct | Access::Thread);
        let disp = if in_place { offset } else { 0 };
        let row = match access {
            Access::Direct => insts::LEA,
            Access::Thread => insts::LEA_THREAD,
            Access::Extern | Access::ExternThread => insts::MOV_RM,
        };
        let base = Base::Symbol(symbol, access);
        self.push_address(row, 8, &[write(to)], Address { base, index: None, scale: 1, disp });
        if whole {
            return;
        }
        self.b.code.vregs[reg].rematerialise = false;
        let mut parts = Parts::term(Term::Reg(to));
        if access == Access::ExternThread {
            let thread = self.b.constant_reg(Bank::Int, 8);
            self.b.push(insts::MOV_THREAD, 8, &[write(thread)]);
            parts.index = Some(Term::Reg(thread));
        }
        let rest = offset - disp;
        if i32::try_from(rest).is_ok() {
            self.lea(reg, 8, parts.plus(rest as u64));
            return;
        }
        if parts.index.is_some() {
            let sum = self.b.int_reg(8);
            self.lea(sum, 8, parts);
            parts = Parts::term(Term::Reg(sum));
        }
        let far = self.int_constant(rest, 8);
        self.lea(reg, 8, Parts { index: Some(Term::Reg(far)), ..parts });
    }
}
