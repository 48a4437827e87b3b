//! Modules made in memory, beside the parser.
//!
//! A [`Builder`] makes a [`Module`]; a [`FunctionBuilder`] one function of it, block by block. What
//! comes out is what the parser would make of its printed text: temporaries may be assigned many
//! times, phis are possible but never needed.
//!
//! ```
//! use backend::ir::build::Builder;
//! use backend::ir::{AbiType, Class, Op, print::print_module};
//!
//! let word = AbiType::Base(Class::W);
//! let mut module = Builder::new();
//! module.data("limit").word(100).finish().unwrap();
//!
//! // The sum of the numbers below n.
//! let mut f = module.function("sum");
//! f.export().returns(word);
//! let n = f.param(word, "n");
//! let start = f.block("start");
//! let (head, body, done) = (f.block("head"), f.block("body"), f.block("done"));
//! let (i, sum) = (f.temp(Class::W, "i"), f.temp(Class::W, "sum"));
//! let (zero, one) = (f.int(0), f.int(1));
//! f.at(start);
//! f.assign(i, Op::Copy, &[zero]);
//! f.assign(sum, Op::Copy, &[zero]);
//! f.jmp(head);
//! f.at(head);
//! let more = f.op(Op::Csltw, Class::W, &[i.into(), n]);
//! f.jnz(more, body, done);
//! f.at(body);
//! f.assign(sum, Op::Add, &[sum.into(), i.into()]);
//! f.assign(i, Op::Add, &[i.into(), one]);
//! f.jmp(head);
//! f.at(done);
//! f.ret(Some(sum.into()));
//! f.finish().unwrap();
//!
//! let text = print_module(&module.finish());
//! assert!(text.starts_with(b"data $limit = { w 100 }\nexport function w $sum(w %n) {\n@start\n"));
//! ```

use super::check::{Stage, check};
use super::{
    AbiType, Access, Aggregate, Arg, Block, BlockId, Call, Class, Const, Data, DataItem, Field,
    FieldType, FileId, Function, FunctionId, Inst, Item, Jump, Linkage, Module, Op, Param, Phi,
    Ref, Shape, SymbolId, Temp, TempId, TypeId, Width,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Nothing in memory is as large as this.
pub const SIZE_LIMIT: u64 = 1 << 63;

/// The largest alignment that assemblers and linkers take.
pub const ALIGN_LIMIT: u64 = 1 << 28;

/// The layout of an aggregate while its members are placed one after the other.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    pub align: u64,
    /// Without padding at the end.
    pub size: u64,
}

impl Layout {
    /// An aggregate without members yet, aligned to `align` at least.
    pub fn new(align: u64) -> Layout {
        Layout { align, size: 0 }
    }

    /// Places `count` members of type `ty`. `None` if the aggregate becomes too large.
    pub fn place(&mut self, module: &Module, ty: FieldType, count: u64) -> Option<Field> {
        let (size, align) = match ty {
            FieldType::B => (1, 1),
            FieldType::H => (2, 2),
            FieldType::W | FieldType::S => (4, 4),
            FieldType::L | FieldType::D => (8, 8),
            FieldType::Aggregate(id) => (module.types[id].size, module.types[id].align),
        };
        self.align = self.align.max(align);
        let offset = self.size.checked_next_multiple_of(align)?;
        let end = offset.checked_add(count.checked_mul(size)?)?;
        // Room for the padding at the end is part of the limit.
        if end >= SIZE_LIMIT - ALIGN_LIMIT {
            return None;
        }
        self.size = end;
        Some(Field { offset, ty, count })
    }

    /// The size with the padding at the end.
    pub fn padded_size(&self) -> u64 {
        self.size.next_multiple_of(self.align)
    }
}

/// Makes a module.
#[derive(Default)]
pub struct Builder {
    module: Module,
    defined: FxHashSet<SymbolId>,
    type_names: FxHashSet<Box<[u8]>>,
    file: Option<FileId>,
}

impl Builder {
    pub fn new() -> Builder {
        Builder::default()
    }

    /// The module, with all that was finished.
    pub fn finish(self) -> Module {
        self.module
    }

