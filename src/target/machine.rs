//! Machine code before and after register allocation: what instruction selection makes, the
//! allocator reads, and emission walks.
//!
//! An [`MFunction`] is in SSA form: every virtual register is defined once, by an instruction or
//! a phi. Instructions name their registers in a list of [`Operand`]s with constraints, which is
//! all the allocator looks at. It never changes the function: it answers with an [`Allocation`],
//! so the two can be compared (`regalloc::check`).
//!
//! Conventions:
//! - Critical edges are split before allocation. The last instruction of a block is its
//!   terminator; its targets are the block's `succs`. A block with one successor ends in
//!   [`op::JUMP`], which reads nothing, so moves of an edge can stand before it.
//! - A parameter in a register is a def with a fixed register of the entry's first instruction,
//!   [`op::PARAMS`]; results are fixed uses of the return.
//! - Moves, spills and reloads change neither flags nor other registers, so they may stand
//!   between a compare and its branch. Rematerialised instructions must not change flags either;
//!   emission picks a flag-neutral form where flags are live.

use crate::index::{IndexVec, index_types};
use crate::ir::{Access, BlockId, Slot, SlotId, SymbolId};
use smallvec::SmallVec;
use std::fmt;

index_types! {
    /// A virtual register.
    VReg = "v";
    /// A row of a function's table of addresses.
    AddressId = "a";
    /// A spill slot: 8 bytes of the frame that the allocator made.
    SpillId = "spill";
}

/// A register file.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bank {
    Int,
    Float,
}

/// A machine register: 0..32 are the integer bank's, 32..64 the float bank's, each with the number
/// the encoding gives it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PReg(u8);

impl PReg {
    pub const fn int(number: u8) -> PReg {
        assert!(number < 32);
        PReg(number)
    }

    pub const fn float(number: u8) -> PReg {
        assert!(number < 32);
        PReg(number + 32)
    }

    /// 0..64.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub const fn from_index(i: usize) -> PReg {
        assert!(i < 64);
        PReg(i as u8)
    }

    pub const fn bank(self) -> Bank {
        if self.0 < 32 { Bank::Int } else { Bank::Float }
    }

    /// The number in its bank, as in the encoding.
    pub const fn number(self) -> u8 {
        self.0 % 32
    }
}

impl fmt::Debug for PReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bank() {
            Bank::Int => write!(f, "r{}", self.number()),
            Bank::Float => write!(f, "f{}", self.number()),
        }
    }
}

/// A set of machine registers.
#[derive(Copy, Clone, PartialEq, Eq, Default)]
pub struct PRegSet(pub u64);

impl PRegSet {
    pub const EMPTY: PRegSet = PRegSet(0);

    pub const fn of(regs: &[PReg]) -> PRegSet {
        let mut bits = 0;
        let mut i = 0;
        while i < regs.len() {
            bits |= 1 << regs[i].index();
            i += 1;
        }
        PRegSet(bits)
    }

    pub const fn contains(self, r: PReg) -> bool {
        self.0 >> r.index() & 1 != 0
    }

    pub fn insert(&mut self, r: PReg) {
        self.0 |= 1 << r.index();
    }

    pub fn remove(&mut self, r: PReg) {
        self.0 &= !(1 << r.index());
    }

    pub const fn union(self, other: PRegSet) -> PRegSet {
        PRegSet(self.0 | other.0)
    }

    pub const fn intersection(self, other: PRegSet) -> PRegSet {
        PRegSet(self.0 & other.0)
    }

    pub const fn without(self, other: PRegSet) -> PRegSet {
        PRegSet(self.0 & !other.0)
    }

    /// Only the registers of one bank.
    pub const fn in_bank(self, bank: Bank) -> PRegSet {
        match bank {
            Bank::Int => PRegSet(self.0 & 0xffff_ffff),
            Bank::Float => PRegSet(self.0 & !0xffff_ffff),
        }
    }

    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Members in increasing order.
    pub fn iter(self) -> impl Iterator<Item = PReg> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let i = rest.trailing_zeros();
            rest &= rest - 1;
            Some(PReg(i as u8))
        })
    }
}

impl fmt::Debug for PRegSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// What the allocator knows of a virtual register.
#[derive(Copy, Clone, Debug)]
pub struct VRegInfo {
    pub bank: Bank,
    /// The bytes that count, 4 or 8: how wide a move, spill or reload of it has to be. The bits
    /// above a 4-byte value are whatever the target's 4-byte move leaves there.
    pub size: u8,
    /// Its one definition reads no register and no memory that may change, so repeating it is
    /// an alternative to keeping the value (constants, addresses of slots and symbols).
    pub rematerialise: bool,
}

