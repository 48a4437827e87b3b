//! Register allocation of machine code in SSA form.
//!
//! 1. [`liveness`]: sparse live-in lists with next-use distances that know loops.
//! 2. [`spill`]: decides which values are in registers where (Belady's rule on those distances, as
//!    in Braun and Hack 2009), without saying which register. What lives across a call counts
//!    against the registers the call keeps. Values that can be rematerialised are made at their
//!    uses.
//! 3. [`slots`]: where evicted values are stored, and shared spill slots.
//! 4. [`webs`]: joins values that want one register (phis, ties, copies), hottest first, and gives
//!    each group a colour. Best effort.
//! 5. [`assign`]: a walk that gives every operand its register, the colour where it can, and moves
//!    values where an instruction insists. It always succeeds. [`edges`] adds the moves between
//!    blocks.
//!
//! [`check`] proves an allocation, [`layout`] orders the blocks afterwards. See
//! docs/passes/regalloc.md.

pub mod check;
pub mod layout;
pub mod moves;

mod assign;
mod colour;
mod edges;
mod liveness;
mod slots;
mod spill;
#[cfg(test)]
mod testing;
mod webs;

use crate::target::machine::{Allocation, Bank, Constraint, MFunction, Operand};
use crate::target::machine::{PReg, PRegSet, Registers, Role};

/// What a caller may ask for.
#[derive(Copy, Clone, Default, Debug)]
pub struct Options {
    /// At most so many registers of each bank for temporaries. Registers that the ABI or an
    /// instruction insists on stay usable, and an instruction that cannot do with so few gets
    /// what it needs.
    pub max_regs: Option<u32>,
}

/// Allocates the registers of a function.
pub fn allocate(code: &MFunction, registers: &Registers, options: &Options) -> Allocation {
    let pool = Pool::new(code, registers, options);
    let live = liveness::Liveness::new(code, &pool);
    let plan = spill::Plan::new(code, &pool, &live);
    let slots = slots::Slots::new(code, &live, &plan);
    let colours = webs::Colours::new(code, &pool, &live, &plan);
    let assigned = assign::run(code, &pool, &live, &plan, &slots, &colours);
    edges::finish(code, &pool, &live, &plan, &slots, assigned)
}

/// The registers that one function may use.
struct Pool {
    /// Those for temporaries.
    allowed: PRegSet,
    /// Those and the ones that only an instruction in need may borrow.
    every: PRegSet,
    caller_saved: PRegSet,
    callee_saved: PRegSet,
    /// All of `every`, in the order of preference.
    order: Vec<PReg>,
}

impl Pool {
    fn new(code: &MFunction, registers: &Registers, options: &Options) -> Pool {
        let mut pool = Pool {
            allowed: PRegSet::EMPTY,
            every: PRegSet::EMPTY,
            caller_saved: registers.caller_saved,
            callee_saved: registers.callee_saved,
            order: Vec::new(),
        };
        let limit = options.max_regs.map_or(usize::MAX, |n| n as usize);
        for bank in [Bank::Int, Bank::Float] {
            let usable = registers.order(bank).iter().filter(|r| !code.reserved.contains(**r));
            for (n, &r) in usable.enumerate() {
                pool.every.insert(r);
                pool.order.push(r);
                if n < limit {
                    pool.allowed.insert(r);
                }
            }
        }
        pool
    }

    /// How many registers of a bank temporaries may use.
    fn size(&self, bank: Bank) -> usize {
        self.allowed.in_bank(bank).len() as usize
    }

    /// Registers that are worth using for a moment, if `used` are used anyway.
    fn scratch(&self, used: PRegSet) -> PRegSet {
        self.allowed.without(self.callee_saved.without(used))
    }

    /// The first register of each bank.
    fn victims(&self) -> [PReg; 2] {
        [Bank::Int, Bank::Float].map(|bank| {
            let first = self.order.iter().copied().find(|r| r.bank() == bank);
            first.unwrap_or(match bank {
                Bank::Int => PReg::int(0),
                Bank::Float => PReg::float(0),
            })
        })
    }

    /// Whether an instruction with these clobbers is a call.
    fn is_call(&self, clobbers: PRegSet) -> bool {
        !clobbers.is_empty() && 2 * clobbers.len() >= self.caller_saved.len()
    }
}

/// What an instruction insists on.
#[derive(Copy, Clone, Default)]
struct Demand {
    /// Registers of fixed uses and early definitions: nothing else may be read from them.
    fixed_uses: PRegSet,
    /// Registers of fixed definitions, ties to fixed uses included.
    fixed_defs: PRegSet,
    clobbers: PRegSet,
}

impl Demand {
    fn new(operands: &[Operand], clobbers: PRegSet) -> Demand {
        let mut demand = Demand { clobbers, ..Demand::default() };
        for operand in operands {
            if let Some(r) = fixed(operands, operand) {
                match operand.role {
                    Role::Use => demand.fixed_uses.insert(r),
                    Role::Def => demand.fixed_defs.insert(r),
                    Role::EarlyDef => {
                        demand.fixed_uses.insert(r);
                        demand.fixed_defs.insert(r);
                    }
                }
            }
        }
        demand
    }

    /// Where a value that lives through the instruction may not be.
    fn all(&self) -> PRegSet {
        self.late().union(self.fixed_uses)
    }

    /// What the instruction writes.
    fn late(&self) -> PRegSet {
        self.clobbers.union(self.fixed_defs)
    }
}

/// The register an operand insists on, itself or through the use it is tied to.
fn fixed(operands: &[Operand], operand: &Operand) -> Option<PReg> {
    match operand.constraint {
        Constraint::Fixed(r) => Some(r),
        Constraint::Reuse(n) => match operands[n as usize].constraint {
            Constraint::Fixed(r) => Some(r),
            _ => None,
        },
        Constraint::Reg | Constraint::Any => None,
    }
}

/// Whether the definition `n`, tied to a use, can take over the use's register: the value ends
/// there (`dies`), and no definition before it takes it.
fn ends_in_tie(operands: &[Operand], n: usize, dies: bool) -> bool {
    let Constraint::Reuse(u) = operands[n].constraint else { return false };
    let v = operands[u as usize].reg;
    dies && !operands[..n].iter().any(|o| match o.constraint {
        Constraint::Reuse(other) => operands[other as usize].reg == v,
        _ => false,
    })
}
