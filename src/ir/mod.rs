//! The intermediate representation: plain data, no passes.
//!
//! A [`Module`] is what one run compiles: all its input files together. A [`Function`] is a set of
//! flat tables; rows name each other by typed index, so a function can be moved to a thread,
//! cloned and compared. Operands are [`Ref`]s of 4 bytes. An instruction is 20 bytes: op, class,
//! flags, result and *three* operands, because `select` and `blit` have three and a side table for
//! them would have to be followed and copied by every pass.

pub mod build;
pub mod check;
pub mod eval;
pub mod ops;
pub mod print;
pub mod strings;

use crate::index::{Index, IndexVec, index_types};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::fmt;

pub use ops::Op;

index_types! {
    /// A basic block of a function. Block 0 is the entry.
    BlockId = "b";
    /// A temporary of a function.
    TempId = "t";
    /// A row of a function's constant pool.
    ConstId = "c";
    /// A stack slot of a function: a fixed part of its frame.
    SlotId = "s";
    /// A row of a function's call table: what a `call` passes and returns.
    CallId = "call";
    /// A name in a function's name table.
    NameId = "n";
    /// A symbol of the module.
    SymbolId = "sym";
    /// An aggregate type of the module.
    TypeId = "type";
    /// A function of the module.
    FunctionId = "fn";
    /// A data object of the module.
    DataId = "data";
    /// A source file named by `dbgfile`.
    FileId = "file";
}

/// The class (base type) of a temporary or of an operation.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Class {
    /// 32-bit integer, `w`.
    W,
    /// 64-bit integer or address, `l`.
    L,
    /// Single-precision float, `s`.
    S,
    /// Double-precision float, `d`.
    D,
}

impl Class {
    pub const ALL: [Class; 4] = [Class::W, Class::L, Class::S, Class::D];

    pub fn is_int(self) -> bool {
        matches!(self, Class::W | Class::L)
    }

    pub fn is_float(self) -> bool {
        !self.is_int()
    }

    /// Size in bytes: 4 or 8.
    pub fn size(self) -> u32 {
        match self {
            Class::W | Class::S => 4,
            Class::L | Class::D => 8,
        }
    }

    /// True for the 8-byte classes.
    pub fn is_wide(self) -> bool {
        self.size() == 8
    }

    /// The letter of the text form.
    pub fn letter(self) -> char {
        match self {
            Class::W => 'w',
            Class::L => 'l',
            Class::S => 's',
            Class::D => 'd',
        }
    }
}

/// An operand: a tag and an index in 4 bytes. Read it with [`Ref::value`].
///
/// Two integers of one function are equal if and only if their `Ref`s are, as long as they were
/// made by [`Function::int`]; the same holds for other constants made by [`Function::constant`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref(u32);

/// What a [`Ref`] is.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// No operand.
    None,
    /// A temporary.
    Temp(TempId),
    /// A small integer, held in the `Ref` itself.
    Int(i32),
    /// A row of the constant pool.
    Const(ConstId),
    /// The address of a stack slot.
    Slot(SlotId),
    /// The second operand of a `call`: its row in the call table.
    Call(CallId),
}

impl Ref {
    const TAG_BITS: u32 = 3;
    const INDEX_BITS: u32 = 32 - Self::TAG_BITS;
    /// Integers in `-SMALL_LIMIT..SMALL_LIMIT` are held in the `Ref`.
    const SMALL_LIMIT: i64 = 1 << (Self::INDEX_BITS - 1);

    pub const NONE: Ref = Ref(0);
    /// The integer 0, which is also the float 0.
    pub const ZERO: Ref = Ref(2 << Self::INDEX_BITS);

    fn tagged(tag: u32, index: usize) -> Ref {
        assert!(index < 1 << Self::INDEX_BITS, "table too large");
        Ref(index as u32 | tag << Self::INDEX_BITS)
    }

    #[inline]
    pub fn temp(t: TempId) -> Ref {
        Self::tagged(1, t.index())
    }

