//! Value numbering over the dominator tree.
//!
//! A walk in preorder keeps a table of the expressions computed so far; what a subtree added is
//! taken out when the walk leaves it. An instruction whose expression is in the table was computed
//! on every path here and is replaced. Equal expressions of sibling branches are left where they
//! are: to move them to a common dominator costs the paths that need neither (docs/passes/gvn.md).
//! Behind a branch the table also holds what the branch found out of its comparison.
//!
//! Needs the CFG and dominators. Changes instructions and operands, no block and no edge; a `jnz`
//! that always goes one way is left with a constant for the `cfg` pass.

use super::Env;
use super::replace::{Replacements, canonical};
use crate::analysis::Facts;
use crate::analysis::dominators::Dominators;
use crate::index::{BitSet, IndexVec};
use crate::ir::ops::{Cond, Want};
use crate::ir::{BlockId, Class, Function, Inst, Jump, Op, Ref, TempId, for_each_use_mut};
use rustc_hash::FxHashMap;

/// Merges equal computations in `f`; true if there were any.
pub fn run(f: &mut Function, facts: &Facts, _env: &Env<'_>) -> bool {
    gvn(f, &facts.cfg.rpo, &facts.dominators)
}

/// An expression: an op of a class on operands that are numbered themselves.
type Key = (Op, Class, [Ref; 3]);

/// What to take back when the walk leaves a subtree.
enum Undo {
    /// The expression had this value before, or none.
    Expression(Key, Option<Ref>),
    /// The temporary stood for nothing else before.
    Known(TempId),
}

struct Numbering<'a> {
    f: &'a mut Function,
    /// Comparisons, for what branches say about them.
    defs: IndexVec<TempId, Inst>,
    /// Temporaries that something other than a branch or the condition of a select reads.
    valued: BitSet<TempId>,
    /// The one predecessor of a block that has one, if its jump goes there on one edge only.
    from: IndexVec<BlockId, Option<BlockId>>,
    table: FxHashMap<Key, Ref>,
    /// Constants that temporaries are known to equal in the subtree in work, or `Ref::NONE`.
    known: IndexVec<TempId, Ref>,
    undo: Vec<Undo>,
    found: Replacements,
    /// The block that defines a comparison.
    home: IndexVec<TempId, BlockId>,
    changed: bool,
}

/// Merges equal computations in the blocks of `rpo`.
pub fn gvn(f: &mut Function, rpo: &[BlockId], tree: &Dominators) -> bool {
    let mut numbering = Numbering::new(f, rpo);
    numbering.walk(tree);
    let Numbering { found, changed, .. } = numbering;
    found.apply(f);
    changed || !found.is_empty()
}

