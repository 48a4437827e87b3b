//! Text to [`Module`].
//!
//! [`parse`] reads one input and appends what it defines to a module; several inputs may go into
//! one. It is the only place where faults of user input are found: `lex` makes tokens, `grammar`,
//! `types`, `data` and `body` read definitions by recursive descent over one token of lookahead
//! (nothing nests, so nothing recurses), and `validate` looks at each function as a whole. Inside
//! a function a fault is recorded and reading goes on with the next line; elsewhere with the next
//! definition. What comes out without errors satisfies [`crate::ir::check`].

mod body;
mod data;
mod grammar;
mod lex;
mod names;
mod number;
#[cfg(test)]
mod tests;
mod types;
mod validate;

use crate::error::Error;
use crate::index::{Index, IndexVec};
use crate::ir::{
    BlockId, Class, FileId, Function, Inst, Item, Module, Phi, SymbolId, TempId, TypeId,
};
use lex::{Fault, Spanned, Token, Words};
use names::NameTable;
use rustc_hash::{FxHashMap, FxHashSet};

/// How to read the text.
#[derive(Copy, Clone, Default, Debug)]
pub struct Options {
    /// Take the ops that only passes make, so that dumps can be read back.
    pub internal_ops: bool,
}

/// At most this many errors of one input are reported.
pub const ERROR_LIMIT: usize = 20;

/// Lines longer than this are not kept for display.
const SOURCE_LINE_LIMIT: usize = 4096;

/// Reads `text` and appends its definitions to `module`. `name` stands for the file in errors.
/// On `Err` the module holds a part of the definitions and is of no further use.
///
/// ```
/// use backend::ir::{Module, print::print_module};
/// use backend::parse::{Options, parse};
///
/// let mut module = Module::default();
/// parse("-", b"data $answer = { w 42 }", &Options::default(), &mut module).unwrap();
/// assert_eq!(print_module(&module), b"data $answer = { w 42 }\n");
///
/// let errors = parse("-", b"data $x = { w }", &Options::default(), &mut module).unwrap_err();
/// assert_eq!(errors[0].to_string(), "-:1:15: error: expected a constant, found '}'");
/// ```
pub fn parse(
    name: &str,
    text: &[u8],
    options: &Options,
    module: &mut Module,
) -> Result<(), Vec<Error>> {
    let words = Words::new(options.internal_ops);
    let mut parser = Parser::new(text, &words, module);
    parser.advance();
    parser.definitions();
    let faults = parser.faults;
    if faults.list.is_empty() {
        return Ok(());
    }
    Err(faults.into_errors(name, text))
}

/// A fault was recorded, and what was being read cannot be made sense of.
struct Skip;

type Parsed<T> = Result<T, Skip>;

/// The faults found so far.
#[derive(Default)]
struct Faults {
    list: Vec<(usize, String)>,
}

impl Faults {
    fn add(&mut self, at: usize, message: impl Into<String>) {
        if !self.is_full() && !self.list.iter().any(|&(other, _)| other == at) {
            self.list.push((at, message.into()));
        }
    }

    fn is_full(&self) -> bool {
        self.list.len() >= ERROR_LIMIT
    }

    fn into_errors(mut self, file: &str, text: &[u8]) -> Vec<Error> {
        self.list.sort_by_key(|&(at, _)| at);
        let (mut line, mut line_start, mut counted) = (1u32, 0, 0);
        let mut errors = Vec::with_capacity(self.list.len());
        for (at, message) in self.list {
            for (offset, &byte) in text[counted..at].iter().enumerate() {
                if byte == b'\n' {
                    line += 1;
                    line_start = counted + offset + 1;
                }
            }
            counted = at;
            let rest = &text[line_start..];
            let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            let shown = if length > SOURCE_LINE_LIMIT { &[] } else { &rest[..length] };
            errors.push(Error {
                file: file.to_owned(),
                line,
                column: (at - line_start + 1) as u32,
                message,
                source_line: String::from_utf8_lossy(shown).trim_end_matches('\r').to_owned(),
            });
        }
        errors
    }
}

/// The state of one run of [`parse`].
struct Parser<'a> {
    text: &'a [u8],
    words: &'a Words,
    /// The token at hand and where it stands.
    token: Token,
    start: usize,
    end: usize,
    /// The start of a string of this definition that has a newline in it: allowed, but if what
    /// follows makes no sense its closing quote was forgotten.
    long_string: Option<usize>,
    module: &'a mut Module,
    faults: Faults,
    /// The aggregate types of this input. Their scope is the input.
    types: FxHashMap<&'a [u8], TypeId>,
    /// Names that types of the module have, so that those of several inputs stay apart.
    type_names: FxHashSet<Box<[u8]>>,
    /// Symbols that are defined, by any input.
    defined: FxHashSet<SymbolId>,
    /// The `dbgfile` in force.
    file: Option<FileId>,
    /// The function being read, and what is only needed while it is.
    f: Function,
    body: Body,
}