    /// The `Ref` of a small integer; `None` if it needs a row of the pool.
    #[inline]
    pub fn small_int(value: i64) -> Option<Ref> {
        (-Self::SMALL_LIMIT..Self::SMALL_LIMIT).contains(&value).then(|| {
            let mask = (1u32 << Self::INDEX_BITS) - 1;
            Ref((value as u32 & mask) | 2 << Self::INDEX_BITS)
        })
    }

    pub fn slot(s: SlotId) -> Ref {
        Self::tagged(4, s.index())
    }

    pub fn call(c: CallId) -> Ref {
        Self::tagged(5, c.index())
    }

    fn pooled(c: ConstId) -> Ref {
        Self::tagged(3, c.index())
    }

    /// What it is.
    #[inline]
    pub fn value(self) -> Value {
        let index = (self.0 & ((1 << Self::INDEX_BITS) - 1)) as usize;
        match self.0 >> Self::INDEX_BITS {
            0 => Value::None,
            1 => Value::Temp(TempId::new(index)),
            2 => Value::Int((self.0 << Self::TAG_BITS) as i32 >> Self::TAG_BITS),
            3 => Value::Const(ConstId::new(index)),
            4 => Value::Slot(SlotId::new(index)),
            5 => Value::Call(CallId::new(index)),
            _ => unreachable!("no such tag"),
        }
    }

    pub fn is_none(self) -> bool {
        self == Ref::NONE
    }

    pub fn is_some(self) -> bool {
        self != Ref::NONE
    }

    /// The temporary, if it is one.
    #[inline]
    pub fn as_temp(self) -> Option<TempId> {
        match self.value() {
            Value::Temp(t) => Some(t),
            _ => None,
        }
    }

    /// The slot, if it is a slot's address.
    pub fn as_slot(self) -> Option<SlotId> {
        match self.value() {
            Value::Slot(s) => Some(s),
            _ => None,
        }
    }

    /// True for integers, floats and symbols: what has the same value everywhere in a function.
    /// (Slot addresses do too; they are not constants of the pool.)
    pub fn is_const(self) -> bool {
        matches!(self.value(), Value::Int(_) | Value::Const(_))
    }
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.value())
    }
}

impl From<TempId> for Ref {
    fn from(t: TempId) -> Ref {
        Ref::temp(t)
    }
}

/// How a symbol's address is found at run time.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Access {
    /// `$x`: an address the linker knows, relative to the code.
    Direct,
    /// `extern $x`: through the table the dynamic linker fills (GOT, or PLT for a call).
    Extern,
    /// `thread $x`: an offset from the thread pointer (local exec).
    Thread,
    /// `extern thread $x`: an offset from the thread pointer held in a table (initial exec).
    ExternThread,
}

/// A row of the constant pool. Integers and floats are untyped 64-bit blobs, as in the text; a
/// float remembers its type only so that it prints as one.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Const {
    /// An integer too large for the `Ref`.
    Int(i64),
    /// `s_…`: the bits of a single, zero-extended where 64 are wanted.
    Single(u32),
    /// `d_…`: the bits of a double.
    Double(u64),
    /// A symbol plus an offset in bytes.
    Symbol { symbol: SymbolId, access: Access, offset: i64 },
}

/// The constants of one function, each there once.
#[derive(Clone, Default, Debug)]
pub struct ConstPool {
    rows: IndexVec<ConstId, Const>,
    known: FxHashMap<Const, ConstId>,
}

impl ConstPool {
    /// The reference to `c`, which is made if it is not there yet.
    pub fn intern(&mut self, c: Const) -> Ref {
        if let Const::Int(value) = c
            && let Some(small) = Ref::small_int(value)
        {
            return small;
        }
        let rows = &mut self.rows;
        Ref::pooled(*self.known.entry(c).or_insert_with(|| rows.push(c)))
    }

    pub fn get(&self, id: ConstId) -> Const {
        self.rows[id]
    }

    /// All constants in order of their making. Small integers are not among them.
    pub fn iter(&self) -> std::slice::Iter<'_, Const> {
        self.rows.iter()
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Names of temporaries and blocks of one function, as they stood in the text.
#[derive(Clone, Default, Debug)]
pub struct Names {
    bytes: Vec<u8>,
    ends: IndexVec<NameId, usize>,
}

impl Names {
    /// Adds a name (without its sigil).
    pub fn add(&mut self, name: &[u8]) -> NameId {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len())
    }