/// Where a use or a definition may be.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Constraint {
    /// Any register of the bank.
    Reg,
    /// A register, or its spill slot: the instruction has a form with a memory operand. At most
    /// one operand of an instruction is this, and never one of an instruction with an address.
    Any,
    /// This register.
    Fixed(PReg),
    /// A definition in the same register as the use at this place in the operand list.
    Reuse(u8),
}

/// What an instruction does with an operand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// Reads it, before anything is written.
    Use,
    /// Writes it, after everything has been read: may share a register with a use.
    Def,
    /// Writes it before all uses are read (or a scratch register): shares with no use.
    EarlyDef,
}

/// A register operand of an instruction.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    pub reg: VReg,
    pub role: Role,
    pub constraint: Constraint,
}

const _: () = assert!(size_of::<Operand>() == 8);

/// The number of a row of a target's instruction table. Rows below [`op::FIRST_TARGET`] are common
/// to all targets.
pub type MOp = u16;

/// Ops that every target has. Rows of a target start at `FIRST_TARGET`.
pub mod op {
    use super::MOp;
    /// Nothing.
    pub const NOP: MOp = 0;
    /// First in the entry: defines the registers that parameters come in.
    pub const PARAMS: MOp = 1;
    /// Def, Use: a copy that the allocator should make free. Both of one bank.
    pub const COPY: MOp = 2;
    /// Terminator: to the only successor. No operands.
    pub const JUMP: MOp = 3;
    /// Terminator: return; operands are fixed uses.
    pub const RETURN: MOp = 4;
    /// Terminator: a trap.
    pub const TRAP: MOp = 5;
    /// A source location: `imm` is the line, plus the column (0: none) shifted left by 32.
    pub const LOCATION: MOp = 6;
    /// The first number a target may use.
    pub const FIRST_TARGET: MOp = 16;
}

/// The base of an address.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Base {
    /// None: the index and displacement alone.
    None,
    /// The register operand at this place of the operand list.
    Reg(u8),
    /// A stack slot.
    Slot(SlotId),
    /// Incoming stack arguments: 0 is the first byte of the first.
    Incoming,
    /// Outgoing stack arguments: 0 is the stack pointer at the call.
    Outgoing,
    /// A symbol. (`Access::Extern`: the table cell that holds its address;
    /// `Access::ExternThread`: the cell that holds its offset from the thread pointer.)
    Symbol(SymbolId, Access),
    /// A constant of 4, 8 or 16 bytes in read-only data: its bits.
    Pool(u64, u8),
}

/// A memory operand: base + index * scale + displacement.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Address {
    pub base: Base,
    /// The register operand at this place of the operand list.
    pub index: Option<u8>,
    /// 1, 2, 4 or 8.
    pub scale: u8,
    pub disp: i64,
}

/// A machine instruction.
#[derive(Copy, Clone, Debug)]
pub struct MInst {
    /// The row of the instruction table.
    pub op: MOp,
    /// Operation size in bytes where the row comes in several: 1, 2, 4, 8.
    pub size: u8,
    /// The target's number of a condition, for rows that have one.
    pub cond: u8,
    /// Its register operands: `operands[first..first + count]` of the function.
    pub first: u32,
    pub count: u16,
    /// Registers it destroys, by number in `MFunction::clobbers`; 0 for none.
    pub clobbers: u16,
    /// Its memory operand.
    pub address: Option<AddressId>,
    /// Its immediate, or what the op says.
    pub imm: i64,
}

impl MInst {
    pub fn new(op: MOp, size: u8) -> MInst {
        MInst { op, size, cond: 0, first: 0, count: 0, clobbers: 0, address: None, imm: 0 }
    }
}

