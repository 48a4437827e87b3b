//! A random function: its frame, its values in scope, and the pools that statements draw from.

use super::generate::{D, Generator, L, LETTERS, Object, S, SIZES, Signature, Type, W};
use super::statements::STYLES;
use std::fmt::Write;

/// A function while it is written.
pub struct Body<'g> {
    pub g: &'g mut Generator,
    pub signature: Signature,
    pub out: String,
    /// Values in scope, by class.
    pub values: [Vec<String>; 4],
    /// Temporaries that may be assigned anywhere, by class.
    pub variables: [Vec<String>; 4],
    /// Memory in scope.
    pub objects: Vec<Object>,
    /// Memory that holds the address of memory of some size.
    pub cells: Vec<(String, u64)>,
    /// Memory that is one variable of a class and that nothing else points to.
    pub locals: Vec<(String, usize)>,
    /// What its statements mostly are.
    pub style: usize,
    /// The label of the block being written.
    pub block: String,
    /// Loops around the statement being written.
    pub loops: usize,
    /// Branches and loops around it.
    pub nesting: usize,
    pub calls: usize,
    /// Statements that may still be written.
    pub budget: usize,
    /// The variadic list and the classes still on it.
    pub list: Option<(String, Vec<usize>)>,
    temps: usize,
    blocks: usize,
}

/// What is in scope at some point.
pub struct Scope {
    values: [usize; 4],
    objects: usize,
    cells: usize,
}

/// Writes a function with a random body.
pub fn function(g: &mut Generator, signature: &Signature) {
    let budget =
        if g.random.chance(80) { g.random.between(4, 25) } else { g.random.between(25, 80) };
    let mut body = Body::new(g, signature.clone(), budget);
    body.style = body.below(STYLES);
    body.head();
    body.frame();
    body.statements(0);
    body.return_value();
    body.line(format_args!("}}"));
    let text = body.out;
    g.out.push_str(&text);
}

/// Writes the main function.
pub fn main(g: &mut Generator) {
    let signature = Signature {
        name: g.symbol("main"),
        params: Vec::new(),
        ret: Some(Type::Class(W)),
        env: false,
        variadic: None,
        recursive: false,
    };
    let functions = g.functions.clone();
    let globals = g.globals.clone();
    let mut body = Body::new(g, signature, 0);
    let name = body.signature.name.clone();
    body.line(format_args!("export function w {name}() {{"));
    body.label("start");
    body.frame();
    let mut place = 0;
    for function in functions.iter().rev() {
        for _ in 0..body.g.random.between(1, 2) {
            if let Some((value, class)) = body.call(function) {
                body.keep(&value, class, &mut place);
            }
        }
    }
    let results = body.g.symbol("results");
    body.print(&results, place);
    for object in globals {
        body.print(&object.address, object.size);
    }
    body.line(format_args!("\tret 0\n}}"));
    let text = body.out;
    g.out.push_str(&text);
}

impl<'g> Body<'g> {
    fn new(g: &'g mut Generator, signature: Signature, budget: usize) -> Body<'g> {
        let objects = g.globals.clone();
        Body {
            g,
            signature,
            out: String::new(),
            values: [const { Vec::new() }; 4],
            variables: [const { Vec::new() }; 4],
            objects,
            cells: Vec::new(),
            locals: Vec::new(),
            style: 0,
            block: String::new(),
            loops: 0,
            nesting: 0,
            calls: 0,
            budget,
            list: None,
            temps: 0,
            blocks: 0,
        }
    }

    pub fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(line);
        self.out.push('\n');
    }

    pub fn label(&mut self, name: &str) {
        self.line(format_args!("@{name}"));
        self.block = name.to_owned();
    }

    pub fn temp(&mut self) -> String {
        self.temps += 1;
        format!("%t{}", self.temps)
    }

    pub fn new_label(&mut self, kind: &str) -> String {
        self.blocks += 1;
        format!("{kind}{}", self.blocks)
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.g.random.chance(percent)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.g.random.below(n)
    }

