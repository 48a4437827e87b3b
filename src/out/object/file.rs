//! A file under construction: sections with bytes and fixups, and where symbols are defined.

use super::format::{self, Content, Format, Header, Kind};
use super::{Piece, zero_size};
use crate::index::IndexVec;
use crate::ir::strings::decode_string;
use crate::ir::{Data, DataItem, Linkage, Module, SymbolId};
use crate::out::text::Literals;
use crate::target::encoding::{Encoding, Fixup, Goal};
use crate::target::{Names, Target};
use rustc_hash::FxHashMap;

/// The number of a section in [`File::sections`].
pub type SectionNumber = usize;

/// A section under construction.
pub struct Section {
    pub header: Header,
    pub align: u64,
    pub bytes: Vec<u8>,
    /// Its size, if it has no bytes.
    pub zeros: u64,
    pub fixups: Vec<Fixup>,
}

/// Where a symbol is.
#[derive(Copy, Clone)]
pub enum Definition {
    Elsewhere,
    Here { section: SectionNumber, offset: u64, size: u64, function: bool, global: bool },
    Common { size: u64, align: u64 },
}

/// A file under construction.
pub struct File<'a> {
    pub encoding: &'static Encoding,
    pub format: &'static dyn Format,
    pub target: &'a Target,
    pub module: &'a Module,
    pub sections: Vec<Section>,
    /// By segment and name. Looked up only: the order is that of `sections`.
    numbers: FxHashMap<(Vec<u8>, Vec<u8>), SectionNumber>,
    pub definitions: IndexVec<SymbolId, Definition>,
    /// The symbols that are defined, in order.
    pub defined: Vec<SymbolId>,
    /// Constants, by size and bits: where they are.
    pub literals: FxHashMap<(u8, u64), (SectionNumber, u64)>,
}

