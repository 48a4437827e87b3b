//! Analyses: pure functions from a [`Function`] to a side table.
//!
//! The driver owns one [`Facts`] a function and lends it to the passes; what a pass needs and what
//! it breaks is in its row of the pass list (`pipeline`).

pub mod alias;
pub mod bits;
pub mod cfg;
pub mod dominators;
pub mod frequency;
pub mod loops;
pub mod references;
pub mod uses;

use crate::ir::Function;
use cfg::Cfg;
use dominators::Dominators;
use frequency::Frequency;
use loops::Loops;
use uses::Uses;

/// A set of facts: the side tables a pass needs, or the ones it breaks.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct FactSet(u16);

impl FactSet {
    pub const NONE: FactSet = FactSet(0);
    /// Reverse postorder and predecessors. All others but `USES` rest on it.
    pub const CFG: FactSet = FactSet(1);
    pub const DOMINATORS: FactSet = FactSet(2);
    /// Natural loops and their nesting, and the static estimate of frequencies.
    pub const LOOPS: FactSet = FactSet(4);
    /// Definitions and uses of temporaries.
    pub const USES: FactSet = FactSet(8);
    pub const ALL: FactSet = FactSet(15);

    pub const fn with(self, other: FactSet) -> FactSet {
        FactSet(self.0 | other.0)
    }

    pub const fn contains(self, other: FactSet) -> bool {
        self.0 & other.0 == other.0
    }

    pub const fn intersects(self, other: FactSet) -> bool {
        self.0 & other.0 != 0
    }

    pub const fn without(self, other: FactSet) -> FactSet {
        FactSet(self.0 & !other.0)
    }

    /// These facts and those they are computed from.
    const fn closed(self) -> FactSet {
        let mut all = self;
        if all.intersects(FactSet::LOOPS) {
            all = all.with(FactSet::DOMINATORS);
        }
        if all.intersects(FactSet::DOMINATORS) {
            all = all.with(FactSet::CFG);
        }
        all
    }
}

/// The side tables of a function. A table is good only while its bit is in `known`; the driver
/// brings up to date what a pass needs before it runs, and forgets what it broke afterwards.
#[derive(Default)]
pub struct Facts {
    known: FactSet,
    pub cfg: Cfg,
    pub dominators: Dominators,
    pub loops: Loops,
    pub frequency: Frequency,
    pub uses: Uses,
}

impl Facts {
    /// Makes the tables in `needs`, and those they rest on, agree with `f`.
    pub fn require(&mut self, f: &Function, needs: FactSet) {
        let needs = needs.closed();
        let missing = needs.without(self.known);
        if missing.intersects(FactSet::CFG) {
            self.cfg = Cfg::new(f);
        }
        if missing.intersects(FactSet::DOMINATORS) {
            self.dominators = Dominators::new(f, &self.cfg);
        }
        if missing.intersects(FactSet::LOOPS) {
            self.loops = Loops::new(f, &self.cfg, &self.dominators);
            self.frequency = Frequency::new(f, &self.cfg, &self.loops);
        }
        if missing.intersects(FactSet::USES) {
            self.uses = Uses::new(f);
        }
        self.known = self.known.with(needs);
    }

    /// Forgets tables that no longer agree with the function.
    pub fn forget(&mut self, broken: FactSet) {
        let mut broken = broken;
        if broken.intersects(FactSet::CFG) {
            broken = broken.with(FactSet::DOMINATORS).with(FactSet::LOOPS);
        }
        self.known = self.known.without(broken);
    }

    /// Recomputes every table that is held to be good, and compares.
    ///
    /// # Errors
    /// The name of a table that does not agree with `f`: a pass says it keeps it and does not.
    pub fn verify(&self, f: &Function) -> Result<(), String> {
        let mut fresh = Facts::default();
        fresh.require(f, self.known);
        let stale = |what: &str| Err(format!("the pass breaks {what} and does not say so"));
        if self.known.intersects(FactSet::CFG) && self.cfg != fresh.cfg {
            return stale("the control-flow graph");
        }
        if self.known.intersects(FactSet::DOMINATORS) && self.dominators != fresh.dominators {
            return stale("the dominators");
        }
        if self.known.intersects(FactSet::LOOPS)
            && (self.loops != fresh.loops || self.frequency != fresh.frequency)
        {
            return stale("the loops");
        }
        if self.known.intersects(FactSet::USES) && self.uses != fresh.uses {
            return stale("the uses");
        }
        Ok(())
    }
}