    /// Writes an instruction with a result and returns the result's name, which is not put in
    /// scope.
    pub fn emit(&mut self, class: usize, operation: std::fmt::Arguments<'_>) -> String {
        let to = self.temp();
        self.line(format_args!("\t{to} ={} {operation}", LETTERS[class]));
        to
    }

    /// Writes an instruction whose result later statements may use.
    pub fn define(&mut self, class: usize, operation: std::fmt::Arguments<'_>) {
        if !self.variables[class].is_empty() && self.chance(35) {
            let to = self.variable(class);
            self.line(format_args!("\t{to} ={} {operation}", LETTERS[class]));
        } else {
            let to = self.emit(class, operation);
            self.values[class].push(to);
        }
    }

    pub fn variable(&mut self, class: usize) -> String {
        let i = self.below(self.variables[class].len());
        self.variables[class][i].clone()
    }

    /// A random operand of a class.
    pub fn operand(&mut self, class: usize) -> String {
        if self.chance(20) {
            return self.g.constant(class);
        }
        self.value(class)
    }

    /// A value of a class in scope, or a constant if there is none.
    pub fn value(&mut self, class: usize) -> String {
        let narrow = !self.g.options.plain && self.chance(15);
        let class = if class == W && narrow { L } else { class };
        let (n, v) = (self.values[class].len(), self.variables[class].len());
        if n + v == 0 {
            return self.g.constant(class);
        }
        // Recent values more often than old ones.
        let i = self.below(n + v).max(self.below(n + v));
        if i < v { self.variables[class][i].clone() } else { self.values[class][i - v].clone() }
    }

    pub fn scope(&self) -> Scope {
        Scope {
            values: [W, L, S, D].map(|class| self.values[class].len()),
            objects: self.objects.len(),
            cells: self.cells.len(),
        }
    }

    /// Forgets what came into scope since.
    pub fn restore(&mut self, scope: &Scope) {
        for class in 0..4 {
            self.values[class].truncate(scope.values[class]);
        }
        self.objects.truncate(scope.objects);
        self.cells.truncate(scope.cells);
    }

    /// Forgets the memory, but not the values, that came into scope since.
    pub fn drop_memory(&mut self, scope: &Scope) {
        self.objects.truncate(scope.objects);
        self.cells.truncate(scope.cells);
    }

    /// The function's first line and what its parameters bring.
    fn head(&mut self) {
        let signature = self.signature.clone();
        let mut params = Vec::new();
        if signature.env {
            params.push("env %env".to_owned());
            self.values[L].push("%env".to_owned());
        }
        let mut narrow = Vec::new();
        for (i, &ty) in signature.params.iter().enumerate() {
            let name = format!("%p{i}");
            params.push(format!("{} {name}", self.g.type_text(ty)));
            match ty {
                Type::Class(class) => self.values[class].push(name),
                Type::Narrow(kind) => narrow.push((name, kind)),
                Type::Aggregate(id) => {
                    let size = self.g.types[id].size;
                    self.objects.push(Object { address: name, size, ready: true, stable: true });
                }
                Type::Pointer(size) => {
                    self.objects.push(Object { address: name, size, ready: true, stable: true });
                }
            }
        }
        if signature.variadic.is_some() {
            params.push("...".to_owned());
        }
        let export = if self.chance(50) { "export " } else { "" };
        let ret = signature.ret.map_or(String::new(), |ty| self.g.type_text(ty) + " ");
        self.line(format_args!(
            "{export}function {ret}{}({}) {{",
            signature.name,
            params.join(", ")
        ));
        self.label("start");
        for (name, kind) in narrow {
            if self.chance(90) {
                let op = ["extsb", "extub", "extsh", "extuh"][kind];
                self.define(W, format_args!("{op} {name}"));
            } else {
                self.values[W].push(name);
            }
        }
        if let Some(classes) = signature.variadic {
            let list = self.emit(L, format_args!("alloc8 32"));
            self.line(format_args!("\tvastart {list}"));
            self.list = Some((list, classes.into_iter().rev().collect()));
        }
    }

