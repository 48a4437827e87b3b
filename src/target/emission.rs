//! Emission: walks an allocated function in layout order and sends final instructions to a sink.
//! This file has what is the same for every target: the order of blocks, which jumps end them,
//! repeated short tails, where the frame is made. A target's emitter is a [`Walk`] with the methods
//! that [`Emit`] asks for.

use super::machine::{Bank, Location, MFunction, MInst, MOp, PReg, Registers, Step, op};
use super::unwind::FrameAction;
use super::wrap::{self, Wrap};
use super::{Arg, EmitInput, Instruction, Sink};
use crate::index::IndexVec;
use crate::ir::BlockId;
use smallvec::{SmallVec, smallvec};
use std::ops::DerefMut;

/// A block that ends in a return and is at most this many instructions long, the epilogue
/// included, is repeated rather than jumped to.
const SHORT_TAIL: usize = 3;

/// What of the flags is read later on.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wanted {
    Nothing,
    /// All but the carry, which some instructions keep.
    AllButCarry,
    All,
}

/// What an instruction does to the flags.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FlagEffect {
    Keep,
    Write,
    /// Reads this much of them.
    Read(Wanted),
}

/// Where control goes at the end of a block, in order: the last has no condition, or control falls
/// through.
pub type Exits = SmallVec<[(Option<u8>, Exit); 3]>;

/// One way out of a block.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    Jump(BlockId),
    /// What this block does, which is short and ends in a return.
    Tail(BlockId),
    Return,
    Trap,
}

/// The targets of a conditional branch, forwarded.
#[derive(Copy, Clone, Debug)]
pub struct Targets {
    pub taken: BlockId,
    pub other: BlockId,
    /// The block that comes next in the output.
    pub next: Option<BlockId>,
    pub other_is_likely: bool,
}

impl Targets {
    /// The jumps of a branch with one condition and its opposite. If neither target comes next, the
    /// likely one is jumped to first.
    pub fn exits(&self, condition: u8, opposite: u8) -> Exits {
        let Targets { taken, other, next, other_is_likely } = *self;
        if taken == other {
            smallvec![(None, Exit::Jump(taken))]
        } else if Some(taken) == next || Some(other) != next && other_is_likely {
            smallvec![(Some(opposite), Exit::Jump(other)), (None, Exit::Jump(taken))]
        } else {
            smallvec![(Some(condition), Exit::Jump(taken)), (None, Exit::Jump(other))]
        }
    }
}

/// The one instruction that does what two in a row do.
pub type Combine = fn(&Instruction, &Instruction) -> Option<Instruction>;

/// What is known of how far conditional branches have to reach.
enum Reach {
    /// Every block is near every other.
    Near,
    /// A first walk, which takes all of them to be far and notes where they are.
    Measure(Vec<u32>),
    /// The places of the branches and of the blocks, in bytes, each no less far from another than it
    /// will be; and the number of the next branch.
    Known { branches: Vec<u32>, blocks: IndexVec<BlockId, u32>, next: usize },
}

/// Emission of one function.
pub struct Walk<'a> {
    pub input: &'a EmitInput<'a>,
    pub code: &'a MFunction,
    /// Where the frame is made, if not at the entry.
    wrap: Option<Wrap>,
    /// The block being emitted runs before the frame is made.
    pub early: bool,
    sink: &'a mut dyn Sink,
    /// The instruction under construction, kept for its memory.
    buffer: Instruction,
    /// Makes one instruction of two that follow each other, where that goes.
    combine: Option<Combine>,
    /// The instruction before, and whether it waits for the one to combine it with.
    before: Instruction,
    waits: bool,
    /// Where the definition goes, if not where the allocation says: for rematerialised
    /// instructions.
    def: Option<PReg>,
    reach: Reach,
    /// Bytes of the instructions so far, at most.
    at: u32,
    /// Where blocks begin, in the first of two walks.
    block_at: IndexVec<BlockId, u32>,
}

/// The most bytes of one instruction of a target whose branches have short reaches.
const INSTRUCTION: u32 = 4;