impl<'a> Numbering<'a> {
    fn new(f: &'a mut Function, rpo: &[BlockId]) -> Numbering<'a> {
        let n = f.temps.len();
        let entry = f.entry();
        let mut valued = BitSet::new(n);
        let mut value = |r: Ref| {
            if let Some(t) = r.as_temp() {
                valued.insert(t);
            }
        };
        let mut count = IndexVec::filled(0u32, f.blocks.len());
        let mut from = IndexVec::filled(None, f.blocks.len());
        for &b in rpo {
            let block = &f.blocks[b];
            block.phis.iter().flat_map(|phi| &phi.args).for_each(|&(_, r)| value(r));
            for inst in &block.insts {
                match inst.op {
                    Op::Select => inst.args[1..].iter().for_each(|&r| value(r)),
                    _ => f.for_each_use(inst, &mut value),
                }
            }
            if let Jump::Ret(r) = block.jump {
                value(r);
            }
            for s in block.jump.successors() {
                count[s] += 1;
                from[s] = Some(b);
            }
        }
        for (b, pred) in from.enumerate_mut() {
            if count[b] != 1 {
                *pred = None;
            }
        }
        Numbering {
            defs: IndexVec::filled(Inst::nop(), n),
            valued,
            from,
            table: FxHashMap::default(),
            known: IndexVec::filled(Ref::NONE, n),
            undo: Vec::new(),
            found: Replacements::new(n),
            home: IndexVec::filled(entry, n),
            changed: false,
            f,
        }
    }

    /// Numbers the blocks in preorder of the tree.
    fn walk(&mut self, tree: &Dominators) {
        // The blocks above the one in work, and how much to keep when each is left.
        let mut path: Vec<(BlockId, usize)> = Vec::new();
        for &b in &tree.preorder {
            while let Some(&(above, mark)) = path.last()
                && !tree.dominates(above, b)
            {
                path.pop();
                self.leave(mark);
            }
            path.push((b, self.undo.len()));
            self.learn(b);
            self.number(b);
        }
    }

    fn leave(&mut self, mark: usize) {
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Expression(key, None) => drop(self.table.remove(&key)),
                Undo::Expression(key, Some(old)) => drop(self.table.insert(key, old)),
                Undo::Known(t) => self.known[t] = Ref::NONE,
            }
        }
    }

    /// Enters what the branch to `b` says, if `b` is reached by one edge of one branch.
    fn learn(&mut self, b: BlockId) {
        let Some(from) = self.from[b] else { return };
        let Jump::Jnz(r, yes, _) = self.f.blocks[from].jump else { return };
        let Some(t) = r.as_temp() else { return };
        let holds = yes == b;
        let Some((cond, class)) = self.defs[t].op.comparison() else {
            if !holds && self.f.temps[t].class == Class::W {
                self.know(t, Ref::small_int(0));
            }
            return;
        };
        let [x, y, _] = self.defs[t].args;
        self.know(t, Ref::small_int(i64::from(holds)));
        self.relation(cond, class, [x, y], holds);
        if let Some(negated) = cond.negated() {
            self.relation(negated, class, [x, y], !holds);
        }
        let equal = if holds { Cond::Eq } else { Cond::Ne };
        if cond == equal
            && let Some(x) = x.as_temp()
            && self.f.temps[x].class == class
            && self.f.bits(y).is_some()
        {
            self.know(x, Some(y));
        }
    }

    /// `t` is a constant in the subtree in work.
    fn know(&mut self, t: TempId, constant: Option<Ref>) {
        if let Some(constant) = constant
            && self.known[t].is_none()
        {
            self.known[t] = constant;
            self.undo.push(Undo::Known(t));
        }
    }

    /// A comparison has the value `holds` in the subtree in work.
    fn relation(&mut self, cond: Cond, operands: Class, [x, y]: [Ref; 2], holds: bool) {
        let Some(op) = Op::compare(cond, operands) else { return };
        let Some(value) = Ref::small_int(i64::from(holds)) else { return };
        for class in [Class::W, Class::L] {
            self.enter(key(op, class, [x, y, Ref::NONE]), value);
        }
    }

    fn enter(&mut self, key: Key, value: Ref) {
        let old = self.table.insert(key, value);
        self.undo.push(Undo::Expression(key, old));
    }

    /// Rewrites a block with what is known on entry to it.
    fn number(&mut self, b: BlockId) {
        let mut insts = std::mem::take(&mut self.f.blocks[b].insts);
        insts.retain_mut(|inst| {
            let Numbering { found, known, changed, f, .. } = self;
            for_each_use_mut(inst, &mut f.calls, |r| *changed |= read(found, known, r));
            !inst.op.is_pure() || inst.op == Op::Copy || !self.merge(b, inst)
        });
        let Numbering { found, known, changed, f, .. } = self;
        f.blocks[b].insts = insts;
        if let Some(r) = f.blocks[b].jump.arg_mut() {
            *changed |= read(found, known, r);
        }
    }

    /// Looks a pure instruction up; true if it is replaced. If not it is entered.
    fn merge(&mut self, b: BlockId, inst: &mut Inst) -> bool {
        let Some(to) = inst.to else { return false };
        for (r, want) in inst.args.iter_mut().zip(inst.op.wants(inst.class)) {
            if let Want::A(class) = *want {
                *r = canonical(self.f, *r, class);
            }
        }
        let comparison = inst.op.comparison().is_some();
        if comparison {
            self.defs[to] = *inst;
            self.home[to] = b;
        }
        let key = key(inst.op, inst.class, inst.args);
        let Some(&old) = self.table.get(&key) else {
            self.enter(key, to.into());
            return false;
        };
        if comparison && !self.is_worth_keeping(old, to) {
            return false;
        }
        self.found.insert(to, old);
        true
    }

    /// A comparison is merged with one in another block only if both are wanted as numbers: next
    /// to a branch it costs one instruction and no register.
    fn is_worth_keeping(&self, old: Ref, new: TempId) -> bool {
        match old.as_temp() {
            Some(old) => {
                self.home[old] == self.home[new]
                    || (self.valued.contains(old) && self.valued.contains(new))
            }
            None => true,
        }
    }
}

