//! Turns a file into its format: symbols and relocations.

use super::file::{Definition, File, Section, SectionNumber};
use super::format::{Class, Kind};
use crate::index::{Index, IndexVec};
use crate::ir::SymbolId;
use crate::target::encoding::{Fixup, Goal, Machine};
use object::write::{self, Object, Symbol, SymbolSection};
use object::{Architecture, Endianness, SectionKind, SymbolKind, SymbolScope};
use rustc_hash::FxHashMap;

/// The bytes of a file.
pub fn write(file: File<'_>) -> Vec<u8> {
    Writer::new(file).write()
}

struct Writer<'a> {
    file: File<'a>,
    object: Object<'a>,
    sections: Vec<write::SectionId>,
    symbols: IndexVec<SymbolId, Option<write::SymbolId>>,
    /// Symbols of the system, by name.
    system: FxHashMap<&'static str, write::SymbolId>,
    /// Symbols that are quoted in the IL and those that are not may have one name.
    by_name: FxHashMap<Vec<u8>, SymbolId>,
}

/// What a fixup refers to: a place in a section if it is local, and a symbol.
struct Reference {
    place: Option<(SectionNumber, u64)>,
    symbol: Option<SymbolId>,
}

impl<'a> Writer<'a> {
    fn new(file: File<'a>) -> Writer<'a> {
        let architecture = match file.encoding.machine {
            Machine::X86_64 => Architecture::X86_64,
            Machine::Aarch64 => Architecture::Aarch64,
            Machine::Riscv64 => Architecture::Riscv64,
        };
        let count = file.module.symbols.len();
        Writer {
            object: Object::new(file.format.binary(), architecture, Endianness::Little),
            file,
            sections: Vec::new(),
            symbols: IndexVec::filled(None, count),
            system: FxHashMap::default(),
            by_name: FxHashMap::default(),
        }
    }

    fn write(mut self) -> Vec<u8> {
        self.unify();
        let mut rows = std::mem::take(&mut self.file.sections);
        for row in &rows {
            self.section(row);
        }
        for symbol in std::mem::take(&mut self.file.defined) {
            self.define(symbol, &rows);
        }
        for (number, row) in rows.iter_mut().enumerate() {
            let fixups = std::mem::take(&mut row.fixups);
            for fixup in &fixups {
                self.fix(number, fixup, &mut row.bytes);
            }
            let id = self.sections[number];
            if row.header.kind.is_zero() {
                self.object.append_section_bss(id, row.zeros, row.align);
            } else {
                let bytes = std::mem::take(&mut row.bytes);
                self.object.set_section_data(id, bytes, row.align);
            }
        }
        self.file.format.finish(&mut self.object);
        self.object.write().expect("all that is in the file can be written")
    }

    fn section(&mut self, row: &Section) {
        let kind = match row.header.kind {
            Kind::Code => SectionKind::Text,
            Kind::Data => SectionKind::Data,
            Kind::Zero => SectionKind::UninitializedData,
            Kind::ThreadData => SectionKind::Tls,
            Kind::ThreadZero => SectionKind::UninitializedTls,
            Kind::Constants => SectionKind::ReadOnlyData,
            Kind::Aside => SectionKind::Other,
        };
        let (segment, name) = (row.header.segment.to_vec(), row.header.name.to_vec());
        let id = self.object.add_section(segment, name, kind);
        *self.object.section_flags_mut(id) = row.header.flags;
        self.sections.push(id);
    }

    /// Makes one symbol of those that are quoted and not.
    fn unify(&mut self) {
        let symbols = &self.file.module.symbols;
        let all = || (0..symbols.len()).map(SymbolId::new);
        if all().all(|s| symbols.name(s).first() != Some(&b'"')) {
            return;
        }
        for symbol in all() {
            let name = self.file.name_of(symbol);
            let known = *self.by_name.entry(name).or_insert(symbol);
            if known != symbol {
                let definitions = &mut self.file.definitions;
                if let Definition::Elsewhere = definitions[known] {
                    definitions[known] = definitions[symbol];
                }
            }
        }
        let by_name = &self.by_name;
        let mut defined = std::mem::take(&mut self.file.defined);
        for symbol in &mut defined {
            *symbol = by_name[&self.file.name_of(*symbol)];
        }
        self.file.defined = defined;
    }

    /// The symbol that stands for all of that name.
    fn unified(&self, symbol: SymbolId) -> SymbolId {
        match self.by_name.is_empty() {
            true => symbol,
            false => self.by_name[&self.file.name_of(symbol)],
        }
    }

    fn define(&mut self, symbol: SymbolId, rows: &[Section]) {
        if self.symbols[symbol].is_some() {
            return;
        }
        let name = self.file.name_of(symbol);
        let id = match self.file.definitions[symbol] {
            Definition::Elsewhere => return,
            Definition::Common { size, align } => {
                self.add(name, (SymbolSection::Common, align, size), Class::Common, true)
            }
            // The names of local labels are for the assembler only.
            Definition::Here { global: false, .. } if self.file.format.is_private(&name) => return,
            Definition::Here { section, offset, size, function, global } => {
                let class = match function {
                    true => Class::Function,
                    false if rows[section].header.kind.is_thread() => Class::Thread,
                    false => Class::Unknown,
                };
                let section = SymbolSection::Section(self.sections[section]);
                self.add(name, (section, offset, size), class, global)
            }
        };
        self.symbols[symbol] = Some(id);
    }

    /// Adds a symbol at a place: section, value and size.
    fn add(
        &mut self,
        name: Vec<u8>,
        place: (SymbolSection, u64, u64),
        class: Class,
        global: bool,
    ) -> write::SymbolId {
        let (section, value, size) = place;
        let scope = match (global, section) {
            (_, SymbolSection::Undefined) => SymbolScope::Unknown,
            (true, _) => SymbolScope::Dynamic,
            (false, _) => SymbolScope::Compilation,
        };
        let flags = self.file.format.symbol_flags(class, global);
        let kind = SymbolKind::Unknown;
        self.object.add_symbol(Symbol {
            name,
            value,
            size,
            kind,
            scope,
            weak: false,
            section,
            flags,
        })
    }

    /// The symbol, which is made if need be.
    fn symbol(&mut self, symbol: SymbolId, thread: bool) -> write::SymbolId {
        let id = match self.symbols[symbol] {
            Some(id) => id,
            None => {
                let name = self.file.name_of(symbol);
                let id = match self.file.definitions[symbol] {
                    Definition::Here { section, offset, .. } => {
                        let section = SymbolSection::Section(self.sections[section]);
                        self.add(name, (section, offset, 0), Class::Unknown, false)
                    }
                    _ => self.add(name, (SymbolSection::Undefined, 0, 0), Class::Unknown, true),
                };
                self.symbols[symbol] = Some(id);
                id
            }
        };
        if thread {
            let row = self.object.symbol_mut(id);
            let global = row.scope != SymbolScope::Compilation;
            row.flags = self.file.format.symbol_flags(Class::Thread, global);
        }
        id
    }

    /// A symbol that the system defines.
    fn system(&mut self, name: &'static str) -> write::SymbolId {
        if let Some(&id) = self.system.get(name) {
            return id;
        }
        let place = (SymbolSection::Undefined, 0, 0);
        let id = self.add(name.into(), place, Class::Unknown, true);
        self.system.insert(name, id);
        id
    }

    fn reference(&self, to: Goal) -> Reference {
        match to {
            Goal::Pool(bits, size) => {
                Reference { place: Some(self.file.literals[&(size, bits)]), symbol: None }
            }
            Goal::Symbol(symbol) => {
                let symbol = self.unified(symbol);
                let place = match self.file.definitions[symbol] {
                    Definition::Here { section, offset, global: false, .. } => {
                        Some((section, offset))
                    }
                    _ => None,
                };
                Reference { place, symbol: Some(symbol) }
            }
            Goal::System(_) => Reference { place: None, symbol: None },
        }
    }

    /// Resolves a fixup of section `number`, or makes a relocation of it.
    fn fix(&mut self, number: SectionNumber, fixup: &Fixup, bytes: &mut [u8]) {
        let relocations = self.file.encoding.relocations;
        let mut row = &relocations[usize::from(fixup.kind)];
        let mut addend = fixup.addend;
        let Reference { place, symbol } = self.reference(fixup.to);
        if let Some((section, offset)) = place {
            row = &relocations[usize::from(row.local)];
            let value = (offset as i64).wrapping_add(addend).wrapping_sub(fixup.at as i64);
            if row.relative && section == number && i32::try_from(value).is_ok() {
                let at = &mut bytes[fixup.at as usize..];
                (self.file.encoding.resolve)(fixup.kind, value, at);
                return;
            }
        }
        let named = match (place, symbol, fixup.to) {
            (_, None, Goal::System(name)) => self.system(name),
            (Some(_), Some(symbol), _) if row.named => self.symbol(symbol, row.thread),
            (Some((section, offset)), ..) => {
                addend = addend.wrapping_add(offset as i64);
                self.object.section_symbol(self.sections[section])
            }
            (None, symbol, _) => self.symbol(symbol.expect("literals are local"), row.thread),
        };
        let flags = self.file.format.relocation(row);
        let relocation = write::Relocation { offset: fixup.at, symbol: named, addend, flags };
        let added = self.object.add_relocation(self.sections[number], relocation);
        added.expect("the format has every relocation of its targets");
    }
}