impl<'a> Walk<'a> {
    /// `framed`: the function has a frame that is worth making late.
    pub fn new(
        input: &'a EmitInput<'a>,
        sink: &'a mut dyn Sink,
        registers: &Registers,
        framed: bool,
        is_repeatable: fn(&MInst) -> bool,
    ) -> Walk<'a> {
        let code = input.code;
        let wrap = match framed {
            false => None,
            true => wrap::find(code, input.allocation, input.layout, registers, |b| {
                tail_length(input, b, is_repeatable).is_some_and(|n| n <= SHORT_TAIL)
            }),
        };
        let empty = Instruction { op: 0, size: 8, cond: 0, args: SmallVec::new() };
        Walk {
            input,
            code,
            wrap,
            early: false,
            sink,
            buffer: empty.clone(),
            combine: None,
            before: empty,
            waits: false,
            def: None,
            reach: Reach::Near,
            at: 0,
            block_at: IndexVec::new(),
        }
    }

    /// From here on neighbouring instructions may become one.
    pub fn combine(&mut self, combine: Combine) {
        self.combine = Some(combine);
    }

    /// Sends an instruction.
    pub fn send(&mut self, op: MOp, size: u8, cond: u8, args: &[Arg]) {
        self.at += INSTRUCTION;
        if let Reach::Measure(_) = self.reach {
            return;
        }
        self.buffer.op = op;
        self.buffer.size = size;
        self.buffer.cond = cond;
        self.buffer.args.clear();
        self.buffer.args.extend_from_slice(args);
        let Some(combine) = self.combine else {
            self.sink.instruction(&self.buffer);
            return;
        };
        if self.waits
            && let Some(both) = combine(&self.before, &self.buffer)
        {
            self.waits = false;
            self.sink.instruction(&both);
            return;
        }
        self.send_waiting();
        std::mem::swap(&mut self.before, &mut self.buffer);
        self.waits = true;
    }

    /// Sends the instruction that waits for another to be combined with.
    fn send_waiting(&mut self) {
        if std::mem::take(&mut self.waits) {
            self.sink.instruction(&self.before);
        }
    }

    /// The instruction just sent is this many bytes longer than one.
    pub fn pad(&mut self, bytes: u32) {
        self.at += bytes;
    }

    pub fn location(&mut self, line: u32, column: u32) {
        if !matches!(self.reach, Reach::Measure(_)) {
            self.send_waiting();
            self.sink.location(line, column);
        }
    }

    /// Tells what the instruction just sent has done to the frame.
    pub fn frame(&mut self, action: FrameAction) {
        if self.input.unwind && !matches!(self.reach, Reach::Measure(_)) {
            self.send_waiting();
            self.sink.frame(action);
        }
    }

    fn label(&mut self, b: BlockId) {
        match self.reach {
            Reach::Measure(_) => self.block_at[b] = self.at,
            Reach::Near | Reach::Known { .. } => {
                self.send_waiting();
                self.sink.block(b);
            }
        }
    }

    /// Whether the conditional branch to `to` that comes next may have to reach further than `reach`
    /// bytes. To be asked once a branch.
    pub fn is_far(&mut self, to: BlockId, reach: u32) -> bool {
        match &mut self.reach {
            Reach::Near => false,
            Reach::Measure(branches) => {
                branches.push(self.at);
                true
            }
            Reach::Known { branches, blocks, next } => {
                let from = branches[*next];
                *next += 1;
                // The branch itself may be the second instruction of its long form.
                from.abs_diff(blocks[to]) + 2 * INSTRUCTION > reach
            }
        }
    }

    fn is_early(&self, b: BlockId) -> bool {
        self.wrap.as_ref().is_some_and(|w| w.is_early(b))
    }

    /// A register as blocks without the frame call it.
    pub fn named(&self, location: Location) -> Location {
        match (location, &self.wrap) {
            (Location::Reg(r), Some(wrap)) if self.early => Location::Reg(wrap.name(r)),
            _ => location,
        }
    }

    /// Where operand `n` of `inst` is.
    pub fn operand_location(&self, inst: &MInst, n: usize) -> Location {
        match self.def {
            Some(r) if n == 0 => self.named(Location::Reg(r)),
            _ => self.named(self.input.allocation.location(inst, n)),
        }
    }

    /// Operand `n` of `inst`, which is in a register.
    pub fn reg(&self, inst: &MInst, n: usize) -> PReg {
        match self.operand_location(inst, n) {
            Location::Reg(r) => r,
            Location::Spill(_) => panic!("operand {n} of row {} is in memory", inst.op),
        }
    }
}