/// A phi; arguments are one a predecessor, read in parallel on the edge.
#[derive(Clone, Debug)]
pub struct MPhi {
    pub to: VReg,
    pub args: SmallVec<[(BlockId, VReg); 2]>,
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct MBlock {
    pub phis: Vec<MPhi>,
    pub insts: Vec<MInst>,
    /// Without duplicates; for a conditional branch: taken, then not taken.
    pub succs: SmallVec<[BlockId; 2]>,
    /// Without duplicates.
    pub preds: SmallVec<[BlockId; 2]>,
    /// Reads the flags (of targets that have them) that its only predecessor's branch has read:
    /// nothing that writes them may be put at its start.
    pub flags_in: bool,
    /// Nesting of natural loops.
    pub depth: u32,
    /// How often it runs when the function runs once, estimated.
    pub frequency: f32,
}

/// A function of machine instructions.
#[derive(Clone, Debug)]
pub struct MFunction {
    pub symbol: SymbolId,
    /// In reverse postorder of a depth-first walk; block 0 is the entry. All are reachable.
    pub blocks: IndexVec<BlockId, MBlock>,
    pub vregs: IndexVec<VReg, VRegInfo>,
    pub operands: Vec<Operand>,
    pub addresses: IndexVec<AddressId, Address>,
    /// Row 0 is the empty set.
    pub clobbers: Vec<PRegSet>,
    pub slots: IndexVec<SlotId, Slot>,
    /// Bytes of outgoing stack arguments that the frame sets aside.
    pub outgoing: u64,
    /// Has calls: the stack must be aligned, the return address saved.
    pub calls: bool,
    /// Allocates at run time: needs a register that the frame is addressed by.
    pub dynamic: bool,
    /// The frame pointer leads to the caller's and the return address, as the target's convention
    /// has it.
    pub frame_pointer: bool,
    /// Registers the allocator must leave alone in this function (a frame pointer).
    pub reserved: PRegSet,
    /// May be returned to twice (`setjmp`): spill slots are not shared, nothing live across such
    /// a call stays in a register.
    pub returns_twice: bool,
    /// Data for emission that only the target understands (a variadic save area and the like).
    pub extra: i64,
}

impl MFunction {
    pub fn operands(&self, inst: &MInst) -> &[Operand] {
        &self.operands[inst.first as usize..][..inst.count as usize]
    }

    pub fn clobbers(&self, inst: &MInst) -> PRegSet {
        self.clobbers[inst.clobbers as usize]
    }

    /// Keeps a frame pointer in `r` if the function calls, or needs a register there in any case.
    pub fn keep_frame_pointer(&mut self, r: PReg) {
        if self.calls || self.dynamic {
            self.frame_pointer = true;
            self.reserved.insert(r);
        }
    }
}

/// Where a value is after allocation.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Location {
    Reg(PReg),
    Spill(SpillId),
}

/// A step of an allocated block.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Step {
    /// The block's instruction of that number.
    Inst(u32),
    /// A move, a spill or a reload of `size` bytes; never from spill slot to spill slot.
    Move { from: Location, to: Location, size: u8 },
    /// Two registers of one bank exchange their values.
    Swap(PReg, PReg),
    /// Repeats the instruction `inst` of `block`, whose only definition now goes to `to`.
    Rematerialise { block: BlockId, inst: u32, to: PReg },
}

/// What the allocator decided.
#[derive(Clone, Debug, Default)]
pub struct Allocation {
    pub steps: IndexVec<BlockId, Vec<Step>>,
    /// Parallel to `MFunction::operands`.
    pub locations: Vec<Option<Location>>,
    pub spills: IndexVec<SpillId, ()>,
    /// Every register that something is written to, clobbers of calls not counted.
    pub used: PRegSet,
}

impl Allocation {
    /// The register of operand `n` of `inst`. For operands whose constraint is not `Any`.
    pub fn reg(&self, inst: &MInst, n: usize) -> PReg {
        match self.location(inst, n) {
            Location::Reg(r) => r,
            Location::Spill(s) => panic!("operand {n} of row {} is in {s:?}", inst.op),
        }
    }

    /// Where operand `n` of `inst` is.
    pub fn location(&self, inst: &MInst, n: usize) -> Location {
        self.locations[inst.first as usize + n].expect("every operand has a location")
    }
}

/// The registers of a target, as the allocator needs them.
#[derive(Debug)]
pub struct Registers {
    /// Registers for temporaries, in the order of preference, one list a bank.
    pub int_order: &'static [PReg],
    pub float_order: &'static [PReg],
    /// What a call destroys.
    pub caller_saved: PRegSet,
    /// What a function that uses it must save.
    pub callee_saved: PRegSet,
}

impl Registers {
    pub fn order(&self, bank: Bank) -> &'static [PReg] {
        match bank {
            Bank::Int => self.int_order,
            Bank::Float => self.float_order,
        }
    }
}
