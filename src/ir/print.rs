//! Any function or module as text of the language, so that every dump is an input.
//!
//! Names of the text are kept. What has no name, or shares one (renaming makes several temporaries
//! of one), gets a name that collides with nothing. Slots are printed as allocations at the top of
//! the entry block. Printing what was read back from printed text gives the same text.

use super::{
    AbiType, Access, BlockId, Call, Const, Data, DataItem, FieldType, Function, Inst, Item, Jump,
    Linkage, Module, NameId, Op, Ref, Shape, SlotId, TempId, TypeId, Value, Width,
};
use crate::index::{Index, IndexVec};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::Write;

/// The module as text.
pub fn print_module(module: &Module) -> Vec<u8> {
    let mut out = Vec::new();
    for &item in &module.items {
        print_item(module, item, &mut out);
    }
    out
}

/// One item of the module. Of a function that was taken out of the module, nothing.
pub fn print_item(module: &Module, item: Item, out: &mut Vec<u8>) {
    match item {
        Item::Type(id) => print_type(module, id, out),
        Item::Data(id) => print_data(module, &module.data[id], out),
        Item::File(id) => {
            out.extend_from_slice(b"dbgfile \"");
            out.extend_from_slice(&module.files[id]);
            out.extend_from_slice(b"\"\n");
        }
        Item::Function(id) => {
            if let Some(function) = module.functions.get(id) {
                print_function(module, function, out);
            }
        }
    }
}

/// The definition of an aggregate type.
pub fn print_type(module: &Module, id: TypeId, out: &mut Vec<u8>) {
    let ty = &module.types[id];
    out.extend_from_slice(b"type :");
    out.extend_from_slice(&ty.name);
    put(out, format_args!(" = align {} {{ ", ty.align));
    match &ty.shape {
        Shape::Opaque => put(out, format_args!("{} ", ty.size)),
        Shape::Struct(fields) => print_fields(module, fields, out),
        Shape::Union(variants) => {
            for variant in variants {
                out.extend_from_slice(b"{ ");
                print_fields(module, variant, out);
                out.extend_from_slice(b"} ");
            }
        }
    }
    out.extend_from_slice(b"}\n");
}

fn print_fields(module: &Module, fields: &[super::Field], out: &mut Vec<u8>) {
    for (n, field) in fields.iter().enumerate() {
        if n > 0 {
            out.extend_from_slice(b", ");
        }
        match field.ty {
            FieldType::B => out.push(b'b'),
            FieldType::H => out.push(b'h'),
            FieldType::W => out.push(b'w'),
            FieldType::L => out.push(b'l'),
            FieldType::S => out.push(b's'),
            FieldType::D => out.push(b'd'),
            FieldType::Aggregate(id) => {
                out.push(b':');
                out.extend_from_slice(&module.types[id].name);
            }
        }
        if field.count != 1 {
            put(out, format_args!(" {}", field.count));
        }
    }
    if !fields.is_empty() {
        out.push(b' ');
    }
}

fn print_linkage(linkage: &Linkage, out: &mut Vec<u8>) {
    if let Some(section) = &linkage.section {
        out.extend_from_slice(b"section \"");
        out.extend_from_slice(section);
        out.push(b'"');
        if let Some(flags) = &linkage.section_flags {
            out.extend_from_slice(b" \"");
            out.extend_from_slice(flags);
            out.push(b'"');
        }
        out.push(b'\n');
    }
    for (flag, word) in
        [(linkage.export, "export "), (linkage.thread, "thread "), (linkage.common, "common ")]
    {
        if flag {
            out.extend_from_slice(word.as_bytes());
        }
    }
}

