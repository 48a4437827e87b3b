//! Names of one function to small numbers.

use super::lex::pack;

/// The names of one kind (temporaries or labels) of one function, numbered in the order in which
/// they first appear. Kept for the next function, whose names start again from 0.
#[derive(Default)]
pub struct NameTable {
    /// Open addressing; a row counts only if its stamp is the current one, so that forgetting
    /// all names costs nothing.
    rows: Vec<Row>,
    stamp: u32,
    /// Where each name first stands in the text, without its sigil.
    spans: Vec<(usize, usize)>,
}

#[derive(Copy, Clone, Default)]
struct Row {
    stamp: u32,
    hash: u32,
    number: u32,
}

impl NameTable {
    /// Forgets all names.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.stamp = match self.stamp.checked_add(1) {
            Some(next) => next,
            None => {
                self.rows.fill(Row::default());
                1
            }
        };
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Where the name first stands.
    pub fn span(&self, number: usize) -> (usize, usize) {
        self.spans[number]
    }

    /// The number of `text[start..end]`, a new one if it is a new name.
    #[inline]
    pub fn number(&mut self, text: &[u8], start: usize, end: usize) -> usize {
        if self.spans.len() * 2 >= self.rows.len() {
            self.grow();
        }
        let hash = hash(text, start, end);
        let mask = self.rows.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let row = self.rows[at];
            if row.stamp != self.stamp {
                let number = self.spans.len();
                self.rows[at] = Row { stamp: self.stamp, hash, number: number as u32 };
                self.spans.push((start, end));
                return number;
            }
            if row.hash == hash {
                let (known_start, known_end) = self.spans[row.number as usize];
                if text[known_start..known_end] == text[start..end] {
                    return row.number as usize;
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = (self.rows.len() * 2).max(256);
        let old = std::mem::replace(&mut self.rows, vec![Row::default(); size]);
        if self.stamp == 0 {
            self.stamp = 1;
        }
        for row in old.into_iter().filter(|row| row.stamp == self.stamp) {
            let mut at = row.hash as usize & (size - 1);
            while self.rows[at].stamp == self.stamp {
                at = (at + 1) & (size - 1);
            }
            self.rows[at] = row;
        }
    }
}

/// Folds both halves of a wide product, so that every byte of a name moves the low bits.
#[inline]
fn hash(text: &[u8], start: usize, end: usize) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut sum = (end - start) as u64;
    let mut at = start;
    while at < end {
        let stop = end.min(at + 8);
        let product = u128::from(sum ^ pack(text, at, stop)) * u128::from(FACTOR);
        sum = product as u64 ^ (product >> 64) as u64;
        at = stop;
    }
    (sum ^ sum >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_first_appearance() {
        let mut table = NameTable::default();
        for _ in 0..3 {
            table.clear();
            let text: String = (0..5000).map(|i| format!("name{i:06}")).collect();
            for round in 0..2 {
                for i in 0..5000 {
                    let found = table.number(text.as_bytes(), i * 10, i * 10 + 10);
                    assert_eq!(found, i, "round {round}");
                }
            }
            assert_eq!(table.len(), 5000);
        }
    }
}
