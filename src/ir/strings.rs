//! What the text between the quotes of a data string stands for.
//!
//! The IL hands strings to the assembler as they are, so the escapes are GNU as's: `\b \f \n \r \t
//! \v \\ \"`, up to three octal digits, and `\x` with any number of hexadecimal digits of which the
//! last two count. A backslash before anything else stands for nothing.

/// The bytes of a string, given the text between its quotes.
pub fn decode_string(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let Some((&escape, tail)) = rest.split_first() else { break };
        bytes.push(match escape {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'0'..=b'9' => {
                let (value, used) = number(rest, 8, 3);
                rest = &rest[used..];
                bytes.push(value);
                continue;
            }
            b'x' | b'X' => {
                let (value, used) = number(tail, 16, usize::MAX);
                rest = &tail[used..];
                bytes.push(value);
                continue;
            }
            other => other,
        });
        rest = tail;
    }
    bytes
}

/// The number that at most `limit` leading digits of `text` make, modulo 256, and how many there
/// are. As in GNU as, octal takes 8 and 9 too.
fn number(text: &[u8], base: u32, limit: usize) -> (u8, usize) {
    let digits = text
        .iter()
        .take(limit)
        .map_while(|&c| char::from(c).to_digit(base.max(10)))
        .fold((0u32, 0), |(value, n), digit| ((value * base + digit) & 0xff, n + 1));
    (digits.0 as u8, digits.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_the_assembler() {
        let cases: &[(&str, &[u8])] = &[
            ("", b""),
            ("plain %d", b"plain %d"),
            (r"a\nb\t\r\f\b\v", b"a\nb\t\r\x0c\x08\x0b"),
            (r#"\\\"q"#, b"\\\"q"),
            (r"\0\000\1011", b"\0\0A1"),
            (r"\377\400\08", b"\xff\0\x08"),
            (r"\x41\x0041g\xfffF", b"AAg\xff"),
            (r"\x", b"\0"),
            (r"\q\%", b"q%"),
            (r"end\", b"end"),
        ];
        for &(text, want) in cases {
            assert_eq!(decode_string(text.as_bytes()), want, "{text}");
        }
    }
}
