//! Typed indices, the vectors they index, and bit sets over them.
//!
//! This is the only file that casts between `usize` and an index type.

use std::fmt;
use std::marker::PhantomData;
use std::ops;

/// A typed index: a small copyable name of a row of some table.
pub trait Index: Copy + Eq + Ord + fmt::Debug {
    /// The index of row `i`.
    fn new(i: usize) -> Self;
    /// The row number.
    fn index(self) -> usize;
}

/// Declares index types. An index takes 4 bytes, and so does an `Option` of one.
macro_rules! index_types {
    ($($(#[$doc:meta])* $name:ident = $letter:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::num::NonZeroU32);

        impl $crate::index::Index for $name {
            #[inline]
            fn new(i: usize) -> Self {
                let raw = u32::try_from(i + 1).expect("table too large");
                $name(std::num::NonZeroU32::new(raw).expect("i + 1 is positive"))
            }
            #[inline]
            fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($letter, "{}"), $crate::index::Index::index(*self))
            }
        }
    )*};
}
pub(crate) use index_types;

/// A vector whose rows are named by `I`.
#[derive(Clone, PartialEq, Eq)]
pub struct IndexVec<I, T> {
    rows: Vec<T>,
    index: PhantomData<fn(I) -> I>,
}

impl<I: Index, T> IndexVec<I, T> {
    pub const fn new() -> Self {
        IndexVec { rows: Vec::new(), index: PhantomData }
    }

    pub fn with_capacity(n: usize) -> Self {
        IndexVec { rows: Vec::with_capacity(n), index: PhantomData }
    }

    /// `n` copies of `value`.
    pub fn filled(value: T, n: usize) -> Self
    where
        T: Clone,
    {
        IndexVec { rows: vec![value; n], index: PhantomData }
    }

    /// Makes the table `n` copies of `value`, keeping its memory.
    pub fn refill(&mut self, value: T, n: usize)
    where
        T: Clone,
    {
        self.rows.clear();
        self.rows.resize(n, value);
    }

    /// Appends a row and returns its index.
    #[inline]
    pub fn push(&mut self, row: T) -> I {
        let i = I::new(self.rows.len());
        self.rows.push(row);
        i
    }

    /// The index the next `push` will return.
    pub fn next_index(&self) -> I {
        I::new(self.rows.len())
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn clear(&mut self) {
        self.rows.clear();
    }

    pub fn resize(&mut self, n: usize, value: T)
    where
        T: Clone,
    {
        self.rows.resize(n, value);
    }

    pub fn get(&self, i: I) -> Option<&T> {
        self.rows.get(i.index())
    }

    pub fn get_mut(&mut self, i: I) -> Option<&mut T> {
        self.rows.get_mut(i.index())
    }

    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.rows.iter_mut()
    }

    /// All indices in order. Borrows nothing.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.rows.len()).map(I::new)
    }

    pub fn enumerate(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.rows.iter().enumerate().map(|(i, row)| (I::new(i), row))
    }

    pub fn enumerate_mut(&mut self) -> impl DoubleEndedIterator<Item = (I, &mut T)> {
        self.rows.iter_mut().enumerate().map(|(i, row)| (I::new(i), row))
    }

    pub fn as_slice(&self) -> &[T] {
        &self.rows
    }

    pub fn into_vec(self) -> Vec<T> {
        self.rows
    }
}

impl<I: Index, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Index, T> From<Vec<T>> for IndexVec<I, T> {
    fn from(rows: Vec<T>) -> Self {
        IndexVec { rows, index: PhantomData }
    }
}

impl<I: Index, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(rows: It) -> Self {
        IndexVec { rows: rows.into_iter().collect(), index: PhantomData }
    }
}

impl<I: Index, T> ops::Index<I> for IndexVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, i: I) -> &T {
        &self.rows[i.index()]
    }
}

impl<I: Index, T> ops::IndexMut<I> for IndexVec<I, T> {
    #[inline]
    fn index_mut(&mut self, i: I) -> &mut T {
        &mut self.rows[i.index()]
    }
}

impl<I: Index, T: fmt::Debug> fmt::Debug for IndexVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.enumerate()).finish()
    }
}

/// A set of indices below a fixed bound, one bit each.
#[derive(Clone, PartialEq, Eq)]
pub struct BitSet<I> {
    words: Vec<u64>,
    index: PhantomData<fn(I) -> I>,
}

impl<I: Index> BitSet<I> {
    /// The empty set of indices below `bound`.
    pub fn new(bound: usize) -> Self {
        BitSet { words: vec![0; bound.div_ceil(64)], index: PhantomData }
    }

    /// Empties the set and gives it a new bound, keeping its memory.
    pub fn reset(&mut self, bound: usize) {
        self.words.clear();
        self.words.resize(bound.div_ceil(64), 0);
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    #[inline]
    pub fn contains(&self, i: I) -> bool {
        let i = i.index();
        self.words[i / 64] >> (i % 64) & 1 != 0
    }

    /// Adds `i`; true if it was not there.
    #[inline]
    pub fn insert(&mut self, i: I) -> bool {
        let i = i.index();
        let word = &mut self.words[i / 64];
        let bit = 1 << (i % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Removes `i`; true if it was there.
    #[inline]
    pub fn remove(&mut self, i: I) -> bool {
        let i = i.index();
        let word = &mut self.words[i / 64];
        let bit = 1 << (i % 64);
        let old = *word & bit != 0;
        *word &= !bit;
        old
    }

    /// Adds all of `other` (same bound); true if anything was new.
    pub fn union_with(&mut self, other: &Self) -> bool {
        let mut changed = 0;
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            changed |= b & !*a;
            *a |= b;
        }
        changed != 0
    }

    /// Keeps only what is in `other` too (same bound).
    pub fn intersect_with(&mut self, other: &Self) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a &= b;
        }
    }

    /// Removes all of `other` (same bound).
    pub fn subtract(&mut self, other: &Self) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a &= !b;
        }
    }

    /// Makes the set equal to `other`, keeping its memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.words.clear();
        self.words.extend_from_slice(&other.words);
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The members in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = I> + '_ {
        self.words.iter().enumerate().flat_map(|(n, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(I::new(n * 64 + bit))
            })
        })
    }
}

impl<I: Index> fmt::Debug for BitSet<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    index_types! { /// A test index.
    Id = "i"; }

    #[test]
    fn an_optional_index_takes_four_bytes() {
        assert_eq!(size_of::<Option<Id>>(), 4);
    }

    #[test]
    fn bit_set_iterates_in_order() {
        let mut set = BitSet::new(130);
        for i in [129, 0, 64, 63] {
            assert!(set.insert(Id::new(i)));
        }
        assert!(!set.insert(Id::new(64)));
        assert!(set.remove(Id::new(0)));
        let members: Vec<usize> = set.iter().map(Index::index).collect();
        assert_eq!(members, [63, 64, 129]);
    }
}