    pub fn get(&self, id: NameId) -> &[u8] {
        let start = if id.index() == 0 { 0 } else { self.ends[NameId::new(id.index() - 1)] };
        &self.bytes[start..self.ends[id]]
    }
}

/// A temporary. Its class never changes.
#[derive(Copy, Clone, Debug)]
pub struct Temp {
    pub class: Class,
    /// Its name in the text; `None` for those that passes make.
    pub name: Option<NameId>,
}

/// A stack slot: memory of the frame, live for the whole call. Made from allocations of constant
/// size in the entry block.
#[derive(Copy, Clone, Debug)]
pub struct Slot {
    /// Bytes. May be 0: its address is still distinct from null.
    pub size: u64,
    /// A power of two, at least 4.
    pub align: u32,
    /// The name of the temporary that held its address.
    pub name: Option<NameId>,
}

/// An instruction. Unused operands are `Ref::NONE`, and always come last.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    pub op: Op,
    /// The class of the result; for ops without a result, `Class::W`.
    pub class: Class,
    /// `volatile` before a load, store or blit: never merged, split, moved, duplicated or removed.
    pub volatile: bool,
    /// The result.
    pub to: Option<TempId>,
    pub args: [Ref; 3],
}

const _: () = assert!(size_of::<Inst>() == 20);

impl Inst {
    /// An instruction with a result.
    pub fn new(op: Op, class: Class, to: TempId, args: &[Ref]) -> Inst {
        Inst { op, class, volatile: false, to: Some(to), args: three(args) }
    }

    /// An instruction without a result.
    pub fn effect(op: Op, args: &[Ref]) -> Inst {
        Inst { op, class: Class::W, volatile: false, to: None, args: three(args) }
    }

    /// An instruction that does nothing, to be swept out later.
    pub fn nop() -> Inst {
        Inst::effect(Op::Nop, &[])
    }

    /// The operands that are there.
    pub fn operands(&self) -> &[Ref] {
        let n = self.args.iter().position(|a| a.is_none()).unwrap_or(3);
        &self.args[..n]
    }

    /// The row of the call table, for a `call`.
    pub fn call(&self) -> Option<CallId> {
        match (self.op, self.args[1].value()) {
            (Op::Call, Value::Call(c)) => Some(c),
            _ => None,
        }
    }
}

fn three(args: &[Ref]) -> [Ref; 3] {
    let mut all = [Ref::NONE; 3];
    all[..args.len()].copy_from_slice(args);
    all
}

/// A phi. The phis of a block read their arguments in parallel, on the edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phi {
    pub to: TempId,
    pub class: Class,
    /// One row a predecessor block (a block that jumps here twice counts once).
    pub args: SmallVec<[(BlockId, Ref); 2]>,
}

impl Phi {
    /// The argument on the edge from `from`.
    pub fn arg(&self, from: BlockId) -> Option<Ref> {
        self.args.iter().find(|&&(b, _)| b == from).map(|&(_, r)| r)
    }
}

/// How a block ends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Jump {
    /// Return, with a value if the function has one (`Ref::NONE` if not). For a function that
    /// returns an aggregate the value is the aggregate's address.
    Ret(Ref),
    Jmp(BlockId),
    /// To the first block if the low 32 bits of the value are not 0, else to the second.
    Jnz(Ref, BlockId, BlockId),
    /// Control never gets past here: a trap.
    Hlt,
}

impl Jump {
    /// The successors in order; both, even where they are one block.
    pub fn successors(&self) -> SmallVec<[BlockId; 2]> {
        match *self {
            Jump::Ret(_) | Jump::Hlt => SmallVec::new(),
            Jump::Jmp(b) => smallvec::smallvec![b],
            Jump::Jnz(_, b, c) => smallvec::smallvec![b, c],
        }
    }

    /// The operand, or `Ref::NONE`.
    pub fn arg(&self) -> Ref {
        match *self {
            Jump::Ret(r) | Jump::Jnz(r, _, _) => r,
            Jump::Jmp(_) | Jump::Hlt => Ref::NONE,
        }
    }

