//! Definitions: linkage, `dbgfile`, and what stands around a function's body.

use super::lex::{Key, Token};
use super::{Parsed, Parser, shown};
use crate::index::Index;
use crate::ir::{AbiType, Class, Function, Item, Linkage, Param, SymbolId, TempId};

/// Where the first word of each kind stood, for messages.
#[derive(Default)]
pub(super) struct Linkages {
    pub linkage: Linkage,
    any: Option<usize>,
    pub thread: Option<usize>,
    pub common: Option<usize>,
}

impl<'a> Parser<'a> {
    /// Everything up to the end of the file.
    pub(super) fn definitions(&mut self) {
        loop {
            self.skip_newlines();
            if self.token == Token::End || self.faults.is_full() {
                return;
            }
            self.long_string = None;
            if self.definition().is_err() {
                self.skip_to_definition();
            }
        }
    }

    fn definition(&mut self) -> Parsed<()> {
        let linkages = self.linkages()?;
        match self.token {
            Token::Key(Key::Function) => self.function(linkages),
            Token::Key(Key::Data) => self.data(linkages),
            Token::Key(Key::Type | Key::Dbgfile) if linkages.any.is_some() => {
                let word = self.found();
                self.faults.add(
                    linkages.any.unwrap_or(self.start),
                    format!("only data and functions have linkage, not {word}"),
                );
                self.plain_definition()
            }
            _ if linkages.any.is_some() => self.expected("'data' or 'function' after linkage"),
            _ => self.plain_definition(),
        }
    }

    fn plain_definition(&mut self) -> Parsed<()> {
        match self.token {
            Token::Key(Key::Type) => self.type_definition(),
            Token::Key(Key::Dbgfile) => self.dbgfile(),
            _ => self.expected("a definition ('function', 'data', 'type' or 'dbgfile')"),
        }
    }

    /// Moves to what looks like the start of a definition: such a word at the start of a line, or
    /// what stands behind a line's leading `}`.
    fn skip_to_definition(&mut self) {
        loop {
            if self.token == Token::End || self.is_at_definition() {
                return;
            }
            if self.token == Token::RightBrace && self.is_first_on_line() {
                return self.advance();
            }
            if self.token != Token::Newline {
                self.skip_line();
            }
            self.advance();
        }
    }