    /// Slots, pointer cells, and variables assigned more than once.
    fn frame(&mut self) {
        for _ in 0..self.below(5) {
            self.slot();
        }
        for _ in 0..self.below(6) {
            let class = self.below(4);
            let align = if SIZES[class] == 4 { 4 } else { 8 };
            let address = self.emit(L, format_args!("alloc{align} {}", SIZES[class]));
            self.initialise(&address, SIZES[class]);
            self.locals.push((address, class));
        }
        if self.chance(5) {
            // A frame whose offsets are large.
            let size = self.g.random.pick(&[200, 5000, 40000]);
            let address = self.emit(L, format_args!("alloc8 {size}"));
            self.initialise(&address, 8);
            self.objects.push(Object { address, size: 8, ready: true, stable: true });
        }
        for _ in 0..self.below(3) {
            if let Some(Object { address, size, .. }) = self.stable_object(0) {
                let cell = self.emit(L, format_args!("alloc8 8"));
                self.line(format_args!("\tstorel {address}, {cell}"));
                self.cells.push((cell, size));
            }
        }
        if !self.g.options.plain && self.chance(30) {
            for _ in 0..self.g.random.between(1, 5) {
                let class = self.below(4);
                let name = format!("%v{}{}", LETTERS[class], self.variables[class].len());
                let value = self.operand(class);
                self.line(format_args!("\t{name} ={} copy {value}", LETTERS[class]));
                self.variables[class].push(name);
            }
        }
    }

    /// An allocation of constant size.
    pub fn slot(&mut self) {
        let size = self.g.random.pick(&[1, 2, 4, 4, 8, 8, 8, 12, 16, 24, 40]);
        let align = self.g.random.pick(&[4, 8, 16]);
        let address = self.emit(L, format_args!("alloc{align} {size}"));
        let raw = self.g.options.uninitialised && self.chance(12);
        if !raw {
            self.initialise(&address, size);
        }
        self.objects.push(Object { address, size, ready: !raw, stable: self.loops == 0 });
    }

    /// Stores to every byte of an object.
    pub fn initialise(&mut self, address: &str, size: u64) {
        let mut offset = 0;
        while offset < size {
            let room = size - offset;
            let wide = room >= 8 && self.chance(60);
            let (op, class, bytes) = match (room, wide) {
                (8.., true) if self.chance(25) => ("stored", D, 8),
                (8.., true) => ("storel", L, 8),
                (4.., _) if self.chance(20) => ("stores", S, 4),
                (4.., _) => ("storew", W, 4),
                (2.., _) => ("storeh", W, 2),
                _ => ("storeb", W, 1),
            };
            let value = self.operand(class);
            let at = self.offset(address, offset);
            self.line(format_args!("\t{op} {value}, {at}"));
            offset += bytes;
        }
    }

    /// An operand for an address plus a constant.
    pub fn offset(&mut self, address: &str, offset: u64) -> String {
        match offset {
            0 => address.to_owned(),
            _ if self.chance(30) => self.emit(L, format_args!("add {offset}, {address}")),
            _ => self.emit(L, format_args!("add {address}, {offset}")),
        }
    }

    /// Memory in scope of some kind, if there is any.
    pub fn object(&mut self, fits: impl Fn(&Object) -> bool) -> Option<Object> {
        let count = self.objects.iter().filter(|object| fits(object)).count();
        if count == 0 {
            return None;
        }
        let row = self.below(count);
        self.objects.iter().filter(|object| fits(object)).nth(row).cloned()
    }

    /// Memory that may be pointed to from anywhere.
    pub fn stable_object(&mut self, size: u64) -> Option<Object> {
        self.object(|object| object.stable && object.ready && object.size >= size)
    }

    /// Memory of at least so many bytes, all stored to.
    pub fn ready_object(&mut self, size: u64) -> String {
        let known = self.object(|object| object.ready && object.size >= size);
        match known {
            Some(object) if !self.chance(10) => object.address,
            _ => {
                let address = self.emit(L, format_args!("alloc8 {size}"));
                self.initialise(&address, size);
                address
            }
        }
    }

