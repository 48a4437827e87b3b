//! What can only be checked when a function has been read as a whole: names without a definition,
//! classes of operands, phis against predecessors.
//!
//! Operands carry no place in the text; when one is at fault its line is read again.

use super::lex::{self, Token};
use super::{Parser, shown};
use crate::index::{BitSet, Index, IndexVec};
use crate::ir::ops::Want;
use crate::ir::{AbiType, Block, BlockId, Class, Inst, Jump, Op, Ref, TempId};

/// An operand whose class is wrong: where its line starts, which operand of the line it is, the
/// temporary, and what was wanted.
struct Mismatch {
    line: usize,
    operand: usize,
    temp: TempId,
    want: Class,
}

impl<'a> Parser<'a> {
    /// Checks the function that was read and gives its jumps and phis their blocks.
    pub(super) fn validate(&mut self) {
        let resolved = self.resolve_labels();
        if !self.body.lost {
            self.check_temps();
            if resolved {
                self.check_phis();
                self.check_returns();
            }
        }
        self.check_classes();
        self.fill_returns();
        if self.faults.list.is_empty() {
            self.split_mixed();
        }
    }

    /// Turns label numbers into blocks. False if there are labels without a block.
    fn resolve_labels(&mut self) -> bool {
        let mut complete = true;
        for number in 0..self.body.labels.len() {
            if self.body.label_blocks[number].is_none() {
                complete = false;
                let (start, end) = self.body.labels.span(number);
                if !self.body.lost {
                    let name = shown(&self.text[start..end]);
                    self.faults.add(start - 1, format!("block @{name} is not defined"));
                }
            }
        }
        if !complete {
            return false;
        }
        let blocks = &self.body.label_blocks;
        let entry = BlockId::new(0);
        let mut to_entry = Vec::new();
        for (b, block) in self.f.blocks.enumerate_mut() {
            block.jump.for_each_target(|target| {
                *target = blocks[target.index()].expect("all labels have blocks");
                if *target == entry {
                    to_entry.push(b);
                }
            });
            for phi in &mut block.phis {
                for (from, _) in &mut phi.args {
                    *from = blocks[from.index()].expect("all labels have blocks");
                }
            }
        }
        for b in to_entry {
            let name = self.block_name(entry);
            let at = self.place_of_label(self.body.jump_at[b], &name);
            let message =
                format!("a jump to @{}, the first block, which nothing may jump to", shown(&name));
            self.faults.add(at, message);
        }
        true
    }

    fn block_name(&self, b: BlockId) -> Vec<u8> {
        let name = self.f.blocks[b].name.expect("blocks of the text have names");
        self.f.names.get(name).to_vec()
    }

    fn check_temps(&mut self) {
        for t in self.f.temps.indices() {
            if self.body.defined_at[t].is_none() {
                let (start, end) = self.body.temps.span(t.index());
                let name = shown(&self.text[start..end]);
                self.faults.add(start - 1, format!("temporary %{name} is used but never assigned"));
            }
        }
    }

    /// Every operand's class against what its instruction wants.
    fn check_classes(&mut self) {
        let mut found = Vec::new();
        let (mut phi_row, mut inst_row) = (0, 0);
        for (b, block) in self.f.blocks.enumerate() {
            for phi in &block.phis {
                let line = self.body.phi_at[phi_row];
                phi_row += 1;
                // A temporary assigned as w and l is a w to those who read it.
                let want = self.f.temps[phi.to].class;
                for (operand, &(_, r)) in phi.args.iter().enumerate() {
                    self.check_class(r, want, line, operand, &mut found);
                }
            }
            for inst in &block.insts {
                let line = self.body.inst_at[inst_row];
                inst_row += 1;
                self.check_inst(inst, line, &mut found);
            }
            let line = self.body.jump_at[b];
            match block.jump {
                Jump::Ret(r) => {
                    if let Some(ty) = self.f.ret {
                        self.check_class(r, ty.class(), line, 0, &mut found);
                    }
                }
                Jump::Jnz(r, _, _) => self.check_class(r, Class::W, line, 0, &mut found),
                Jump::Jmp(_) | Jump::Hlt => {}
            }
        }
        for mismatch in found {
            self.report(&mismatch);
        }
    }

    #[inline]
    fn check_inst(&self, inst: &Inst, line: usize, found: &mut Vec<Mismatch>) {
        for (operand, want) in inst.op.wants(inst.class).iter().enumerate() {
            match *want {
                Want::A(class) => self.check_class(inst.args[operand], class, line, operand, found),
                Want::Address => {
                    self.check_class(inst.args[operand], Class::L, line, operand, found)
                }
                Want::Nothing => break,
                Want::Number | Want::Invalid => {}
            }
        }
        if let Some(c) = inst.call() {
            let call = &self.f.calls[c];
            let mut operand = 1;
            if call.env.is_some() {
                self.check_class(call.env, Class::L, line, operand, found);
                operand += 1;
            }
            for arg in &call.args {
                self.check_class(arg.value, arg.ty.class(), line, operand, found);
                operand += 1;
            }
        }
    }

