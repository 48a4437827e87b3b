//! Copies, and phis that are copies.
//!
//! Every copy and every phi starts without a value; sweeps over them in reverse postorder give
//! each the one value that all its arguments have, or itself. At the fixed point a cycle of phis
//! with a single value from outside has collapsed into that value (the redundant sets of Braun et
//! al., Simple and Efficient Construction of SSA Form, 2013, section 3.2). Only the fixed point
//! is used. Phis of one block with equal arguments are merged.
//!
//! Needs the CFG. Changes instructions and phis, no block and no edge.

use super::Env;
use super::replace::{Replacements, canonical, fits};
use crate::analysis::Facts;
use crate::index::IndexVec;
use crate::ir::{BlockId, Class, Function, Inst, Op, Ref, TempId};
use std::ops::Range;

/// Removes copies from `f`; true if there were any.
pub fn run(f: &mut Function, facts: &Facts, _env: &Env<'_>) -> bool {
    copies(f, &facts.cfg.rpo)
}

/// Sweeps before cycles of phis are left as they are.
const MAX_SWEEPS: usize = 16;

/// Removes copies from the blocks of `rpo`.
pub fn copies(f: &mut Function, rpo: &[BlockId]) -> bool {
    let mut changed = false;
    // Merging equal phis can make the arguments of others equal, but hardly ever twice.
    for _ in 0..2 {
        let mut found = same_values(f, rpo);
        equal_phis(f, rpo, &mut found);
        if found.is_empty() {
            break;
        }
        remove(f, rpo, &found);
        changed = true;
    }
    changed
}

/// A copy or a phi: its result and where its arguments are in the list of all.
struct Node {
    to: TempId,
    class: Class,
    args: Range<usize>,
}

/// Copies and phis in reverse postorder.
fn nodes(f: &mut Function, rpo: &[BlockId]) -> (Vec<Node>, Vec<Ref>) {
    let mut nodes = Vec::new();
    let mut args = Vec::new();
    for &b in rpo {
        let block = &f.blocks[b];
        for phi in &block.phis {
            let start = args.len();
            args.extend(phi.args.iter().map(|&(_, r)| r));
            nodes.push(Node { to: phi.to, class: phi.class, args: start..args.len() });
        }
        for inst in &block.insts {
            if let Inst { op: Op::Copy, class, to: Some(to), args: [x, ..], .. } = *inst {
                nodes.push(Node { to, class, args: args.len()..args.len() + 1 });
                args.push(x);
            }
        }
    }
    for node in &nodes {
        for r in &mut args[node.args.clone()] {
            *r = canonical(f, *r, node.class);
        }
    }
    (nodes, args)
}

fn same_values(f: &mut Function, rpo: &[BlockId]) -> Replacements {
    let (nodes, args) = nodes(f, rpo);
    let mut found = Replacements::new(f.temps.len());
    if nodes.is_empty() {
        return found;
    }
    // What is neither copy nor phi is itself; `Ref::NONE` is no value yet.
    let mut values: IndexVec<TempId, Ref> = f.temps.indices().map(Ref::temp).collect();
    for node in &nodes {
        values[node.to] = Ref::NONE;
    }
    for sweep in 0.. {
        let mut changed = false;
        for node in &nodes {
            let old = values[node.to];
            if old == node.to.into() {
                continue;
            }
            let mut new = value_of(f, &values, node, &args);
            if new != old {
                changed = true;
                // A phi that has not settled by now is itself; later ones may follow from that.
                if sweep >= MAX_SWEEPS && node.args.len() > 1 {
                    new = node.to.into();
                }
                values[node.to] = new;
            }
        }
        if !changed {
            break;
        }
    }
    for node in &nodes {
        let value = values[node.to];
        if value.is_some() && value != node.to.into() {
            found.insert(node.to, value);
        }
    }
    found
}

