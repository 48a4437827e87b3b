//! Object files. Functions are encoded independently of each other into [`Piece`]s, by any thread;
//! [`file`] puts them in order among the data ([`File`]) and writes what the linker has to know
//! (`write.rs`). What differs between ELF, Mach-O and COFF is behind [`format::Format`].
//!
//! What the file says is what the assembler would say of the text, but for the symbol
//! `_GLOBAL_OFFSET_TABLE_`, which GNU as mentions and nothing refers to. Relocations to local
//! symbols go by their section; those whose value is known are resolved.

mod elf;
mod file;
mod format;
mod settle;
mod write;

use super::text::Literals;
use crate::index::IndexVec;
use crate::ir::strings::decode_string;
use crate::ir::{BlockId, Data, DataItem, FileId, FunctionId, Item, Linkage, Module, SymbolId};
use crate::target::encoding::{Code, Encoding, Fixup, Place};
use crate::target::unwind::FrameAction;
use crate::target::{Arg, EmitInput, Instruction, Memory, MemoryBase, Named, Sink, Target};
use file::File;
use format::Content;
use settle::settle;

/// The code of one function, and what tables say of it: at each offset in the code, what holds for
/// the bytes from there on.
#[derive(Clone, Debug)]
#[allow(dead_code)] // until the tables are written
pub struct Piece {
    symbol: SymbolId,
    linkage: Linkage,
    bytes: Vec<u8>,
    fixups: Vec<Fixup>,
    /// Where its lines are.
    file: Option<FileId>,
    /// Lines and columns of the source; column 0: none.
    lines: Vec<(u32, u32, u32)>,
    frame: Vec<(u32, FrameAction)>,
}

/// True if the target has object code.
pub fn can_write(target: &Target) -> bool {
    target.object.is_some() && format::of(target.format).is_some()
}

/// What of a module no object file of the target can hold, as messages.
pub fn faults(target: &Target, module: &Module) -> Vec<String> {
    let Some(format) = format::of(target.format).filter(|_| target.object.is_some()) else {
        return vec![format!("there are no object files for {}", target.name)];
    };
    let mut faults = Vec::new();
    let mut check = |linkage: &Linkage, symbol: SymbolId, content: Content| {
        let Some(name) = &linkage.section else { return };
        let zero = matches!(content, Content::Data { zero: true, .. });
        match format.named(&decode_string(name), linkage.section_flags.as_deref(), content) {
            Err(fault) => faults.push(fault),
            Ok(header) if header.kind.is_zero() && !zero => faults.push(format!(
                "${} is not all zero, as section \"{}\" wants",
                module.symbols.name(symbol).escape_ascii(),
                name.escape_ascii()
            )),
            Ok(_) => {}
        }
    };
    for f in module.functions.iter() {
        check(&f.linkage, f.symbol, Content::Code);
    }
    let mut size = 0u64;
    for data in module.data.iter() {
        let zero = zero_size(data).is_some();
        check(&data.linkage, data.symbol, Content::Data { zero, thread: data.linkage.thread });
        if !zero || data.linkage.section.is_some() {
            size = data.items.iter().map(item_size).fold(size, u64::saturating_add);
        }
    }
    /// More than any file system or memory holds.
    const MOST: u64 = 1 << 40;
    if size > MOST {
        faults.push(format!("{size} bytes of data are too many for an object file"));
    }
    faults
}

/// Encodes one function.
pub fn function(target: &Target, input: &EmitInput<'_>, literals: &mut Literals) -> Piece {
    let encoding = target.object.expect("the target has object code");
    let blocks = IndexVec::filled(Place::default(), input.code.blocks.len());
    let code = Code::default();
    let (lines, frame) = (Vec::new(), Vec::new());
    let mut sink = ObjectSink { encoding, code, blocks, literals, lines, frame };
    (target.emit)(input, &mut sink);
    let ObjectSink { mut code, blocks, lines, frame, .. } = sink;
    let settled = settle(encoding, &mut code, &blocks);
    let f = input.function;
    Piece {
        symbol: f.symbol,
        linkage: f.linkage.clone(),
        bytes: code.bytes,
        fixups: code.fixups,
        file: f.file,
        lines: lines.into_iter().map(|(at, l, c)| (settled.offset(at), l, c)).collect(),
        frame: frame.into_iter().map(|(at, action)| (settled.offset(at), action)).collect(),
    }
}

/// The object sink of one function.
struct ObjectSink<'a> {
    encoding: &'static Encoding,
    code: Code,
    blocks: IndexVec<BlockId, Place>,
    literals: &'a mut Literals,
    lines: Vec<(Place, u32, u32)>,
    frame: Vec<(Place, FrameAction)>,
}

impl Sink for ObjectSink<'_> {
    fn block(&mut self, block: BlockId) {
        self.blocks[block] = self.code.place();
    }

    fn instruction(&mut self, instruction: &Instruction) {
        for arg in &instruction.args {
            match *arg {
                Arg::Memory(Memory { base: MemoryBase::Pool(bits, size), .. })
                | Arg::Part { of: Named::Pool(bits, size), .. } => self.literals.add(bits, size),
                _ => {}
            }
        }
        (self.encoding.encode)(instruction, &mut self.code);
    }

    fn location(&mut self, line: u32, column: u32) {
        self.lines.push((self.code.place(), line, column));
    }

    fn frame(&mut self, action: FrameAction) {
        self.frame.push((self.code.place(), action));
    }
}

/// Writes a module in the order of its items; `function` gives the code of a function, or nothing
/// for one that was dropped.
///
/// # Panics
/// If the module has [`faults`].
pub fn file(
    target: &Target,
    module: &Module,
    mut literals: Literals,
    mut function: impl FnMut(FunctionId) -> Option<Piece>,
) -> Vec<u8> {
    literals.compact();
    let mut file = File::new(target, module);
    for item in &module.items {
        match *item {
            Item::Type(_) | Item::File(_) => {}
            Item::Data(id) => file.data(&module.data[id]),
            Item::Function(id) => {
                if let Some(piece) = function(id) {
                    file.function(&piece);
                }
            }
        }
    }
    file.literals(&literals);
    write::write(file)
}

/// The size of an object if it is all zero.
fn zero_size(data: &Data) -> Option<u64> {
    data.items.iter().try_fold(0u64, |sum, item| match item {
        DataItem::Zero(n) => Some(sum + n),
        DataItem::Int(..) | DataItem::String(_) | DataItem::Address(..) => None,
    })
}

/// The size of an item, at most.
fn item_size(item: &DataItem) -> u64 {
    match item {
        DataItem::Zero(n) => *n,
        DataItem::Int(width, _) | DataItem::Address(width, ..) => width.size(),
        DataItem::String(text) => text.len() as u64,
    }
}

#[cfg(test)]
mod tests;