    #[inline]
    fn check_class(
        &self,
        r: Ref,
        want: Class,
        line: usize,
        operand: usize,
        found: &mut Vec<Mismatch>,
    ) {
        let Some(temp) = r.as_temp() else { return };
        let class = self.f.temps[temp].class;
        if class == want || class == Class::L && want == Class::W {
            return;
        }
        if found.len() < super::ERROR_LIMIT && self.class_of_temp(temp).is_some() {
            found.push(Mismatch { line, operand, temp, want });
        }
    }

    fn report(&mut self, mismatch: &Mismatch) {
        let at = self.place_of_operand(mismatch.line, mismatch.operand);
        let (start, end) = self.body.temps.span(mismatch.temp.index());
        let name = shown(&self.text[start..end]);
        let class = self.f.temps[mismatch.temp].class;
        let also = if self.body.mixed.contains(&mismatch.temp) {
            " (it is assigned with type l too)"
        } else {
            ""
        };
        let message = format!(
            "operand %{name} has type {}{also}, but type {} is needed here",
            class.letter(),
            mismatch.want.letter()
        );
        self.faults.add(at, message);
    }

    /// The tokens of the line that starts at `line`.
    fn tokens_of_line(&self, line: usize) -> impl Iterator<Item = lex::Spanned> {
        let mut at = line;
        std::iter::from_fn(move || {
            let found = lex::next(self.text, self.words, at);
            at = found.end;
            (!matches!(found.token, Token::Newline | Token::End)).then_some(found)
        })
    }

    /// Where operand number `operand` of a line stands.
    fn place_of_operand(&self, line: usize, operand: usize) -> usize {
        let mut seen = 0;
        let mut previous = Token::Newline;
        let mut at_result = true;
        for found in self.tokens_of_line(line) {
            let is_result = at_result && found.token == Token::Temp;
            at_result = false;
            let is_operand = match found.token {
                Token::Temp => !is_result,
                Token::Int(_) => {
                    let offset = self.text[found.start] == b'-' && previous == Token::Global;
                    previous != Token::Plus && !offset
                }
                Token::Single(_) | Token::Double(_) | Token::Global => true,
                _ => false,
            };
            if is_operand {
                if seen == operand {
                    return found.start;
                }
                seen += 1;
            }
            previous = found.token;
        }
        line
    }

    /// Where label `name` stands in a line.
    fn place_of_label(&self, line: usize, name: &[u8]) -> usize {
        self.tokens_of_line(line)
            .find(|found| {
                found.token == Token::Label && self.text[found.start + 1..found.end] == *name
            })
            .map_or(line, |found| found.start)
    }

    /// Each phi has one value for each predecessor and no others.
    fn check_phis(&mut self) {
        if self.body.phi_at.is_empty() {
            return;
        }
        let preds = predecessors(&self.f.blocks);
        // For each block, the phi that last had a value for it.
        let mut seen: IndexVec<BlockId, u32> = IndexVec::filled(0, self.f.blocks.len());
        let mut faults = Vec::new();
        let mut row = 0;
        for (b, block) in self.f.blocks.enumerate() {
            let preds = &preds[b];
            for phi in &block.phis {
                let at = self.body.phi_at[row];
                row += 1;
                for &(from, _) in &phi.args {
                    if seen[from] == row as u32 {
                        faults.push((at, phi.to, b, from, "has two values for"));
                    } else if preds.binary_search(&from).is_err() {
                        faults.push((at, phi.to, b, from, "has a value for"));
                    }
                    seen[from] = row as u32;
                }
                if let Some(&missing) = preds.iter().find(|&&p| seen[p] != row as u32) {
                    faults.push((at, phi.to, b, missing, "has no value for predecessor"));
                }
            }
        }
        for (at, to, block, from, what) in faults {
            self.report_phi(at, to, block, from, what);
        }
    }

    fn report_phi(&mut self, at: usize, to: TempId, block: BlockId, from: BlockId, what: &str) {
        let (start, end) = self.body.temps.span(to.index());
        let name = shown(&self.text[start..end]);
        let from = self.block_name(from);
        let mut message = format!("phi %{name} {what} @{}", shown(&from));
        if what == "has a value for" {
            message += &format!(", which is no predecessor of @{}", shown(&self.block_name(block)));
        }
        // The last mention is the second of two.
        let place = self
            .tokens_of_line(at)
            .filter(|found| {
                found.token == Token::Label && self.text[found.start + 1..found.end] == *from
            })
            .last()
            .map_or(at, |found| found.start);
        self.faults.add(place, message);
    }

