//! Bytes to tokens.
//!
//! The bodies of tokens are recognised by nom's byte parsers; which token it is follows from its
//! first byte, so no alternatives are tried one after the other. A token is a small `Copy` value;
//! what stands in the text is read back through its span. Words are looked up in a table keyed by
//! their bytes packed into a `u64` (no keyword is longer than 8 bytes).

use super::number;
use crate::ir::Op;
use nom::IResult;
use nom::bytes::complete::take_while;

/// A word of the language that is not the name of an op.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Key {
    Phi,
    Jmp,
    Jnz,
    Ret,
    Hlt,
    Export,
    Thread,
    Extern,
    Common,
    Function,
    Type,
    Data,
    Section,
    Align,
    Dbgfile,
    Env,
    Volatile,
    /// `load`: the load of a whole value of the instruction's class.
    Load,
    Dots,
    W,
    L,
    S,
    D,
    B,
    H,
    Z,
    Sb,
    Ub,
    Sh,
    Uh,
}

const KEYS: [(&str, Key); 30] = [
    ("phi", Key::Phi),
    ("jmp", Key::Jmp),
    ("jnz", Key::Jnz),
    ("ret", Key::Ret),
    ("hlt", Key::Hlt),
    ("export", Key::Export),
    ("thread", Key::Thread),
    ("extern", Key::Extern),
    ("common", Key::Common),
    ("function", Key::Function),
    ("type", Key::Type),
    ("data", Key::Data),
    ("section", Key::Section),
    ("align", Key::Align),
    ("dbgfile", Key::Dbgfile),
    ("env", Key::Env),
    ("volatile", Key::Volatile),
    ("load", Key::Load),
    ("...", Key::Dots),
    ("w", Key::W),
    ("l", Key::L),
    ("s", Key::S),
    ("d", Key::D),
    ("b", Key::B),
    ("h", Key::H),
    ("z", Key::Z),
    ("sb", Key::Sb),
    ("ub", Key::Ub),
    ("sh", Key::Sh),
    ("uh", Key::Uh),
];

/// Spellings of an op beside its own.
const ALIASES: [(&str, Op); 3] =
    [("loadw", Op::Loadsw), ("alloc1", Op::Alloc4), ("alloc2", Op::Alloc4)];

/// What is wrong with bytes that are no token.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    Byte(u8),
    /// A sigil without a name after it.
    Name(u8),
    EmptyName,
    Minus,
    Float,
    String,
}

/// A token. Names and strings are read through the span.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Token {
    Op(Op),
    Key(Key),
    /// Some other word.
    Word,
    /// `%name`
    Temp,
    /// `@name`
    Label,
    /// `$name` or `$"name"`
    Global,
    /// `:name`
    Type,
    Str,
    Int(i64),
    Single(u32),
    Double(u64),
    Plus,
    Equals,
    Comma,
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    Newline,
    End,
    Bad(Fault),
}

/// The words of the language.
pub struct Words {
    rows: Box<[(u64, Token)]>,
}

const WORD_BITS: u32 = 9;

fn word_row(packed: u64) -> usize {
    (packed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - WORD_BITS)) as usize
}

impl Words {
    /// All words; those of internal ops only if asked for.
    pub fn new(internal_ops: bool) -> Words {
        let mut words = Words { rows: vec![(0, Token::Word); 1 << WORD_BITS].into() };
        for (name, key) in KEYS {
            words.add(name, Token::Key(key));
        }
        for (name, op) in ALIASES {
            words.add(name, Token::Op(op));
        }
        for &op in Op::ALL {
            if internal_ops || !op.row().internal {
                words.add(op.name(), Token::Op(op));
            }
        }
        words
    }

    fn add(&mut self, name: &str, token: Token) {
        let packed = pack(name.as_bytes(), 0, name.len());
        let mut row = word_row(packed);
        while self.rows[row].0 != 0 {
            row = (row + 1) % self.rows.len();
        }
        self.rows[row] = (packed, token);
    }

