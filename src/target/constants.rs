//! Constants and addresses of symbols in registers, before selection.
//!
//! What a loop without calls needs in a register is made once, before the outermost such loop; it
//! can be made again where registers are short, so nothing is lost if they are. A few of each bank
//! a loop, because more would find no register anyway.

use super::lower::{Builder, bank};
use super::machine::{Bank, VReg};
use crate::analysis::Facts;
use crate::analysis::loops::LoopId;
use crate::index::IndexVec;
use crate::ir::{Access, BlockId, Class, Function, Op, SlotId, SymbolId};
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
    pub fn register(self) -> (Bank, u8) {
        match self {
            Constant::Number(_, class) => (bank(class), class.size() as u8),
            Constant::Symbol(..) | Constant::Slot(_) => (Bank::Int, 8),
        }
    }
}

/// Of the registers of a bank, one in so many may hold a value that is made before one loop.
const SHARE: usize = 3;

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

impl Builder<'_> {
    /// A register for the constant before the loop, if there is a loop where that is worth it.
    pub fn hoist(&mut self, constant: Constant) -> Option<VReg> {
        let facts = self.facts;
        let l = self.hoists.outermost[facts.loops.innermost[self.source?]?]?;
        let before = facts.dominators.idom[facts.loops.loops[l].header]?;
        let here = self.code.blocks[self.block].frequency;
        if here <= facts.frequency.of(before) {
            return None;
        }
        if let Some(&reg) = self.hoists.made.get(&(l, constant)) {
            return Some(reg);
        }
        let (bank, size) = constant.register();
        let limit = self.convention.registers.order(bank).len() / SHARE;
        let count = &mut self.hoists.counts[l][bank as usize];
        if *count as usize == limit {
            return None;
        }
        *count += 1;
        let reg = self.constant_reg(bank, size);
        self.hoists.made.insert((l, constant), reg);
        self.hoists.rows.entry(before).or_default().push((reg, constant));
        Some(reg)
    }

    /// The block being selected is in a loop before which constants are made.
    pub fn hoists_around(&self) -> bool {
        let innermost = self.source.and_then(|b| self.facts.loops.innermost[b]);
        innermost.is_some_and(|l| self.hoists.outermost[l].is_some())
    }

    /// The block being selected is in a loop that has calls.
    pub fn calls_around(&self) -> bool {
        let innermost = self.source.and_then(|b| self.facts.loops.innermost[b]);
        innermost.is_some_and(|l| self.hoists.outermost[l].is_none())
    }

    /// What loops want at the end of the block being selected.
    pub fn hoisted_here(&mut self) -> Vec<(VReg, Constant)> {
        let Some(block) = self.source else { return Vec::new() };
        self.hoists.rows.remove(&block).unwrap_or_default()
    }
}
