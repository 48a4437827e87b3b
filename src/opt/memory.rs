//! Loads of what is known: a load takes the value that a store, a blit or another load above it left
//! in memory, also through joins, with phis.
//!
//! For each load the instructions above are walked until one is met that has all its bytes, or one
//! that may have changed any. Wider, shifted and differently typed sources give their bits through
//! shifts and casts; the load becomes the extension it would have made. A blit leads the walk to its
//! source. At a join all predecessors have to have the bytes; what a walk finds on the assumption that
//! a loop does not change them counts only if the whole walk succeeds.
//!
//! A walk is bounded, and what failed at a join is remembered, so the pass is linear in practice.
//! Needs SSA form, the CFG. Breaks uses. Does nothing where a call returns twice.

use super::Env;
use super::slots::for_each_operand;
use crate::analysis::Facts;
use crate::analysis::alias::{Address, Alias, Base, Relation};
use crate::analysis::cfg::Cfg;
use crate::analysis::references::calls_return_twice;
use crate::index::IndexVec;
use crate::ir::{BlockId, Class, Function, Inst, Op, Phi, Ref, TempId, ops};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Memory instructions a walk may pass.
const MAX_STEPS: u32 = 192;
/// Sweeps over new phis for needless ones.
const MAX_ROUNDS: usize = 4;
/// Joins a walk may pass, one inside the other.
const MAX_DEPTH: u32 = 24;

/// Replaces loads of `f`; true if any was.
pub fn run(f: &mut Function, facts: &Facts, env: &Env<'_>) -> bool {
    let loads = || f.blocks.iter().flat_map(|b| &b.insts).filter(|i| i.op.is_load());
    if loads().next().is_none() || calls_return_twice(f, env.module) {
        return false;
    }
    let alias = Alias::new(f, &facts.cfg, env.module);
    let events = Events::new(f, &facts.cfg, &alias);
    let mut forwarding = Forwarding {
        cfg: &facts.cfg,
        alias: &alias,
        events: &events,
        home: homes(f, &facts.cfg),
        replaced: IndexVec::filled(Ref::NONE, f.temps.len()),
        known: FxHashMap::default(),
        made: Vec::new(),
        phis: Vec::new(),
        added: Vec::new(),
        steps: 0,
    };
    let mut changed = false;
    for &b in &facts.cfg.rpo {
        for at in events.range(b) {
            changed |= forwarding.load(f, b, at);
        }
    }
    if changed {
        forwarding.finish(f);
    }
    changed
}

/// The block each temporary is defined in.
fn homes(f: &Function, cfg: &Cfg) -> IndexVec<TempId, BlockId> {
    let mut home = IndexVec::filled(f.entry(), f.temps.len());
    for &b in &cfg.rpo {
        let block = &f.blocks[b];
        block.phis.iter().for_each(|phi| home[phi.to] = b);
        block.insts.iter().filter_map(|inst| inst.to).for_each(|t| home[t] = b);
    }
    home
}

/// What an instruction does to memory.
#[derive(Copy, Clone)]
enum Effect {
    Load,
    Store,
    /// Copies to the event's address from this one.
    Blit(Address),
    /// May change the event's bytes, and gives no value.
    Clobber,
    /// May change all that this function does not keep for itself.
    Any,
}

/// An instruction that reads or writes memory.
struct Event {
    inst: u32,
    effect: Effect,
    address: Address,
    size: u64,
    /// The result of a load or the operand of a store, and its class.
    value: Ref,
    class: Class,
}

/// The memory instructions of all blocks.
struct Events {
    start: IndexVec<BlockId, (u32, u32)>,
    rows: Vec<Event>,
}

impl Events {
    fn new(f: &Function, cfg: &Cfg, alias: &Alias) -> Events {
        let mut events =
            Events { start: IndexVec::filled((0, 0), f.blocks.len()), rows: Vec::new() };
        for &b in &cfg.rpo {
            let first = events.rows.len() as u32;
            for (i, inst) in f.blocks[b].insts.iter().enumerate() {
                events.rows.extend(event(f, alias, inst, i as u32));
            }
            events.start[b] = (first, events.rows.len() as u32);
        }
        events
    }