/// The one value of a node's arguments that have any, or its own.
fn value_of(f: &Function, values: &IndexVec<TempId, Ref>, node: &Node, args: &[Ref]) -> Ref {
    let mut only = Ref::NONE;
    for &r in &args[node.args.clone()] {
        let value = r.as_temp().map_or(r, |t| values[t]);
        if value.is_none() || value == only {
            continue;
        }
        if only.is_some() {
            return node.to.into();
        }
        only = value;
    }
    if only.is_none() || fits(f, only, node.class) { only } else { node.to.into() }
}

/// Finds phis of one block with the same arguments on the same edges.
fn equal_phis(f: &Function, rpo: &[BlockId], found: &mut Replacements) {
    let mut rows = Vec::new();
    for &b in rpo {
        let phis = &f.blocks[b].phis;
        if phis.len() < 2 {
            continue;
        }
        rows.clear();
        for phi in phis {
            if found.resolve(phi.to.into()) == phi.to.into() {
                let args: Vec<(BlockId, Ref)> =
                    phi.args.iter().map(|&(from, r)| (from, found.resolve(r))).collect();
                rows.push((phi.class, args, phi.to));
            }
        }
        // Equal rows become neighbours, in the order of their results.
        rows.sort_unstable();
        for i in 1..rows.len() {
            let (first, second) = (&rows[i - 1], &rows[i]);
            if first.0 == second.0 && first.1 == second.1 {
                found.insert(second.2, first.2.into());
            }
        }
    }
}

/// Rewrites all operands and drops what was replaced.
fn remove(f: &mut Function, rpo: &[BlockId], found: &Replacements) {
    found.apply(f);
    for &b in rpo {
        let block = &mut f.blocks[b];
        block.phis.retain(|phi| !found.contains(phi.to));
        block
            .insts
            .retain(|inst| !(inst.op == Op::Copy && inst.to.is_some_and(|t| found.contains(t))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cfg::Cfg;
    use crate::opt::testing::assert_becomes;

    fn becomes(before: &str, after: &str) {
        assert_becomes(before, after, |f| copies(f, &Cfg::new(f).rpo));
    }

    #[test]
    fn a_cycle_of_phis_with_one_value_from_outside_collapses() {
        becomes(
            "function w $f(w %a, w %c) {
            @start
                %x =w copy %a
            @loop
                %p =w phi @start %x, @next %q
                jnz %c, @left, @next
            @left
                %y =w copy %p
            @next
                %q =w phi @loop %p, @left %y
                jnz %q, @loop, @out
            @out
                ret %q
            }",
            "function w $f(w %a, w %c) {
            @start
            @loop
            jnz %c, @left, @next
            @left
            @next
            jnz %a, @loop, @out
            @out
            ret %a
            }",
        );
    }

    #[test]
    fn a_cycle_with_two_values_stays() {
        let text = "function w $f(w %a, w %c) {
            @start
            @loop
            %p =w phi @start %a, @loop %q
            %q =w phi @start %c, @loop %p
            jnz %q, @loop, @out
            @out
            ret %q
            }";
        becomes(text, text);
    }

    #[test]
    fn a_copy_of_an_l_as_a_w_is_the_l_but_not_the_reverse() {
        becomes(
            "function l $f(l %a) {
            @start
                %x =w copy %a
                %y =w copy 4294967295
                %z =l extsw %x
                %u =w add %y, %x
                %v =l extuw %u
                %r =l add %z, %v
                ret %r
            }",
            "function l $f(l %a) {
            @start
            %z =l extsw %a
            %u =w add -1, %a
            %v =l extuw %u
            %r =l add %z, %v
            ret %r
            }",
        );
    }

    #[test]
    fn equal_phis_are_merged() {
        becomes(
            "function w $f(w %a, w %b) {
            @start
                jnz %a, @left, @right
            @left
            @right
                %p =w phi @start %a, @left %b
                %q =l phi @start 1, @left 2
                %r =w phi @start %a, @left %b
                %s =w add %p, %r
                %t =w add %s, %q
                ret %t
            }",
            "function w $f(w %a, w %b) {
            @start
            jnz %a, @left, @right
            @left
            @right
            %p =w phi @start %a, @left %b
            %q =l phi @start 1, @left 2
            %s =w add %p, %p
            %t =w add %s, %q
            ret %t
            }",
        );
    }
}
