//! The checker of the IR's invariants, for tests and `--verify`.
//!
//! It says what every pass may rely on at a [`Stage`]. Blocks that cannot be reached are looked at
//! only as parsed: passes leave them behind and nobody reads them. Dominance is found here once
//! more (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems": SNCA), so that a
//! fault of the analyses does not hide one of a pass.

use super::ops::Want;
use super::{
    AbiType, BlockId, CallId, Class, Function, Inst, Jump, Module, Op, Phi, Ref, TempId, Value,
};
use crate::index::{BitSet, Index, IndexVec};

/// How far a function has come.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// As read: temporaries may be assigned many times, and read before they are assigned.
    Parsed,
    /// Each temporary is assigned once, above all its uses.
    Ssa,
}

/// Checks `f`, a function of `module` (whose own functions are not looked at). `Err` says which
/// invariant is broken, and where.
pub fn check(module: &Module, f: &Function, stage: Stage) -> Result<(), String> {
    if f.blocks.is_empty() {
        return fault(f, "it has no blocks");
    }
    let mut checker = Checker::new(module, f, stage);
    checker.tables()?;
    checker.definitions()?;
    for b in f.blocks.indices() {
        if stage == Stage::Parsed || checker.is_reached(b) {
            checker.block(b)?;
        }
    }
    Ok(())
}

fn fault<T>(f: &Function, message: impl std::fmt::Display) -> Result<T, String> {
    Err(format!("function {:?}: {message}", f.symbol))
}

/// Where a temporary is assigned: the block and the place in it (0: on entry, by a phi or as a
/// parameter; n + 1: by instruction n).
type Place = (BlockId, usize);

struct Checker<'a> {
    module: &'a Module,
    f: &'a Function,
    stage: Stage,
    preds: IndexVec<BlockId, Vec<BlockId>>,
    dominance: Dominance,
    /// The (last) definition of each temporary.
    defined: IndexVec<TempId, Option<Place>>,
    calls: BitSet<CallId>,
    /// What is being looked at, for messages.
    at: String,
}

