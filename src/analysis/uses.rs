//! Where temporaries of a function in SSA form are defined and used.

use crate::index::{Index, IndexVec};
use crate::ir::{BlockId, Function, TempId};

/// Where a temporary is defined.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Definition {
    /// Nowhere.
    #[default]
    None,
    /// A parameter or the environment.
    Parameter,
    /// Phi number n of a block.
    Phi(BlockId, u32),
    /// Instruction number n of a block.
    Inst(BlockId, u32),
}

/// A place that reads a temporary.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Use {
    /// Phi number n of a block (on some edge).
    Phi(BlockId, u32),
    /// Instruction number n of a block. Listed once an operand.
    Inst(BlockId, u32),
    /// The jump of a block.
    Jump(BlockId),
}

impl Use {
    /// The block of the place; for a phi the block that holds it, not the predecessor.
    pub fn block(self) -> BlockId {
        match self {
            Use::Phi(b, _) | Use::Inst(b, _) | Use::Jump(b) => b,
        }
    }
}

/// Definitions and uses, unreachable blocks included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Uses {
    definitions: IndexVec<TempId, Definition>,
    start: IndexVec<TempId, u32>,
    uses: Vec<Use>,
}

impl Uses {
    pub fn new(f: &Function) -> Uses {
        let definitions = definitions(f);
        let mut start = IndexVec::filled(0u32, f.temps.len());
        for_each_use(f, |t, _| start[t] += 1);
        let mut total = 0;
        for count in start.iter_mut() {
            let here = *count;
            *count = total;
            total += here;
        }
        let mut fill = start.clone();
        let mut uses = vec![Use::Jump(BlockId::new(0)); total as usize];
        for_each_use(f, |t, place| {
            uses[fill[t] as usize] = place;
            fill[t] += 1;
        });
        Uses { definitions, start, uses }
    }

    /// Where `t` is defined (the last place, if the function is not in SSA form).
    pub fn definition(&self, t: TempId) -> Definition {
        self.definitions[t]
    }

    /// The uses of `t` in order of the blocks.
    pub fn uses(&self, t: TempId) -> &[Use] {
        let start = self.start[t] as usize;
        let end = self.start.get(TempId::new(t.index() + 1)).map(|&e| e as usize);
        &self.uses[start..end.unwrap_or(self.uses.len())]
    }
}

fn definitions(f: &Function) -> IndexVec<TempId, Definition> {
    let mut definitions = IndexVec::filled(Definition::None, f.temps.len());
    let parameters = f.params.iter().map(|p| p.to).chain(f.env);
    parameters.for_each(|t| definitions[t] = Definition::Parameter);
    for (b, block) in f.blocks.enumerate() {
        for (n, phi) in block.phis.iter().enumerate() {
            definitions[phi.to] = Definition::Phi(b, n as u32);
        }
        for (n, inst) in block.insts.iter().enumerate() {
            if let Some(to) = inst.to {
                definitions[to] = Definition::Inst(b, n as u32);
            }
        }
    }
    definitions
}

fn for_each_use(f: &Function, mut visit: impl FnMut(TempId, Use)) {
    for (b, block) in f.blocks.enumerate() {
        for (n, phi) in block.phis.iter().enumerate() {
            for t in phi.args.iter().filter_map(|(_, r)| r.as_temp()) {
                visit(t, Use::Phi(b, n as u32));
            }
        }
        for (n, inst) in block.insts.iter().enumerate() {
            f.for_each_use(inst, |r| {
                if let Some(t) = r.as_temp() {
                    visit(t, Use::Inst(b, n as u32));
                }
            });
        }
        if let Some(t) = block.jump.arg().as_temp() {
            visit(t, Use::Jump(b));
        }
    }
}