    #[inline]
    fn find(&self, text: &[u8], start: usize, end: usize) -> Token {
        if end - start > 8 {
            return Token::Word;
        }
        let packed = pack(text, start, end);
        let mut row = word_row(packed);
        loop {
            let (known, token) = self.rows[row];
            if known == packed {
                return token;
            }
            if known == 0 {
                return Token::Word;
            }
            row = (row + 1) % self.rows.len();
        }
    }
}

/// Up to 8 bytes of `text` as one number.
#[inline]
pub fn pack(text: &[u8], start: usize, end: usize) -> u64 {
    let n = end - start;
    if let Some(window) = text.get(start..start + 8) {
        let all = u64::from_le_bytes(window.try_into().expect("8 bytes"));
        return if n == 8 { all } else { all & ((1 << (8 * n)) - 1) };
    }
    let mut bytes = [0; 8];
    bytes[..n].copy_from_slice(&text[start..end]);
    u64::from_le_bytes(bytes)
}

/// What a byte may be part of.
const NAME_START: u8 = 1;
const NAME: u8 = 2;
const DIGIT: u8 = 4;
const BLANK: u8 = 8;

static KINDS: [u8; 256] = kinds();

const fn kinds() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'_' => NAME_START | NAME,
            b'$' => NAME,
            b'0'..=b'9' => NAME | DIGIT,
            // A carriage return is a blank, so that lines may end in CRLF.
            b' ' | b'\t' | b'\r' => BLANK,
            _ => 0,
        };
        byte += 1;
    }
    table
}

/// How many bytes at the start of `rest` are of one of `kinds`.
#[inline]
fn span_of(rest: &[u8], kinds: u8) -> usize {
    let parsed: IResult<&[u8], &[u8]> =
        take_while(|byte: u8| KINDS[usize::from(byte)] & kinds != 0)(rest);
    match parsed {
        Ok((_, taken)) => taken.len(),
        Err(_) => 0,
    }
}

/// A token and where it stands.
#[derive(Copy, Clone, Debug)]
pub struct Spanned {
    pub token: Token,
    pub start: usize,
    pub end: usize,
}

/// Reads the token at or after `position`.
#[inline]
pub fn next(text: &[u8], words: &Words, mut position: usize) -> Spanned {
    // Most tokens stand after one blank or none.
    while let Some(&byte) = text.get(position)
        && KINDS[usize::from(byte)] & BLANK != 0
    {
        position += 1;
    }
    let start = position;
    let Some(&first) = text.get(start) else {
        return Spanned { token: Token::End, start, end: start };
    };
    let one = |token| Spanned { token, start, end: start + 1 };
    match first {
        b'%' => name(text, start, Token::Temp),
        b'@' => name(text, start, Token::Label),
        b':' => name(text, start, Token::Type),
        b'$' => match text.get(start + 1) {
            Some(b'"') => quoted(text, start, start + 1, Token::Global),
            _ => name(text, start, Token::Global),
        },
        b',' => one(Token::Comma),
        b'\n' => one(Token::Newline),
        b'=' => one(Token::Equals),
        b'(' => one(Token::LeftParen),
        b')' => one(Token::RightParen),
        b'{' => one(Token::LeftBrace),
        b'}' => one(Token::RightBrace),
        b'+' => one(Token::Plus),
        b'"' => quoted(text, start, start, Token::Str),
        b'#' => {
            let rest = &text[start..];
            match rest.iter().position(|&byte| byte == b'\n') {
                // The comment and the end of its line are one token.
                Some(n) => Spanned { token: Token::Newline, start, end: start + n + 1 },
                None => Spanned { token: Token::End, start, end: text.len() },
            }
        }
        b's' | b'd' if text.get(start + 1) == Some(&b'_') => float(text, start),
        b'-' | b'0'..=b'9' => int(text, start),
        _ if KINDS[usize::from(first)] & NAME_START != 0 => {
            let end = start + span_of(&text[start..], NAME);
            Spanned { token: words.find(text, start, end), start, end }
        }
        _ => one(Token::Bad(Fault::Byte(first))),
    }
}