    /// The operand, to be changed.
    pub fn arg_mut(&mut self) -> Option<&mut Ref> {
        match self {
            Jump::Ret(r) | Jump::Jnz(r, _, _) => Some(r),
            Jump::Jmp(_) | Jump::Hlt => None,
        }
    }

    /// Calls `f` on each successor, to be changed.
    pub fn for_each_target(&mut self, mut f: impl FnMut(&mut BlockId)) {
        match self {
            Jump::Ret(_) | Jump::Hlt => {}
            Jump::Jmp(b) => f(b),
            Jump::Jnz(_, b, c) => {
                f(b);
                f(c);
            }
        }
    }
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its label in the text; `None` for those that passes make.
    pub name: Option<NameId>,
    pub phis: Vec<Phi>,
    pub insts: Vec<Inst>,
    pub jump: Jump,
}

impl Block {
    pub fn new(jump: Jump) -> Block {
        Block { name: None, phis: Vec::new(), insts: Vec::new(), jump }
    }
}

/// The type of a parameter, an argument or a result: what the calling convention sees.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum AbiType {
    Base(Class),
    /// `sb`, `ub`: a byte in a `w`, with garbage above unless the target's ABI says otherwise.
    Byte {
        signed: bool,
    },
    /// `sh`, `uh`.
    Half {
        signed: bool,
    },
    /// An aggregate by value; the operand is its address.
    Aggregate(TypeId),
}

impl AbiType {
    /// The class of the temporary or operand that stands for it.
    pub fn class(self) -> Class {
        match self {
            AbiType::Base(class) => class,
            AbiType::Byte { .. } | AbiType::Half { .. } => Class::W,
            AbiType::Aggregate(_) => Class::L,
        }
    }
}

/// A parameter.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Param {
    pub ty: AbiType,
    pub to: TempId,
}

/// What a `call` passes. The callee is the instruction's first operand, the result its `to`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Call {
    /// The result's type; `None` if the call has no result.
    pub ret: Option<AbiType>,
    /// The `env` argument, or `Ref::NONE`.
    pub env: Ref,
    pub args: Vec<Arg>,
    /// For a call with `...`: how many of `args` stand before it.
    pub variadic: Option<u32>,
}

/// An argument of a call.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Arg {
    pub ty: AbiType,
    pub value: Ref,
}

impl Default for Ref {
    fn default() -> Ref {
        Ref::NONE
    }
}

/// `export`, `thread`, `common`, `section`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Linkage {
    pub export: bool,
    /// Data only.
    pub thread: bool,
    /// Data only.
    pub common: bool,
    /// The text between the quotes, escapes as written: it goes to the assembler as it is.
    pub section: Option<Box<[u8]>>,
    pub section_flags: Option<Box<[u8]>>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    pub symbol: SymbolId,
    pub linkage: Linkage,
    /// The `dbgfile` in force where it was defined.
    pub file: Option<FileId>,
    pub ret: Option<AbiType>,
    pub env: Option<TempId>,
    pub params: Vec<Param>,
    pub variadic: bool,
    /// In source order; block 0 is the entry, which nothing jumps to.
    pub blocks: IndexVec<BlockId, Block>,
    pub temps: IndexVec<TempId, Temp>,
    pub slots: IndexVec<SlotId, Slot>,
    pub calls: IndexVec<CallId, Call>,
    pub consts: ConstPool,
    pub names: Names,
}

impl Function {
    /// A function without blocks.
    pub fn new(symbol: SymbolId) -> Function {
        Function {
            symbol,
            linkage: Linkage::default(),
            file: None,
            ret: None,
            env: None,
            params: Vec::new(),
            variadic: false,
            blocks: IndexVec::new(),
            temps: IndexVec::new(),
            slots: IndexVec::new(),
            calls: IndexVec::new(),
            consts: ConstPool::default(),
            names: Names::default(),
        }
    }

    pub fn entry(&self) -> BlockId {
        BlockId::new(0)
    }

