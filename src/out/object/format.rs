//! What an object format decides: sections, and how symbols and relocations are written. One file a
//! format implements [`Format`].

use crate::target::ObjectFormat;
use crate::target::encoding::Relocation;
use object::write::{Object, SectionId, SymbolId};
use object::{BinaryFormat, RelocationFlags, SectionFlags};
use std::borrow::Cow;

/// What a section is for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    Code,
    Data,
    /// Zeros, which take no space in the file.
    Zero,
    /// What a new thread's copy is made of.
    ThreadData,
    ThreadZero,
    Constants,
    /// Not part of the running program.
    Aside,
}

impl Kind {
    /// It takes no space in the file.
    pub fn is_zero(self) -> bool {
        matches!(self, Kind::Zero | Kind::ThreadZero)
    }

    pub fn is_thread(self) -> bool {
        matches!(self, Kind::ThreadData | Kind::ThreadZero)
    }
}

/// A section by what identifies it and what the format says of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The segment, where the format has them.
    pub segment: Cow<'static, [u8]>,
    pub name: Cow<'static, [u8]>,
    pub kind: Kind,
    pub flags: SectionFlags,
}

/// A definition that goes into a section.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Content {
    Code,
    /// Data, and whether it is all zero and whether it is a thread's own.
    Data {
        zero: bool,
        thread: bool,
    },
    /// Constants of that many bytes.
    Literals(u8),
}

/// What a symbol is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Class {
    Unknown,
    Function,
    Thread,
    Common,
}

pub type SymbolFlags = object::SymbolFlags<SectionId, SymbolId>;

/// An object format.
pub trait Format: Sync {
    fn binary(&self) -> BinaryFormat;

    /// Where a definition goes that names no section.
    fn standard(&self, content: Content) -> Header;

    /// The section that a user named, with the flags that were given, for such a definition.
    ///
    /// # Errors
    /// A name or flags that mean nothing here.
    fn named(&self, name: &[u8], flags: Option<&[u8]>, content: Content) -> Result<Header, String>;

    fn symbol_flags(&self, class: Class, global: bool) -> SymbolFlags;

    fn relocation(&self, row: &Relocation) -> RelocationFlags;

    /// True for the names of labels that only the assembler sees.
    fn is_private(&self, name: &[u8]) -> bool;

    /// What a file has besides its contents: marks and flags.
    fn finish(&self, object: &mut Object<'_>);
}

/// The formats that there are; `None` for one to come.
pub fn of(format: ObjectFormat) -> Option<&'static dyn Format> {
    match format {
        ObjectFormat::Elf => Some(&super::elf::Elf),
        ObjectFormat::MachO | ObjectFormat::Coff => None,
    }
}
