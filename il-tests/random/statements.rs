//! Random statements: operations, memory, and control flow with phis.

use super::body::Body;
use super::generate::{D, L, LETTERS, Object, S, SIZES, W};
use backend::ir::ops::Want;
use backend::ir::{Class, Op};

/// Statements inside loops inside loops are run often; there are no loops deeper than this.
const DEEPEST_LOOP: usize = 2;
const DEEPEST: usize = 4;

/// Kinds of statements.
#[derive(Copy, Clone)]
enum Kind {
    Operation,
    Load,
    Store,
    Blit,
    Pointer,
    Local,
    Call,
    Allocation,
    Variadic,
    Bytes,
    Address,
    Choice,
    Crowd,
    Conditional,
    Loop,
    TwoEntries,
    Switch,
    Dead,
}

/// Functions differ in what they are made of.
pub const STYLES: usize = 5;

/// How often each kind comes in the styles: mixed, arithmetic, memory, locals as a C compiler's
/// front end writes them, control flow.
const WEIGHTS: [(Kind, [usize; STYLES]); 18] = [
    (Kind::Operation, [35, 70, 15, 20, 25]),
    (Kind::Load, [14, 4, 30, 6, 6]),
    (Kind::Store, [12, 4, 25, 4, 4]),
    (Kind::Blit, [3, 0, 6, 1, 1]),
    (Kind::Pointer, [3, 0, 6, 1, 1]),
    (Kind::Local, [4, 0, 4, 40, 10]),
    (Kind::Call, [6, 4, 4, 6, 4]),
    (Kind::Allocation, [2, 0, 3, 1, 0]),
    (Kind::Variadic, [2, 2, 2, 2, 2]),
    (Kind::Bytes, [2, 1, 6, 1, 0]),
    (Kind::Address, [2, 0, 3, 1, 0]),
    (Kind::Choice, [3, 6, 2, 4, 14]),
    (Kind::Crowd, [1, 3, 1, 0, 0]),
    (Kind::Conditional, [9, 4, 6, 9, 18]),
    (Kind::Loop, [5, 3, 5, 6, 8]),
    (Kind::TwoEntries, [1, 0, 1, 1, 3]),
    (Kind::Switch, [2, 1, 1, 2, 5]),
    (Kind::Dead, [1, 0, 1, 1, 1]),
];