    /// A fresh temporary without a name.
    pub fn new_temp(&mut self, class: Class) -> TempId {
        self.temps.push(Temp { class, name: None })
    }

    /// The integer `value` as an operand. In a `w` context only its low 32 bits count; passes
    /// write such constants sign-extended from 32 bits, so that equal ones are equal `Ref`s.
    pub fn int(&mut self, value: i64) -> Ref {
        self.consts.intern(Const::Int(value))
    }

    /// A constant as an operand.
    pub fn constant(&mut self, c: Const) -> Ref {
        self.consts.intern(c)
    }

    /// The bits of a constant operand as it was written: an integer, or a float's representation.
    /// `None` for symbols, slots and temporaries.
    #[inline]
    pub fn bits(&self, r: Ref) -> Option<u64> {
        match r.value() {
            Value::Int(i) => Some(i64::from(i) as u64),
            Value::Const(c) => match self.consts.get(c) {
                Const::Int(i) => Some(i as u64),
                Const::Single(bits) => Some(u64::from(bits)),
                Const::Double(bits) => Some(bits),
                Const::Symbol { .. } => None,
            },
            _ => None,
        }
    }

    /// The value of a constant operand in a context of `class`: a `w` is sign-extended from its
    /// low 32 bits, an `s` is its low 32 bits zero-extended.
    #[inline]
    pub fn bits_as(&self, r: Ref, class: Class) -> Option<u64> {
        let bits = self.bits(r)?;
        Some(match class {
            Class::W => bits as i32 as i64 as u64,
            Class::S => u64::from(bits as u32),
            Class::L | Class::D => bits,
        })
    }

    /// The symbol constant, if `r` is one.
    pub fn symbol_of(&self, r: Ref) -> Option<(SymbolId, Access, i64)> {
        match r.value() {
            Value::Const(c) => match self.consts.get(c) {
                Const::Symbol { symbol, access, offset } => Some((symbol, access, offset)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The class of an operand where it has one of its own: a temporary's, or `l` for a slot.
    pub fn class_of(&self, r: Ref) -> Option<Class> {
        match r.value() {
            Value::Temp(t) => Some(self.temps[t].class),
            Value::Slot(_) => Some(Class::L),
            _ => None,
        }
    }

    /// Calls `f` on each operand that `inst` reads: its arguments, and for a `call` also what the
    /// call table holds (env, then arguments in order). `Ref::Call` itself is not visited.
    #[inline]
    pub fn for_each_use(&self, inst: &Inst, mut f: impl FnMut(Ref)) {
        for &r in inst.operands() {
            match r.value() {
                Value::Call(c) => {
                    let call = &self.calls[c];
                    if call.env.is_some() {
                        f(call.env);
                    }
                    call.args.iter().for_each(|a| f(a.value));
                }
                _ => f(r),
            }
        }
    }
}

/// Calls `f` on each operand of `inst`, to be changed, those in the call table included.
#[inline]
pub fn for_each_use_mut(
    inst: &mut Inst,
    calls: &mut IndexVec<CallId, Call>,
    mut f: impl FnMut(&mut Ref),
) {
    for r in &mut inst.args {
        match r.value() {
            Value::None => {}
            Value::Call(c) => {
                let call = &mut calls[c];
                if call.env.is_some() {
                    f(&mut call.env);
                }
                call.args.iter_mut().for_each(|a| f(&mut a.value));
            }
            _ => f(r),
        }
    }
}

/// An aggregate type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Aggregate {
    /// Without the colon.
    pub name: Box<[u8]>,
    /// Bytes, a power of two.
    pub align: u64,
    /// Bytes, with padding at the end.
    pub size: u64,
    pub shape: Shape,
}

/// What is inside an aggregate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Size and alignment only.
    Opaque,
    /// One list of fields; a union has one a variant.
    Struct(Vec<Field>),
    Union(Vec<Vec<Field>>),
}

/// A field: `count` items in a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Bytes from the start of the aggregate.
    pub offset: u64,
    pub ty: FieldType,
    pub count: u64,
}

/// The type of an item of a field.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FieldType {
    B,
    H,
    W,
    L,
    S,
    D,
    Aggregate(TypeId),
}