impl<'a> Checker<'a> {
    fn new(module: &'a Module, f: &'a Function, stage: Stage) -> Checker<'a> {
        Checker {
            module,
            f,
            stage,
            preds: IndexVec::new(),
            dominance: Dominance::default(),
            defined: IndexVec::filled(None, f.temps.len()),
            calls: BitSet::new(f.calls.len()),
            at: String::new(),
        }
    }

    fn is_reached(&self, b: BlockId) -> bool {
        self.dominance.order[b] != u32::MAX
    }

    fn fault<T>(&self, message: impl std::fmt::Display) -> Result<T, String> {
        let name = match self.f.symbol.index() < self.module.symbols.len() {
            true => String::from_utf8_lossy(self.module.symbols.name(self.f.symbol)).into_owned(),
            false => format!("{:?}", self.f.symbol),
        };
        Err(format!("function ${name}: {}: {message}", self.at))
    }

    /// What the rest relies on: all indices of the function's head and of jumps are in range.
    fn tables(&mut self) -> Result<(), String> {
        self.at = "head".into();
        let f = self.f;
        if f.symbol.index() >= self.module.symbols.len() {
            return self.fault("no such symbol");
        }
        for slot in f.slots.iter() {
            if !slot.align.is_power_of_two() || slot.align < 4 {
                return self.fault(format_args!("a slot of alignment {}", slot.align));
            }
        }
        for ty in f.params.iter().map(|p| p.ty).chain(f.ret) {
            self.abi_type(ty)?;
        }
        for (b, block) in f.blocks.enumerate() {
            self.at = format!("{b:?}, jump");
            for s in block.jump.successors() {
                if s.index() >= f.blocks.len() {
                    return self.fault(format_args!("a jump to {s:?}, which is no block"));
                }
                if s == f.entry() {
                    return self.fault("a jump to the entry block");
                }
            }
        }
        self.preds = IndexVec::filled(Vec::new(), f.blocks.len());
        for (b, block) in f.blocks.enumerate() {
            for s in block.jump.successors() {
                if self.preds[s].last() != Some(&b) {
                    self.preds[s].push(b);
                }
            }
        }
        if self.stage == Stage::Ssa {
            self.dominance = Dominance::new(f, &self.preds);
        }
        Ok(())
    }

    fn abi_type(&self, ty: AbiType) -> Result<(), String> {
        match ty {
            AbiType::Aggregate(id) if id.index() >= self.module.types.len() => {
                self.fault(format_args!("{id:?} is no type"))
            }
            _ => Ok(()),
        }
    }

    /// Notes where temporaries are assigned; at most once each in SSA form.
    fn definitions(&mut self) -> Result<(), String> {
        let f = self.f;
        self.at = "parameters".into();
        let entry = f.entry();
        for param in &f.params {
            self.define(param.to, param.ty.class(), (entry, 0))?;
        }
        if let Some(env) = f.env {
            self.define(env, Class::L, (entry, 0))?;
        }
        for (b, block) in f.blocks.enumerate() {
            if self.stage == Stage::Ssa && !self.is_reached(b) {
                continue;
            }
            for phi in &block.phis {
                self.at = format!("{b:?}, phi");
                self.define(phi.to, phi.class, (b, 0))?;
            }
            for (n, inst) in block.insts.iter().enumerate() {
                if let Some(to) = inst.to {
                    if to.index() >= f.temps.len() || f.temps[to].class != inst.class {
                        self.at = format!("{b:?}, instruction {n} ({:?})", inst.op);
                    }
                    self.define(to, inst.class, (b, n + 1))?;
                }
            }
        }
        Ok(())
    }

    fn define(&mut self, t: TempId, class: Class, place: Place) -> Result<(), String> {
        let Some(temp) = self.f.temps.get(t) else {
            return self.fault(format_args!("{t:?} is no temporary"));
        };
        if temp.class != class {
            let message = format_args!("{t:?} of {:?} is assigned as {class:?}", temp.class);
            return self.fault(message);
        }
        if self.stage == Stage::Ssa && self.defined[t].is_some() {
            self.at = format!("{:?}, place {}", place.0, place.1);
            return self.fault(format_args!("{t:?} is assigned twice"));
        }
        self.defined[t] = Some(place);
        Ok(())
    }

    fn block(&mut self, b: BlockId) -> Result<(), String> {
        let block = &self.f.blocks[b];
        if b == self.f.entry() && !block.phis.is_empty() {
            return self.fault("phis in the entry block");
        }
        for (n, phi) in block.phis.iter().enumerate() {
            self.at = format!("{b:?}, phi {n}");
            self.phi(b, phi)?;
        }
        for (n, inst) in block.insts.iter().enumerate() {
            if let Err(message) = self.inst(inst, (b, n + 1)) {
                self.at = format!("{b:?}, instruction {n} ({:?})", inst.op);
                return self.fault(message);
            }
        }
        let end = (b, block.insts.len() + 1);
        let jump = match block.jump {
            Jump::Ret(r) => self.ret(r, end),
            Jump::Jnz(r, _, _) => self.operand(r, Want::A(Class::W), end),
            Jump::Jmp(_) | Jump::Hlt => Ok(()),
        };
        self.at = format!("{b:?}, jump");
        jump.or_else(|message| self.fault(message))
    }

    fn ret(&self, r: Ref, place: Place) -> Result<(), String> {
        match self.f.ret {
            None if r.is_none() => Ok(()),
            None => Err("a value in a function without a type".into()),
            // A result that is an aggregate may be left undefined.
            Some(AbiType::Aggregate(_)) if r.is_none() => Ok(()),
            Some(ty) => self.operand(r, Want::A(ty.class()), place),
        }
    }

    /// One argument for each predecessor that is reached; others only for ones that are not.
    fn phi(&self, b: BlockId, phi: &Phi) -> Result<(), String> {
        let preds = &self.preds[b];
        let mut froms: Vec<BlockId> = phi.args.iter().map(|&(from, _)| from).collect();
        froms.sort_unstable();
        if let Some(pair) = froms.windows(2).find(|pair| pair[0] == pair[1]) {
            return self.fault(format_args!("two arguments for {:?}", pair[0]));
        }
        let strict = self.stage == Stage::Parsed;
        for &p in preds {
            if froms.binary_search(&p).is_err() && (strict || self.is_reached(p)) {
                return self.fault(format_args!("no argument for predecessor {p:?}"));
            }
        }
        for &(from, r) in &phi.args {
            if from.index() >= self.f.blocks.len() {
                return self.fault(format_args!("{from:?} is no block"));
            }
            let is_pred = preds.binary_search(&from).is_ok();
            let dead = !strict && !self.is_reached(from);
            if !is_pred && !dead {
                return self.fault(format_args!("an argument for {from:?}, no predecessor"));
            }
            if dead {
                continue;
            }
            let end = (from, usize::MAX);
            self.operand(r, Want::A(phi.class), end).or_else(|message| self.fault(message))?;
        }
        Ok(())
    }

    fn inst(&mut self, inst: &Inst, place: Place) -> Result<(), String> {
        let wants = inst.op.wants(inst.class);
        if wants[0] == Want::Invalid {
            return Err(format!("no form of class {:?}", inst.class));
        }
        if inst.volatile && !(inst.op.is_load() || inst.op.is_store() || inst.op == Op::Blit) {
            return Err("only loads, stores and blits may be volatile".into());
        }
        if inst.op == Op::Call {
            return self.call(inst, place);
        }
        if inst.to.is_some() != inst.op.row().result {
            return Err("a result too many or too few".into());
        }
        for (&r, &want) in inst.args.iter().zip(wants) {
            self.operand(r, want, place)?;
        }
        Ok(())
    }

    fn call(&mut self, inst: &Inst, place: Place) -> Result<(), String> {
        let Some(id) = inst.call().filter(|id| id.index() < self.f.calls.len()) else {
            return Err("no row of the call table".into());
        };
        if !self.calls.insert(id) {
            return Err(format!("{id:?} is shared with another call"));
        }
        let call = &self.f.calls[id];
        match (inst.to, call.ret) {
            (Some(_), None) => return Err("a result, but no type of it".into()),
            (_, Some(ty)) if ty.class() != inst.class => {
                return Err(format!("a result of type {ty:?} in class {:?}", inst.class));
            }
            _ => {}
        }
        self.operand(inst.args[0], Want::Address, place)?;
        if call.env.is_some() {
            self.operand(call.env, Want::A(Class::L), place)?;
        }
        if call.variadic.is_some_and(|n| n as usize > call.args.len()) {
            return Err("more named arguments than arguments".into());
        }
        for ty in call.args.iter().map(|arg| arg.ty).chain(call.ret) {
            self.abi_type(ty)?;
        }
        for arg in &call.args {
            self.operand(arg.value, Want::A(arg.ty.class()), place)?;
        }
        Ok(())
    }

    /// An operand that is read at `place`.
    fn operand(&self, r: Ref, want: Want, place: Place) -> Result<(), String> {
        let want_class = match want {
            Want::Nothing | Want::Invalid if r.is_none() => return Ok(()),
            Want::Nothing | Want::Invalid => return Err(format!("operand {r:?} too many")),
            Want::Number if self.is_number(r) => return Ok(()),
            Want::Number => return Err(format!("operand {r:?} where a number must stand")),
            Want::A(class) => class,
            Want::Address => Class::L,
        };
        match r.value() {
            Value::None => Err("a missing operand".into()),
            Value::Call(_) => Err("a row of the call table as an operand".into()),
            Value::Int(_) => Ok(()),
            Value::Const(c) if c.index() < self.f.consts.len() => Ok(()),
            Value::Const(c) => Err(format!("{c:?} is no constant")),
            Value::Slot(s) if s.index() >= self.f.slots.len() => Err(format!("{s:?} is no slot")),
            Value::Slot(_) if want_class.is_int() => Ok(()),
            Value::Slot(s) => Err(format!("the address of {s:?} where {want_class:?} is wanted")),
            Value::Temp(t) => self.temp(t, want_class, place),
        }
    }

    fn is_number(&self, r: Ref) -> bool {
        match r.value() {
            Value::Int(_) => true,
            Value::Const(c) => c.index() < self.f.consts.len() && self.f.bits(r).is_some(),
            _ => false,
        }
    }

    fn temp(&self, t: TempId, want: Class, place: Place) -> Result<(), String> {
        let Some(temp) = self.f.temps.get(t) else {
            return Err(format!("{t:?} is no temporary"));
        };
        if temp.class != want && !(temp.class == Class::L && want == Class::W) {
            return Err(format!("{t:?} of {:?} where {want:?} is wanted", temp.class));
        }
        let Some((block, index)) = self.defined[t] else {
            return Err(format!("{t:?} is assigned nowhere"));
        };
        let above = match self.stage {
            Stage::Parsed => true,
            Stage::Ssa if block == place.0 => index < place.1,
            Stage::Ssa => self.dominance.dominates(block, place.0),
        };
        if above { Ok(()) } else { Err(format!("{t:?} is assigned in {block:?}, not above")) }
    }
}