#[inline]
fn name(text: &[u8], start: usize, token: Token) -> Spanned {
    let body = &text[start + 1..];
    if body.first().is_none_or(|&byte| KINDS[usize::from(byte)] & NAME_START == 0) {
        let token = Token::Bad(Fault::Name(text[start]));
        return Spanned { token, start, end: start + 1 };
    }
    Spanned { token, start, end: start + 1 + span_of(body, NAME) }
}

/// A string whose opening quote is at `quote`. Newlines may stand in it.
fn quoted(text: &[u8], start: usize, quote: usize, token: Token) -> Spanned {
    let mut end = quote + 1;
    loop {
        match text.get(end) {
            None => {
                let token = Token::Bad(Fault::String);
                return Spanned { token, start, end: text.len() };
            }
            Some(b'\\') => end += 2,
            Some(b'"') => break,
            Some(_) => end += 1,
        }
    }
    let token = match token {
        Token::Global if end == quote + 1 => Token::Bad(Fault::EmptyName),
        _ => token,
    };
    Spanned { token, start, end: end + 1 }
}

#[inline]
fn int(text: &[u8], start: usize) -> Spanned {
    let negative = text[start] == b'-';
    let digits = &text[start + usize::from(negative)..];
    let n = span_of(digits, DIGIT);
    if n == 0 {
        return Spanned { token: Token::Bad(Fault::Minus), start, end: start + 1 };
    }
    // Modulo 2^64, as the language has it.
    let magnitude = digits[..n]
        .iter()
        .fold(0u64, |sum, &digit| sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')));
    let value = if negative { magnitude.wrapping_neg() } else { magnitude };
    Spanned { token: Token::Int(value as i64), start, end: start + usize::from(negative) + n }
}

fn float(text: &[u8], start: usize) -> Spanned {
    let rest = &text[start + 2..];
    let (token, end) = match number::literal(rest) {
        Some((literal, used)) if text[start] == b's' => {
            (Token::Single(literal.single()), start + 2 + used)
        }
        Some((literal, used)) => (Token::Double(literal.double()), start + 2 + used),
        None => (Token::Bad(Fault::Float), start + 2),
    };
    match span_of(&text[end..], NAME) {
        0 => Spanned { token, start, end },
        n => Spanned { token: Token::Bad(Fault::Float), start, end: end + n },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let words = Words::new(false);
        let mut position = 0;
        let mut all = Vec::new();
        loop {
            let found = next(text.as_bytes(), &words, position);
            all.push(found.token);
            if found.token == Token::End {
                return all;
            }
            position = found.end;
        }
    }

    #[test]
    fn words_and_sigils() {
        assert_eq!(
            tokens("%x =w loadw $\"a b\", ...\r\n"),
            [
                Token::Temp,
                Token::Equals,
                Token::Key(Key::W),
                Token::Op(Op::Loadsw),
                Token::Global,
                Token::Comma,
                Token::Key(Key::Dots),
                Token::Newline,
                Token::End
            ]
        );
        assert_eq!(tokens("bswap function"), [Token::Word, Token::Key(Key::Function), Token::End]);
    }

    #[test]
    fn every_word_is_found() {
        let words = Words::new(true);
        for &op in Op::ALL {
            let name = op.name().as_bytes();
            assert_eq!(words.find(name, 0, name.len()), Token::Op(op));
        }
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(
            tokens("18446744073709551617 -1 -18446744073709551615"),
            [Token::Int(1), Token::Int(-1), Token::Int(1), Token::End]
        );
    }

    #[test]
    fn faults() {
        assert_eq!(tokens("-x")[0], Token::Bad(Fault::Minus));
        assert_eq!(tokens("%1")[0], Token::Bad(Fault::Name(b'%')));
        assert_eq!(tokens("\0")[0], Token::Bad(Fault::Byte(0)));
        assert_eq!(tokens("\"abc\\\"")[0], Token::Bad(Fault::String));
        assert_eq!(
            tokens("s_ d_x"),
            [Token::Bad(Fault::Float), Token::Bad(Fault::Float), Token::End]
        );
    }
}