/// A data object.
#[derive(Clone, Debug)]
pub struct Data {
    pub symbol: SymbolId,
    pub linkage: Linkage,
    /// As written; 8 where the text has none.
    pub align: u64,
    pub items: Vec<DataItem>,
}

/// The width of a data item.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Width {
    B,
    H,
    W,
    L,
}

impl Width {
    /// Bytes.
    pub fn size(self) -> u64 {
        match self {
            Width::B => 1,
            Width::H => 2,
            Width::W => 4,
            Width::L => 8,
        }
    }
}

/// A part of a data object. Parts follow each other without padding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DataItem {
    /// That many zero bytes.
    Zero(u64),
    /// A number, a float's bits included, cut to its width.
    Int(Width, u64),
    /// A string: the text between the quotes, escapes as written (they are the assembler's).
    String(Box<[u8]>),
    /// The address of a symbol plus an offset.
    Address(Width, SymbolId, i64),
}

/// What stands in a module, in order.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Item {
    Type(TypeId),
    Data(DataId),
    Function(FunctionId),
    /// `dbgfile`: the file that the `dbgloc`s of later functions mean.
    File(FileId),
}

/// The names of symbols. A name that was quoted in the text keeps its quotes: it is another
/// symbol than the one without, and prefixes are not put before it.
#[derive(Clone, Default, Debug)]
pub struct Symbols {
    names: IndexSet<Box<[u8]>, FxBuildHasher>,
    /// Base-2 logarithms of the alignment of data, as far as it is known.
    aligns: Vec<u8>,
    /// Those that the module defines for itself alone.
    locals: Vec<bool>,
}

impl Symbols {
    pub fn intern(&mut self, name: &[u8]) -> SymbolId {
        let row = match self.names.get_index_of(name) {
            Some(row) => row,
            None => self.names.insert_full(name.into()).0,
        };
        SymbolId::new(row)
    }

    pub fn find(&self, name: &[u8]) -> Option<SymbolId> {
        self.names.get_index_of(name).map(SymbolId::new)
    }

    pub fn name(&self, id: SymbolId) -> &[u8] {
        &self.names[id.index()]
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Notes that data of that name is aligned to `align` bytes.
    pub fn set_align(&mut self, id: SymbolId, align: u64) {
        if self.aligns.len() <= id.index() {
            self.aligns.resize(id.index() + 1, 0);
        }
        self.aligns[id.index()] = align.max(1).ilog2() as u8;
    }

    /// Notes the symbols that the module defines and does not export.
    pub fn set_locals(&mut self, locals: impl Iterator<Item = SymbolId>) {
        let mut all = vec![false; self.len()];
        locals.for_each(|id| all[id.index()] = true);
        self.locals = all;
    }

    /// Whether the module defines the symbol for itself alone, as far as that was noted.
    pub fn is_local(&self, id: SymbolId) -> bool {
        self.locals.get(id.index()).copied().unwrap_or(false)
    }

    /// What the address of a symbol is a multiple of, as far as the module tells.
    pub fn align(&self, id: SymbolId) -> u64 {
        1 << self.aligns.get(id.index()).copied().unwrap_or(0)
    }
}

/// All that one run compiles.
#[derive(Clone, Default, Debug)]
pub struct Module {
    pub symbols: Symbols,
    pub types: IndexVec<TypeId, Aggregate>,
    pub data: IndexVec<DataId, Data>,
    pub functions: IndexVec<FunctionId, Function>,
    /// Names of source files, escapes as written, each once.
    pub files: IndexVec<FileId, Box<[u8]>>,
    pub items: Vec<Item>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_integers_live_in_the_reference() {
        let mut pool = ConstPool::default();
        for value in [0, -1, 1, (1 << 28) - 1, -(1 << 28)] {
            let r = pool.intern(Const::Int(value));
            assert_eq!(r.value(), Value::Int(value as i32));
        }
        let big = pool.intern(Const::Int(1 << 28));
        assert_eq!(big, pool.intern(Const::Int(1 << 28)));
        assert!(matches!(big.value(), Value::Const(_)));
    }
}
