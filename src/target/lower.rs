//! What instruction selection of every target shares: the order of blocks with critical edges
//! split, aliases, uses and definitions of temporaries, virtual registers, phis, and the buffer
//! that a block is selected into.
//!
//! Blocks are selected in reverse order, and each from its end: a use is seen before its
//! definition, so a definition that nothing asked for by then, because every user took it into
//! its own instruction, is never selected. Within one IL instruction a target pushes machine
//! instructions in execution order.

use super::abi::{Assignment, Convention, Signature};
use super::call;
use super::constants::{Constant, Hoists};
use super::machine::{Address, AddressId, Bank};
use super::machine::{
    Constraint, MBlock, MFunction, MInst, MOp, MPhi, Operand, PReg, PRegSet, Role, VReg, VRegInfo,
    op,
};
use crate::analysis::{Facts, references};
use crate::index::{Index, IndexVec};
use crate::ir::ops::Effect;
use crate::ir::{AbiType, BlockId, Class, Function, Inst, Jump, Module, Op, Ref, SlotId, TempId};
use smallvec::{SmallVec, smallvec};

/// Where the value of a temporary comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Def {
    /// A parameter (by number), or nothing.
    Param,
    /// The address of an aggregate among the incoming stack arguments, at this offset.
    Incoming(u64),
    /// A phi of an IL block.
    Phi(BlockId),
    /// An instruction of an IL block.
    Inst(BlockId, u32),
}

/// Where a block of machine code comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Source {
    Block(BlockId),
    /// A block that was put on an edge from a block with two successors to one with several
    /// predecessors.
    Edge(BlockId, BlockId),
}

/// The blocks of the machine code, in reverse postorder.
struct Plan {
    order: Vec<Source>,
    /// Of each machine block, taken first.
    succs: IndexVec<BlockId, SmallVec<[BlockId; 2]>>,
}

/// The distinct blocks that control can go to from `b`. A branch on a constant has one.
fn targets(f: &Function, b: BlockId) -> SmallVec<[BlockId; 2]> {
    match f.blocks[b].jump {
        Jump::Ret(_) | Jump::Hlt => smallvec![],
        Jump::Jmp(to) => smallvec![to],
        Jump::Jnz(_, yes, no) if yes == no => smallvec![yes],
        Jump::Jnz(c, yes, no) => match f.bits_as(c, Class::W) {
            Some(0) => smallvec![no],
            Some(_) => smallvec![yes],
            None => smallvec![yes, no],
        },
    }
}

/// Predecessors of each block, as far as they can be reached.
fn count_preds(f: &Function) -> IndexVec<BlockId, u32> {
    let mut preds = IndexVec::filled(0u32, f.blocks.len());
    let mut seen = vec![false; f.blocks.len()];
    let mut work = vec![f.entry()];
    seen[f.entry().index()] = true;
    while let Some(b) = work.pop() {
        for to in targets(f, b) {
            preds[to] += 1;
            if !std::mem::replace(&mut seen[to.index()], true) {
                work.push(to);
            }
        }
    }
    preds
}

impl Plan {
    /// Walks depth first, the successor in the shallower loop first: so loops stay together.
    fn new(f: &Function, depth: impl Fn(BlockId) -> u32) -> Plan {
        let preds = count_preds(f);
        let mut seen = vec![false; f.blocks.len()];
        let mut post: Vec<Source> = Vec::with_capacity(f.blocks.len());
        // Frames: the node, and the successors still to visit, last first.
        let mut work: Vec<(Source, SmallVec<[BlockId; 2]>)> = Vec::new();
        let next = |b: BlockId| {
            let mut to = targets(f, b);
            // Popped from the end: the first target is visited first, unless it is deeper.
            if to.len() == 2 && depth(to[0]) <= depth(to[1]) {
                to.swap(0, 1);
            }
            to
        };
        seen[f.entry().index()] = true;
        work.push((Source::Block(f.entry()), next(f.entry())));
        while let Some((source, rest)) = work.last_mut() {
            let source = *source;
            let Some(to) = rest.pop() else {
                post.push(source);
                work.pop();
                continue;
            };
            match source {
                Source::Block(b) if preds[to] > 1 && targets(f, b).len() == 2 => {
                    work.push((Source::Edge(b, to), smallvec![to]));
                }
                Source::Block(_) | Source::Edge(..) => {
                    if !std::mem::replace(&mut seen[to.index()], true) {
                        work.push((Source::Block(to), next(to)));
                    }
                }
            }
        }
        post.reverse();
        Plan::link(f, post)
    }

