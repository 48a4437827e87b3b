//! Random IL modules: valid, terminating, and with results that no target is free to choose.
//!
//! A module is types, data, functions that call only earlier ones (or themselves, counting down),
//! and a main function that calls them all and prints what they returned and what lies in memory.
//! Everything depends on the seed alone.

use super::body;
use super::numbers::Random;
use std::fmt::Write;

/// Letters of the classes; everywhere here a class is an index into this.
pub const LETTERS: [char; 4] = ['w', 'l', 's', 'd'];
pub const W: usize = 0;
pub const L: usize = 1;
pub const S: usize = 2;
pub const D: usize = 3;
pub const SIZES: [u64; 4] = [4, 8, 4, 8];

/// What a module may hold.
#[derive(Copy, Clone)]
pub struct Options {
    /// `volatile` before some accesses, which is an extension.
    pub volatile: bool,
    /// Only what other backends take too: no variables assigned twice, no division by zero in
    /// dead code, no shift counts beyond the width, no `l` where a `w` is wanted.
    pub plain: bool,
    /// Slots that are read before they are stored to.
    pub uninitialised: bool,
}

/// The type of a parameter or result.
#[derive(Copy, Clone, PartialEq)]
pub enum Type {
    Class(usize),
    /// `sb ub sh uh`, by index.
    Narrow(usize),
    /// A row of the module's types.
    Aggregate(usize),
    /// The address of so many bytes of initialised memory.
    Pointer(u64),
}

pub const NARROW: [&str; 4] = ["sb", "ub", "sh", "uh"];

#[derive(Clone)]
pub struct Signature {
    pub name: String,
    pub params: Vec<Type>,
    pub ret: Option<Type>,
    pub env: bool,
    /// The classes of what every call passes after `...`.
    pub variadic: Option<Vec<usize>>,
    /// Takes a count first, and calls itself with one less.
    pub recursive: bool,
}

/// An aggregate type.
pub struct Aggregate {
    pub name: String,
    pub size: u64,
    pub align: u64,
}

/// Memory a body may use.
#[derive(Clone)]
pub struct Object {
    /// An operand that is its address.
    pub address: String,
    pub size: u64,
    /// Every byte was stored to.
    pub ready: bool,
    /// Lives as long as the function runs, and its address stays.
    pub stable: bool,
}

/// What a module consists of so far.
pub struct Generator {
    pub random: Random,
    pub options: Options,
    pub prefix: String,
    pub types: Vec<Aggregate>,
    pub globals: Vec<Object>,
    pub functions: Vec<Signature>,
    pub out: String,
}

/// The text of the module of a seed. All its symbols start with `prefix`, and its main function is
/// `main` behind that.
pub fn module(seed: u64, prefix: &str, options: Options) -> String {
    let mut g = Generator {
        random: Random::new(seed),
        options,
        prefix: prefix.to_owned(),
        types: Vec::new(),
        globals: Vec::new(),
        functions: Vec::new(),
        out: String::with_capacity(1 << 14),
    };
    for _ in 0..g.random.below(4) {
        g.aggregate();
    }
    for _ in 0..g.random.between(1, 4) {
        g.global();
    }
    for _ in 0..g.random.between(1, 5) {
        let signature = g.signature();
        body::function(&mut g, &signature);
        g.functions.push(signature);
    }
    g.tables();
    body::main(&mut g);
    g.out
}

impl Generator {
    pub fn symbol(&self, name: &str) -> String {
        format!("${}{name}", self.prefix)
    }

    fn aggregate(&mut self) {
        let name = format!(":{}t{}", self.prefix, self.types.len());
        if self.random.chance(12) {
            let align = self.random.pick(&[1, 4, 8, 16]);
            let size = align * self.random.between(1, 3) as u64;
            let _ = writeln!(self.out, "type {name} = align {align} {{ {size} }}");
            self.types.push(Aggregate { name, size, align });
            return;
        }
        let variants = if self.random.chance(20) { self.random.between(1, 3) } else { 0 };
        let mut text = String::new();
        let (mut size, mut align) = (0, 1);
        for _ in 0..variants.max(1) {
            let (fields, end, most) = self.fields();
            if variants > 0 {
                let _ = write!(text, " {{{fields} }}");
            } else {
                text = fields;
            }
            size = size.max(end);
            align = align.max(most);
        }
        let mut head = String::new();
        if self.random.chance(8) {
            align = 16;
            head = "align 16 ".into();
        }
        let size = size.div_ceil(align) * align;
        let _ = writeln!(self.out, "type {name} = {head}{{{text} }}");
        self.types.push(Aggregate { name, size, align });
    }

    /// A list of fields, where it ends, and its greatest alignment.
    fn fields(&mut self) -> (String, u64, u64) {
        let mut text = String::new();
        let (mut end, mut most) = (0u64, 1);
        for i in 0..self.random.between(1, 4) {
            let count = if self.random.chance(25) { self.random.between(1, 3) } else { 1 } as u64;
            let nested = !self.types.is_empty() && self.random.chance(10);
            let (letter, size, align) = if nested {
                let ty = &self.types[self.random.below(self.types.len())];
                (ty.name.clone(), ty.size, ty.align)
            } else {
                let (letter, size) =
                    self.random.pick(&[("b", 1), ("h", 2), ("w", 4), ("l", 8), ("s", 4), ("d", 8)]);
                (letter.to_owned(), size, size)
            };
            let comma = if i > 0 { "," } else { "" };
            let _ = write!(text, "{comma} {letter}");
            if count > 1 {
                let _ = write!(text, " {count}");
            }
            end = end.div_ceil(align) * align + size * count;
            most = most.max(align);
        }
        (text, end, most)
    }

