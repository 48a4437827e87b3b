//! Sections, symbols and relocations of ELF files, as GNU as makes them of names and flags.

use super::format::{Class, Content, Format, Header, Kind, SymbolFlags};
use crate::target::encoding::Relocation;
use object::elf;
use object::write::{Object, StandardSegment};
use object::{BinaryFormat, RelocationFlags, SectionFlags, SectionKind};
use std::borrow::Cow;

/// ELF.
pub struct Elf;

impl Format for Elf {
    fn binary(&self) -> BinaryFormat {
        BinaryFormat::Elf
    }

    fn standard(&self, content: Content) -> Header {
        let (name, attributes): (&'static [u8], _) = match content {
            Content::Code => (b".text", Attributes::CODE),
            Content::Data { zero: false, thread: false } => (b".data", Attributes::DATA),
            Content::Data { zero: false, thread: true } => (b".tdata", Attributes::THREAD_DATA),
            Content::Data { zero: true, thread: false } => (b".bss", Attributes::ZERO),
            Content::Data { zero: true, thread: true } => (b".tbss", Attributes::THREAD_ZERO),
            Content::Literals(_) => (b".rodata", Attributes::CONSTANTS),
        };
        attributes.header(name.into())
    }

    fn named(&self, name: &[u8], flags: Option<&[u8]>, _: Content) -> Result<Header, String> {
        Ok(named(name, flags)?.header(name.to_vec().into()))
    }

    fn symbol_flags(&self, class: Class, global: bool) -> SymbolFlags {
        let bind = if global { elf::STB_GLOBAL } else { elf::STB_LOCAL };
        let kind = match class {
            Class::Unknown => elf::STT_NOTYPE,
            Class::Function => elf::STT_FUNC,
            Class::Thread => elf::STT_TLS,
            Class::Common => elf::STT_OBJECT,
        };
        SymbolFlags::Elf { st_info: bind | kind, st_other: elf::STV_DEFAULT.into() }
    }

    fn relocation(&self, row: &Relocation) -> RelocationFlags {
        RelocationFlags::Elf { r_type: elf::RelocationType(row.elf) }
    }

    fn is_private(&self, name: &[u8]) -> bool {
        name.starts_with(b".L")
    }

    /// The mark of a stack that need not be executable.
    fn finish(&self, object: &mut Object<'_>) {
        let header = Attributes::ASIDE.header(b".note.GNU-stack".as_slice().into());
        let segment = object.segment_name(StandardSegment::Data).to_vec();
        let id = object.add_section(segment, header.name.to_vec(), SectionKind::Other);
        *object.section_flags_mut(id) = header.flags;
    }
}

/// What a section is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Attributes {
    /// `sh_type`
    kind: u32,
    /// `sh_flags`
    flags: u64,
}

const PROGBITS: u32 = 1;
const NOTE: u32 = 7;
const NOBITS: u32 = 8;
const INIT_ARRAY: u32 = 14;
const FINI_ARRAY: u32 = 15;
const PREINIT_ARRAY: u32 = 16;

const WRITE: u64 = 0x1;
const ALLOC: u64 = 0x2;
const EXECUTE: u64 = 0x4;
const STRINGS: u64 = 0x20;
const TLS: u64 = 0x400;
const EXCLUDE: u64 = 0x8000_0000;

impl Attributes {
    const CODE: Attributes = Attributes { kind: PROGBITS, flags: ALLOC | EXECUTE };
    const DATA: Attributes = Attributes { kind: PROGBITS, flags: ALLOC | WRITE };
    const ZERO: Attributes = Attributes { kind: NOBITS, flags: ALLOC | WRITE };
    const CONSTANTS: Attributes = Attributes { kind: PROGBITS, flags: ALLOC };
    const THREAD_DATA: Attributes = Attributes { kind: PROGBITS, flags: ALLOC | WRITE | TLS };
    const THREAD_ZERO: Attributes = Attributes { kind: NOBITS, flags: ALLOC | WRITE | TLS };
    /// Not part of the running program.
    const ASIDE: Attributes = Attributes { kind: PROGBITS, flags: 0 };