    fn range(&self, b: BlockId) -> std::ops::Range<usize> {
        self.start[b].0 as usize..self.start[b].1 as usize
    }
}

fn event(f: &Function, alias: &Alias, inst: &Inst, i: u32) -> Option<Event> {
    let [x, y, z] = inst.args;
    let mut event = Event {
        inst: i,
        effect: Effect::Any,
        address: Address { base: Base::Absolute, offset: None },
        size: 0,
        value: Ref::NONE,
        class: inst.class,
    };
    if let Some(size) = inst.op.load_size() {
        // A volatile load neither takes nor gives a value.
        if inst.volatile {
            return None;
        }
        event.effect = Effect::Load;
        event.address = alias.address(f, x);
        event.size = size.into();
        event.value = inst.to.map_or(Ref::NONE, Ref::temp);
    } else if let Some(size) = inst.op.store_size() {
        event.effect = Effect::Store;
        event.address = alias.address(f, y);
        event.size = size.into();
        event.value = x;
        event.class = stored_class(inst.op);
    } else if inst.op == Op::Blit {
        event.effect = Effect::Blit(alias.address(f, x));
        event.address = alias.address(f, y);
        event.size = f.bits(z).unwrap_or(u64::MAX);
    } else if inst.op.row().effect != ops::Effect::Any {
        return None;
    }
    if inst.volatile {
        event.effect = Effect::Clobber;
    }
    Some(event)
}

/// The class of a store's operand.
fn stored_class(op: Op) -> Class {
    match op {
        Op::Storel => Class::L,
        Op::Stores => Class::S,
        Op::Stored => Class::D,
        _ => Class::W,
    }
}

/// Bytes of memory, and the class in which a walk wants them: the low bits count, those above the
/// bytes are garbage.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
struct Place {
    address: Address,
    size: u32,
    class: Class,
}

/// What is known of a place on entry to a block.
#[derive(Copy, Clone)]
enum Known {
    /// This value; while the walk is still going on, the result of a phi that may come.
    Value(Ref),
    Nothing,
}

struct Forwarding<'a> {
    cfg: &'a Cfg,
    alias: &'a Alias,
    events: &'a Events,
    home: IndexVec<TempId, BlockId>,
    /// What results of loads, and of phis that turned out to be needless, are.
    replaced: IndexVec<TempId, Ref>,
    known: FxHashMap<(BlockId, Place), Known>,
    /// The keys that this walk added to `known`.
    made: Vec<(BlockId, Place)>,
    phis: Vec<(BlockId, Phi)>,
    /// Instructions to be put behind instruction n of a block.
    added: Vec<(BlockId, u32, Inst)>,
    steps: u32,
}