    /// Moves to the end of the line, whatever is in it.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.text[self.start..];
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        self.start += length;
        self.end = self.start;
        self.token = Token::Word;
        self.advance();
    }

    /// True at a word that starts definitions, at the start of a line.
    pub(super) fn is_at_definition(&self) -> bool {
        let starts = matches!(
            self.token,
            Token::Key(
                Key::Function
                    | Key::Data
                    | Key::Type
                    | Key::Dbgfile
                    | Key::Export
                    | Key::Section
                    | Key::Common
                    | Key::Thread
            )
        );
        starts && self.is_first_on_line()
    }

    fn is_first_on_line(&self) -> bool {
        let before = &self.text[..self.start];
        let blanks = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
        let before = before.iter().rev().find(|byte| !blanks(byte));
        before.is_none_or(|&byte| byte == b'\n')
    }

    /// Linkage words, in any order and number.
    fn linkages(&mut self) -> Parsed<Linkages> {
        let mut found = Linkages::default();
        loop {
            let at = self.start;
            let linkage = &mut found.linkage;
            match self.token {
                Token::Key(Key::Export) => linkage.export = true,
                Token::Key(Key::Thread) => {
                    linkage.thread = true;
                    found.thread.get_or_insert(at);
                }
                Token::Key(Key::Common) => {
                    linkage.common = true;
                    found.common.get_or_insert(at);
                }
                Token::Key(Key::Section) => {
                    if linkage.section.is_some() {
                        self.faults.add(at, "a second section: a definition has only one");
                    }
                    self.advance();
                    linkage.section = Some(self.string("the section's name in quotes")?);
                    if self.token == Token::Str {
                        linkage.section_flags = Some(self.string("the section's flags")?);
                    }
                    self.skip_newlines();
                    found.any.get_or_insert(at);
                    continue;
                }
                _ => return Ok(found),
            }
            found.any.get_or_insert(at);
            self.advance_line();
        }
    }

    /// The text between the quotes of a string.
    pub(super) fn string(&mut self, what: &str) -> Parsed<Box<[u8]>> {
        if self.token != Token::Str {
            return self.expected(what);
        }
        let text = &self.text[self.start + 1..self.end - 1];
        if text.contains(&b'\n') {
            self.long_string = Some(self.start);
        }
        self.advance();
        Ok(text.into())
    }

    fn dbgfile(&mut self) -> Parsed<()> {
        self.advance();
        let name = self.string("a file name in quotes after 'dbgfile'")?;
        let known = self.module.files.iter().position(|file| *file == name);
        let id = match known {
            Some(row) => Index::new(row),
            None => self.module.files.push(name),
        };
        self.module.items.push(Item::File(id));
        self.file = Some(id);
        Ok(())
    }

    /// The name of a definition. Records a fault if something else has it.
    pub(super) fn defined_symbol(&mut self, what: &str, may_repeat: bool) -> Parsed<SymbolId> {
        if self.token != Token::Global {
            return self.expected(what);
        }
        let symbol = self.module.symbols.intern(self.name());
        if !self.defined.insert(symbol) && !may_repeat {
            let name = shown(self.name());
            self.faults.add(self.start, format!("${name} is defined twice"));
        }
        self.advance();
        Ok(symbol)
    }

    fn function(&mut self, linkages: Linkages) -> Parsed<()> {
        if let Some(at) = linkages.thread {
            self.faults.add(at, "only data may have thread linkage");
        }
        self.body.temps.clear();
        self.body.labels.clear();
        self.body.defined_at.clear();
        self.body.mixed.clear();
        self.body.lost = false;
        self.body.head_lost = false;
        self.f = Function::new(SymbolId::new(0));
        self.f.linkage = linkages.linkage;
        self.f.linkage.common = false;
        self.f.file = self.file;
        self.advance();
        if self.header().is_err() {
            if self.is_at_definition() {
                return Err(super::Skip);
            }
            // The body may still have faults of its own to show.
            while !matches!(self.token, Token::LeftBrace | Token::Newline | Token::End) {
                self.advance();
            }
            if self.token != Token::LeftBrace {
                return Err(super::Skip);
            }
            self.body.lost = true;
            self.body.head_lost = true;
            self.advance();
        }
        self.function_body()?;
        self.validate();
        let f = std::mem::replace(&mut self.f, Function::new(SymbolId::new(0)));
        let id = self.module.functions.push(f);
        self.module.items.push(Item::Function(id));
        Ok(())
    }

    /// Between `function` and the body, its brace included.
    fn header(&mut self) -> Parsed<()> {
        if self.token != Token::Global {
            self.f.ret = Some(self.abi_type(
                "the function's name or return type (w, l, s, d, sb, ub, sh, uh or :name)",
            )?);
        }
        self.f.symbol = self.defined_symbol("the function's name", false)?;
        self.expect(Token::LeftParen, "'(' and the parameters")?;
        while self.token != Token::RightParen {
            self.parameter()?;
            if self.token == Token::RightParen {
                break;
            }
            self.expect(Token::Comma, "',' or ')' after a parameter")?;
        }
        self.advance();
        self.skip_newlines();
        self.expect(Token::LeftBrace, "'{' and the function's body")
    }

    fn parameter(&mut self) -> Parsed<()> {
        if self.f.variadic {
            let message = match self.token {
                Token::Key(Key::Dots) => "a second '...': a parameter list has only one",
                _ => "no parameter may follow '...'",
            };
            return self.fail(message);
        }
        match self.token {
            Token::Key(Key::Dots) => {
                self.f.variadic = true;
                self.advance();
                return Ok(());
            }
            Token::Key(Key::Env) => {
                if self.f.env.is_some() {
                    self.faults.add(self.start, "a second 'env': a function has only one");
                } else if !self.f.params.is_empty() {
                    self.faults.add(self.start, "'env' must be the first parameter");
                }
                self.advance();
                let env = self.parameter_name(Class::L)?;
                self.f.env = Some(env);
                return Ok(());
            }
            _ => {}
        }
        let ty = self
            .abi_type("a parameter's type (w, l, s, d, sb, ub, sh, uh or :name), 'env' or '...'")?;
        let to = self.parameter_name(ty.class())?;
        self.f.params.push(Param { ty, to });
        Ok(())
    }

    fn parameter_name(&mut self, class: Class) -> Parsed<TempId> {
        if self.token != Token::Temp {
            return self.expected("a parameter's name (%name)");
        }
        let t = self.temp();
        if self.body.defined_at[t].is_some() {
            let name = shown(self.name());
            self.faults.add(self.start, format!("two parameters are named %{name}"));
        }
        self.define(t, class, self.start);
        self.advance();
        Ok(t)
    }

    /// The type of a parameter, an argument or a result.
    pub(super) fn abi_type(&mut self, what: &str) -> Parsed<AbiType> {
        let ty = match self.token {
            Token::Key(Key::W) => AbiType::Base(Class::W),
            Token::Key(Key::L) => AbiType::Base(Class::L),
            Token::Key(Key::S) => AbiType::Base(Class::S),
            Token::Key(Key::D) => AbiType::Base(Class::D),
            Token::Key(Key::Sb) => AbiType::Byte { signed: true },
            Token::Key(Key::Ub) => AbiType::Byte { signed: false },
            Token::Key(Key::Sh) => AbiType::Half { signed: true },
            Token::Key(Key::Uh) => AbiType::Half { signed: false },
            Token::Type => self.aggregate_by_value(),
            Token::Key(Key::B | Key::H | Key::Z) | Token::Word => {
                let word = self.found();
                let message = format!("invalid type {word}: expected {what}");
                return self.fail(message);
            }
            _ => return self.expected(what),
        };
        self.advance();
        Ok(ty)
    }

    /// The aggregate type at hand; stands in for it where there is none of that name.
    fn aggregate_by_value(&mut self) -> AbiType {
        match self.types.get(self.name()) {
            Some(&ty) => {
                if self.module.types[ty].size > super::types::BY_VALUE_LIMIT {
                    let name = shown(self.name());
                    self.faults.add(self.start, format!("type :{name} is too large to be passed"));
                }
                AbiType::Aggregate(ty)
            }
            None => {
                let name = shown(self.name());
                self.faults.add(self.start, format!("type :{name} is not defined"));
                AbiType::Base(Class::L)
            }
        }
    }

    /// The number of the temporary at hand.
    #[inline]
    pub(super) fn temp(&mut self) -> TempId {
        let number = self.body.temps.number(self.text, self.start + 1, self.end);
        if number == self.f.temps.len() {
            let name = self.f.names.add(&self.text[self.start + 1..self.end]);
            self.f.temps.push(crate::ir::Temp { class: Class::W, name: Some(name) });
            self.body.defined_at.push(None);
        }
        TempId::new(number)
    }

    /// Notes that `t` is assigned a value of `class` at `at`.
    #[inline]
    pub(super) fn define(&mut self, t: TempId, class: Class, at: usize) {
        let Some(first) = self.body.defined_at[t] else {
            self.body.defined_at[t] = Some(at);
            self.f.temps[t].class = class;
            return;
        };
        let known = self.f.temps[t].class;
        if known != class {
            self.define_again(t, known, class, first, at);
        }
    }

    #[cold]
    fn define_again(&mut self, t: TempId, known: Class, class: Class, first: usize, at: usize) {
        if known.is_int() && class.is_int() {
            // Both `w` and `l`: a `w` whose upper half nobody may look at.
            self.f.temps[t].class = Class::W;
            self.body.mixed.push(t);
            return;
        }
        let (start, end) = self.body.temps.span(t.index());
        let name = shown(&self.text[start..end]);
        let line = 1 + self.text[..first].iter().filter(|&&byte| byte == b'\n').count();
        let message = format!(
            "temporary %{name} is assigned with type {} here but with type {} on line {line}",
            class.letter(),
            known.letter()
        );
        self.faults.add(at, message);
    }
}
