//! Analyses: pure functions from a [`Function`] to a side table.
//!
//! The driver owns one [`Facts`] a function and lends it to the passes; what a pass needs and what
//! it breaks is in its row of the pass list (`pipeline`).

/// The side tables of a function. Each is there if the driver computed it.
#[derive(Default)]
pub struct Facts {}
