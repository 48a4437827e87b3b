//! Data definitions.

use super::grammar::Linkages;
use super::lex::{Key, Token};
use super::{Parsed, Parser};
use crate::ir::build::SIZE_LIMIT;
use crate::ir::{Access, Data, DataItem, Item, SymbolId, Width};

/// The alignment where the text gives none.
const DEFAULT_ALIGN: u64 = 8;

impl<'a> Parser<'a> {
    pub(super) fn data(&mut self, linkages: Linkages) -> Parsed<()> {
        self.advance_line();
        let common = linkages.linkage.common;
        let known = self.common_of_that_name(common);
        let symbol = self.defined_symbol("the data's name ($name)", known.is_some())?;
        self.skip_newlines();
        self.expect(Token::Equals, "'=' after the data's name")?;
        self.skip_newlines();
        let align = self.alignment()?.unwrap_or(DEFAULT_ALIGN);
        self.expect(Token::LeftBrace, "'{' and the data's contents")?;
        let items = self.contents(common)?;
        if let Some(row) = known {
            self.merge_common(row, align, &items);
            return Ok(());
        }
        // Of common data the linker may take another definition.
        if !common {
            self.module.symbols.set_align(symbol, align);
        }
        let data = Data { symbol, linkage: linkages.linkage, align, items };
        let id = self.module.data.push(data);
        self.module.items.push(Item::Data(id));
        Ok(())
    }

    /// The common data that the name at hand already stands for, if `common` is asked for: linkers
    /// take several definitions of common data for one.
    fn common_of_that_name(&self, common: bool) -> Option<crate::ir::DataId> {
        if !common || self.token != Token::Global {
            return None;
        }
        let symbol = self.module.symbols.find(self.name())?;
        if !self.defined.contains(&symbol) {
            return None;
        }
        let mut known = self.module.data.enumerate();
        known.find(|(_, d)| d.symbol == symbol && d.linkage.common).map(|(id, _)| id)
    }

    /// Makes common data large enough for another definition of it.
    fn merge_common(&mut self, id: crate::ir::DataId, align: u64, items: &[DataItem]) {
        let size = |items: &[DataItem]| -> u64 {
            items.iter().map(|item| if let DataItem::Zero(n) = item { *n } else { 0 }).sum()
        };
        let new = size(items);
        let data = &mut self.module.data[id];
        data.align = data.align.max(align);
        if new > size(&data.items) {
            data.items = vec![DataItem::Zero(new)];
        }
    }

    /// What stands between the braces, the closing one included.
    fn contents(&mut self, common: bool) -> Parsed<Vec<DataItem>> {
        let mut items = Vec::new();
        let mut size = 0u64;
        loop {
            self.skip_newlines();
            let letter = self.token;
            let width = match letter {
                Token::RightBrace => break,
                Token::Key(Key::B) => Width::B,
                Token::Key(Key::H) => Width::H,
                Token::Key(Key::W | Key::S) => Width::W,
                Token::Key(Key::L | Key::D) => Width::L,
                Token::Key(Key::Z) => Width::B,
                _ => return self.expected("an item's type (b, h, w, l, s, d or z) or '}'"),
            };
            let zeroes = letter == Token::Key(Key::Z);
            self.advance_line();
            let mut any = false;
            loop {
                let at = self.start;
                let item = if zeroes { self.zeroes()? } else { self.item(width, letter)? };
                let Some(item) = item else { break };
                any = true;
                let bytes = match &item {
                    DataItem::Zero(n) => *n,
                    DataItem::String(text) => text.len() as u64,
                    DataItem::Int(..) | DataItem::Address(..) => width.size(),
                };
                match size.checked_add(bytes).filter(|&size| size < SIZE_LIMIT) {
                    Some(sum) => size = sum,
                    None => self.faults.add(at, "the data is too large"),
                }
                if common && !matches!(item, DataItem::Zero(_) | DataItem::Int(_, 0)) {
                    self.faults.add(at, "common data may hold nothing but zeroes");
                }
                items.push(match item {
                    DataItem::Int(width, 0) if common => DataItem::Zero(width.size()),
                    item => item,
                });
                self.skip_newlines();
            }
            if !any {
                return self.expected("a constant");
            }
            match self.token {
                Token::RightBrace => break,
                Token::Comma => self.advance(),
                _ => return self.expected("a constant, ',' or '}'"),
            }
        }
        self.advance();
        Ok(items)
    }

    /// The number behind a `z`; `None` where there is none.
    fn zeroes(&mut self) -> Parsed<Option<DataItem>> {
        match self.token {
            Token::Int(n) => {
                if n < 0 {
                    self.faults.add(self.start, format!("invalid size {n} of zeroed data"));
                }
                self.advance_line();
                Ok(Some(DataItem::Zero(n.max(0) as u64)))
            }
            Token::RightBrace | Token::Comma => Ok(None),
            _ => self.expected("the number of zero bytes after 'z'"),
        }
    }

    /// A constant behind a letter; `None` where there is none.
    fn item(&mut self, width: Width, letter: Token) -> Parsed<Option<DataItem>> {
        let bits = match self.token {
            Token::Int(n) => n as u64,
            Token::Single(bits) => u64::from(bits),
            Token::Double(bits) => bits,
            Token::Str => {
                if letter != Token::Key(Key::B) {
                    self.faults.add(self.start, "strings may only follow the letter 'b'");
                }
                return self.string("a string").map(|text| Some(DataItem::String(text)));
            }
            Token::Global => return self.address(width).map(Some),
            Token::Key(Key::Extern | Key::Thread) => {
                let message = "only a plain symbol may stand in data, not 'extern' or 'thread'";
                return self.fail(message);
            }
            Token::Bad(_) => return self.expected("a constant"),
            _ => return Ok(None),
        };
        self.advance();
        let mask = u64::MAX >> (64 - 8 * width.size());
        Ok(Some(DataItem::Int(width, bits & mask)))
    }

    /// `$name` or `$name + offset`.
    fn address(&mut self, width: Width) -> Parsed<DataItem> {
        let symbol: SymbolId = self.module.symbols.intern(self.name());
        self.advance();
        let mut offset = 0;
        if self.token == Token::Plus {
            self.advance();
            let Token::Int(n) = self.token else {
                return self.expected("the offset after '+'");
            };
            offset = n;
            self.advance();
        }
        Ok(DataItem::Address(width, symbol, offset))
    }

    /// `$name`, `$name+offset` or `$name-offset` as an operand, seen through `access`. The offsets
    /// are an extension: dumps hold them.
    #[inline]
    pub(super) fn symbol_operand(&mut self, access: Access) -> Parsed<crate::ir::Ref> {
        let symbol = self.module.symbols.intern(self.name());
        self.advance();
        let mut offset = 0;
        match self.token {
            Token::Plus => {
                self.advance();
                let Token::Int(n) = self.token else {
                    return self.expected("the offset after '+'");
                };
                offset = n;
                self.advance();
            }
            Token::Int(n) if self.text[self.start] == b'-' => {
                offset = n;
                self.advance();
            }
            _ => {}
        }
        Ok(self.f.constant(crate::ir::Const::Symbol { symbol, access, offset }))
    }
}