/// The definition of a data object.
pub fn print_data(module: &Module, data: &Data, out: &mut Vec<u8>) {
    print_linkage(&data.linkage, out);
    out.extend_from_slice(b"data $");
    out.extend_from_slice(module.symbols.name(data.symbol));
    out.extend_from_slice(b" = ");
    if data.align != 8 {
        put(out, format_args!("align {} ", data.align));
    }
    out.extend_from_slice(b"{ ");
    let mut last = None;
    for item in &data.items {
        let letter = match item {
            DataItem::Zero(_) => 'z',
            DataItem::String(_) => 'b',
            DataItem::Int(width, _) | DataItem::Address(width, ..) => match width {
                Width::B => 'b',
                Width::H => 'h',
                Width::W => 'w',
                Width::L => 'l',
            },
        };
        if last == Some(letter) {
            out.push(b' ');
        } else {
            let comma = if last.is_some() { ", " } else { "" };
            put(out, format_args!("{comma}{letter} "));
        }
        last = Some(letter);
        match item {
            DataItem::Zero(n) => put(out, format_args!("{n}")),
            DataItem::Int(_, bits) => put(out, format_args!("{bits}")),
            DataItem::String(text) => {
                out.push(b'"');
                out.extend_from_slice(text);
                out.push(b'"');
            }
            DataItem::Address(_, symbol, offset) => {
                out.push(b'$');
                out.extend_from_slice(module.symbols.name(*symbol));
                if *offset != 0 {
                    put(out, format_args!("+{offset}"));
                }
            }
        }
    }
    out.extend_from_slice(if last.is_some() { b" }\n" } else { b"}\n" });
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a Vec takes all that is written");
}

/// The definition of a function. `module.functions` is not looked at.
pub fn print_function(module: &Module, function: &Function, out: &mut Vec<u8>) {
    let mut printer = Printer::new(module, function, out);
    printer.header();
    for b in function.blocks.indices() {
        printer.block(b);
    }
    printer.out.extend_from_slice(b"}\n");
}

/// The names of one function's things while it is printed.
struct Printer<'a> {
    module: &'a Module,
    f: &'a Function,
    out: &'a mut Vec<u8>,
    temps: IndexVec<TempId, Box<[u8]>>,
    slots: IndexVec<SlotId, Box<[u8]>>,
    blocks: IndexVec<BlockId, Box<[u8]>>,
    fresh: Fresh,
}

/// Makes names that differ from all that are taken.
#[derive(Default)]
struct Fresh {
    taken: FxHashSet<Box<[u8]>>,
    /// The last number tried behind each base, so that a thousand of one name are no search each.
    last: FxHashMap<Box<[u8]>, u32>,
}

