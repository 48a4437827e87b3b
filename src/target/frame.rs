//! What the layouts of frames share.

use super::machine::{Base, MFunction};
use crate::index::{Index, IndexVec};
use crate::ir::SlotId;

/// More bytes than any frame that can be had, and far enough from overflow.
pub const LIMIT: u64 = 1 << 60;

/// The slots that anything refers to, those with most references per byte first, so that most
/// displacements are short.
pub fn slots_in_order(code: &MFunction) -> Vec<SlotId> {
    let mut uses = IndexVec::filled(0u64, code.slots.len());
    for address in code.addresses.iter() {
        if let Base::Slot(s) = address.base {
            uses[s] += 1;
        }
    }
    let mut order: Vec<SlotId> =
        (0..code.slots.len()).map(SlotId::new).filter(|&s| uses[s] > 0).collect();
    order.sort_by_key(|&s| {
        let size = code.slots[s].size.max(1);
        (std::cmp::Reverse((uses[s] << 32) / size), s)
    });
    order
}
