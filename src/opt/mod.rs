//! The function passes: one file a pass, one entry `run` each. The order is in `pipeline`.

pub mod cfg;
pub mod coalesce;
pub mod code_motion;
pub mod construct;
pub mod copies;
pub mod dead;
pub mod dead_stores;
pub mod divide;
pub mod fold;
pub mod gvn;
pub mod if_convert;
pub mod memory;
pub mod promote;
pub mod replace;
pub mod slots;
pub mod ssa;
#[cfg(test)]
mod testing;

use crate::ir::Module;
use crate::target::Target;

/// What a pass may know besides the function and its facts.
pub struct Env<'a> {
    /// Symbols, types and data. The functions are taken out while passes run.
    pub module: &'a Module,
    pub target: &'a Target,
}