impl Body<'_> {
    /// Writes statements until the region ends by chance or the budget by force.
    pub fn statements(&mut self, depth: usize) {
        let count = if depth == 0 { usize::MAX } else { self.g.random.between(1, 8) };
        for _ in 0..count {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        let total: usize = WEIGHTS.iter().map(|(_, weights)| weights[self.style]).sum();
        let mut rest = self.below(total);
        let row = WEIGHTS.iter().find(|(_, weights)| match rest.checked_sub(weights[self.style]) {
            None => true,
            Some(less) => {
                rest = less;
                false
            }
        });
        let kind = row.expect("the rest is less than the total").0;
        let nested = depth < DEEPEST;
        let looping = nested && self.loops < DEEPEST_LOOP;
        match kind {
            Kind::Load => self.load(),
            Kind::Store => self.store(),
            Kind::Blit => self.blit(),
            Kind::Pointer => self.pointer(),
            Kind::Local => self.local(),
            Kind::Call => self.some_call(),
            Kind::Allocation => self.allocation(),
            Kind::Variadic => self.next_variadic(),
            Kind::Bytes => self.bytes(),
            Kind::Address => self.address_arithmetic(),
            Kind::Choice => self.choice(),
            Kind::Crowd => self.crowd(),
            Kind::Conditional if nested => self.conditional(depth),
            Kind::Loop if looping => self.counted_loop(depth),
            Kind::TwoEntries if looping => self.two_entries(depth),
            Kind::Switch if nested => self.switch(depth),
            Kind::Dead => self.dead_code(),
            _ => self.operation(),
        }
    }

    /// A pure op of the table.
    pub fn operation(&mut self) {
        let op = loop {
            let op = self.g.random.pick(Op::ALL);
            let row = op.row();
            // Comparisons are half the table.
            let rare = op.comparison().is_some() && self.chance(60);
            if op.is_pure() && !row.internal && row.result && !rare {
                break op;
            }
        };
        let class = loop {
            let class = self.g.random.pick(&Class::ALL);
            if op.wants(class)[0] != Want::Invalid {
                break class;
            }
        };
        let operands: Vec<usize> = op
            .wants(class)
            .iter()
            .map_while(|want| match want {
                Want::A(class) => Some(*class as usize),
                _ => None,
            })
            .collect();
        let mut args: Vec<String> = operands.iter().map(|&class| self.operand(class)).collect();
        let to = class as usize;
        match op {
            Op::Div | Op::Rem | Op::Udiv | Op::Urem if class.is_int() => {
                args[1] = self.divisor(to);
            }
            Op::Sar | Op::Shr | Op::Shl if self.g.options.plain => {
                args[1] = self.below(32).to_string();
            }
            Op::Stosi | Op::Stoui | Op::Dtosi | Op::Dtoui => {
                let unsigned = matches!(op, Op::Stoui | Op::Dtoui);
                args[0] = self.moderate(&args[0], operands[0], unsigned);
            }
            _ => {}
        }
        self.define(to, format_args!("{} {}", op.name(), args.join(", ")));
    }

    /// A divisor that is neither 0 nor -1.
    fn divisor(&mut self, class: usize) -> String {
        if self.chance(50) {
            let constant = self.g.random.integer();
            let low = if class == W { i64::from(constant as i32) } else { constant };
            return if matches!(low, 0 | -1) { "7".into() } else { constant.to_string() };
        }
        let value = self.operand(class);
        let masked = self.emit(class, format_args!("and {value}, 255"));
        self.emit(class, format_args!("or {masked}, 1"))
    }

    /// A float like the given one, but small enough for every integer.
    fn moderate(&mut self, value: &str, class: usize, unsigned: bool) -> String {
        let (int, keep, exponent): (_, i64, i64) = match class {
            S => (W, 0x807f_ffffu32 as i64, 0x4500_0000),
            _ => (L, i64::MIN | ((1 << 52) - 1), 0x40b0_0000_0000_0000),
        };
        let keep = if unsigned { keep & !(1i64 << (8 * SIZES[class] - 1)) } else { keep };
        let bits = self.emit(int, format_args!("cast {value}"));
        let bits = self.emit(int, format_args!("and {bits}, {keep}"));
        let bits = self.emit(int, format_args!("or {bits}, {exponent}"));
        self.emit(class, format_args!("cast {bits}"))
    }

    /// An address in bounds of some object for an access of so many bytes.
    pub fn place(&mut self, size: u64, load: bool) -> String {
        let raw = !load || self.chance(5);
        let known = self.object(|object| object.size >= size && (raw || object.ready));
        let Some(object) = known else { return self.ready_object(size) };
        let room = object.size - size;
        if room == 0 {
            return object.address;
        }
        if room >= 3 && self.chance(30) {
            // Base, index, scale and displacement, as machines have them.
            let fixed = if self.chance(40) { self.below(room as usize / 2 + 1) as u64 } else { 0 };
            let scale = self.g.random.pick(&[1, 2, 4, 8]);
            let mask = (1 << ((room - fixed) / scale + 1).ilog2()) - 1;
            let first = self.chance(50);
            let base = if first { self.offset(&object.address, fixed) } else { object.address };
            let sum = self.indexed(&base, scale, mask);
            return if first { sum } else { self.offset(&sum, fixed) };
        }
        let offset = match self.below(3) {
            0 => 0,
            1 => (self.below(room as usize + 1) as u64) / size.max(1) * size,
            _ => self.below(room as usize + 1) as u64,
        };
        self.offset(&object.address, offset)
    }

    fn indexed(&mut self, address: &str, scale: u64, mask: u64) -> String {
        let index = if self.chance(50) {
            let value = self.operand(W);
            let index = self.emit(W, format_args!("and {value}, {mask}"));
            let op = self.g.random.pick(&["extuw", "extsw"]);
            self.emit(L, format_args!("{op} {index}"))
        } else {
            let value = self.operand(L);
            self.emit(L, format_args!("and {value}, {mask}"))
        };
        let scaled = match scale {
            1 => index,
            _ if self.chance(50) => self.emit(L, format_args!("mul {index}, {scale}")),
            _ => self.emit(L, format_args!("shl {index}, {}", scale.trailing_zeros())),
        };
        if self.chance(50) {
            self.emit(L, format_args!("add {address}, {scaled}"))
        } else {
            self.emit(L, format_args!("add {scaled}, {address}"))
        }
    }

    fn volatile(&mut self) -> &'static str {
        if self.g.options.volatile && self.chance(4) { "volatile " } else { "" }
    }

    fn load(&mut self) {
        let (op, classes, size): (&str, &[usize], u64) = self.g.random.pick(&[
            ("loadsb", &[W, L] as &[usize], 1),
            ("loadub", &[W, L], 1),
            ("loadsh", &[W, L], 2),
            ("loaduh", &[W, L], 2),
            ("loadsw", &[W, L], 4),
            ("loaduw", &[W, L], 4),
            ("loadw", &[W], 4),
            ("loadl", &[L], 8),
            ("loadl", &[L], 8),
            ("loads", &[S], 4),
            ("loadd", &[D], 8),
        ]);
        let class = self.g.random.pick(classes);
        let at = self.place(size, true);
        let volatile = self.volatile();
        self.define(class, format_args!("{volatile}{op} {at}"));
    }

    fn store(&mut self) {
        let (op, class, size) = self.g.random.pick(&[
            ("storeb", W, 1),
            ("storeh", W, 2),
            ("storew", W, 4),
            ("storew", W, 4),
            ("storel", L, 8),
            ("storel", L, 8),
            ("stores", S, 4),
            ("stored", D, 8),
        ]);
        let value = self.operand(class);
        let at = self.place(size, false);
        let volatile = self.volatile();
        self.line(format_args!("\t{volatile}{op} {value}, {at}"));
    }

    fn blit(&mut self) {
        let size = self.g.random.pick(&[0, 1, 2, 3, 4, 7, 8, 12, 16, 20]);
        let from = self.place(size, true);
        // Partial overlap is not allowed, so copy between different objects or through a new one.
        let to = self.emit(L, format_args!("alloc8 {size}"));
        let volatile = self.volatile();
        self.line(format_args!("\t{volatile}blit {from}, {to}, {size}"));
        if size > 0 {
            if self.chance(50) {
                let back = self.place(size, false);
                self.line(format_args!("\tblit {to}, {back}, {size}"));
            }
            self.objects.push(Object { address: to, size, ready: true, stable: self.loops == 0 });
        }
    }

    /// Pointers through memory and phis of pointers.
    fn pointer(&mut self) {
        if !self.cells.is_empty() && self.chance(70) {
            let row = self.below(self.cells.len());
            let (cell, size) = self.cells[row].clone();
            let target = self.stable_object(size).filter(|_| self.chance(50));
            if let Some(Object { address, .. }) = target {
                self.line(format_args!("\tstorel {address}, {cell}"));
            }
            let address = self.emit(L, format_args!("loadl {cell}"));
            self.objects.push(Object { address, size, ready: true, stable: true });
        } else if let (Some(a), Some(b)) = (self.stable_object(0), self.stable_object(0)) {
            let (yes, join) = (self.new_label("pick"), self.new_label("picked"));
            let condition = self.value(W);
            let from = self.block.clone();
            self.line(format_args!("\tjnz {condition}, @{yes}, @{join}"));
            self.label(&yes);
            self.label(&join);
            let address =
                self.emit(L, format_args!("phi @{from} {}, @{yes} {}", a.address, b.address));
            let size = a.size.min(b.size);
            self.objects.push(Object { address, size, ready: true, stable: true });
        }
    }

    /// Differences and comparisons of addresses whose result is certain.
    fn address_arithmetic(&mut self) {
        let Some(Object { address, size, .. }) = self.stable_object(0) else { return };
        let offset = self.below(size as usize + 1) as u64;
        let other = self.offset(&address, offset);
        match self.below(4) {
            0 => self.define(L, format_args!("sub {other}, {address}")),
            1 => self.define(W, format_args!("ceql {other}, {address}")),
            2 => self.define(W, format_args!("cugtl {other}, {address}")),
            _ => self.define(W, format_args!("ceql {address}, 0")),
        }
    }

    pub fn some_call(&mut self) {
        if self.loops > 0 && self.calls > 1 || self.calls > 5 {
            return self.operation();
        }
        let recursive = self.signature.recursive;
        if recursive && self.calls == 0 && self.loops == 0 && self.chance(60) {
            self.calls += 1;
            return self.recursion();
        }
        let count = self.g.functions.len();
        if count == 0 {
            return self.operation();
        }
        let row = self.below(count);
        let callee = self.g.functions[row].clone();
        self.calls += 1;
        if let Some((value, class)) = self.call(&callee) {
            self.values[class].push(value);
        }
    }

    fn recursion(&mut self) {
        let callee = self.signature.clone();
        let (deeper, after) = (self.new_label("deeper"), self.new_label("after"));
        let more = self.emit(W, format_args!("csgtw %p0, 0"));
        self.line(format_args!("\tjnz {more}, @{deeper}, @{after}"));
        self.label(&deeper);
        let scope = self.scope();
        if let Some((value, class)) = self.call(&callee)
            && let Some(place) = self.global_for(class)
        {
            self.line(format_args!("\tstore{} {value}, {place}", LETTERS[class]));
        }
        self.restore(&scope);
        self.label(&after);
    }

    /// A global that a value of a class fits in.
    pub fn global_for(&mut self, class: usize) -> Option<String> {
        let globals = &self.g.globals;
        globals.iter().find(|g| g.size >= SIZES[class]).map(|g| g.address.clone())
    }

    /// Allocation where it stands, of constant or run-time size.
    fn allocation(&mut self) {
        if self.chance(40) {
            return self.slot();
        }
        let value = self.operand(L);
        let rest = self.emit(L, format_args!("and {value}, 31"));
        let size = self.emit(L, format_args!("add {rest}, 8"));
        let align = self.g.random.pick(&[4, 8, 16]);
        let address = self.emit(L, format_args!("alloc{align} {size}"));
        self.initialise(&address, 8);
        self.objects.push(Object { address, size: 8, ready: true, stable: self.loops == 0 });
    }

    fn next_variadic(&mut self) {
        let Some((list, mut classes)) = self.list.take() else { return self.operation() };
        // How often code in loops and branches runs is not known here.
        if self.loops == 0
            && self.nesting == 0
            && let Some(class) = classes.pop()
        {
            self.define(class, format_args!("vaarg {list}"));
        }
        self.list = Some((list, classes));
    }
}
