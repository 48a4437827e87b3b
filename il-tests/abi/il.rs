//! The IL of a signature: a function that checks what it is passed, and one that calls C's.

use super::signature::{Base, Signature, Type, Value, bits};
use std::fmt::Write;

/// What a check reports besides the signature: one of these plus the number of the value.
pub const IL_PARAMETER: usize = 100;
pub const C_RESULT: usize = 200;
pub const C_PARAMETER: usize = 300;
pub const IL_RESULT: usize = 400;
pub const IL_LIVE: usize = 500;
pub const IL_COPY: usize = 600;
pub const C_COPY: usize = 700;

/// How C passes a `va_list` that is not pointed to.
#[derive(Copy, Clone, PartialEq)]
pub enum List {
    /// It is an array or a large struct.
    Address,
    /// It is a pointer.
    Value,
}

/// A function being written.
struct Writer<'a> {
    out: &'a mut String,
    temps: usize,
    /// Check by comparing, and call only if something is wrong.
    leaf: bool,
    /// What was compared so far: not 0 if something is wrong.
    wrong: Option<String>,
}

/// The functions of the signature number `k`: types `:tk_n`, functions `$ilk`, `$callck`.
pub fn functions(k: usize, signature: &Signature, list: List, out: &mut String) {
    for (n, value) in signature.args.iter().chain(&signature.ret).enumerate() {
        if let Type::Aggregate(aggregate) = &value.ty {
            aggregate.define_il(&format!("t{k}_{n}"), out);
        }
    }
    callee(k, signature, list, out);
    caller(k, signature, out);
}

/// The type of the value number `n`; the result stands behind the arguments.
fn type_text(k: usize, n: usize, value: &Value) -> String {
    match &value.ty {
        Type::Base(base) => base.letter().to_owned(),
        Type::Aggregate(_) => format!(":t{k}_{n}"),
    }
}

/// The class of a temporary that holds such a value.
fn class(value: &Value) -> &'static str {
    match &value.ty {
        Type::Base(base) if base.is_narrow() => "w",
        Type::Base(base) => base.letter(),
        Type::Aggregate(_) => "l",
    }
}

fn result_type(k: usize, signature: &Signature) -> String {
    let ret = signature.ret.as_ref();
    ret.map_or(String::new(), |r| format!("{} ", type_text(k, signature.args.len(), r)))
}

fn callee(k: usize, signature: &Signature, list: List, out: &mut String) {
    let named = &signature.args[..signature.named()];
    let mut params: Vec<String> = (0..named.len())
        .map(|n| format!("{} %a{n}", type_text(k, n, &signature.args[n])))
        .collect();
    if signature.variadic.is_some() {
        params.push("...".into());
    }
    let ret = result_type(k, signature);
    let _ = writeln!(out, "export function {ret}$il{k}({}) {{\n@start", params.join(", "));
    let mut writer = Writer { out, temps: 0, leaf: signature.style & 1 == 0, wrong: None };
    let list_first = signature.style & 2 == 0;
    let variadic = signature.variadic.is_some();
    if variadic && list_first {
        writer.lists(k, signature, list);
    }
    for (n, value) in named.iter().enumerate() {
        let parameter = format!("%a{n}");
        writer.check(IL_PARAMETER + n, value, &parameter);
        if let Type::Aggregate(aggregate) = &value.ty {
            // It is the callee's own.
            for (offset, length) in aggregate.values() {
                for at in [offset, offset + length - 1] {
                    let address = writer.op("l", &format!("add {parameter}, {at}"));
                    writer.line(&format!("storeb 90, {address}"));
                }
            }
        }
    }
    if variadic && !list_first {
        writer.lists(k, signature, list);
    }
    let result = signature.ret.as_ref().map_or(String::new(), |ret| writer.value(ret));
    writer.verdict(IL_PARAMETER + 99);
    writer.line(&format!("ret {result}"));
    out.push_str("}\n");
}