    fn header(self, name: Cow<'static, [u8]>) -> Header {
        let is = |flag| self.flags & flag != 0;
        let kind = match self.kind {
            NOBITS if is(TLS) => Kind::ThreadZero,
            NOBITS => Kind::Zero,
            _ if is(EXECUTE) => Kind::Code,
            _ if is(TLS) => Kind::ThreadData,
            _ if is(WRITE) => Kind::Data,
            _ if is(ALLOC) => Kind::Constants,
            _ => Kind::Aside,
        };
        let flags = SectionFlags::Elf {
            sh_type: elf::SectionType(self.kind),
            sh_flags: elf::SectionFlags(self.flags),
        };
        Header { segment: Cow::default(), name, kind, flags }
    }
}

const fn array(kind: u32) -> Attributes {
    Attributes { kind, flags: ALLOC | WRITE }
}

/// Names that say what a section is; the second column: also with a dot and more behind it. (System
/// V ABI, "Special Sections", and what GNU as adds to it.)
static SPECIAL: &[(&[u8], bool, Attributes)] = &[
    (b".text", true, Attributes::CODE),
    (b".data", true, Attributes::DATA),
    (b".data1", false, Attributes::DATA),
    (b".bss", true, Attributes::ZERO),
    (b".rodata", true, Attributes::CONSTANTS),
    (b".rodata1", false, Attributes::CONSTANTS),
    (b".tdata", true, Attributes::THREAD_DATA),
    (b".tbss", true, Attributes::THREAD_ZERO),
    (b".init", false, Attributes::CODE),
    (b".fini", false, Attributes::CODE),
    (b".init_array", true, array(INIT_ARRAY)),
    (b".fini_array", true, array(FINI_ARRAY)),
    (b".preinit_array", true, array(PREINIT_ARRAY)),
    (b".noinit", true, Attributes::ZERO),
    (b".persistent", true, Attributes::DATA),
    (b".gnu.linkonce.b", true, Attributes::ZERO),
    (b".note.GNU-stack", false, Attributes::ASIDE),
];

/// The attributes of a section that a user named.
///
/// # Errors
/// A flag that means nothing here.
fn named(name: &[u8], flags: Option<&[u8]>) -> Result<Attributes, String> {
    let special = SPECIAL.iter().find(|&&(prefix, more, _)| match name.strip_prefix(prefix) {
        Some([]) => true,
        Some([b'.', ..]) => more,
        _ => false,
    });
    let mut attributes = match special {
        Some(&(.., attributes)) => attributes,
        None if name.starts_with(b".note") => Attributes { kind: NOTE, flags: 0 },
        None => Attributes::ASIDE,
    };
    if let Some(letters) = flags {
        attributes.flags = 0;
        for &letter in letters {
            attributes.flags |= match letter {
                b'a' => ALLOC,
                b'w' => WRITE,
                b'x' => EXECUTE,
                b'T' => TLS,
                b'S' => STRINGS,
                b'e' => EXCLUDE,
                _ => {
                    let (letter, name) = (letter.escape_ascii(), name.escape_ascii());
                    return Err(format!("flag '{letter}' of section \"{name}\" is not known"));
                }
            };
        }
    }
    Ok(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_flags() {
        type Case = (&'static [u8], Option<&'static [u8]>, Attributes);
        let cases: &[Case] = &[
            (b".text", None, Attributes::CODE),
            (b".text.cold", None, Attributes::CODE),
            (b".textual", None, Attributes::ASIDE),
            (b".bss.x", None, Attributes::ZERO),
            (b"foo", None, Attributes::ASIDE),
            (b"foo", Some(b"ax"), Attributes::CODE),
            (b".rodata.x", Some(b"aw"), Attributes::DATA),
            (b".init", None, Attributes::CODE),
            (b".init.x", None, Attributes::ASIDE),
            (b".init_array.5", Some(b"aw"), array(INIT_ARRAY)),
            (b".note.abi", Some(b"a"), Attributes { kind: NOTE, flags: ALLOC }),
            (b".tbss.y", None, Attributes::THREAD_ZERO),
        ];
        for &(name, flags, want) in cases {
            assert_eq!(named(name, flags), Ok(want), "{}", name.escape_ascii());
        }
        assert!(named(b"foo", Some(b"aM")).is_err());
    }
}