    /// The symbol of that name. One that is no plain name is quoted.
    pub fn symbol(&mut self, name: &str) -> SymbolId {
        let is_plain = name.bytes().all(is_name_byte)
            && name.bytes().next().is_some_and(|first| !first.is_ascii_digit() && first != b'$');
        if is_plain {
            return self.module.symbols.intern(name.as_bytes());
        }
        let mut quoted = vec![b'"'];
        for byte in name.bytes() {
            if matches!(byte, b'"' | b'\\') {
                quoted.push(b'\\');
            }
            quoted.push(byte);
        }
        quoted.push(b'"');
        self.module.symbols.intern(&quoted)
    }

    /// The debug locations of functions begun from now on are in the file `name`.
    pub fn file(&mut self, name: &str) {
        let text = escaped(name.as_bytes());
        let known = self.module.files.enumerate().find(|(_, file)| **file == text);
        let id = match known {
            Some((id, _)) => id,
            None => self.module.files.push(text),
        };
        self.module.items.push(Item::File(id));
        self.file = Some(id);
    }

    /// A type of which only size and alignment are known.
    ///
    /// # Panics
    /// If `align` is no power of two up to [`ALIGN_LIMIT`], or `size` reaches [`SIZE_LIMIT`].
    pub fn opaque(&mut self, name: &str, align: u64, size: u64) -> TypeId {
        assert!(align.is_power_of_two() && align <= ALIGN_LIMIT, "alignment {align}");
        assert!(size < SIZE_LIMIT, "a type of {size} bytes");
        self.add_type(name, align, size, Shape::Opaque)
    }

    /// A struct of members, each with its count.
    ///
    /// # Panics
    /// If its size reaches [`SIZE_LIMIT`].
    pub fn structure(&mut self, name: &str, members: &[(FieldType, u64)]) -> TypeId {
        let (fields, layout) = self.lay_out(members, 1);
        self.add_type(name, layout.align, layout.padded_size(), Shape::Struct(fields))
    }

    /// A union of variants, each a list of members with their counts.
    ///
    /// # Panics
    /// If its size reaches [`SIZE_LIMIT`].
    pub fn union(&mut self, name: &str, variants: &[&[(FieldType, u64)]]) -> TypeId {
        let mut all = Layout::new(1);
        let mut shapes = Vec::new();
        for members in variants {
            let (fields, layout) = self.lay_out(members, all.align);
            all = Layout { align: layout.align, size: all.size.max(layout.size) };
            shapes.push(fields);
        }
        self.add_type(name, all.align, all.padded_size(), Shape::Union(shapes))
    }

    fn lay_out(&self, members: &[(FieldType, u64)], align: u64) -> (Vec<Field>, Layout) {
        let mut layout = Layout::new(align);
        let fields = members
            .iter()
            .map(|&(ty, count)| layout.place(&self.module, ty, count).expect("a type this large"))
            .collect();
        (fields, layout)
    }

    fn add_type(&mut self, name: &str, align: u64, size: u64, shape: Shape) -> TypeId {
        let base = plain(name);
        let mut unique = base.clone();
        let mut n = 2;
        while !self.type_names.insert(unique.clone().into()) {
            unique = [base.as_slice(), format!(".{n}").as_bytes()].concat();
            n += 1;
        }
        let id = self.module.types.push(Aggregate { name: unique.into(), align, size, shape });
        self.module.items.push(Item::Type(id));
        id
    }

    /// Begins a data object.
    pub fn data(&mut self, name: &str) -> DataBuilder<'_> {
        let symbol = self.symbol(name);
        let data = Data { symbol, linkage: Linkage::default(), align: 8, items: Vec::new() };
        DataBuilder { builder: self, data }
    }

    /// Begins a function.
    pub fn function(&mut self, name: &str) -> FunctionBuilder<'_> {
        let symbol = self.symbol(name);
        let mut function = Function::new(symbol);
        function.file = self.file;
        FunctionBuilder { builder: self, function, current: None, phis: FxHashMap::default() }
    }

    fn define(&mut self, symbol: SymbolId) -> Result<(), String> {
        if self.defined.insert(symbol) {
            return Ok(());
        }
        let name = String::from_utf8_lossy(self.module.symbols.name(symbol));
        Err(format!("${name} is defined twice"))
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$')
}

/// A name of a temporary, a block or a type as the text can have it.
fn plain(name: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        name.bytes().map(|byte| if is_name_byte(byte) { byte } else { b'_' }).collect();
    if bytes.first().is_none_or(|first| first.is_ascii_digit() || *first == b'$') {
        bytes.insert(0, b'_');
    }
    bytes
}