impl Forwarding<'_> {
    /// Replaces a load if its value is known.
    fn load(&mut self, f: &mut Function, b: BlockId, at: usize) -> bool {
        let events = self.events;
        let event = &events.rows[at];
        if !matches!(event.effect, Effect::Load) || event.address.offset.is_none() {
            return false;
        }
        let inst = f.blocks[b].insts[event.inst as usize];
        let (to, size) = (inst.to.expect("a load has a result"), event.size as u32);
        let class = match inst.class {
            Class::L if size < 8 => Class::W,
            class => class,
        };
        let place = Place { address: event.address, size, class };
        self.steps = MAX_STEPS;
        let (phis, added) = (self.phis.len(), self.added.len());
        let first = self.events.start[b].0 as usize;
        let found = self.walk(f, b, first..at, place, MAX_DEPTH).map(|value| self.resolve(value));
        let Some(value) = found.filter(|&value| value != to.into()) else {
            self.phis.truncate(phis);
            self.added.truncate(added);
            for key in self.made.drain(..) {
                self.known.insert(key, Known::Nothing);
            }
            return false;
        };
        self.made.clear();
        let events = self.events;
        let event = &events.rows[at];
        let extend = match inst.op {
            Op::Loadsb => Some(Op::Extsb),
            Op::Loadub => Some(Op::Extub),
            Op::Loadsh => Some(Op::Extsh),
            Op::Loaduh => Some(Op::Extuh),
            Op::Loadsw if inst.class == Class::L => Some(Op::Extsw),
            Op::Loaduw if inst.class == Class::L => Some(Op::Extuw),
            _ => None,
        };
        match extend {
            Some(op) => {
                f.blocks[b].insts[event.inst as usize] = Inst::new(op, inst.class, to, &[value]);
            }
            None => {
                self.replaced[to] = value;
                f.blocks[b].insts[event.inst as usize] = Inst::nop();
            }
        }
        true
    }

    /// The value of `place` below the events of `range`, which lie in `b`.
    fn walk(
        &mut self,
        f: &mut Function,
        mut b: BlockId,
        mut range: std::ops::Range<usize>,
        mut place: Place,
        depth: u32,
    ) -> Option<Ref> {
        loop {
            for at in range.rev() {
                self.steps = self.steps.checked_sub(1)?;
                let events = self.events;
                let event = &events.rows[at];
                let (wanted, size) = (place.address, u64::from(place.size));
                let relation = || self.alias.relation(event.address, event.size, wanted, size);
                // How far inside the event's bytes the wanted ones start, if they all are there.
                let inside = |d: i64| (d >= 0 && d as u64 + size <= event.size).then_some(d as u64);
                match event.effect {
                    Effect::Any if !self.alias.is_reachable_by_calls(wanted) => {}
                    Effect::Any => return None,
                    Effect::Load => {
                        if let Relation::Overlap(d) = relation()
                            && let Some(d) = inside(d)
                        {
                            return Some(self.bits_of(f, b, at, d, place));
                        }
                    }
                    Effect::Store | Effect::Blit(_) | Effect::Clobber => match relation() {
                        Relation::Apart => {}
                        Relation::Unknown => return None,
                        Relation::Overlap(d) => {
                            let d = inside(d)?;
                            match event.effect {
                                Effect::Store => return Some(self.bits_of(f, b, at, d, place)),
                                Effect::Blit(source) => place.address = source.plus(d as i64),
                                _ => return None,
                            }
                        }
                    },
                }
            }
            // Above its definition a base means another iteration's address, or none.
            if let Base::Temp(t) = place.address.base
                && self.home[t] == b
            {
                return None;
            }
            match *self.cfg.preds(b) {
                [] => return None,
                [p] => {
                    self.steps = self.steps.checked_sub(1)?;
                    b = p;
                    range = self.events.range(p);
                }
                _ => return self.join(f, b, place, depth),
            }
        }
    }

    /// The value of `place` on entry to a block with several predecessors.
    fn join(&mut self, f: &mut Function, b: BlockId, place: Place, depth: u32) -> Option<Ref> {
        match self.known.get(&(b, place)) {
            Some(Known::Value(value)) => return Some(*value),
            Some(Known::Nothing) => return None,
            None => {}
        }
        self.steps = self.steps.checked_sub(self.cfg.preds(b).len() as u32)?;
        let depth = depth.checked_sub(1)?;
        let to = self.new_temp(f, place.class);
        self.known.insert((b, place), Known::Value(to.into()));
        self.made.push((b, place));
        let mut args: SmallVec<[(BlockId, Ref); 2]> = SmallVec::new();
        for &p in self.cfg.preds(b) {
            let value = self.walk(f, p, self.events.range(p), place, depth)?;
            args.push((p, value));
        }
        // The same value from everywhere, or itself round a loop, needs no phi.
        let mut only = None;
        let mut several = false;
        for (_, value) in &mut args {
            *value = self.resolve(*value);
            if *value != to.into() {
                several |= only.is_some_and(|o| o != *value);
                only = Some(*value);
            }
        }
        match only {
            Some(value) if !several => {
                self.replaced[to] = value;
                self.known.insert((b, place), Known::Value(value));
                Some(value)
            }
            _ => {
                self.phis.push((b, Phi { to, class: place.class, args }));
                Some(to.into())
            }
        }
    }

    /// The bytes of `place`, which start `skip` bytes after those of the load or store `at` in `b`.
    fn bits_of(&mut self, f: &mut Function, b: BlockId, at: usize, skip: u64, place: Place) -> Ref {
        let events = self.events;
        let event = &events.rows[at];
        let (mut value, mut class) = (self.resolve(event.value), event.class);
        if class == place.class && skip == 0 {
            return Self::constant(f, value, class);
        }
        if let Some(bits) = f.bits(value) {
            let bits = if class.is_wide() { bits } else { u64::from(bits as u32) };
            let shifted = f.int((bits >> (8 * skip)) as i64);
            return Self::constant(f, shifted, place.class);
        }
        let behind = (b, event.inst);
        if class.is_float() {
            class = if class.is_wide() { Class::L } else { Class::W };
            value = self.add(f, behind, Op::Cast, class, &[value]);
        }
        if skip > 0 {
            let count = f.int(8 * skip as i64);
            value = self.add(f, behind, Op::Shr, class, &[value, count]);
        }
        if place.class.is_float() {
            value = self.add(f, behind, Op::Cast, place.class, &[value]);
        }
        value
    }

    /// A constant as passes write it in a `w`; others as they are.
    fn constant(f: &mut Function, r: Ref, class: Class) -> Ref {
        match (class, f.bits(r)) {
            (Class::W, Some(bits)) => f.int(i64::from(bits as i32)),
            (Class::L, Some(bits)) => f.int(bits as i64),
            _ => r,
        }
    }

    fn new_temp(&mut self, f: &mut Function, class: Class) -> TempId {
        self.replaced.push(Ref::NONE);
        self.home.push(f.entry());
        f.new_temp(class)
    }

    fn add(
        &mut self,
        f: &mut Function,
        behind: (BlockId, u32),
        op: Op,
        class: Class,
        args: &[Ref],
    ) -> Ref {
        let to = self.new_temp(f, class);
        self.added.push((behind.0, behind.1, Inst::new(op, class, to, args)));
        to.into()
    }

    fn resolve(&self, mut r: Ref) -> Ref {
        while let Some(t) = r.as_temp()
            && self.replaced[t].is_some()
        {
            r = self.replaced[t];
        }
        r
    }

    /// Finds the phis that have only one value besides themselves. One found can make another so.
    fn drop_needless_phis(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let before = self.phis.len();
            let mut phis = std::mem::take(&mut self.phis);
            phis.retain(|(_, phi)| {
                let to = Ref::temp(phi.to);
                let mut values = phi.args.iter().map(|&(_, r)| self.resolve(r));
                let Some(first) = values.find(|&r| r != to) else { return true };
                let needed = values.any(|r| r != to && r != first);
                if !needed {
                    self.replaced[phi.to] = first;
                }
                needed
            });
            self.phis = phis;
            if self.phis.len() == before {
                break;
            }
        }
    }

    fn finish(mut self, f: &mut Function) {
        self.drop_needless_phis();
        for (b, phi) in std::mem::take(&mut self.phis) {
            f.blocks[b].phis.push(phi);
        }
        // Stable: what was added behind one instruction stays in order.
        let mut added = std::mem::take(&mut self.added);
        added.sort_by_key(|&(b, i, _)| (b, i));
        let mut rest = added.into_iter().peekable();
        for (b, block) in f.blocks.enumerate_mut() {
            if rest.peek().is_none_or(|next| next.0 != b) {
                block.insts.retain(|inst| inst.op != Op::Nop);
                continue;
            }
            let old = std::mem::take(&mut block.insts);
            for (i, inst) in old.into_iter().enumerate() {
                if inst.op != Op::Nop {
                    block.insts.push(inst);
                }
                while let Some(next) = rest.next_if(|next| (next.0, next.1) == (b, i as u32)) {
                    block.insts.push(next.2);
                }
            }
        }
        for_each_operand(f, |r| *r = self.resolve(*r));
    }
}
