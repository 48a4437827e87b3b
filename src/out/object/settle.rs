//! Settles the jumps of a function: each has the shortest form that reaches.
//!
//! All start with their shortest form; one that does not reach grows, which moves what is behind
//! it and may be too much for others. Lengths only grow, so the end is the least of all solutions,
//! whatever the order: it is the one that assemblers find. A jump that grows changes the distance
//! of those alone that span it, and of these only the ones still near matter, so the time is linear
//! in the jumps.

use crate::index::IndexVec;
use crate::ir::BlockId;
use crate::target::encoding::{Code, Encoding, Form, Jump, Place};

/// Code whose jumps have their lengths.
pub struct Settled {
    jumps: Vec<Jump>,
    /// The form of each jump.
    forms: Vec<u8>,
    /// The bytes of the jumps before each, and of all.
    before: Vec<u32>,
}

/// Chooses the forms of `code`'s jumps; `blocks` are the places of the blocks.
pub fn settle(encoding: &Encoding, code: &mut Code, blocks: &IndexVec<BlockId, Place>) -> Settled {
    let jumps = std::mem::take(&mut code.jumps);
    let forms = vec![0; jumps.len()];
    let mut settled = Settled { jumps, forms, before: Vec::new() };
    settled.measure(encoding);
    settled.grow(encoding, blocks);
    settled.measure(encoding);
    settled.fill(encoding, code, blocks);
    settled
}

impl Settled {
    /// Where a place has come to be.
    pub fn offset(&self, place: Place) -> u32 {
        place.at + self.before[place.jumps as usize]
    }

    fn measure(&mut self, encoding: &Encoding) {
        self.before.clear();
        let mut sum = 0;
        self.before.push(0);
        for (jump, &form) in self.jumps.iter().zip(&self.forms) {
            sum += u32::from((encoding.forms)(jump.kind)[usize::from(form)].length);
            self.before.push(sum);
        }
    }

    /// From the first byte of jump `n` to its target.
    fn distance(&self, n: usize, blocks: &IndexVec<BlockId, Place>) -> i64 {
        let jump = &self.jumps[n];
        let from = Place { at: jump.at, jumps: n as u32 };
        i64::from(self.offset(blocks[jump.to])) - i64::from(self.offset(from))
    }

    fn grow(&mut self, encoding: &Encoding, blocks: &IndexVec<BlockId, Place>) {
        let count = self.jumps.len();
        let forms = |jump: &Jump| (encoding.forms)(jump.kind);
        let reach = |form: &Form| form.greatest.max(-form.least);
        // Beyond that a jump that may still grow does not reach anyway.
        let mut window = 0;
        for jump in &self.jumps {
            let forms = forms(jump);
            window = forms[..forms.len() - 1].iter().map(reach).fold(window, i64::max);
        }
        let mut distances: Vec<i64> = (0..count).map(|n| self.distance(n, blocks)).collect();
        let mut work: Vec<u32> = (0..count as u32).rev().collect();
        while let Some(n) = work.pop() {
            let n = n as usize;
            let forms_here = forms(&self.jumps[n]);
            let form = usize::from(self.forms[n]);
            let Form { length, least, greatest } = forms_here[form];
            if (least..=greatest).contains(&distances[n]) || form + 1 == forms_here.len() {
                continue;
            }
            self.forms[n] += 1;
            work.push(n as u32);
            let growth = i64::from(forms_here[form + 1].length - length);
            // No jump is shorter than 2 bytes.
            let most = (window / 2) as usize + 1;
            for m in (n.saturating_sub(most)..count.min(n + most + 1)).filter(|&m| m != n) {
                let to = blocks[self.jumps[m].to].jumps as usize;
                if m < n && to > n {
                    distances[m] += growth;
                } else if m > n && to <= n {
                    distances[m] -= growth;
                } else {
                    continue;
                }
                work.push(m as u32);
            }
            if blocks[self.jumps[n].to].jumps as usize > n {
                distances[n] += growth;
            }
        }
    }