/// Bytes as they stand between the quotes of a string.
fn escaped(bytes: &[u8]) -> Box<[u8]> {
    let mut text = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            b' '..=b'~' => text.push(byte),
            _ => text.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    text.into()
}

/// Makes a data object. Parts follow each other without padding.
pub struct DataBuilder<'a> {
    builder: &'a mut Builder,
    data: Data,
}

impl DataBuilder<'_> {
    /// Makes it visible to other files.
    pub fn export(mut self) -> Self {
        self.data.linkage.export = true;
        self
    }

    pub fn linkage(mut self, linkage: Linkage) -> Self {
        self.data.linkage = linkage;
        self
    }

    /// # Panics
    /// If `align` is no power of two up to [`ALIGN_LIMIT`].
    pub fn align(mut self, align: u64) -> Self {
        assert!(align.is_power_of_two() && align <= ALIGN_LIMIT, "alignment {align}");
        self.data.align = align;
        self
    }

    pub fn byte(self, value: u8) -> Self {
        self.item(DataItem::Int(Width::B, value.into()))
    }

    pub fn half(self, value: u16) -> Self {
        self.item(DataItem::Int(Width::H, value.into()))
    }

    pub fn word(self, value: u32) -> Self {
        self.item(DataItem::Int(Width::W, value.into()))
    }

    pub fn long(self, value: u64) -> Self {
        self.item(DataItem::Int(Width::L, value))
    }

    pub fn single(self, value: f32) -> Self {
        self.word(value.to_bits())
    }

    pub fn double(self, value: f64) -> Self {
        self.long(value.to_bits())
    }

    /// Bytes, any.
    pub fn bytes(self, bytes: &[u8]) -> Self {
        self.item(DataItem::String(escaped(bytes)))
    }

    pub fn zeroes(self, count: u64) -> Self {
        self.item(DataItem::Zero(count))
    }

    /// The address of `symbol` plus `offset` bytes.
    pub fn address(self, symbol: SymbolId, offset: i64) -> Self {
        self.item(DataItem::Address(Width::L, symbol, offset))
    }

    fn item(mut self, item: DataItem) -> Self {
        self.data.items.push(item);
        self
    }

    /// Adds it to the module. `Err` if something of that name is there.
    pub fn finish(self) -> Result<SymbolId, String> {
        let symbol = self.data.symbol;
        self.builder.define(symbol)?;
        if !self.data.linkage.common {
            self.builder.module.symbols.set_align(symbol, self.data.align);
        }
        let id = self.builder.module.data.push(self.data);
        self.builder.module.items.push(Item::Data(id));
        Ok(symbol)
    }
}

/// Makes a function. Instructions go to the end of the block chosen with [`FunctionBuilder::at`].
pub struct FunctionBuilder<'a> {
    builder: &'a mut Builder,
    function: Function,
    current: Option<BlockId>,
    /// Where the phi of each result stands.
    phis: FxHashMap<TempId, (BlockId, usize)>,
}