    /// `ret` without a value in a function that has a type. Front ends put one at the end of
    /// functions whose end is not reached, or hope that nobody uses the value. So it is a fault
    /// only where the function cannot do otherwise: no `ret` that is reached gives a value, and
    /// there is no call, which might not come back.
    fn check_returns(&mut self) {
        let Some(ty) = self.f.ret else { return };
        let is_bare = |block: &Block| matches!(block.jump, Jump::Ret(r) if r.is_none());
        if !self.f.blocks.iter().any(is_bare) {
            return;
        }
        let mut reached = BitSet::new(self.f.blocks.len());
        let mut work = vec![self.f.entry()];
        reached.insert(self.f.entry());
        while let Some(b) = work.pop() {
            work.extend(
                self.f.blocks[b].jump.successors().into_iter().filter(|&s| reached.insert(s)),
            );
        }
        let mut returns = reached
            .iter()
            .filter(|&b| matches!(self.f.blocks[b].jump, Jump::Ret(_)))
            .map(|b| (b, is_bare(&self.f.blocks[b])));
        let first = returns.next();
        if let Some((b, true)) = first
            && returns.all(|(_, bare)| bare)
            && !self.body.has_call
        {
            let at = self.body.jump_at[b];
            let message = format!(
                "'ret' without a value in a function that returns {}",
                match ty {
                    AbiType::Aggregate(_) => "an aggregate".to_owned(),
                    other => format!("type {}", other.class().letter()),
                }
            );
            self.faults.add(at, message);
        }
    }

    /// Makes each `ret` of a function with a type return something. An aggregate may stay away.
    fn fill_returns(&mut self) {
        match self.f.ret {
            None | Some(AbiType::Aggregate(_)) => return,
            Some(AbiType::Base(_) | AbiType::Byte { .. } | AbiType::Half { .. }) => {}
        }
        let zero = self.f.int(0);
        for block in self.f.blocks.iter_mut() {
            if let Jump::Ret(r) = &mut block.jump
                && r.is_none()
            {
                *r = zero;
            }
        }
    }

    /// Gives temporaries that are assigned both as `w` and as `l` one class: where the text
    /// assigns an `l`, a fresh temporary takes it and its low half is copied.
    fn split_mixed(&mut self) {
        if self.body.mixed.is_empty() {
            return;
        }
        let mut is_mixed = BitSet::new(self.f.temps.len());
        for &t in &self.body.mixed {
            is_mixed.insert(t);
        }
        let f = &mut self.f;
        let mut at_entry = Vec::new();
        let temps = &mut f.temps;
        let mut fresh = |t: TempId| {
            let name = temps[t].name;
            temps.push(crate::ir::Temp { class: Class::L, name })
        };
        let narrow = |t, wide| Inst::new(Op::Copy, Class::W, t, &[Ref::temp(wide)]);
        let params = f.params.iter_mut().filter(|p| p.ty.class() == Class::L).map(|p| &mut p.to);
        for to in params.chain(&mut f.env) {
            if is_mixed.contains(*to) {
                let wide = fresh(*to);
                at_entry.push(narrow(*to, wide));
                *to = wide;
            }
        }
        for (b, block) in f.blocks.enumerate_mut() {
            let mut insts = Vec::with_capacity(block.insts.len());
            if b.index() == 0 {
                insts.append(&mut at_entry);
            }
            // A phi needs no copy: the low half of the right argument is the low half of all of it.
            for phi in block.phis.iter_mut().filter(|phi| is_mixed.contains(phi.to)) {
                phi.class = Class::W;
            }
            for mut inst in block.insts.drain(..) {
                match inst.to {
                    Some(t) if inst.class == Class::L && is_mixed.contains(t) => {
                        let wide = fresh(t);
                        inst.to = Some(wide);
                        insts.push(inst);
                        insts.push(narrow(t, wide));
                    }
                    _ => insts.push(inst),
                }
            }
            block.insts = insts;
        }
    }
}

/// The predecessors of each block, each once and in order.
fn predecessors(blocks: &IndexVec<BlockId, Block>) -> IndexVec<BlockId, Vec<BlockId>> {
    let mut preds: IndexVec<BlockId, Vec<BlockId>> = IndexVec::filled(Vec::new(), blocks.len());
    for (b, block) in blocks.enumerate() {
        for s in block.jump.successors() {
            if preds[s].last() != Some(&b) {
                preds[s].push(b);
            }
        }
    }
    preds
}
