//! What an object file says, in a form in which two files can be compared.

use object::{
    File, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags,
    SymbolFlags, SymbolIndex, SymbolSection,
};
use std::collections::BTreeMap;

/// A section: its flags, alignment, size, contents and relocations.
#[derive(PartialEq, Eq)]
struct Section {
    flags: String,
    align: u64,
    size: u64,
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Relocation {
    offset: u64,
    number: String,
    /// A symbol, or a section for what is local.
    name: String,
    addend: i64,
}

/// The contents of an object file.
pub struct Contents {
    sections: BTreeMap<String, Section>,
    /// By name: everything else that is said of them.
    symbols: BTreeMap<String, Vec<String>>,
    functions: usize,
}

/// Sections that are compared in other ways, or that hold what is compared here.
fn is_apart(name: &str) -> bool {
    const TABLES: &[&str] = &["", ".symtab", ".strtab", ".shstrtab", ".eh_frame"];
    TABLES.contains(&name) || name.starts_with(".rela") || name.starts_with(".debug_")
}

impl Contents {
    pub fn read(bytes: &[u8]) -> Result<Contents, String> {
        let file = File::parse(bytes).map_err(|e| e.to_string())?;
        let mut contents =
            Contents { sections: BTreeMap::new(), symbols: BTreeMap::new(), functions: 0 };
        for section in file.sections() {
            let name = section.name().map_err(|e| e.to_string())?.to_owned();
            // An assembler begins with three sections, used or not.
            let unused = section.size() == 0 && matches!(&*name, ".text" | ".data" | ".bss");
            if is_apart(&name) || unused {
                continue;
            }
            let flags = match section.flags() {
                SectionFlags::Elf { sh_type, sh_flags } => format!("{sh_type:?} {sh_flags:?}"),
                other => format!("{other:?}"),
            };
            let data = section.data().map_err(|e| e.to_string())?.to_vec();
            let mut row = Section {
                flags,
                align: section.align(),
                size: section.size(),
                bytes: data,
                relocations: Vec::new(),
            };
            for (offset, relocation) in section.relocations() {
                let RelocationTarget::Symbol(symbol) = relocation.target() else {
                    return Err(format!("{name}: a relocation without a symbol"));
                };
                let (target, base) = place(&file, symbol)?;
                let number = match relocation.flags() {
                    RelocationFlags::Elf { r_type } => format!("{r_type:?}"),
                    other => format!("{other:?}"),
                };
                let addend = relocation.addend() + base;
                row.relocations.push(Relocation { offset, number, name: target, addend });
            }
            contents.sections.insert(name, row);
        }
        contents.read_symbols(&file)?;
        Ok(contents)
    }

    fn read_symbols(&mut self, file: &File<'_>) -> Result<(), String> {
        for symbol in file.symbols() {
            let name = symbol.name().map_err(|e| e.to_string())?;
            let SymbolFlags::Elf { st_info, st_other } = symbol.flags() else {
                return Err("not ELF".into());
            };
            let section_symbol = symbol.kind() == object::SymbolKind::Section;
            if section_symbol || name.is_empty() || name == "_GLOBAL_OFFSET_TABLE_" {
                continue;
            }
            let place = match symbol.section() {
                SymbolSection::Section(index) => {
                    let section = file.section_by_index(index).map_err(|e| e.to_string())?;
                    section.name().map_err(|e| e.to_string())?.to_owned()
                }
                other => format!("{other:?}"),
            };
            self.functions += usize::from(st_info.st_type() == object::elf::STT_FUNC);
            let (value, size) = (symbol.address(), symbol.size());
            let rest = format!("{st_info:?} {st_other:?} {place} {value:#x} {size:#x}");
            self.symbols.entry(name.to_owned()).or_default().push(rest);
        }
        Ok(())
    }

    pub fn functions(&self) -> usize {
        self.functions
    }

    /// Bytes of sections that have some.
    pub fn bytes(&self) -> u64 {
        self.sections.values().map(|s| s.bytes.len() as u64).sum()
    }

    /// Compares with what an assembler made.
    pub fn compare(&self, theirs: &Contents) -> Result<(), String> {
        let names = |c: &Contents| c.sections.keys().cloned().collect::<Vec<_>>();
        differ("sections", &names(self), &names(theirs))?;
        for (name, ours) in &self.sections {
            let theirs = &theirs.sections[name];
            let head = |s: &Section| (s.flags.clone(), s.align, s.size);
            if let Some(at) = ours.bytes.iter().zip(&theirs.bytes).position(|(a, b)| a != b) {
                let near = |s: &Section| {
                    let end = s.bytes.len().min(at + 16);
                    format!("{:02x?}", &s.bytes[at.saturating_sub(8)..end])
                };
                let (ours, theirs) = (near(ours), near(theirs));
                return Err(format!("{name} at {at:#x}: {ours}, not {theirs}"));
            }
            differ(name, &head(ours), &head(theirs))?;
            let (a, b) = (&ours.relocations, &theirs.relocations);
            if let Some(n) = (0..a.len().max(b.len())).find(|&n| a.get(n) != b.get(n)) {
                differ(&format!("{name}: relocation {n}"), &a.get(n), &b.get(n))?;
            }
        }
        for name in self.symbols.keys().chain(theirs.symbols.keys()) {
            differ(name, &self.symbols.get(name), &theirs.symbols.get(name))?;
        }
        Ok(())
    }
}

/// The name of a symbol; of a local one its section, and its offset there.
fn place(file: &File<'_>, symbol: SymbolIndex) -> Result<(String, i64), String> {
    let symbol = file.symbol_by_index(symbol).map_err(|e| e.to_string())?;
    let text = |name: object::Result<&str>| name.map(str::to_owned).map_err(|e| e.to_string());
    match symbol.section() {
        SymbolSection::Section(index) if symbol.is_local() => {
            let section = file.section_by_index(index).map_err(|e| e.to_string())?;
            Ok((text(section.name())?, symbol.address() as i64))
        }
        _ => Ok((text(symbol.name())?, 0)),
    }
}

fn differ<T: PartialEq + std::fmt::Debug>(what: &str, ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: {ours:?}, not {theirs:?}")) }
}