/// What is known of the function being read beside its tables. Reused from one to the next.
#[derive(Default)]
struct Body {
    temps: NameTable,
    labels: NameTable,
    /// For each temporary, where it was first given a class: by an instruction or as a parameter.
    defined_at: IndexVec<TempId, Option<usize>>,
    /// Temporaries assigned both as `w` and as `l`.
    mixed: Vec<TempId>,
    /// The block of each label. While reading, jumps and phis name blocks by label number.
    label_blocks: Vec<Option<BlockId>>,
    open: Option<Open>,
    phis: Vec<Phi>,
    insts: Vec<Inst>,
    /// Where each phi, instruction and jump starts, all blocks in a row.
    phi_at: Vec<usize>,
    inst_at: Vec<usize>,
    jump_at: IndexVec<BlockId, usize>,
    /// A line was skipped that may have defined or used a name: what looks undefined may not be.
    lost: bool,
    /// The head could not be read: what the function returns is not known.
    head_lost: bool,
    has_call: bool,
}

/// The block being read.
struct Open {
    name: crate::ir::NameId,
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8], words: &'a Words, module: &'a mut Module) -> Parser<'a> {
        let mut defined = FxHashSet::default();
        let mut file = None;
        for item in &module.items {
            match *item {
                Item::Type(_) => {}
                Item::Data(d) => {
                    defined.insert(module.data[d].symbol);
                }
                Item::Function(f) => {
                    if let Some(f) = module.functions.get(f) {
                        defined.insert(f.symbol);
                    }
                }
                Item::File(named) => file = Some(named),
            }
        }
        let type_names = module.types.iter().map(|ty| ty.name.clone()).collect();
        Parser {
            text,
            words,
            token: Token::End,
            start: 0,
            end: 0,
            long_string: None,
            module,
            faults: Faults::default(),
            types: FxHashMap::default(),
            type_names,
            defined,
            file,
            f: Function::new(SymbolId::new(0)),
            body: Body::default(),
        }
    }

    /// Moves to the next token.
    #[inline]
    fn advance(&mut self) {
        let Spanned { token, start, end } = lex::next(self.text, self.words, self.end);
        self.token = token;
        self.start = start;
        self.end = end;
    }

    /// Moves past newlines.
    fn skip_newlines(&mut self) {
        while self.token == Token::Newline {
            self.advance();
        }
    }

    /// Moves to the next token that is no newline.
    fn advance_line(&mut self) {
        self.advance();
        self.skip_newlines();
    }

    /// Takes `token`, or records that `what` was expected.
    #[inline]
    fn expect(&mut self, token: Token, what: &str) -> Parsed<()> {
        if self.token != token {
            return self.expected(what);
        }
        self.advance();
        Ok(())
    }

    /// Records that `what` should stand here.
    #[cold]
    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        if let Some(at) = self.long_string.take() {
            (self.token, self.start, self.end) = (Token::Word, at, at + 1);
            return self.fail("unterminated string: no closing '\"' on its line");
        }
        let message = match self.token {
            Token::Bad(fault) => describe(fault, &self.text[self.start..self.end]),
            _ => format!("expected {what}, found {}", self.found()),
        };
        self.fail(message)
    }

    /// Records a fault at the token at hand.
    #[cold]
    fn fail<T>(&mut self, message: impl Into<String>) -> Parsed<T> {
        self.faults.add(self.start, message);
        Err(Skip)
    }

    /// The token at hand, for a message.
    fn found(&self) -> String {
        match self.token {
            Token::Newline => "the end of the line".into(),
            Token::End => "the end of the file".into(),
            Token::Str => "a string".into(),
            _ => format!("'{}'", shown(&self.text[self.start..self.end])),
        }
    }

    /// The name in the token at hand, without its sigil.
    fn name(&self) -> &'a [u8] {
        &self.text[self.start + 1..self.end]
    }

    fn class_of_temp(&self, t: TempId) -> Option<Class> {
        self.body.defined_at[t].map(|_| self.f.temps[t].class)
    }
}

/// Bytes of the text as they may stand in a message.
fn shown(bytes: &[u8]) -> String {
    const LIMIT: usize = 60;
    let cut = &bytes[..bytes.len().min(LIMIT)];
    let mut text: String = String::from_utf8_lossy(cut)
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    if bytes.len() > LIMIT {
        text.push_str("...");
    }
    text
}

fn describe(fault: Fault, text: &[u8]) -> String {
    match fault {
        Fault::Byte(0) => "invalid NUL byte".into(),
        Fault::Byte(byte) if byte.is_ascii_graphic() => {
            format!("invalid character '{}'", char::from(byte))
        }
        Fault::Byte(byte) => format!("invalid byte 0x{byte:02x}"),
        Fault::Name(sigil) => {
            format!("expected a name after '{}' (a letter, '.' or '_' first)", char::from(sigil))
        }
        Fault::EmptyName => "a quoted name may not be empty".into(),
        Fault::Minus => "expected the digits of a number after '-'".into(),
        Fault::Float => format!("invalid floating-point literal '{}'", shown(text)),
        Fault::String => "unterminated string: no closing '\"' before the end of the file".into(),
    }
}