/// Emission of one target.
pub trait Emit<'a>: Sized + DerefMut<Target = Walk<'a>> {
    /// What conditional branches reach, in bytes, if that is not always far enough.
    const REACH: Option<u32> = None;

    /// The jumps of a conditional branch.
    fn branch(&self, last: &MInst, targets: Targets) -> Exits;

    fn flags(inst: &MInst) -> FlagEffect;

    /// True for what becomes one machine instruction that does not touch memory.
    fn is_repeatable(inst: &MInst) -> bool;

    /// Makes the frame, and tells of it by [`Walk::frame`].
    fn prologue(&mut self);

    /// Undoes the frame, unless the block is `early`, and tells of it; then returns.
    fn epilogue(&mut self);

    /// How many instructions undo the frame, about.
    fn undo_length(&self) -> usize;

    fn jump(&mut self, to: BlockId);

    /// A conditional jump; `last` is the branch.
    fn jump_if(&mut self, last: &MInst, condition: u8, to: BlockId);

    fn trap(&mut self);

    /// Emits what `inst` does. `wanted` is what of the flags must survive it if the row keeps
    /// flags, and may be read from it if it writes them. Terminators are the block's business.
    fn expand(&mut self, inst: &MInst, wanted: Wanted);

    /// A move, spill or reload.
    fn transfer(&mut self, from: Location, to: Location, size: u8);

    /// Two registers of one file exchange their values.
    fn swap(&mut self, a: PReg, b: PReg);

    /// The most machine instructions that `inst` becomes, where branches have short reaches.
    fn longest(_inst: &MInst) -> u32 {
        8
    }

    /// What stands before everything.
    fn mark(&mut self) {}

    // ---- what is the same everywhere ----

    /// Emits the function.
    fn run(&mut self) {
        if Self::REACH.is_some_and(|reach| self.most_bytes() > reach) {
            self.reach = Reach::Measure(Vec::new());
            self.block_at = IndexVec::filled(0, self.code.blocks.len());
            self.blocks();
            let blocks = std::mem::take(&mut self.block_at);
            if let Reach::Measure(branches) = std::mem::replace(&mut self.reach, Reach::Near) {
                self.reach = Reach::Known { branches, blocks, next: 0 };
            }
            self.at = 0;
        }
        self.blocks();
        self.send_waiting();
    }

    /// The bytes of the function, at most.
    fn most_bytes(&self) -> u32 {
        /// A prologue or epilogue, and the jumps of a block.
        const ENDS: u32 = 48;
        let steps = &self.input.allocation.steps;
        let mut most = ENDS;
        for &b in &self.input.layout.order {
            most += ENDS + 8 * steps[b].len() as u32;
            for step in &steps[b] {
                if let Step::Inst(i) = *step {
                    most += Self::longest(&self.code.blocks[b].insts[i as usize]);
                }
            }
        }
        most.saturating_mul(INSTRUCTION)
    }

    fn blocks(&mut self) {
        let labels = self.labels();
        self.start_location();
        self.mark();
        if self.wrap.is_none() {
            self.early = false;
            self.enter_frame();
        }
        let input = self.input;
        let order = &input.layout.order;
        let mut wanted = Vec::new();
        let mut falls_through = true;
        for (i, &b) in order.iter().enumerate() {
            if labels[b] {
                self.label(b);
            } else if !falls_through {
                // All jumps to it became what it does.
                continue;
            }
            if self.wrap.as_ref().is_some_and(|w| w.at != b) {
                let framed = !self.is_early(b);
                self.frame(FrameAction::Block { framed });
            }
            falls_through = self.block(b, order.get(i + 1).copied(), &mut wanted);
        }
    }