    /// Puts the jumps into the bytes, and moves the fixups along.
    fn fill(&self, encoding: &Encoding, code: &mut Code, blocks: &IndexVec<BlockId, Place>) {
        if self.jumps.is_empty() {
            return;
        }
        let total = code.bytes.len() + self.before[self.jumps.len()] as usize;
        let old = std::mem::replace(&mut code.bytes, Vec::with_capacity(total));
        let mut at = 0;
        for (n, jump) in self.jumps.iter().enumerate() {
            let next = jump.at as usize;
            code.bytes.extend_from_slice(&old[at..next]);
            at = next;
            let form = usize::from(self.forms[n]);
            (encoding.jump)(jump, form, self.distance(n, blocks), &mut code.bytes);
        }
        code.bytes.extend_from_slice(&old[at..]);
        let mut jumps = 0;
        for fixup in &mut code.fixups {
            while self.jumps.get(jumps).is_some_and(|j| u64::from(j.at) <= fixup.at) {
                jumps += 1;
            }
            fixup.at += u64::from(self.before[jumps]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::target::TARGETS;
    use crate::target::encoding::{Fixup, Goal};

    /// Code of `parts`: bytes, then a jump to a block; a block begins at every part.
    fn settled(parts: &[(usize, usize)]) -> (Code, IndexVec<BlockId, Place>, Settled) {
        let encoding = TARGETS[0].object.unwrap();
        let mut code = Code::default();
        let mut blocks = IndexVec::new();
        for &(bytes, to) in parts {
            blocks.push(code.place());
            code.bytes.extend(vec![0x90; bytes]);
            code.jump(BlockId::new(to), 4, 0);
        }
        blocks.push(code.place());
        code.fix(0, Goal::Pool(0, 4), 0);
        let settled = settle(encoding, &mut code, &blocks);
        (code, blocks, settled)
    }

    /// The lengths by trying all jumps over and over.
    fn slow(parts: &[(usize, usize)]) -> Vec<u8> {
        let mut long = vec![false; parts.len()];
        loop {
            let length = |n: usize, long: &[bool]| if long[n] { 6 } else { 2 };
            let mut starts = vec![0i64];
            for (n, part) in parts.iter().enumerate() {
                starts.push(starts[n] + part.0 as i64 + length(n, &long));
            }
            let too_far = (0..parts.len()).find(|&n| {
                let distance = starts[parts[n].1] - starts[n + 1];
                !long[n] && !(-128..=127).contains(&distance)
            });
            match too_far {
                Some(n) => long[n] = true,
                None => return long.iter().map(|&l| u8::from(l)).collect(),
            }
        }
    }

    #[test]
    fn boundaries_of_the_short_form() {
        // Forward over exactly 127 and 128 bytes, and backward over 128 and 129.
        for (bytes, form) in [(125, 0), (126, 1)] {
            assert_eq!(settled(&[(0, 2), (bytes, 2)]).2.forms[0], form);
        }
        for (bytes, form) in [(126, 0), (127, 1)] {
            assert_eq!(settled(&[(bytes, 0)]).2.forms, [form]);
        }
    }

    #[test]
    fn growth_spreads_to_the_least_solution() {
        let mut state = 12345u64;
        let mut random = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % n
        };
        for round in 0..300 {
            let count = 1 + random(120);
            let span = 1 + random(60);
            let bytes = 1 + round % 9;
            let parts: Vec<(usize, usize)> = (0..count)
                .map(|n| {
                    let to = (n + random(2 * span)).saturating_sub(span).min(count);
                    (random(bytes), to)
                })
                .collect();
            let (code, blocks, settled) = settled(&parts);
            assert_eq!(settled.forms, slow(&parts), "{parts:?}");
            let end = settled.offset(*blocks.iter().last().unwrap());
            assert_eq!(code.bytes.len() as u32, end);
            let fixup = Fixup { at: u64::from(end), addend: 0, to: Goal::Pool(0, 4), kind: 0 };
            assert_eq!(code.fixups, [fixup]);
        }
    }
}