    /// The end of the function.
    pub fn return_value(&mut self) {
        match self.signature.ret {
            None => self.line(format_args!("\tret")),
            Some(ty) => {
                let value = self.argument(ty);
                self.line(format_args!("\tret {value}"));
            }
        }
    }

    /// A value to pass or return as a type.
    pub fn argument(&mut self, ty: Type) -> String {
        match ty {
            Type::Class(class) => self.operand(class),
            Type::Narrow(_) => self.operand(W),
            Type::Aggregate(id) => {
                let size = self.g.types[id].size;
                self.ready_object(size)
            }
            Type::Pointer(size) => self.ready_object(size),
        }
    }

    /// Calls a function with random arguments; its result, unless it is memory.
    pub fn call(&mut self, callee: &Signature) -> Option<(String, usize)> {
        let recursion = callee.name == self.signature.name;
        let mut args = Vec::new();
        if callee.env {
            let value = self.operand(L);
            args.push(format!("env {value}"));
        }
        for (i, &ty) in callee.params.iter().enumerate() {
            let value = match (callee.recursive && i == 0, recursion) {
                (true, true) => self.emit(W, format_args!("sub %p0, 1")),
                (true, false) => self.below(4).to_string(),
                (false, _) => self.argument(ty),
            };
            args.push(format!("{} {value}", self.g.type_text(ty)));
        }
        if let Some(classes) = &callee.variadic {
            args.push("...".to_owned());
            for &class in classes {
                let value = self.operand(class);
                args.push(format!("{} {value}", LETTERS[class]));
            }
        }
        let args = args.join(", ");
        let target = self.callee(&callee.name);
        // An aggregate may need memory that the caller passes, so its type has to be there.
        let ignored = self.chance(6);
        let named = |ty: &Type| !ignored || matches!(ty, Type::Aggregate(_));
        let Some(ty) = callee.ret.filter(named) else {
            self.line(format_args!("\tcall {target}({args})"));
            return None;
        };
        let to = self.temp();
        let text = self.g.type_text(ty);
        self.line(format_args!("\t{to} ={text} call {target}({args})"));
        match ty {
            Type::Class(class) => Some((to, class)),
            Type::Narrow(kind) => {
                let op = ["extsb", "extub", "extsh", "extuh"][kind];
                Some((self.emit(W, format_args!("{op} {to}")), W))
            }
            Type::Aggregate(id) => {
                let size = self.g.types[id].size;
                self.objects.push(Object { address: to, size, ready: true, stable: false });
                None
            }
            Type::Pointer(_) => None,
        }
    }

    /// An operand that is a function's address: its name mostly, else a temporary.
    fn callee(&mut self, name: &str) -> String {
        match self.below(12) {
            0 => self.emit(L, format_args!("copy {name}")),
            1 => {
                let row = self.g.functions.iter().position(|f| f.name == name);
                let Some(row) = row else { return name.to_owned() };
                let table = self.g.symbol("table");
                let at = self.offset(&table, 8 * row as u64);
                self.emit(L, format_args!("loadl {at}"))
            }
            _ => name.to_owned(),
        }
    }

    /// Stores a result where main prints it later.
    fn keep(&mut self, value: &str, class: usize, place: &mut u64) {
        if *place + 8 > 256 {
            return;
        }
        let results = self.g.symbol("results");
        let at = self.offset(&results, *place);
        self.line(format_args!("\tstore{} {value}, {at}", LETTERS[class]));
        *place += SIZES[class].max(8);
    }

    /// Prints so many bytes of memory as numbers.
    fn print(&mut self, address: &str, size: u64) {
        let format = self.g.symbol("format");
        let mut offset = 0;
        while offset < size {
            let at = self.offset(address, offset);
            let (op, bytes) = match size - offset {
                8.. => ("loadl", 8),
                4.. => ("loaduw", 4),
                _ => ("loadub", 1),
            };
            let value = self.emit(L, format_args!("{op} {at}"));
            self.line(format_args!("\tcall $printf(l {format}, ..., l {value})"));
            offset += bytes;
        }
    }
}