    /// Finds the successors of each machine block.
    fn link(f: &Function, order: Vec<Source>) -> Plan {
        let mut block_of: IndexVec<BlockId, Option<BlockId>> =
            IndexVec::filled(None, f.blocks.len());
        for (n, source) in order.iter().enumerate() {
            if let Source::Block(b) = *source {
                block_of[b] = Some(BlockId::new(n));
            }
        }
        let place = |b: BlockId| block_of[b].expect("a successor is reachable");
        let mut succs: IndexVec<BlockId, SmallVec<[BlockId; 2]>> = order
            .iter()
            .map(|source| match *source {
                Source::Block(b) => targets(f, b).iter().map(|&to| place(to)).collect(),
                Source::Edge(_, to) => smallvec![place(to)],
            })
            .collect();
        for (n, source) in order.iter().enumerate() {
            if let Source::Edge(from, to) = *source {
                for succ in &mut succs[place(from)] {
                    if *succ == place(to) {
                        *succ = BlockId::new(n);
                    }
                }
            }
        }
        Plan { order, succs }
    }
}

/// A value that a phi needs at the end of a block: no temporary, so it is made there.
#[derive(Copy, Clone)]
struct EdgeValue {
    reg: VReg,
    value: Ref,
    class: Class,
    next: Option<u32>,
}

/// A machine function in the making.
pub struct Builder<'a> {
    pub f: &'a Function,
    pub module: &'a Module,
    pub facts: &'a Facts,
    pub code: MFunction,
    /// Where the machine blocks come from.
    pub order: Vec<Source>,
    /// Uses of each temporary that stands for itself.
    pub uses: IndexVec<TempId, u32>,
    pub defs: IndexVec<TempId, Def>,
    /// The phi, if any, that each temporary is the next value of.
    pub next_of: IndexVec<TempId, Option<TempId>>,
    /// The block being selected.
    pub block: BlockId,
    /// Machine instructions of the IL instruction being selected, in order.
    pub seq: Vec<MInst>,
    pub convention: &'static Convention,
    /// Where the parameters are.
    pub params: Assignment,
    /// The result's address, if it is in memory.
    pub hidden: Option<VReg>,
    /// Where a variadic function that reads its list saves its registers.
    pub save_area: Option<SlotId>,
    /// Where calls put the aggregates that they pass by reference: the first of a call, the second….
    pub copies: Vec<SlotId>,
    /// The constants that loops want before them.
    pub hoists: Hoists,
    /// The IL block being selected; `None` in a block on an edge.
    pub source: Option<BlockId>,
    /// The instruction being selected, or the number of instructions for the jump.
    pub position: usize,
    /// Before each instruction of the block (and at its end): how many wrote memory so far.
    epochs: Vec<u32>,
    /// The temporary's value under another name, already resolved; `Ref::NONE` for none.
    alias: IndexVec<TempId, Ref>,
    regs: IndexVec<TempId, Option<VReg>>,
    /// Temporaries that something selected so far reads.
    read: IndexVec<TempId, bool>,
    /// Temporaries of class `w` whose registers are read as 64 bits: zero above.
    wide: IndexVec<TempId, bool>,
    /// The finished part of the block, last instruction first.
    reversed: Vec<MInst>,
    edge_values: Vec<EdgeValue>,
    edge_heads: IndexVec<BlockId, Option<u32>>,
}

/// A use of any register.
pub fn read(reg: VReg) -> Operand {
    Operand { reg, role: Role::Use, constraint: Constraint::Reg }
}

/// A use of one register.
pub fn read_in(reg: VReg, at: PReg) -> Operand {
    Operand { reg, role: Role::Use, constraint: Constraint::Fixed(at) }
}

/// A definition.
pub fn write(reg: VReg) -> Operand {
    Operand { reg, role: Role::Def, constraint: Constraint::Reg }
}

/// A definition in one register.
pub fn write_in(reg: VReg, at: PReg) -> Operand {
    Operand { reg, role: Role::Def, constraint: Constraint::Fixed(at) }
}

/// A definition in the register of use number `place`.
pub fn write_over(reg: VReg, place: u8) -> Operand {
    Operand { reg, role: Role::Def, constraint: Constraint::Reuse(place) }
}

/// A register that is written before the uses are read.
pub fn scratch(reg: VReg) -> Operand {
    Operand { reg, role: Role::EarlyDef, constraint: Constraint::Reg }
}

