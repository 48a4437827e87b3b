//! Seeded pseudo-random numbers: xorshift64*, started through splitmix64.

/// A stream of numbers that its seed determines.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Random((state ^ state >> 31) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number in `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.bits() >> 33) as usize) % n
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// An integer of the kind that finds faults: small, at an edge, a mask, or anything.
    pub fn integer(&mut self) -> i64 {
        const EDGES: [i64; 16] = [
            0x7f,
            0x80,
            0xff,
            0x100,
            0x7fff,
            0x8000,
            0xffff,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x1_0000_0000,
            -0x8000_0000,
            -0x8000_0001,
            i64::MAX,
            i64::MIN,
            0x5555_5555_5555_5555,
        ];
        match self.below(10) {
            0..5 => self.below(20) as i64 - 4,
            5 | 6 => self.pick(&EDGES).wrapping_add(self.below(3) as i64 - 1),
            7 => 1 << self.below(64),
            8 => (1i64 << self.below(64)).wrapping_sub(1),
            _ => self.bits() as i64 >> self.below(56),
        }
    }
}