fn caller(k: usize, signature: &Signature, out: &mut String) {
    let _ = writeln!(out, "export function $callc{k}() {{\n@start");
    let mut writer = Writer { out, temps: 0, leaf: signature.style & 4 == 0, wrong: None };
    let live: Vec<String> = signature.live.iter().map(|v| writer.value(v)).collect();
    let mut args = Vec::new();
    let mut copies = Vec::new();
    for (n, value) in signature.args.iter().enumerate() {
        if signature.variadic == Some(n) {
            args.push("...".into());
        }
        let named = n < signature.named();
        let operand = if named { writer.value(value) } else { writer.promoted(value) };
        let ty = match (&value.ty, named) {
            (Type::Base(Base::S), false) => "d".into(),
            (Type::Base(base), false) if base.is_narrow() => "w".into(),
            _ => type_text(k, n, value),
        };
        args.push(format!("{ty} {operand}"));
        if matches!(value.ty, Type::Aggregate(_)) {
            copies.push((n, operand));
        }
    }
    if signature.variadic == Some(signature.args.len()) {
        args.push("...".into());
    }
    let call = format!("call $tc{k}({})", args.join(", "));
    let n = signature.args.len();
    match &signature.ret {
        Some(ret) => {
            let ty = type_text(k, n, ret);
            writer.line(&format!("%r ={ty} {call}"));
        }
        None => writer.line(&call),
    }
    for (n, (value, operand)) in signature.live.iter().zip(&live).enumerate() {
        writer.check(IL_LIVE + n, value, operand);
    }
    if let Some(ret) = &signature.ret {
        writer.check(IL_RESULT, ret, "%r");
    }
    for (n, operand) in copies {
        writer.check(IL_COPY + n, &signature.args[n], &operand);
    }
    writer.verdict(IL_RESULT + 99);
    writer.line("ret");
    out.push_str("}\n");
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "\t{text}");
    }

    /// `%tN =class text`; returns the temporary.
    fn op(&mut self, class: &str, text: &str) -> String {
        self.temps += 1;
        let temp = format!("%t{}", self.temps);
        self.line(&format!("{temp} ={class} {text}"));
        temp
    }

    fn table(&mut self, at: u64) -> String {
        self.op("l", &format!("add $V, {at}"))
    }

    /// A value from the table, or a constant. What is narrow has garbage above.
    fn value(&mut self, value: &Value) -> String {
        let Type::Base(base) = value.ty else { return self.aggregate(value) };
        let constant = value.style & 3 == 0;
        if constant {
            return match base {
                Base::L => (bits(value.at, 8) as i64).to_string(),
                Base::D => bits(value.at, 8).to_string(),
                Base::S => bits(value.at, 4).to_string(),
                _ => (bits(value.at, 4) as i32).to_string(),
            };
        }
        let address = self.table(value.at);
        let long_for_word = value.style & 12 == 0;
        match base {
            Base::L => self.op("l", &format!("loadl {address}")),
            Base::S => self.op("s", &format!("loads {address}")),
            Base::D => self.op("d", &format!("loadd {address}")),
            _ if long_for_word => self.op("l", &format!("loadl {address}")),
            _ => self.op("w", &format!("loadw {address}")),
        }
    }

    /// What stands for a value behind the dots.
    fn promoted(&mut self, value: &Value) -> String {
        let load = match value.ty {
            Type::Base(Base::Sb) => "loadsb",
            Type::Base(Base::Ub) => "loadub",
            Type::Base(Base::Sh) => "loadsh",
            Type::Base(Base::Uh) => "loaduh",
            Type::Base(Base::S) => {
                let single = self.value(value);
                return self.op("d", &format!("exts {single}"));
            }
            _ => return self.value(value),
        };
        let address = self.table(value.at);
        self.op("w", &format!("{load} {address}"))
    }

    /// The address of an aggregate: in the table, in a slot, or at the very end of a page.
    fn aggregate(&mut self, value: &Value) -> String {
        let address = self.table(value.at);
        let Type::Aggregate(aggregate) = &value.ty else { return address };
        let size = aggregate.size();
        if size == 0 {
            return address;
        }
        match value.style & 3 {
            0 => address,
            1 => self.op("l", &format!("call $at_end(l {address}, w {size})")),
            _ => {
                let slot = self.slot(aggregate.align(), size);
                self.line(&format!("blit {address}, {slot}, {size}"));
                slot
            }
        }
    }

    fn slot(&mut self, align: u64, size: u64) -> String {
        self.op("l", &format!("alloc{} {size}", align.clamp(4, 16)))
    }

    /// Checks a named parameter, a result or another value.
    fn check(&mut self, place: usize, value: &Value, operand: &str) {
        match &value.ty {
            Type::Aggregate(aggregate) => {
                for (offset, length) in aggregate.values() {
                    let address = self.op("l", &format!("add {operand}, {offset}"));
                    self.bytes(place, &address, value.at + offset, length);
                }
            }
            Type::Base(base) if base.is_narrow() => {
                let extended = self.op("w", &format!("ext{} {operand}", base.letter()));
                self.number(place, &extended, value.extended());
            }
            Type::Base(base) => {
                let class = class(value);
                if self.leaf {
                    let number = match base {
                        Base::S => self.op("w", &format!("cast {operand}")),
                        Base::D => self.op("l", &format!("cast {operand}")),
                        _ => operand.to_owned(),
                    };
                    let size = value.size();
                    self.compare(&number, size, bits(value.at, size));
                } else {
                    let slot = self.slot(16, 16);
                    self.line(&format!("store{class} {operand}, {slot}"));
                    self.bytes(place, &slot, value.at, value.size());
                }
            }
        }
    }

    /// Checks what came from a list.
    fn check_promoted(&mut self, place: usize, value: &Value, operand: &str) {
        match value.ty {
            Type::Base(base) if base.is_narrow() => {
                self.number(place, operand, value.extended());
            }
            Type::Base(Base::S) => {
                let number = self.op("l", &format!("cast {operand}"));
                if self.leaf {
                    self.compare(&number, 8, value.widened());
                } else {
                    let wanted = value.widened() as i64;
                    self.line(&format!("call $ickn(w {place}, l {number}, l {wanted})"));
                }
            }
            _ => self.check(place, value, operand),
        }
    }

    /// Checks a `w`, extended.
    fn number(&mut self, place: usize, operand: &str, wanted: i64) {
        if self.leaf {
            self.compare(operand, 4, wanted as u64);
        } else {
            let long = self.op("l", &format!("extsw {operand}"));
            self.line(&format!("call $ickn(w {place}, l {long}, l {wanted})"));
        }
    }

    /// Checks bytes in memory.
    fn bytes(&mut self, place: usize, address: &str, at: u64, length: u64) {
        if !self.leaf {
            self.line(&format!("call $ick(w {place}, l {address}, w {at}, w {length})"));
            return;
        }
        let mut done = 0;
        while done < length {
            let size = [8, 4, 2, 1].into_iter().find(|s| done + s <= length).unwrap_or(1);
            let load = match size {
                8 => "l loadl",
                4 => "w loadw",
                2 => "w loaduh",
                _ => "w loadub",
            };
            let (class, load) = load.split_at(1);
            let here = self.op("l", &format!("add {address}, {done}"));
            let got = self.op(class, &format!("{} {here}", load.trim()));
            self.compare(&got, size, bits(at + done, size));
            done += size;
        }
    }

    /// Notes whether a `w`, or an `l` if `size` is 8, differs from a number.
    fn compare(&mut self, operand: &str, size: u64, wanted: u64) {
        let differs = match size {
            8 => format!("cnel {operand}, {}", wanted as i64),
            _ => format!("cnew {operand}, {}", wanted as i32),
        };
        let differs = self.op("w", &differs);
        self.wrong = Some(match self.wrong.take() {
            Some(wrong) => self.op("w", &format!("or {wrong}, {differs}")),
            None => differs,
        });
    }

    /// Reports what was compared.
    fn verdict(&mut self, place: usize) {
        if let Some(wrong) = self.wrong.take() {
            self.line(&format!("jnz {wrong}, @bad, @good"));
            self.out.push_str("@bad\n");
            self.line(&format!("call $ickn(w {place}, l 1, l 0)"));
            self.out.push_str("@good\n");
        }
    }

    /// Reads the variadic arguments, perhaps twice.
    fn lists(&mut self, k: usize, signature: &Signature, list: List) {
        let named = signature.named();
        let rounds = 1 + (signature.style >> 3 & 1);
        for round in 0..rounds {
            let address = self.slot(8, 32);
            self.line(&format!("vastart {address}"));
            for (n, value) in signature.args.iter().enumerate().skip(named) {
                if round == 0 && rest(signature) == Some(n) {
                    let passed = match list {
                        List::Address => address.clone(),
                        List::Value => self.op("l", &format!("loadl {address}")),
                    };
                    self.line(&format!("call $cw{k}(l {passed})"));
                    break;
                }
                let by_c = value.style >> (4 + round) & 7 == 0;
                if by_c || matches!(value.ty, Type::Aggregate(_)) {
                    self.line(&format!("call $cv{k}_{n}(l {address})"));
                    continue;
                }
                let class = match value.ty {
                    Type::Base(Base::S) => "d",
                    _ => class(value),
                };
                let got = self.op(class, &format!("vaarg {address}"));
                self.check_promoted(IL_PARAMETER + n, value, &got);
            }
        }
    }
}

/// The argument from which on C reads the list, in the first round.
pub fn rest(signature: &Signature) -> Option<usize> {
    let named = signature.named();
    signature.variadic?;
    let n = named + (signature.style >> 6) as usize % (signature.args.len() - named + 1);
    (signature.style >> 4 & 3 == 0 && n < signature.args.len()).then_some(n)
}
