//! Analyses: pure functions from a [`Function`](crate::ir::Function) to a side table.
//!
//! The driver owns one [`Facts`] a function and lends it to the passes; what a pass needs and what
//! it breaks is in its row of the pass list (`pipeline`).

/// A set of facts: the side tables a pass needs, or the ones it breaks.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct FactSet(u16);

impl FactSet {
    pub const NONE: FactSet = FactSet(0);
    /// Reverse postorder and predecessors. All others rest on it.
    pub const CFG: FactSet = FactSet(1);
    pub const DOMINATORS: FactSet = FactSet(2);
    /// Natural loops and their nesting, and the static estimate of frequencies.
    pub const LOOPS: FactSet = FactSet(4);
    /// Definitions and uses of temporaries.
    pub const USES: FactSet = FactSet(8);
    /// Alias classes of addresses.
    pub const ALIAS: FactSet = FactSet(16);
    pub const ALL: FactSet = FactSet(31);

    pub const fn with(self, other: FactSet) -> FactSet {
        FactSet(self.0 | other.0)
    }

    pub const fn contains(self, other: FactSet) -> bool {
        self.0 & other.0 == other.0
    }

    pub const fn without(self, other: FactSet) -> FactSet {
        FactSet(self.0 & !other.0)
    }
}

/// The side tables of a function. A table is good only while its bit is in `known`; the driver
/// brings up to date what a pass needs before it runs, and forgets what it broke afterwards.
#[derive(Default)]
pub struct Facts {
    known: FactSet,
}

impl Facts {
    /// Makes the tables in `needs`, and those they rest on, agree with `f`.
    pub fn require(&mut self, _f: &crate::ir::Function, needs: FactSet) {
        self.known = self.known.with(needs);
    }

    /// Forgets tables that no longer agree with the function.
    pub fn forget(&mut self, broken: FactSet) {
        self.known = self.known.without(broken);
    }
}