impl FunctionBuilder<'_> {
    /// Makes it visible to other files.
    pub fn export(&mut self) -> &mut Self {
        self.function.linkage.export = true;
        self
    }

    pub fn linkage(&mut self, linkage: Linkage) -> &mut Self {
        self.function.linkage = linkage;
        self
    }

    /// The type of its result; it has none if this is not called.
    pub fn returns(&mut self, ty: AbiType) -> &mut Self {
        self.function.ret = Some(ty);
        self
    }

    /// Takes more arguments behind its parameters.
    pub fn variadic(&mut self) -> &mut Self {
        self.function.variadic = true;
        self
    }

    /// The next parameter.
    pub fn param(&mut self, ty: AbiType, name: &str) -> Ref {
        let to = self.temp(ty.class(), name);
        self.function.params.push(Param { ty, to });
        to.into()
    }

    /// The environment parameter.
    pub fn env(&mut self, name: &str) -> Ref {
        let to = self.temp(Class::L, name);
        self.function.env = Some(to);
        to.into()
    }

    /// A temporary, to be assigned any number of times.
    pub fn temp(&mut self, class: Class, name: &str) -> TempId {
        let name = Some(self.function.names.add(&plain(name)));
        self.function.temps.push(Temp { class, name })
    }

    /// A new block, empty, at the end of the function. The first is the entry, which nothing may
    /// jump to. A block that gets no jump stops the program.
    pub fn block(&mut self, name: &str) -> BlockId {
        let name = Some(self.function.names.add(&plain(name)));
        self.function.blocks.push(Block { name, ..Block::new(Jump::Hlt) })
    }

    /// What follows goes to the end of `block`.
    pub fn at(&mut self, block: BlockId) {
        self.current = Some(block);
    }

    fn here(&mut self) -> &mut Block {
        let block = self.current.expect("`at` was called");
        &mut self.function.blocks[block]
    }

    pub fn int(&mut self, value: i64) -> Ref {
        self.function.int(value)
    }

    pub fn single(&mut self, value: f32) -> Ref {
        self.function.constant(Const::Single(value.to_bits()))
    }

    pub fn double(&mut self, value: f64) -> Ref {
        self.function.constant(Const::Double(value.to_bits()))
    }

    /// The address of the symbol `name`.
    pub fn address(&mut self, name: &str) -> Ref {
        self.address_of(name, Access::Direct, 0)
    }

    /// The address of the symbol `name` plus `offset` bytes, found through `access`.
    pub fn address_of(&mut self, name: &str, access: Access, offset: i64) -> Ref {
        let symbol = self.builder.symbol(name);
        self.function.constant(Const::Symbol { symbol, access, offset })
    }

    /// An operation into a fresh temporary.
    ///
    /// # Panics
    /// If there are more than three operands.
    pub fn op(&mut self, op: Op, class: Class, args: &[Ref]) -> Ref {
        let to = self.function.new_temp(class);
        self.here().insts.push(Inst::new(op, class, to, args));
        to.into()
    }

    /// An operation into `to`.
    ///
    /// # Panics
    /// If there are more than three operands.
    pub fn assign(&mut self, to: TempId, op: Op, args: &[Ref]) {
        let class = self.function.temps[to].class;
        self.here().insts.push(Inst::new(op, class, to, args));
    }

    /// An operation without a result: a store, a blit, `vastart`.
    ///
    /// # Panics
    /// If there are more than three operands.
    pub fn effect(&mut self, op: Op, args: &[Ref]) {
        self.here().insts.push(Inst::effect(op, args));
    }

    /// Makes the last load, store or blit volatile.
    pub fn volatile(&mut self) {
        if let Some(inst) = self.here().insts.last_mut() {
            inst.volatile = true;
        }
    }

    /// The source line (and column, or 0) of what follows.
    pub fn location(&mut self, line: u32, column: u32) {
        let place = [self.int(line.into()), self.int(column.into())];
        self.effect(Op::Dbgloc, &place);
    }

    /// A call with plain arguments; the result if `ret` asks for one.
    pub fn call(
        &mut self,
        ret: Option<AbiType>,
        callee: Ref,
        args: &[(AbiType, Ref)],
    ) -> Option<Ref> {
        let args = args.iter().map(|&(ty, value)| Arg { ty, value }).collect();
        self.call_with(callee, Call { ret, args, env: Ref::NONE, variadic: None })
    }

    /// Any call.
    pub fn call_with(&mut self, callee: Ref, call: Call) -> Option<Ref> {
        let ret = call.ret;
        let row = Ref::call(self.function.calls.push(call));
        let to = ret.map(|ty| self.function.new_temp(ty.class()));
        let class = ret.map_or(Class::W, AbiType::class);
        let args = [callee, row, Ref::NONE];
        self.here().insts.push(Inst { op: Op::Call, class, volatile: false, to, args });
        to.map(Ref::from)
    }

    /// A phi at the top of the block, without arguments yet.
    pub fn phi(&mut self, class: Class) -> Ref {
        let to = self.function.new_temp(class);
        let block = self.current.expect("`at` was called");
        let phis = &mut self.function.blocks[block].phis;
        self.phis.insert(to, (block, phis.len()));
        phis.push(Phi { to, class, args: Default::default() });
        to.into()
    }

    /// The value that `phi` has on the edge from `from`.
    ///
    /// # Panics
    /// If `phi` is no result of [`FunctionBuilder::phi`].
    pub fn phi_arg(&mut self, phi: Ref, from: BlockId, value: Ref) {
        let place = phi.as_temp().and_then(|t| self.phis.get(&t).copied());
        let (block, n) = place.expect("a phi of this function");
        self.function.blocks[block].phis[n].args.push((from, value));
    }

    pub fn ret(&mut self, value: Option<Ref>) {
        self.here().jump = Jump::Ret(value.unwrap_or(Ref::NONE));
    }

    pub fn jmp(&mut self, to: BlockId) {
        self.here().jump = Jump::Jmp(to);
    }

    /// To `yes` if the low 32 bits of `condition` are not all 0, else to `no`.
    pub fn jnz(&mut self, condition: Ref, yes: BlockId, no: BlockId) {
        self.here().jump = Jump::Jnz(condition, yes, no);
    }

    /// Control never gets here.
    pub fn hlt(&mut self) {
        self.here().jump = Jump::Hlt;
    }

    /// Adds it to the module. `Err` says what is wrong with it: operands of the wrong class, phis
    /// that do not match their predecessors, a name that is taken.
    pub fn finish(self) -> Result<FunctionId, String> {
        let module = &mut self.builder.module;
        check(module, &self.function, Stage::Parsed)?;
        self.builder.define(self.function.symbol)?;
        let module = &mut self.builder.module;
        let id = module.functions.push(self.function);
        module.items.push(Item::Function(id));
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::ir::print::print_module;
    use crate::parse::{Options, parse};
    use pretty_assertions::assert_eq;

    const WORD: AbiType = AbiType::Base(Class::W);
    const LONG: AbiType = AbiType::Base(Class::L);

    fn everything() -> Module {
        let mut module = Builder::new();
        let pair = module.structure("pair", &[(FieldType::B, 1), (FieldType::L, 1)]);
        module.union("either", &[&[(FieldType::D, 1)], &[(FieldType::Aggregate(pair), 2)]]);
        let other = module.opaque("pair", 16, 24);
        let odd = module.symbol("a \"b\"");
        module.file("dir/\"x\".c");
        let text = module.data("text").export().align(1).bytes(b"hi\n\0\xff\"");
        text.zeroes(3).finish().expect("a new name");
        module.data("odd").address(odd, -8).double(1.5).finish().expect("a new name");

        let mut f = module.function("f");
        f.export().returns(AbiType::Aggregate(other)).variadic();
        let env = f.env("env");
        let n = f.param(AbiType::Byte { signed: true }, "n");
        let (start, head, end) = (f.block("start"), f.block("9"), f.block("end"));
        f.at(start);
        f.location(3, 0);
        let (eight, one, zero) = (f.int(8), f.int(1), f.int(0));
        let p = f.op(Op::Alloc8, Class::L, &[eight]);
        f.effect(Op::Storew, &[n, p]);
        f.volatile();
        f.jmp(head);
        f.at(head);
        let i = f.phi(Class::W);
        let next = f.op(Op::Add, Class::W, &[i, one]);
        f.phi_arg(i, start, zero);
        f.phi_arg(i, head, next);
        f.jnz(next, end, head);
        f.at(end);
        let callee = f.address_of("g", Access::Extern, 0);
        let call = Call {
            ret: Some(AbiType::Aggregate(other)),
            env,
            args: vec![Arg { ty: LONG, value: p }, Arg { ty: WORD, value: next }],
            variadic: Some(1),
        };
        let r = f.call_with(callee, call);
        let s = f.single(0.1);
        assert_eq!(f.call(None, p, &[(AbiType::Base(Class::S), s)]), None);
        f.ret(r);
        f.finish().expect("a sound function");
        module.finish()
    }

    #[test]
    fn what_is_built_prints_and_parses() {
        let text = print_module(&everything());
        let mut again = Module::default();
        parse("-", &text, &Options::default(), &mut again).expect("valid text");
        let second = print_module(&again);
        assert_eq!(String::from_utf8_lossy(&second), String::from_utf8_lossy(&text));
        assert_eq!(again.types[TypeId::new(1)].size, 32);
    }

    #[test]
    fn mistakes_are_told() {
        let mut module = Builder::new();
        module.data("x").finish().expect("a new name");
        assert_eq!(module.data("x").finish(), Err("$x is defined twice".into()));
        let mut f = module.function("f");
        f.returns(LONG);
        let n = f.param(WORD, "n");
        let start = f.block("start");
        f.at(start);
        f.ret(Some(n));
        let message = f.finish().expect_err("a word is no long");
        assert!(message.contains("where L is wanted"), "{message}");
    }
}