    fn global(&mut self) {
        let name = self.symbol(&format!("g{}", self.globals.len()));
        let thread = self.random.chance(10);
        let linkage = match (thread, self.random.below(3)) {
            (true, _) => "thread ",
            (false, 0) => "export ",
            (false, _) => "",
        };
        let mut items = Vec::new();
        let mut size = 0;
        for _ in 0..self.random.between(1, 5) {
            let (item, bytes) = self.data_item();
            items.push(item);
            size += bytes;
        }
        let align = if self.random.chance(30) { "align 16 " } else { "" };
        let _ = writeln!(self.out, "{linkage}data {name} = {align}{{ {} }}", items.join(", "));
        let access = match (thread, self.random.chance(15)) {
            (true, _) => "thread ",
            (false, true) => "extern ",
            (false, false) => "",
        };
        let address = format!("{access}{name}");
        self.globals.push(Object { address, size, ready: true, stable: true });
    }

    fn data_item(&mut self) -> (String, u64) {
        let count = self.random.between(1, 3) as u64;
        let kind = self.random.below(8);
        let mut list = |letter: &str, f: &mut dyn FnMut(&mut Random) -> String| {
            let items: Vec<String> = (0..count).map(|_| f(&mut self.random)).collect();
            format!("{letter} {}", items.join(" "))
        };
        let integer = &mut |random: &mut Random| random.integer().to_string();
        match kind {
            0 => (list("b", integer), count),
            1 => (list("h", integer), 2 * count),
            2 => (list("w", integer), 4 * count),
            3 => (list("l", integer), 8 * count),
            4 => (format!("z {}", 8 * count), 8 * count),
            5 => (list("s", &mut |r| format!("s_{}", r.below(99))), 4 * count),
            6 => (list("d", &mut |r| format!("d_-{}.5", r.below(99))), 8 * count),
            _ => ("b \"a\\\"\\n\\0019\\\\\"".to_owned(), 6),
        }
    }

    fn signature(&mut self) -> Signature {
        let name = self.symbol(&format!("f{}", self.functions.len()));
        let recursive = self.random.chance(12);
        let count = match self.random.below(10) {
            0..7 => self.random.below(5),
            _ => self.random.below(14),
        };
        let mut params: Vec<Type> = (0..count).map(|_| self.param_type()).collect();
        if recursive {
            params.insert(0, Type::Class(W));
        }
        let ret = match self.random.below(10) {
            0 => None,
            1..7 => Some(Type::Class(self.random.below(4))),
            7 => Some(Type::Narrow(self.random.below(4))),
            _ => Some(self.param_type()).filter(|ty| !matches!(ty, Type::Pointer(_))),
        };
        let variadic = self
            .random
            .chance(12)
            .then(|| (0..self.random.below(10)).map(|_| self.random.pick(&[W, L, D, D])).collect());
        let env = variadic.is_none() && self.random.chance(8);
        Signature { name, params, ret, env, variadic, recursive }
    }

    fn param_type(&mut self) -> Type {
        match self.random.below(20) {
            0..12 => Type::Class(self.random.below(4)),
            12..14 => Type::Narrow(self.random.below(4)),
            14..16 => Type::Pointer(self.random.pick(&[1, 4, 8, 16])),
            _ if self.types.is_empty() => Type::Class(W),
            _ => Type::Aggregate(self.random.below(self.types.len())),
        }
    }

    pub fn type_text(&self, ty: Type) -> String {
        match ty {
            Type::Class(class) => LETTERS[class].to_string(),
            Type::Narrow(kind) => NARROW[kind].to_owned(),
            Type::Aggregate(id) => self.types[id].name.clone(),
            Type::Pointer(_) => "l".to_owned(),
        }
    }

    /// Data whose addresses functions refer to, wherever it stands.
    fn tables(&mut self) {
        let functions: Vec<String> =
            self.functions.iter().map(|f| format!("l {}", f.name)).collect();
        let _ = writeln!(
            self.out,
            "data {} = {{ {} }}\ndata {} = {{ b \"%016llx\\n\", b 0 }}\ndata {} = {{ z 256 }}",
            self.symbol("table"),
            functions.join(", "),
            self.symbol("format"),
            self.symbol("results"),
        );
    }

    /// A constant operand of a class.
    pub fn constant(&mut self, class: usize) -> String {
        let float = self.random.pick(&[
            "0",
            "-0",
            "1",
            "-1",
            "0.5",
            "3.25",
            "1e10",
            "-7.75",
            "100",
            "1e-5",
            "255",
            "65536",
            "4e9",
            "inf",
            "2147483648",
            "-2147483649",
            "9.5e18",
        ]);
        match class {
            S | D if self.random.chance(6) => self.random.integer().to_string(),
            W if self.options.plain => i64::from(self.random.integer() as i32).to_string(),
            S => format!("s_{float}"),
            D => format!("d_{float}"),
            _ => self.random.integer().to_string(),
        }
    }
}