    /// The first instructions of a function are of the line that its body begins with.
    fn start_location(&mut self) {
        let code = self.code;
        let mut entry = code.blocks.iter().take(1).flat_map(|b| &b.insts);
        let first = entry.find(|i| i.op == op::LOCATION);
        if let Some(inst) = first {
            self.location(inst.imm as u32, (inst.imm >> 32) as u32);
        }
    }

    /// The blocks that something jumps to.
    fn labels(&self) -> IndexVec<BlockId, bool> {
        let mut labels = IndexVec::filled(false, self.code.blocks.len());
        let order = &self.input.layout.order;
        for (i, &b) in order.iter().enumerate() {
            for (_, exit) in self.exits(b, order.get(i + 1).copied()) {
                if let Exit::Jump(target) = exit {
                    labels[target] = true;
                }
            }
        }
        labels
    }

    /// The jumps at the end of `b`, if `next` comes after it.
    fn exits(&self, b: BlockId, next: Option<BlockId>) -> Exits {
        let block = &self.code.blocks[b];
        let last = block.insts.last().expect("a block has a terminator");
        let forward = &self.input.layout.forward;
        let mut exits: Exits = match last.op {
            op::RETURN => smallvec![(None, Exit::Return)],
            op::TRAP => smallvec![(None, Exit::Trap)],
            op::JUMP => smallvec![(None, Exit::Jump(forward[block.succs[0]]))],
            _ => {
                let taken = forward[block.succs[0]];
                let other = forward[*block.succs.last().expect("a branch has a target")];
                let rate =
                    |n: usize| block.succs.get(n).map_or(0.0, |&s| self.code.blocks[s].frequency);
                let other_is_likely = rate(1) > rate(0);
                self.branch(last, Targets { taken, other, next, other_is_likely })
            }
        };
        if let Some(&(None, Exit::Jump(target))) = exits.last() {
            // Out of the frame into a block without leads only through a copy of that block.
            let leaves = !self.is_early(b) && self.is_early(target);
            if Some(target) == next && !leaves {
                exits.pop();
            } else if leaves || self.is_short_tail(target) {
                *exits.last_mut().expect("just seen") = (None, Exit::Tail(target));
            }
        }
        exits
    }

    /// True if `b` returns after so little that it is no longer than a jump to it, or hardly.
    fn is_short_tail(&self, b: BlockId) -> bool {
        let undo = if self.is_early(b) { 0 } else { self.undo_length() };
        tail_length(self.input, b, Self::is_repeatable).is_some_and(|n| n + undo <= SHORT_TAIL)
    }

    /// Emits a block; true if control may fall through to the next.
    fn block(&mut self, b: BlockId, next: Option<BlockId>, wanted: &mut Vec<Wanted>) -> bool {
        self.early = self.is_early(b);
        if self.wrap.as_ref().is_some_and(|w| w.at == b) {
            self.enter_frame();
            for i in 0..self.wrap.as_ref().map_or(0, |w| w.moves.len()) {
                let (from, to) = self.wrap.as_ref().expect("just seen").moves[i];
                self.transfer(Location::Reg(from), Location::Reg(to), 8);
            }
        }
        self.steps(b, wanted);
        let exits = self.exits(b, next);
        let falls_through = exits.last().is_none_or(|(condition, _)| condition.is_some());
        for (condition, exit) in exits {
            match (exit, condition) {
                (Exit::Jump(target), None) => self.jump(target),
                (Exit::Jump(target), Some(condition)) => {
                    let code = self.code;
                    let last = code.blocks[b].insts.last().expect("a block has a terminator");
                    self.jump_if(last, condition, target);
                }
                (Exit::Tail(target), _) => {
                    self.steps(target, wanted);
                    self.leave(next.is_none());
                }
                (Exit::Return, _) => self.leave(next.is_none()),
                (Exit::Trap, _) => self.trap(),
            }
        }
        falls_through
    }