impl Fresh {
    /// `base` with the first number behind it that makes it new.
    fn name(&mut self, base: &[u8]) -> Box<[u8]> {
        let last = self.last.entry(base.into()).or_default();
        loop {
            *last += 1;
            let name: Box<[u8]> = [base, format!(".{last}").as_bytes()].concat().into();
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// The names of a table: their own where they are the first to have it.
    fn table<I: Index>(
        &mut self,
        f: &Function,
        rows: impl Iterator<Item = Option<NameId>>,
        has_own: &IndexVec<I, bool>,
        base: &[u8],
    ) -> IndexVec<I, Box<[u8]>> {
        rows.zip(has_own.iter())
            .map(|(name, &own)| match name {
                Some(name) if own => f.names.get(name).into(),
                Some(name) => self.name(f.names.get(name)),
                None => self.name(base),
            })
            .collect()
    }
}

/// Which rows are the first with their name; adds the names to `taken`.
fn first_owners<I>(
    f: &Function,
    rows: impl Iterator<Item = Option<NameId>>,
    taken: &mut FxHashSet<Box<[u8]>>,
) -> IndexVec<I, bool>
where
    I: Index,
{
    rows.map(|name| name.is_some_and(|name| taken.insert(f.names.get(name).into()))).collect()
}

impl<'a> Printer<'a> {
    fn new(module: &'a Module, f: &'a Function, out: &'a mut Vec<u8>) -> Printer<'a> {
        let mut fresh = Fresh::default();
        let block_names = || f.blocks.iter().map(|b| b.name);
        let own = first_owners(f, block_names(), &mut fresh.taken);
        let blocks = fresh.table(f, block_names(), &own, b"block");
        // Labels and temporaries do not collide with each other.
        let mut fresh = Fresh::default();
        let temp_names = || f.temps.iter().map(|t| t.name);
        let slot_names = || f.slots.iter().map(|s| s.name);
        let own_slots = first_owners(f, slot_names(), &mut fresh.taken);
        let own_temps = first_owners(f, temp_names(), &mut fresh.taken);
        let slots = fresh.table(f, slot_names(), &own_slots, b"slot");
        let temps = fresh.table(f, temp_names(), &own_temps, b"t");
        Printer { module, f, out, temps, slots, blocks, fresh }
    }

    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn temp(&mut self, t: TempId) {
        self.out.push(b'%');
        self.out.extend_from_slice(&self.temps[t]);
    }

    fn label(&mut self, b: BlockId) {
        self.out.push(b'@');
        self.out.extend_from_slice(&self.blocks[b]);
    }

    fn header(&mut self) {
        print_linkage(&self.f.linkage, self.out);
        self.text("function ");
        if let Some(ty) = self.f.ret {
            self.abi_type(ty);
            self.text(" ");
        }
        self.text("$");
        self.out.extend_from_slice(self.module.symbols.name(self.f.symbol));
        self.text("(");
        let mut separator = "";
        if let Some(env) = self.f.env {
            self.text("env ");
            self.temp(env);
            separator = ", ";
        }
        for param in &self.f.params {
            self.text(separator);
            self.abi_type(param.ty);
            self.text(" ");
            self.temp(param.to);
            separator = ", ";
        }
        if self.f.variadic {
            self.text(separator);
            self.text("...");
        }
        self.text(") {\n");
    }

    fn abi_type(&mut self, ty: AbiType) {
        match ty {
            AbiType::Base(class) => self.out.push(class.letter() as u8),
            AbiType::Byte { signed: true } => self.text("sb"),
            AbiType::Byte { signed: false } => self.text("ub"),
            AbiType::Half { signed: true } => self.text("sh"),
            AbiType::Half { signed: false } => self.text("uh"),
            AbiType::Aggregate(id) => {
                self.text(":");
                self.out.extend_from_slice(&self.module.types[id].name);
            }
        }
    }

    fn block(&mut self, b: BlockId) {
        let f = self.f;
        let block = &f.blocks[b];
        self.label(b);
        self.text("\n");
        if b == f.entry() {
            for (s, slot) in f.slots.enumerate() {
                let op = match slot.align {
                    0..=4 => "alloc4",
                    5..=8 => "alloc8",
                    _ => "alloc16",
                };
                self.text("\t%");
                self.out.extend_from_slice(&self.slots[s]);
                put(self.out, format_args!(" =l {op} {}\n", slot.size));
            }
        }
        for phi in &block.phis {
            self.text("\t");
            self.temp(phi.to);
            put(self.out, format_args!(" ={} phi", phi.class.letter()));
            let mut separator = " ";
            for &(from, r) in &phi.args {
                self.text(separator);
                self.label(from);
                self.text(" ");
                self.operand(r);
                separator = ", ";
            }
            self.text("\n");
        }
        for inst in &block.insts {
            self.text("\t");
            self.inst(inst);
            self.text("\n");
        }
        self.jump(&block.jump);
    }

    fn jump(&mut self, jump: &Jump) {
        match *jump {
            Jump::Ret(r) if r.is_none() => self.text("\tret"),
            Jump::Ret(r) => {
                self.text("\tret ");
                self.operand(r);
            }
            Jump::Jmp(target) => {
                self.text("\tjmp ");
                self.label(target);
            }
            Jump::Jnz(r, yes, no) => {
                self.text("\tjnz ");
                self.operand(r);
                self.text(", ");
                self.label(yes);
                self.text(", ");
                self.label(no);
            }
            Jump::Hlt => self.text("\thlt"),
        }
        self.text("\n");
    }

    fn inst(&mut self, inst: &Inst) {
        if let Some(c) = inst.call() {
            return self.call(inst, &self.f.calls[c]);
        }
        if let Some(to) = inst.to {
            self.temp(to);
            put(self.out, format_args!(" ={} ", inst.class.letter()));
        }
        if inst.volatile {
            self.text("volatile ");
        }
        self.text(inst.op.name());
        let mut operands = inst.operands();
        if inst.op == Op::Dbgloc && operands.get(1).is_some_and(|r| r.value() == Value::Int(0)) {
            operands = &operands[..1];
        }
        let mut separator = " ";
        for &r in operands {
            self.text(separator);
            self.operand(r);
            separator = ", ";
        }
    }

    fn call(&mut self, inst: &Inst, call: &Call) {
        if let Some(ty) = call.ret {
            match inst.to {
                Some(to) => self.temp(to),
                // A result nobody wants must still be named: its type is part of the call.
                None => {
                    self.text("%");
                    let name = self.fresh.name(b"unused");
                    self.out.extend_from_slice(&name);
                }
            }
            self.text(" =");
            self.abi_type(ty);
            self.text(" ");
        }
        self.text("call ");
        self.operand(inst.args[0]);
        self.text("(");
        let mut separator = "";
        if call.env.is_some() {
            self.text("env ");
            self.operand(call.env);
            separator = ", ";
        }
        for (n, arg) in call.args.iter().enumerate() {
            self.text(separator);
            if call.variadic == Some(n as u32) {
                self.text("..., ");
            }
            self.abi_type(arg.ty);
            self.text(" ");
            self.operand(arg.value);
            separator = ", ";
        }
        if call.variadic == Some(call.args.len() as u32) {
            self.text(separator);
            self.text("...");
        }
        self.text(")");
    }

    fn operand(&mut self, r: Ref) {
        match r.value() {
            Value::None | Value::Call(_) => unreachable!("no operand to print"),
            Value::Temp(t) => self.temp(t),
            Value::Slot(s) => {
                self.out.push(b'%');
                self.out.extend_from_slice(&self.slots[s]);
            }
            Value::Int(i) => put(self.out, format_args!("{i}")),
            Value::Const(c) => match self.f.consts.get(c) {
                Const::Int(i) => put(self.out, format_args!("{i}")),
                Const::Single(bits) => print_single(bits, self.out),
                Const::Double(bits) => print_double(bits, self.out),
                Const::Symbol { symbol, access, offset } => {
                    self.text(match access {
                        Access::Direct => "$",
                        Access::Extern => "extern $",
                        Access::Thread => "thread $",
                        Access::ExternThread => "extern thread $",
                    });
                    self.out.extend_from_slice(self.module.symbols.name(symbol));
                    if offset != 0 {
                        put(self.out, format_args!("{offset:+}"));
                    }
                }
            },
        }
    }
}

/// The shortest literal that reads back as the same bits; a NaN as an integer, so that its
/// payload survives.
fn print_single(bits: u32, out: &mut Vec<u8>) {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        put(out, format_args!("{bits}"));
    } else if is_plain(f64::from(value)) {
        put(out, format_args!("s_{value}"));
    } else {
        put(out, format_args!("s_{value:e}"));
    }
}

fn print_double(bits: u64, out: &mut Vec<u8>) {
    let value = f64::from_bits(bits);
    if value.is_nan() {
        put(out, format_args!("{}", bits as i64));
    } else if is_plain(value) {
        put(out, format_args!("d_{value}"));
    } else {
        put(out, format_args!("d_{value:e}"));
    }
}

/// True for values that are short without an exponent.
fn is_plain(value: f64) -> bool {
    value == 0.0 || value.is_infinite() || (1e-5..1e16).contains(&value.abs())
}
