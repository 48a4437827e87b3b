//! Aggregate types: their grammar and their layout.

use super::lex::{Key, Token};
use super::{Parsed, Parser, shown};
use crate::ir::build::{ALIGN_LIMIT, Layout};
use crate::ir::{Aggregate, Field, FieldType, Item, Shape};

/// Aggregates beyond this cannot be passed by value: they would not fit a frame.
pub(super) const BY_VALUE_LIMIT: u64 = (1 << 31) - 16;

impl<'a> Parser<'a> {
    pub(super) fn type_definition(&mut self) -> Parsed<()> {
        self.advance_line();
        if self.token != Token::Type {
            return self.expected("the type's name (:name)");
        }
        let name = self.name();
        let at = self.start;
        self.advance_line();
        self.expect(Token::Equals, "'=' after the type's name")?;
        self.skip_newlines();
        let align = self.alignment()?;
        self.expect(Token::LeftBrace, "'{' and the type's members")?;
        self.skip_newlines();
        let mut layout = Layout::new(align.unwrap_or(1));
        let shape = match self.token {
            Token::Int(size) => {
                if align.is_none() {
                    self.faults.add(self.start, "an opaque type needs 'align' before its '{'");
                }
                if size < 0 {
                    self.faults.add(self.start, format!("invalid size {size} of an opaque type"));
                }
                layout.size = size as u64;
                self.advance_line();
                self.expect(Token::RightBrace, "'}' after the size of an opaque type")?;
                Shape::Opaque
            }
            Token::LeftBrace => {
                let variants = self.variants(&mut layout)?;
                layout.size = layout.padded_size();
                Shape::Union(variants)
            }
            _ => {
                let fields = self.fields(&mut layout)?;
                layout.size = layout.padded_size();
                Shape::Struct(fields)
            }
        };
        if self.types.contains_key(name) {
            self.faults.add(at, format!("type :{} is defined twice", shown(name)));
            return Ok(());
        }
        let ty = Aggregate {
            name: self.unique_type_name(name),
            align: layout.align,
            size: layout.size,
            shape,
        };
        let id = self.module.types.push(ty);
        self.module.items.push(Item::Type(id));
        self.types.insert(name, id);
        Ok(())
    }

    /// `name`, or a variant of it where an earlier input has a type of that name.
    fn unique_type_name(&mut self, name: &[u8]) -> Box<[u8]> {
        let mut unique: Box<[u8]> = name.into();
        let mut n = 2;
        while !self.type_names.insert(unique.clone()) {
            unique = [name, format!(".{n}").as_bytes()].concat().into();
            n += 1;
        }
        unique
    }

    /// `align N`, if it is there.
    pub(super) fn alignment(&mut self) -> Parsed<Option<u64>> {
        if self.token != Token::Key(Key::Align) {
            return Ok(None);
        }
        self.advance_line();
        let Token::Int(n) = self.token else {
            return self.expected("the number of bytes after 'align'");
        };
        let align = n as u64;
        if n <= 0 || !align.is_power_of_two() || align > ALIGN_LIMIT {
            let message =
                format!("invalid alignment {n}: it must be a power of two from 1 to {ALIGN_LIMIT}");
            self.faults.add(self.start, message);
            self.advance_line();
            return Ok(Some(8));
        }
        self.advance_line();
        Ok(Some(align))
    }

    /// The variants of a union and its closing brace.
    fn variants(&mut self, layout: &mut Layout) -> Parsed<Vec<Vec<Field>>> {
        let mut variants = Vec::new();
        while self.token != Token::RightBrace {
            self.expect(Token::LeftBrace, "'{' and a variant of the union, or '}'")?;
            self.skip_newlines();
            let mut variant = Layout::new(layout.align);
            variants.push(self.fields(&mut variant)?);
            layout.align = variant.align;
            layout.size = layout.size.max(variant.size);
            self.skip_newlines();
        }
        self.advance();
        Ok(variants)
    }

    /// Members up to the closing brace, which is taken.
    fn fields(&mut self, layout: &mut Layout) -> Parsed<Vec<Field>> {
        let mut fields = Vec::new();
        while self.token != Token::RightBrace {
            let at = self.start;
            let ty = self.field_type()?;
            self.advance_line();
            let mut count = 1;
            if let Token::Int(n) = self.token {
                if n < 0 {
                    self.faults.add(self.start, format!("invalid count {n} of members"));
                } else {
                    count = n as u64;
                }
                self.advance_line();
            }
            match layout.place(self.module, ty, count) {
                Some(field) => fields.push(field),
                None => self.faults.add(at, "the type is too large"),
            }
            if self.token != Token::Comma {
                break;
            }
            self.advance_line();
        }
        self.expect(Token::RightBrace, "',' or '}' after a member")?;
        Ok(fields)
    }

    /// The type at hand as a member.
    fn field_type(&mut self) -> Parsed<FieldType> {
        Ok(match self.token {
            Token::Key(Key::B) => FieldType::B,
            Token::Key(Key::H) => FieldType::H,
            Token::Key(Key::W) => FieldType::W,
            Token::Key(Key::L) => FieldType::L,
            Token::Key(Key::S) => FieldType::S,
            Token::Key(Key::D) => FieldType::D,
            Token::Type => match self.types.get(self.name()) {
                Some(&id) => FieldType::Aggregate(id),
                None => {
                    let message = format!(
                        "type :{} is not defined (a type is defined before its use)",
                        shown(self.name())
                    );
                    return self.fail(message);
                }
            },
            _ => return self.expected("a member's type (b, h, w, l, s, d or :name)"),
        })
    }
}