    fn enter_frame(&mut self) {
        self.prologue();
        self.frame(FrameAction::EndPrologue);
    }

    /// `last`: no code follows.
    fn leave(&mut self, last: bool) {
        if self.early {
            self.epilogue();
            return;
        }
        self.frame(FrameAction::BeginEpilogue { last });
        self.epilogue();
        self.frame(FrameAction::EndEpilogue);
    }

    /// Emits what a block does before its exits.
    fn steps(&mut self, b: BlockId, wanted: &mut Vec<Wanted>) {
        let (input, code) = (self.input, self.code);
        let steps = &input.allocation.steps[b];
        self.wanted_flags(b, steps, wanted);
        for (step, &wanted) in steps.iter().zip(wanted.iter()) {
            match *step {
                Step::Inst(i) => self.step(&code.blocks[b].insts[i as usize], wanted),
                Step::Move { from, to, size } => {
                    let (from, to) = (self.named(from), self.named(to));
                    if from != to {
                        self.transfer(from, to, size);
                    }
                }
                Step::Swap(a, b) => {
                    let named = |r| match self.named(Location::Reg(r)) {
                        Location::Reg(r) => r,
                        Location::Spill(_) => unreachable!("a register"),
                    };
                    let (a, b) = (named(a), named(b));
                    self.swap(a, b);
                }
                Step::Rematerialise { block, inst, to } => {
                    self.def = Some(to);
                    self.expand(&code.blocks[block].insts[inst as usize], wanted);
                    self.def = None;
                }
            }
        }
    }

    /// What needs the target only if it is a row of its own.
    fn step(&mut self, inst: &MInst, wanted: Wanted) {
        match inst.op {
            op::NOP | op::PARAMS | op::JUMP | op::RETURN | op::TRAP => {}
            op::COPY => {
                let (from, to) = (self.operand_location(inst, 1), self.operand_location(inst, 0));
                let size = self.code.vregs[self.code.operands(inst)[0].reg].size;
                if from != to {
                    self.transfer(from, to, size);
                }
            }
            op::LOCATION => self.location(inst.imm as u32, (inst.imm >> 32) as u32),
            _ => self.expand(inst, wanted),
        }
    }

    /// For each step, what of the flags is read after it.
    fn wanted_flags(&self, b: BlockId, steps: &[Step], wanted: &mut Vec<Wanted>) {
        wanted.clear();
        wanted.resize(steps.len(), Wanted::Nothing);
        let flags_out = self.code.blocks[b].succs.iter().any(|&s| self.code.blocks[s].flags_in);
        let mut now = if flags_out { Wanted::All } else { Wanted::Nothing };
        for (step, after) in steps.iter().zip(wanted.iter_mut()).rev() {
            *after = now;
            let Step::Inst(i) = *step else { continue };
            let inst = &self.code.blocks[b].insts[i as usize];
            if inst.op < op::FIRST_TARGET {
                continue;
            }
            match Self::flags(inst) {
                FlagEffect::Keep => {}
                FlagEffect::Write => now = Wanted::Nothing,
                FlagEffect::Read(part) => now = now.max(part),
            }
        }
    }
}

/// The register file of a location; `None` for memory.
pub fn bank(location: Location) -> Option<Bank> {
    match location {
        Location::Reg(r) => Some(r.bank()),
        Location::Spill(_) => None,
    }
}

/// The instructions of a block that ends in a return, the return included, if they may be
/// repeated.
fn tail_length(
    input: &EmitInput<'_>,
    b: BlockId,
    is_repeatable: fn(&MInst) -> bool,
) -> Option<usize> {
    let insts = &input.code.blocks[b].insts;
    let steps = &input.allocation.steps[b];
    let repeatable = steps.len() <= SHORT_TAIL
        && insts.last().is_some_and(|last| last.op == op::RETURN)
        && steps.iter().all(|step| match *step {
            Step::Inst(i) => is_repeatable(&insts[i as usize]),
            Step::Move { .. } | Step::Swap(..) | Step::Rematerialise { .. } => true,
        });
    repeatable.then_some(steps.len())
}