impl<'a> File<'a> {
    pub fn new(target: &'a Target, module: &'a Module) -> File<'a> {
        File {
            encoding: target.object.expect("the target has object code"),
            format: format::of(target.format).expect("the target has object files"),
            target,
            module,
            sections: Vec::new(),
            numbers: FxHashMap::default(),
            definitions: IndexVec::filled(Definition::Elsewhere, module.symbols.len()),
            defined: Vec::new(),
            literals: FxHashMap::default(),
        }
    }

    /// The section of that name; it is what it was when first named.
    pub fn section_of(&mut self, header: Header) -> SectionNumber {
        let key = (header.segment.to_vec(), header.name.to_vec());
        *self.numbers.entry(key).or_insert_with(|| {
            let (bytes, fixups) = (Vec::new(), Vec::new());
            self.sections.push(Section { header, align: 1, bytes, zeros: 0, fixups });
            self.sections.len() - 1
        })
    }

    /// The section of a definition.
    fn section(&mut self, linkage: &Linkage, content: Content) -> SectionNumber {
        let header = match &linkage.section {
            None => self.format.standard(content),
            Some(name) => {
                let flags = linkage.section_flags.as_deref();
                let header = self.format.named(&decode_string(name), flags, content);
                header.expect("the module has no faults")
            }
        };
        self.section_of(header)
    }

    /// Begins a definition, `align`ed; of `size` bytes if it is a `function`.
    fn define(
        &mut self,
        section: SectionNumber,
        align: u64,
        symbol: SymbolId,
        linkage: &Linkage,
        function: Option<u64>,
    ) {
        let row = &mut self.sections[section];
        row.align_to(align, self.encoding);
        self.definitions[symbol] = Definition::Here {
            section,
            offset: row.size(),
            size: function.unwrap_or(0),
            function: function.is_some(),
            global: linkage.export,
        };
        self.defined.push(symbol);
    }

    /// Adds a function.
    pub fn function(&mut self, piece: &Piece) {
        let section = self.section(&piece.linkage, Content::Code);
        let size = piece.bytes.len() as u64;
        let align = u64::from(self.target.function_align);
        self.define(section, align, piece.symbol, &piece.linkage, Some(size));
        let row = &mut self.sections[section];
        let start = row.bytes.len() as u64;
        row.bytes.extend_from_slice(&piece.bytes);
        row.fixups.extend(piece.fixups.iter().map(|f| Fixup { at: f.at + start, ..*f }));
    }

    /// Adds a data object.
    pub fn data(&mut self, data: &Data) {
        let Data { symbol, linkage, align, items } = data;
        let align = (*align).max(1);
        let zero = zero_size(data);
        if let (Some(size), true, false) = (zero, linkage.common, linkage.thread) {
            self.definitions[*symbol] = Definition::Common { size, align };
            self.defined.push(*symbol);
            return;
        }
        let content = Content::Data { zero: zero.is_some(), thread: linkage.thread };
        let section = self.section(linkage, content);
        self.define(section, align, *symbol, linkage, None);
        let row = &mut self.sections[section];
        match zero {
            Some(size) if row.header.kind.is_zero() => row.zeros += size,
            _ => items.iter().for_each(|item| row.item(item, self.encoding)),
        }
    }

    /// Adds the literals.
    pub fn literals(&mut self, literals: &Literals) {
        for &(size, bits) in &literals.used {
            let section = self.section_of(self.format.standard(Content::Literals(size)));
            let row = &mut self.sections[section];
            row.align_to(u64::from(size), self.encoding);
            self.literals.insert((size, bits), (section, row.size()));
            row.bytes.extend_from_slice(&bits.to_le_bytes()[..usize::from(size.min(8))]);
            row.bytes.extend(std::iter::repeat_n(0, usize::from(size.saturating_sub(8))));
        }
    }

    /// The name of a symbol as the linker knows it.
    pub fn name_of(&self, symbol: SymbolId) -> Vec<u8> {
        let names = Names { module: self.module, target: self.target, function: 0 };
        let mut name = Vec::new();
        names.push_symbol(&mut name, symbol);
        let Some(quoted) = name.strip_prefix(b"\"").and_then(|n| n.strip_suffix(b"\"")) else {
            return name;
        };
        // Of escapes, symbols have these two.
        let mut plain = Vec::with_capacity(quoted.len());
        let mut rest = quoted;
        while let [first, tail @ ..] = rest {
            let escape = *first == b'\\' && matches!(tail.first(), Some(b'"' | b'\\'));
            plain.push(if escape { tail[0] } else { *first });
            rest = &tail[usize::from(escape)..];
        }
        plain
    }
}

impl Section {
    pub fn size(&self) -> u64 {
        self.zeros + self.bytes.len() as u64
    }

    fn align_to(&mut self, align: u64, encoding: &Encoding) {
        self.align = self.align.max(align);
        let count = self.size().next_multiple_of(align) - self.size();
        match self.header.kind {
            Kind::Zero | Kind::ThreadZero => self.zeros += count,
            Kind::Code => (encoding.pad)(count as usize, &mut self.bytes),
            Kind::Data | Kind::ThreadData | Kind::Constants | Kind::Aside => {
                self.bytes.extend(std::iter::repeat_n(0, count as usize));
            }
        }
    }

    fn item(&mut self, item: &DataItem, encoding: &Encoding) {
        match item {
            DataItem::Zero(count) => {
                self.bytes.resize(self.bytes.len() + *count as usize, 0);
            }
            DataItem::Int(width, value) => {
                self.bytes.extend_from_slice(&value.to_le_bytes()[..width.size() as usize]);
            }
            DataItem::String(text) if text.contains(&b'\\') => {
                self.bytes.extend_from_slice(&decode_string(text));
            }
            DataItem::String(text) => self.bytes.extend_from_slice(text),
            DataItem::Address(width, symbol, offset) => {
                let kind = (encoding.address)(*width);
                let at = self.bytes.len() as u64;
                self.fixups.push(Fixup { at, kind, to: Goal::Symbol(*symbol), addend: *offset });
                self.bytes.extend_from_slice(&[0; 8][..width.size() as usize]);
            }
        }
    }
}