/// Which block stands above which on all paths.
#[derive(Default)]
struct Dominance {
    /// Numbers in the order of a depth-first walk; `u32::MAX` for what is not reached.
    order: IndexVec<BlockId, u32>,
    /// Numbers of a walk over the dominator tree: on the way down, and after all below.
    first: IndexVec<BlockId, u32>,
    last: IndexVec<BlockId, u32>,
}

impl Dominance {
    fn new(f: &Function, preds: &IndexVec<BlockId, Vec<BlockId>>) -> Dominance {
        let mut walk = Walk::new(f);
        let idom = walk.immediate_dominators(preds);
        // A parent's number is below its children's, so sizes of subtrees add up backwards, and
        // each child's interval follows its elder siblings' forwards.
        let mut size = vec![1u32; idom.len()];
        for number in (1..idom.len()).rev() {
            size[idom[number] as usize] += size[number];
        }
        let mut next = vec![0u32; idom.len()];
        let mut first = IndexVec::filled(0, f.blocks.len());
        let mut last = IndexVec::filled(0, f.blocks.len());
        for (number, &b) in walk.blocks.iter().enumerate() {
            let parent = idom[number] as usize;
            let start = if number == 0 { 0 } else { next[parent] };
            next[parent] = start + size[number];
            next[number] = start + 1;
            first[b] = start;
            last[b] = start + size[number];
        }
        Dominance { order: walk.order, first, last }
    }

    fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.first[a] <= self.first[b] && self.first[b] < self.last[a]
    }
}

/// A depth-first walk of the blocks, and SNCA's tables over its numbers.
struct Walk {
    blocks: Vec<BlockId>,
    order: IndexVec<BlockId, u32>,
    /// In the tree of the walk; shortened as paths are compressed.
    parent: Vec<u32>,
    semi: Vec<u32>,
    /// The number of least `semi` on the compressed path.
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Walk {
    fn new(f: &Function) -> Walk {
        let mut order = IndexVec::filled(u32::MAX, f.blocks.len());
        let (mut blocks, mut parent) = (Vec::new(), Vec::new());
        let mut stack = vec![(f.entry(), 0)];
        while let Some((b, from)) = stack.pop() {
            if order[b] != u32::MAX {
                continue;
            }
            let number = blocks.len() as u32;
            order[b] = number;
            blocks.push(b);
            parent.push(from);
            stack.extend(f.blocks[b].jump.successors().into_iter().map(|s| (s, number)));
        }
        let numbers: Vec<u32> = (0..blocks.len() as u32).collect();
        Walk { blocks, order, parent, semi: numbers.clone(), label: numbers, path: Vec::new() }
    }

    fn immediate_dominators(&mut self, preds: &IndexVec<BlockId, Vec<BlockId>>) -> Vec<u32> {
        let mut idom = self.parent.clone();
        for number in (1..self.blocks.len() as u32).rev() {
            let mut semi = self.parent[number as usize];
            for &p in &preds[self.blocks[number as usize]] {
                let p = self.order[p];
                if p != u32::MAX {
                    let least = self.least(p, number + 1);
                    semi = semi.min(self.semi[least as usize]);
                }
            }
            self.semi[number as usize] = semi;
        }
        for number in 1..self.blocks.len() {
            let mut above = idom[number];
            while above > self.semi[number] {
                above = idom[above as usize];
            }
            idom[number] = above;
        }
        idom
    }

    /// The number of least `semi` on the path from `v` up, among those from `linked` on.
    fn least(&mut self, v: u32, linked: u32) -> u32 {
        let mut top = v as usize;
        while self.parent[top] >= linked {
            self.path.push(top as u32);
            top = self.parent[top] as usize;
        }
        while let Some(below) = self.path.pop() {
            let below = below as usize;
            self.parent[below] = self.parent[top];
            let (above, own) = (self.label[top], self.label[below]);
            if self.semi[above as usize] < self.semi[own as usize] {
                self.label[below] = above;
            }
            top = below;
        }
        self.label[v as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Options, parse};

    fn module(text: &str) -> Module {
        let mut module = Module::default();
        parse("-", text.as_bytes(), &Options::default(), &mut module).expect("valid input");
        module
    }

    fn check_text(text: &str, stage: Stage) -> Result<(), String> {
        let module = module(text);
        module.functions.iter().try_for_each(|f| check(&module, f, stage))
    }

    const LOOP: &str = "function w $f(w %n) {\n@a\n@b\n\t%i =w phi @a 0, @c %j\n\
         \tjnz %n, @c, @d\n@c\n\t%j =w add %i, 1\n\tjmp @b\n@d\n\tret %i\n}\n";

    #[test]
    fn accepts_ssa() {
        assert_eq!(check_text(LOOP, Stage::Parsed), Ok(()));
        assert_eq!(check_text(LOOP, Stage::Ssa), Ok(()));
    }

    #[test]
    fn tells_ssa_from_other_programs() {
        let twice = "function w $f() {\n@a\n\t%x =w copy 1\n\t%x =w copy 2\n\tret %x\n}\n";
        assert_eq!(check_text(twice, Stage::Parsed), Ok(()));
        assert!(check_text(twice, Stage::Ssa).is_err_and(|m| m.contains("assigned twice")));
        let below = "function w $f(w %n) {\n@a\n\tjnz %n, @b, @c\n@b\n\t%x =w copy 1\n@c\n\
                     \tret %x\n}\n";
        assert!(check_text(below, Stage::Ssa).is_err_and(|m| m.contains("not above")));
        let order = "function w $f() {\n@a\n\t%y =w copy %x\n\t%x =w copy 1\n\tret %y\n}\n";
        assert!(check_text(order, Stage::Ssa).is_err_and(|m| m.contains("not above")));
    }

    #[test]
    fn dominance_is_what_paths_say() {
        // Random graphs: `a` is above `b` if `b` is not reached once `a` is taken out.
        let mut state = 7u64;
        let mut random = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % n
        };
        for round in 0..400 {
            let n = 2 + round % 12;
            let mut f = Function::new(Index::new(0));
            for _ in 0..n {
                let (a, b) = (BlockId::new(1 + random(n - 1)), BlockId::new(1 + random(n - 1)));
                let jump = match random(4) {
                    0 => Jump::Jmp(a),
                    1 => Jump::Hlt,
                    _ => Jump::Jnz(Ref::NONE, a, b),
                };
                f.blocks.push(super::super::Block::new(jump));
            }
            let mut preds = IndexVec::filled(Vec::new(), n);
            for (b, block) in f.blocks.enumerate() {
                block.jump.successors().into_iter().for_each(|s| preds[s].push(b));
            }
            let dominance = Dominance::new(&f, &preds);
            let reached = |without: Option<BlockId>| {
                let mut seen = BitSet::new(n);
                let mut work = vec![f.entry()];
                while let Some(b) = work.pop() {
                    if Some(b) != without && seen.insert(b) {
                        work.extend(f.blocks[b].jump.successors());
                    }
                }
                seen
            };
            let all = reached(None);
            for a in all.iter() {
                let left = reached(Some(a));
                for b in all.iter() {
                    assert_eq!(dominance.dominates(a, b), !left.contains(b), "{a:?} {b:?} {f:?}");
                }
            }
        }
    }

    #[test]
    fn finds_broken_tables() {
        let text = module(LOOP);
        let broken = |break_it: &dyn Fn(&mut Function)| {
            let mut f = text.functions[Index::new(0)].clone();
            break_it(&mut f);
            check(&text, &f, Stage::Ssa).expect_err("it was broken")
        };
        let block = |n: usize| BlockId::new(n);
        let message = broken(&|f| f.blocks[block(1)].phis[0].args.truncate(1));
        assert!(message.contains("no argument for predecessor"), "{message}");
        let message = broken(&|f| f.blocks[block(2)].jump = Jump::Jmp(block(0)));
        assert!(message.contains("a jump to the entry"), "{message}");
        let message = broken(&|f| f.blocks[block(2)].insts[0].class = Class::L);
        assert!(message.contains("is assigned as L"), "{message}");
        let message = broken(&|f| f.blocks[block(2)].insts[0].args[1] = Ref::NONE);
        assert!(message.contains("missing operand"), "{message}");
        let message = broken(&|f| f.blocks[block(2)].insts[0].args[2] = f.int(1));
        assert!(message.contains("too many"), "{message}");
        let message = broken(&|f| f.blocks[block(3)].jump = Jump::Ret(Ref::NONE));
        assert!(message.contains("missing operand"), "{message}");
    }
}