/// The register file of a class.
pub fn bank(class: Class) -> Bank {
    if class.is_int() { Bank::Int } else { Bank::Float }
}

/// The result is made by a 32-bit operation, which on machines that have them leaves zeros above bit
/// 31 of its register.
pub fn clears_upper_half(inst: &Inst) -> bool {
    match inst.op {
        Op::Loadub | Op::Loaduh | Op::Loaduw | Op::Extub | Op::Extuh | Op::Extuw => true,
        op if op.comparison().is_some() => true,
        Op::Loadsb | Op::Loadsh | Op::Loadsw | Op::Extsb | Op::Extsh => inst.class == Class::W,
        Op::Add | Op::Sub | Op::Neg | Op::Mul | Op::And | Op::Or | Op::Xor => {
            inst.class == Class::W
        }
        Op::Div | Op::Rem | Op::Udiv | Op::Urem | Op::Sar | Op::Shr | Op::Shl => {
            inst.class == Class::W
        }
        Op::Rotl | Op::Rotr | Op::Bswap | Op::Select => inst.class == Class::W,
        Op::Stosi | Op::Dtosi | Op::Cast => inst.class == Class::W,
        _ => false,
    }
}

impl<'a> Builder<'a> {
    /// Orders the blocks. Needs loops and frequencies.
    pub fn new(
        f: &'a Function,
        module: &'a Module,
        facts: &'a Facts,
        convention: &'static Convention,
    ) -> Builder<'a> {
        let types: SmallVec<[AbiType; 8]> = f.params.iter().map(|p| p.ty).collect();
        let (named, variadic) = (types.len(), f.variadic);
        let signature = Signature { ret: f.ret, args: &types, named, variadic };
        let plan = Plan::new(f, |b| facts.loops.depth(b));
        let n = f.temps.len();
        let code = MFunction {
            symbol: f.symbol,
            blocks: IndexVec::filled(MBlock::default(), plan.order.len()),
            vregs: IndexVec::with_capacity(n),
            operands: Vec::with_capacity(3 * n),
            addresses: IndexVec::new(),
            clobbers: vec![PRegSet::EMPTY],
            slots: f.slots.clone(),
            outgoing: 0,
            calls: false,
            dynamic: false,
            frame_pointer: false,
            reserved: PRegSet::EMPTY,
            returns_twice: false,
            extra: 0,
        };
        let mut builder = Builder {
            f,
            module,
            facts,
            code,
            uses: IndexVec::filled(0, n),
            defs: IndexVec::filled(Def::Param, n),
            next_of: IndexVec::filled(None, n),
            block: f.entry(),
            seq: Vec::new(),
            convention,
            params: (convention.assign)(module, &signature),
            hidden: None,
            save_area: None,
            copies: Vec::new(),
            hoists: Hoists::new(f, facts),
            source: None,
            position: 0,
            epochs: Vec::new(),
            alias: IndexVec::filled(Ref::NONE, n),
            regs: IndexVec::filled(None, n),
            read: IndexVec::filled(false, n),
            wide: IndexVec::filled(false, n),
            reversed: Vec::new(),
            edge_values: Vec::new(),
            edge_heads: IndexVec::filled(None, plan.order.len()),
            order: Vec::new(),
        };
        builder.link_blocks(&plan, facts);
        builder.order = plan.order;
        builder
    }

    fn link_blocks(&mut self, plan: &Plan, facts: &Facts) {
        for (m, succs) in plan.succs.enumerate() {
            for &to in succs {
                self.code.blocks[to].preds.push(m);
            }
            let (depth, frequency) = match plan.order[m.index()] {
                Source::Block(b) => (facts.loops.depth(b), facts.frequency.of(b)),
                Source::Edge(from, to) => (
                    facts.loops.depth(from).min(facts.loops.depth(to)),
                    facts.frequency.of_edge(self.f, &facts.loops, from, to),
                ),
            };
            let block = &mut self.code.blocks[m];
            block.succs = succs.clone();
            block.depth = depth;
            block.frequency = frequency;
        }
    }

    /// Finds definitions, resolves aliases and counts uses. `same` says what the result of an
    /// instruction is another name for, if it needs no code on this target.
    pub fn find_definitions(&mut self, same: fn(&Builder<'_>, &Inst) -> Option<Ref>) {
        let f = self.f;
        for n in 0..self.order.len() {
            let Source::Block(b) = self.order[n] else { continue };
            let single = self.code.blocks[BlockId::new(n)].preds.len() == 1;
            for phi in &f.blocks[b].phis {
                self.defs[phi.to] = Def::Phi(b);
                if single {
                    let from = self.pred_source(n, 0);
                    let arg = phi.arg(from).expect("an argument a predecessor");
                    self.alias[phi.to] = self.resolve(arg);
                }
            }
            for (i, inst) in f.blocks[b].insts.iter().enumerate() {
                let Some(to) = inst.to else { continue };
                self.defs[to] = Def::Inst(b, i as u32);
                let value = match inst.op {
                    Op::Call => call::result_pad(self, inst),
                    _ => same(self, inst),
                };
                if let Some(value) = value {
                    let value = self.resolve(value);
                    self.alias[to] = value;
                    if let (Some(t), true) = (value.as_temp(), f.temps[to].class.is_wide()) {
                        self.wide[t] = true;
                    }
                }
            }
        }
        for n in 0..self.order.len() {
            let Source::Block(b) = self.order[n] else { continue };
            let block = &f.blocks[b];
            for phi in block.phis.iter().filter(|p| self.alias[p.to].is_none()) {
                for &(_, arg) in &phi.args {
                    let arg = self.resolve(arg);
                    count(&mut self.uses, arg);
                    if let Some(t) = arg.as_temp() {
                        self.next_of[t] = Some(phi.to);
                    }
                }
            }
            for inst in &block.insts {
                if inst.to.is_some_and(|to| self.alias[to].is_some()) && inst.op != Op::Call {
                    continue;
                }
                let (alias, uses) = (&self.alias, &mut self.uses);
                f.for_each_use(inst, |r| match r.as_temp() {
                    Some(t) if alias[t].is_some() => count(uses, alias[t]),
                    _ => count(uses, r),
                });
            }
            let arg = self.resolve(block.jump.arg());
            count(&mut self.uses, arg);
        }
    }

    /// The IL block that predecessor number `k` of machine block `n` stands for.
    fn pred_source(&self, n: usize, k: usize) -> BlockId {
        match self.order[self.code.blocks[BlockId::new(n)].preds[k].index()] {
            Source::Block(b) | Source::Edge(b, _) => b,
        }
    }

    /// Says that `t`'s value is `r`, before anything is selected.
    pub fn set_alias(&mut self, t: TempId, r: Ref) {
        self.alias[t] = r;
    }

    /// The operand without other names.
    #[inline]
    pub fn resolve(&self, r: Ref) -> Ref {
        match r.as_temp() {
            Some(t) if self.alias[t].is_some() => self.alias[t],
            _ => r,
        }
    }

    /// The instruction that defines an operand.
    #[inline]
    pub fn definition(&self, r: Ref) -> Option<&'a Inst> {
        match self.defs[r.as_temp()?] {
            Def::Inst(b, i) => Some(&self.f.blocks[b].insts[i as usize]),
            Def::Param | Def::Incoming(_) | Def::Phi(_) => None,
        }
    }

    // ---- what an instruction may take into itself ----

    /// Begins the selection of an IL block.
    pub fn start_block(&mut self, block: BlockId) {
        self.source = Some(block);
        let insts = &self.f.blocks[block].insts;
        self.position = insts.len();
        self.epochs.clear();
        let mut epoch = 0;
        for inst in insts {
            self.epochs.push(epoch);
            if matches!(inst.op.row().effect, Effect::Write | Effect::Any) || inst.volatile {
                epoch += 1;
            }
        }
        self.epochs.push(epoch);
    }

    /// The load that computes `r`, if the instruction being selected is its only user and may do
    /// it instead: nothing writes memory between the two.
    pub fn foldable_load(&self, r: Ref) -> Option<&'a Inst> {
        let r = self.resolve(r);
        let t = r.as_temp()?;
        let Def::Inst(b, i) = self.defs[t] else { return None };
        let inst = self.definition(r)?;
        let here = Some(b) == self.source
            && self.uses[t] == 1
            && self.wanted(t).is_none()
            && inst.op.is_load()
            && !inst.volatile
            && self.epochs[i as usize] == self.epochs[self.position];
        here.then_some(inst)
    }

    /// The definition of `r`, if the instruction being selected is its only user.
    pub fn only_use(&self, r: Ref) -> Option<&'a Inst> {
        let r = self.resolve(r);
        let t = r.as_temp()?;
        if self.uses[t] != 1 || self.wanted(t).is_some() {
            return None;
        }
        self.definition(r)
    }

    /// Defined in the block being selected.
    pub fn is_here(&self, t: TempId) -> bool {
        matches!(self.defs[t], Def::Inst(b, _) if Some(b) == self.source)
    }

    /// Nothing later uses the value: its register may be overwritten.
    pub fn value_dies(&self, r: Ref) -> bool {
        match self.resolve(r).as_temp() {
            Some(t) => self.dies(t),
            None => true,
        }
    }

    /// The bits of a constant operand of an instruction of `class`.
    pub fn constant_bits(&self, r: Ref, class: Class) -> Option<u64> {
        self.f.bits_as(self.resolve(r), class)
    }

    /// The constant count of a shift or rotation, modulo its width.
    pub fn shift_count(&self, inst: &Inst) -> Option<u64> {
        let width = u64::from(inst.class.size()) * 8;
        Some(self.f.bits(self.resolve(inst.args[1]))? % width)
    }

    /// The constant that an operand which is no temporary stands for.
    pub fn constant_of(&self, r: Ref, class: Class) -> Constant {
        if let Some(slot) = r.as_slot() {
            Constant::Slot(slot)
        } else if let Some((symbol, access, offset)) = self.f.symbol_of(r) {
            Constant::Symbol(symbol, access, offset)
        } else {
            Constant::Number(self.f.bits_as(r, class).expect("a number"), class)
        }
    }

    /// A constant operand, its low `size` (1, 2) bytes extended to 32 bits.
    pub fn extended_constant(&self, value: Ref, size: u8, signed: bool) -> Option<i64> {
        let bits = self.f.bits(self.resolve(value))?;
        Some(match (size, signed) {
            (1, true) => i64::from(bits as i8),
            (1, false) => i64::from(bits as u8),
            (_, true) => i64::from(bits as i16),
            (_, false) => i64::from(bits as u16),
        })
    }

    /// The definition of `value` has extended its low `size` (1, 2) bytes to 32 bits.
    pub fn is_extended(&self, value: Ref, size: u8, signed: bool) -> bool {
        let Some(inst) = self.definition(self.resolve(value)) else { return false };
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

    // ---- registers ----

    /// A fresh virtual register.
    pub fn new_reg(&mut self, bank: Bank, size: u8) -> VReg {
        self.code.vregs.push(VRegInfo { bank, size, rematerialise: false })
    }

    /// A fresh virtual register whose definition may be repeated.
    pub fn constant_reg(&mut self, bank: Bank, size: u8) -> VReg {
        self.code.vregs.push(VRegInfo { bank, size, rematerialise: true })
    }

    /// A fresh integer register.
    pub fn int_reg(&mut self, size: u8) -> VReg {
        self.new_reg(Bank::Int, size)
    }

    /// The register of a temporary that is read, which from here on must be computed.
    pub fn temp_reg(&mut self, t: TempId) -> VReg {
        self.read[t] = true;
        self.defined_reg(t)
    }

    /// Nothing reads `t` after the place that selection has come to: its register may be
    /// overwritten. (A value of an outer loop is read again by the next round.)
    pub fn dies(&self, t: TempId) -> bool {
        let depth = |b| self.facts.loops.depth(b);
        let defined = match self.defs[t] {
            Def::Param | Def::Incoming(_) => 0,
            Def::Phi(b) | Def::Inst(b, _) => depth(b),
        };
        !self.read[t] && defined >= self.code.blocks[self.block].depth
    }

    /// The register of a temporary, read or not.
    fn defined_reg(&mut self, t: TempId) -> VReg {
        if let Some(reg) = self.regs[t] {
            return reg;
        }
        let class = self.f.temps[t].class;
        let size = if self.wide[t] { 8 } else { class.size() as u8 };
        let reg = self.new_reg(bank(class), size);
        self.regs[t] = Some(reg);
        reg
    }

    /// The register of a temporary if something asked for it.
    #[inline]
    pub fn wanted(&self, t: TempId) -> Option<VReg> {
        self.regs[t]
    }

    /// The register has an instruction that makes it wherever it is needed.
    pub fn set_rematerialise(&mut self, reg: VReg) {
        self.code.vregs[reg].rematerialise = true;
    }

    /// A use that may be of a spill slot, for an operation of `size` bytes.
    pub fn read_any(&self, reg: VReg, size: u8) -> Operand {
        let whole = self.code.vregs[reg].size >= size;
        let constraint = if whole { Constraint::Any } else { Constraint::Reg };
        Operand { reg, role: Role::Use, constraint }
    }

    /// Appends an instruction.
    #[inline]
    pub fn push(&mut self, op: MOp, size: u8, operands: &[Operand]) -> &mut MInst {
        let mut inst = MInst::new(op, size);
        inst.first = self.code.operands.len() as u32;
        inst.count = operands.len() as u16;
        self.code.operands.extend_from_slice(operands);
        self.seq.push(inst);
        self.seq.last_mut().expect("just pushed")
    }

    /// A row of the table of addresses.
    pub fn address(&mut self, address: Address) -> AddressId {
        self.code.addresses.push(address)
    }

    /// The number of a set of destroyed registers.
    pub fn clobbers(&mut self, set: PRegSet) -> u16 {
        let rows = &mut self.code.clobbers;
        let row = rows.iter().position(|&s| s == set).unwrap_or_else(|| {
            rows.push(set);
            rows.len() - 1
        });
        row as u16
    }

    /// Moves what was selected of one IL instruction in front of the rest of the block.
    pub fn flush(&mut self) {
        self.reversed.extend(self.seq.drain(..).rev());
    }

    /// Asks for registers of all phis and their arguments. To be called before the first block.
    pub fn prepare_phis(&mut self) {
        let f = self.f;
        let mut place: IndexVec<BlockId, u32> = IndexVec::filled(0, f.blocks.len());
        for n in 0..self.order.len() {
            let Source::Block(b) = self.order[n] else { continue };
            if f.blocks[b].phis.is_empty() || self.code.blocks[BlockId::new(n)].preds.len() == 1 {
                continue;
            }
            let preds = self.code.blocks[BlockId::new(n)].preds.clone();
            for k in 0..preds.len() {
                place[self.pred_source(n, k)] = k as u32 + 1;
            }
            for phi in &f.blocks[b].phis {
                let to = self.defined_reg(phi.to);
                let mut args: SmallVec<[(BlockId, VReg); 2]> =
                    preds.iter().map(|&p| (p, to)).collect();
                for &(from, arg) in &phi.args {
                    // Predecessors that cannot be reached have no place.
                    if place[from] != 0 {
                        let k = place[from] as usize - 1;
                        args[k].1 = self.phi_argument(preds[k], arg, phi.class);
                    }
                }
                self.code.blocks[BlockId::new(n)].phis.push(MPhi { to, args });
            }
            for k in 0..preds.len() {
                place[self.pred_source(n, k)] = 0;
            }
        }
    }

    fn phi_argument(&mut self, pred: BlockId, arg: Ref, class: Class) -> VReg {
        let arg = self.resolve(arg);
        if let Some(t) = arg.as_temp() {
            return self.temp_reg(t);
        }
        let size = if arg.is_const() && self.f.symbol_of(arg).is_none() { class.size() } else { 8 };
        let reg = self.constant_reg(bank(class), size as u8);
        let next = self.edge_heads[pred];
        self.edge_heads[pred] = Some(self.edge_values.len() as u32);
        self.edge_values.push(EdgeValue { reg, value: arg, class, next });
        reg
    }

    /// Calls `make` on each value (its register, itself, its class) that a phi wants at the end of
    /// the block being selected.
    pub fn for_each_edge_value(&mut self, mut make: impl FnMut(&mut Self, VReg, Ref, Class)) {
        let mut next = self.edge_heads[self.block];
        while let Some(n) = next {
            let row = self.edge_values[n as usize];
            make(self, row.reg, row.value, row.class);
            next = row.next;
        }
    }

    /// Ends the block being selected.
    pub fn finish_block(&mut self) {
        self.flush();
        self.code.blocks[self.block].insts = self.reversed.drain(..).rev().collect();
    }

    /// Ends in a jump to the only successor.
    pub fn push_jump(&mut self) {
        self.push(op::JUMP, 0, &[]);
    }

    /// A constant callee that may return twice.
    pub fn returns_twice(&self, callee: Ref) -> bool {
        let symbol = self.f.symbol_of(callee).map(|(symbol, ..)| symbol);
        symbol.is_some_and(|s| references::returns_twice(self.module, s))
    }
}

fn count(uses: &mut IndexVec<TempId, u32>, r: Ref) {
    if let Some(t) = r.as_temp() {
        uses[t] += 1;
    }
}
