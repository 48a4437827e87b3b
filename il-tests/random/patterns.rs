//! Random statements of several lines: shapes that passes and selection look for.

use super::body::Body;
use super::generate::{D, L, LETTERS, S, W};

impl Body<'_> {
    /// Reads, writes or changes a local variable: memory that nothing else points to.
    pub fn local(&mut self) {
        if self.locals.is_empty() {
            return self.operation();
        }
        let row = self.below(self.locals.len());
        let (address, class) = self.locals[row].clone();
        let letter = LETTERS[class];
        match self.below(10) {
            0..4 => self.define(class, format_args!("load{letter} {address}")),
            4..7 => {
                let value = self.operand(class);
                self.line(format_args!("\tstore{letter} {value}, {address}"));
            }
            7 | 8 => {
                let old = self.emit(class, format_args!("load{letter} {address}"));
                let ops = if class == S || class == D {
                    &["add", "sub", "mul"][..]
                } else {
                    &["add", "sub", "mul", "and", "or", "xor"]
                };
                let op = self.g.random.pick(ops);
                let by = self.operand(class);
                let new = self.emit(class, format_args!("{op} {old}, {by}"));
                self.line(format_args!("\tstore{letter} {new}, {address}"));
            }
            _ => {
                // A part of it.
                let size = if class == L || class == D { 8 } else { 4 };
                let (load, store, bytes) = self.g.random.pick(&[
                    ("loadub", "storeb", 1),
                    ("loadsb", "storeb", 1),
                    ("loadsh", "storeh", 2),
                    ("loaduh", "storeh", 2),
                    ("loadsw", "storew", 4),
                ]);
                let offset = self.below(size / bytes) * bytes;
                let at = self.offset(&address, offset as u64);
                if self.chance(50) {
                    let to = self.g.random.pick(&[W, L]);
                    self.define(to, format_args!("{load} {at}"));
                } else {
                    let value = self.operand(W);
                    self.line(format_args!("\t{store} {value}, {at}"));
                }
            }
        }
    }

    /// A value that one or two tests choose: minimum, maximum, magnitude, a truth value.
    pub fn choice(&mut self) {
        let class = self.below(4);
        let letter = LETTERS[class];
        let (yes, join) = (self.new_label("choose"), self.new_label("chosen"));
        let (a, b) = (self.value(class), self.operand(class));
        let (a, b) = if class == W { (self.as_w(a), self.as_w(b)) } else { (a, b) };
        let relations: &[&str] = if class == S || class == D {
            &["clt", "cgt", "cle", "cge", "ceq", "cuo"]
        } else {
            &["cslt", "csgt", "cule", "cuge", "ceq", "cne"]
        };
        let relation = self.g.random.pick(relations);
        match self.below(4) {
            0 => {
                let test = self.emit(W, format_args!("{relation}{letter} {a}, {b}"));
                let from = self.block.clone();
                self.line(format_args!("\tjnz {test}, @{yes}, @{join}"));
                self.label(&yes);
                self.label(&join);
                let (x, y) = if self.chance(50) { (&a, &b) } else { (&b, &a) };
                self.define_phi(class, &format!("@{from} {x}, @{yes} {y}"));
            }
            1 => {
                let test = self.emit(W, format_args!("{relation}{letter} {a}, {b}"));
                let from = self.block.clone();
                self.line(format_args!("\tjnz {test}, @{yes}, @{join}"));
                self.label(&yes);
                let op = self.g.random.pick(&["neg {}", "add {}, 1", "sub {}, 1", "mul {}, 3"]);
                let other = self.emit(class, format_args!("{}", op.replace("{}", &a)));
                self.label(&join);
                self.define_phi(class, &format!("@{from} {a}, @{yes} {other}"));
            }
            2 => {
                // `a < b && c`, as a number.
                let second = self.new_label("also");
                let test = self.emit(W, format_args!("{relation}{letter} {a}, {b}"));
                let from = self.block.clone();
                let and = self.chance(50);
                let short =
                    if and { format!("@{second}, @{join}") } else { format!("@{join}, @{second}") };
                self.line(format_args!("\tjnz {test}, {short}"));
                self.label(&second);
                let value = self.value(W);
                let truth = self.emit(W, format_args!("cnew {value}, 0"));
                let known = if and { 0 } else { 1 };
                self.label(&join);
                self.define_phi(W, &format!("@{from} {known}, @{second} {truth}"));
            }
            _ => {
                // A bit of a number.
                let int = self.g.random.pick(&[W, L]);
                let value = self.value(int);
                let bit = self.below(if int == W { 32 } else { 64 });
                let masked = if self.chance(50) {
                    self.emit(int, format_args!("and {value}, {}", 1i64 << bit))
                } else {
                    let low = self.emit(int, format_args!("shr {value}, {bit}"));
                    self.emit(int, format_args!("and {low}, 1"))
                };
                let test = self.emit(W, format_args!("cne{} {masked}, 0", LETTERS[int]));
                let from = self.block.clone();
                self.line(format_args!("\tjnz {test}, @{yes}, @{join}"));
                self.label(&yes);
                let global = self.global_for(W);
                if let Some(global) = global {
                    let old = self.emit(W, format_args!("loadw {global}"));
                    let new = self.emit(W, format_args!("xor {old}, {test}"));
                    self.line(format_args!("\tstorew {new}, {global}"));
                }
                self.label(&join);
                self.define_phi(class, &format!("@{from} {b}, @{yes} {a}"));
            }
        }
    }

    fn define_phi(&mut self, class: usize, args: &str) {
        let to = self.emit(class, format_args!("phi {args}"));
        self.values[class].push(to);
    }

    /// More values alive at once than there are registers, with or without a call among them.
    pub fn crowd(&mut self) {
        let class = self.below(4);
        let count = self.g.random.between(6, 24);
        let mut all: Vec<String> = Vec::new();
        for i in 0..count {
            let (a, b) = (self.value(class), self.operand(class));
            let op = if i % 3 == 0 { "mul" } else { "add" };
            all.push(self.emit(class, format_args!("{op} {a}, {b}")));
        }
        if self.loops == 0 && self.chance(40) {
            self.some_call();
        }
        let mut sum = self.operand(class);
        while !all.is_empty() {
            let row = self.below(all.len());
            let value = all.swap_remove(row);
            let op = self.g.random.pick(&["add", "sub", "mul"]);
            sum = self.emit(class, format_args!("{op} {sum}, {value}"));
        }
        self.values[class].push(sum);
    }

    /// A number put together from bytes or taken apart into them.
    pub fn bytes(&mut self) {
        let size = self.g.random.pick(&[2, 4, 8]);
        let class = if size == 8 { L } else { self.g.random.pick(&[W, L]) };
        let load = self.chance(50);
        let at = self.place(size, load);
        let big_endian = self.chance(50);
        let shift = |i: u64| 8 * if big_endian { size - 1 - i } else { i };
        if !load {
            let value = self.operand(class);
            for i in 0..size {
                let byte = match shift(i) {
                    0 => value.clone(),
                    n => self.emit(class, format_args!("shr {value}, {n}")),
                };
                let to = self.offset(&at, i);
                self.line(format_args!("\tstoreb {byte}, {to}"));
            }
            return;
        }
        let mut sum = String::new();
        for i in 0..size {
            let from = self.offset(&at, i);
            let byte = self.emit(class, format_args!("loadub {from}"));
            let part = match shift(i) {
                0 => byte,
                n => self.emit(class, format_args!("shl {byte}, {n}")),
            };
            sum = match sum.is_empty() {
                true => part,
                false => self.emit(class, format_args!("or {sum}, {part}")),
            };
        }
        self.values[class].push(sum);
    }
}
