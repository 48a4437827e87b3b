//! Writing numbers, symbols and labels into assembly text. Everything that prints code comes
//! through here, so nothing in it goes through `std::fmt`.

use super::Names;
use crate::index::Index;
use crate::ir::{BlockId, SymbolId};

/// Digits of 0..100, two by two.
static PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Appends `value` in decimal.
pub fn push_unsigned(out: &mut Vec<u8>, mut value: u64) {
    if value < 10 {
        out.push(b'0' + value as u8);
        return;
    }
    let mut buffer = [0u8; 20];
    let mut at = buffer.len();
    while value >= 10 {
        let pair = (value % 100) as usize * 2;
        value /= 100;
        at -= 2;
        buffer[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if value > 0 {
        at -= 1;
        buffer[at] = b'0' + value as u8;
    }
    out.extend_from_slice(&buffer[at..]);
}

/// Appends `value` in decimal.
pub fn push_signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_unsigned(out, value.unsigned_abs());
}

/// Appends `+value` or `-value`; nothing for 0.
pub fn push_offset(out: &mut Vec<u8>, value: i64) {
    if value > 0 {
        out.push(b'+');
    }
    if value != 0 {
        push_signed(out, value);
    }
}

/// Appends the low `digits` hexadecimal digits of `value`.
pub fn push_hex(out: &mut Vec<u8>, value: u64, digits: u32) {
    for i in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(value >> (4 * i) & 15) as usize]);
    }
}

impl Names<'_> {
    /// Appends the name of a symbol as the assembler knows it.
    pub fn push_symbol(&self, out: &mut Vec<u8>, symbol: SymbolId) {
        let name = self.module.symbols.name(symbol);
        if name.first() != Some(&b'"') {
            out.extend_from_slice(self.target.symbol_prefix.as_bytes());
        }
        out.extend_from_slice(name);
    }

    /// Appends a symbol's name with more before and after it, inside its quotes if it has any.
    pub fn push_symbol_within(
        &self,
        out: &mut Vec<u8>,
        before: &[u8],
        symbol: SymbolId,
        after: &[u8],
    ) {
        let name = self.module.symbols.name(symbol);
        if let Some(inside) = name.strip_prefix(b"\"").and_then(|n| n.strip_suffix(b"\"")) {
            for part in [b"\"", before, inside, after, b"\""] {
                out.extend_from_slice(part);
            }
        } else {
            out.extend_from_slice(before);
            self.push_symbol(out, symbol);
            out.extend_from_slice(after);
        }
    }

    /// Appends the name of the cell that holds a symbol's address, on COFF.
    pub fn push_reference_cell(&self, out: &mut Vec<u8>, symbol: SymbolId) {
        self.push_symbol_within(out, b".refptr.", symbol, b"");
    }

    /// Appends the label of a block of the function.
    pub fn push_block(&self, out: &mut Vec<u8>, block: BlockId) {
        out.extend_from_slice(self.target.local_prefix.as_bytes());
        out.extend_from_slice(b"bb");
        push_unsigned(out, self.function as u64);
        out.push(b'_');
        push_unsigned(out, block.index() as u64);
    }

    /// Appends the label of a constant of `size` bytes in read-only data. It is made of the bits
    /// alone, so functions that are printed apart agree on it.
    pub fn push_literal(&self, out: &mut Vec<u8>, bits: u64, size: u8) {
        out.extend_from_slice(self.target.local_prefix.as_bytes());
        out.extend_from_slice(b"fp");
        push_unsigned(out, u64::from(size));
        out.push(b'_');
        push_hex(out, bits, if size == 4 { 8 } else { 16 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_print_as_std_prints_them() {
        let mut values = vec![0, 9, 10, 11, 99, 100, 101, 1000, i64::MAX, i64::MIN, -1, -10];
        values.extend((0..63).flat_map(|n| [(1i64 << n) - 1, 1 << n, -(1i64 << n)]));
        values.extend((0..18).map(|n| 10i64.pow(n)));
        for v in values {
            assert_eq!(text(|o| push_signed(o, v)), v.to_string());
            assert_eq!(text(|o| push_unsigned(o, v as u64)), (v as u64).to_string());
            let offset = if v == 0 { String::new() } else { format!("{v:+}") };
            assert_eq!(text(|o| push_offset(o, v)), offset);
            assert_eq!(text(|o| push_hex(o, v as u64, 16)), format!("{v:016x}"));
        }
        assert_eq!(text(|o| push_hex(o, 0x1_2345_6789, 8)), "23456789");
    }
}