/// The value of an operand here; true if it is another one.
fn read(found: &Replacements, known: &IndexVec<TempId, Ref>, r: &mut Ref) -> bool {
    let old = *r;
    *r = found.resolve(old);
    if let Some(t) = r.as_temp()
        && known[t].is_some()
    {
        *r = known[t];
    }
    *r != old
}

/// Expressions that differ only in the order of operands have one key.
fn key(op: Op, class: Class, args: [Ref; 3]) -> Key {
    let [a, b, c] = args;
    if a <= b {
        return (op, class, args);
    }
    if op.commutative() {
        return (op, class, [b, a, c]);
    }
    match op.comparison().and_then(|(cond, operands)| Op::compare(cond.swapped(), operands)) {
        Some(swapped) => (swapped, class, [b, a, c]),
        None => (op, class, args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cfg::Cfg;
    use crate::opt::testing::assert_becomes;

    fn becomes(before: &str, after: &str) {
        assert_becomes(before, after, |f| {
            let cfg = Cfg::new(f);
            gvn(f, &cfg.rpo, &Dominators::new(f, &cfg))
        });
    }

    #[test]
    fn a_computation_is_merged_with_one_that_dominates_it() {
        becomes(
            "function w $f(w %a, w %b) {
            @start
                %x =w add %a, %b
                jnz %a, @left, @right
            @left
                %y =w add %b, %a
                %z =w mul %y, 3
                ret %z
            @right
                %u =w mul %x, 3
                ret %u
            }",
            "function w $f(w %a, w %b) {
            @start
            %x =w add %a, %b
            jnz %a, @left, @right
            @left
            %z =w mul %x, 3
            ret %z
            @right
            %u =w mul %x, 3
            ret %u
            }",
        );
    }

    #[test]
    fn a_branch_tells_what_its_comparison_was() {
        becomes(
            "function w $f(w %a, w %b) {
            @start
                %c =w csltw %a, %b
                jnz %c, @less, @more
            @less
                %d =w csgtw %b, %a
                ret %d
            @more
                %e =l csgew %a, %b
                %g =w ceqw %a, 7
                jnz %g, @seven, @end
            @seven
                %h =w mul %a, %b
                ret %h
            @end
                %i =w mul %a, %e
                ret %i
            }",
            "function w $f(w %a, w %b) {
            @start
            %c =w csltw %a, %b
            jnz %c, @less, @more
            @less
            ret 1
            @more
            %g =w ceqw %a, 7
            jnz %g, @seven, @end
            @seven
            %h =w mul 7, %b
            ret %h
            @end
            %i =w mul %a, 1
            ret %i
            }",
        );
    }

    #[test]
    fn what_holds_on_one_edge_of_two_is_not_used() {
        let text = "function w $f(w %a) {
            @start
            %c =w ceqw %a, 7
            jnz %c, @join, @other
            @other
            @join
            %d =w ceqw %a, 7
            ret %d
            }";
        let merged = text.replace("%d =w ceqw %a, 7\n", "").replace("ret %d", "ret %c");
        // Both are compared for their value, or the second would stay.
        becomes(
            &text.replace("jnz %c,", "%v =w add %c, 1\njnz %c,"),
            &merged.replace("jnz %c,", "%v =w add %c, 1\njnz %c,"),
        );
        becomes(text, text);
    }
}
