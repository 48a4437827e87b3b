//! A section for every definition, so that linkers can leave out what nothing refers to
//! (`--gc-sections`). A definition that names a section stays there.
//!
//! The names are gcc's: of ELF `.text.NAME`, of COFF `.text$NAME`. Assemblers and linkers know from
//! the part before the name what is in a section, and put it where that belongs.

use crate::ir::{DataItem, Linkage, Module};
use crate::target::{ObjectFormat, Target};

/// What a section is for: what its name begins with in ELF and in COFF, and its flags.
struct Kind {
    elf: (&'static [u8], &'static [u8]),
    /// `None`: linkers order the sections between two marks by name, and ours has to stay there.
    coff: Option<(&'static [u8], &'static [u8])>,
}

const CODE: Kind = Kind { elf: (b".text.", b"ax"), coff: Some((b".text$", b"xr")) };
const DATA: Kind = Kind { elf: (b".data.", b"aw"), coff: Some((b".data$", b"dw")) };
const ZERO: Kind = Kind { elf: (b".bss.", b"aw"), coff: Some((b".bss$", b"bw")) };
const THREAD_DATA: Kind = Kind { elf: (b".tdata.", b"awT"), coff: None };
const THREAD_ZERO: Kind = Kind { elf: (b".tbss.", b"awT"), coff: None };

/// Gives the functions, the data, or both sections of their own. Nothing is to be done for Mach-O,
/// whose linker takes every symbol for the start of a part.
pub fn split(target: &Target, module: &mut Module, of_functions: bool, of_data: bool) {
    let Module { symbols, functions, data, .. } = module;
    let format = target.format;
    for f in functions.iter_mut().filter(|_| of_functions) {
        place(format, symbols.name(f.symbol), &mut f.linkage, &CODE);
    }
    for d in data.iter_mut().filter(|_| of_data) {
        let zero = d.items.iter().all(|item| matches!(item, DataItem::Zero(_)));
        let kind = match (zero, d.linkage.thread) {
            (false, false) => &DATA,
            (true, false) => &ZERO,
            (false, true) => &THREAD_DATA,
            (true, true) => &THREAD_ZERO,
        };
        // What is common has no section.
        if !d.linkage.common || d.linkage.thread {
            place(format, symbols.name(d.symbol), &mut d.linkage, kind);
        }
    }
}

fn place(format: ObjectFormat, name: &[u8], linkage: &mut Linkage, kind: &Kind) {
    let row = match format {
        ObjectFormat::Elf => Some(kind.elf),
        ObjectFormat::Coff => kind.coff,
        ObjectFormat::MachO => None,
    };
    let Some((prefix, flags)) = row.filter(|_| linkage.section.is_none()) else { return };
    let name = name.strip_prefix(b"\"").and_then(|n| n.strip_suffix(b"\"")).unwrap_or(name);
    // Linkers of ELF make `.data.rel.ro` and what begins like it read-only.
    if name.starts_with(b"rel.ro") {
        return;
    }
    linkage.section = Some([prefix, name].concat().into());
    linkage.section_flags = Some(flags.into());
}
