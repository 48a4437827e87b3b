//! Random control flow: branches, loops of several shapes, switches, dead code.

use super::body::Body;
use super::generate::{L, LETTERS, Object, SIZES, W};

/// A phi being put together: its class and its arguments.
struct Merge {
    class: usize,
    to: String,
    args: Vec<String>,
}

impl Merge {
    fn arg(&mut self, from: &str, value: &str) {
        self.args.push(format!("@{from} {value}"));
    }
}

impl Body<'_> {
    /// Up to `most` phis that have no arguments yet.
    fn merges(&mut self, most: usize) -> Vec<Merge> {
        (0..self.below(most + 1))
            .map(|_| Merge { class: self.below(4), to: self.temp(), args: Vec::new() })
            .collect()
    }

    /// Gives each phi an argument for the edge from the current block.
    fn feed(&mut self, merges: &mut [Merge]) {
        let from = self.block.clone();
        for merge in merges {
            let value = self.operand(merge.class);
            // An argument must have the phi's own class.
            let value = if merge.class == W { self.as_w(value) } else { value };
            merge.arg(&from, &value);
        }
    }

    /// Phis take no `l` for a `w` here.
    pub fn as_w(&mut self, value: String) -> String {
        let known = value.starts_with('%')
            && !self.values[W].contains(&value)
            && !self.variables[W].contains(&value);
        if known { self.emit(W, format_args!("copy {value}")) } else { value }
    }

    fn write_phis(&mut self, merges: &[Merge]) {
        for merge in merges {
            let letter = LETTERS[merge.class];
            self.line(format_args!("\t{} ={letter} phi {}", merge.to, merge.args.join(", ")));
        }
        for merge in merges {
            self.values[merge.class].push(merge.to.clone());
        }
    }

    /// Goes to a block that is written next: by a jump or by falling into it.
    fn fall(&mut self, target: &str) {
        if self.chance(50) {
            self.line(format_args!("\tjmp @{target}"));
        }
    }

    /// A value to branch on, or a constant.
    fn condition(&mut self) -> String {
        match self.below(20) {
            0 => self.g.constant(W),
            1..8 => self.value(W),
            _ => {
                let class = self.below(4);
                let (a, b) = (self.value(class), self.operand(class));
                let names: &[&str] = if class == W || class == L {
                    &["ceq", "cne", "csge", "csgt", "csle", "cslt", "cuge", "cugt", "cule", "cult"]
                } else {
                    &["ceq", "cne", "cge", "cgt", "cle", "clt", "co", "cuo"]
                };
                let name = self.g.random.pick(names);
                self.emit(W, format_args!("{name}{} {a}, {b}", LETTERS[class]))
            }
        }
    }

    /// `if`, with or without `else`, and phis where the branches meet.
    pub fn conditional(&mut self, depth: usize) {
        let (yes, no) = (self.new_label("yes"), self.new_label("no"));
        let join = self.new_label("join");
        let condition = self.condition();
        let mut merges = self.merges(3);
        self.nesting += 1;
        if self.chance(4) {
            // Both ways lead to one place, which counts as one predecessor.
            self.feed(&mut merges);
            self.line(format_args!("\tjnz {condition}, @{join}, @{join}"));
        } else if self.chance(40) {
            // The edge past the branch is critical unless the branch is empty.
            self.feed(&mut merges);
            let (first, second) = if self.chance(50) { (&yes, &join) } else { (&join, &yes) };
            self.line(format_args!("\tjnz {condition}, @{first}, @{second}"));
            self.branch(&yes, &mut merges, depth);
            self.fall(&join);
        } else {
            self.line(format_args!("\tjnz {condition}, @{yes}, @{no}"));
            if self.chance(6) {
                self.early_return(&yes, depth);
            } else {
                self.branch(&yes, &mut merges, depth);
                self.line(format_args!("\tjmp @{join}"));
            }
            self.branch(&no, &mut merges, depth);
            self.fall(&join);
        }
        self.label(&join);
        self.write_phis(&merges);
        self.nesting -= 1;
    }

    /// A branch of its own scope, but for its jump.
    fn branch(&mut self, label: &str, merges: &mut [Merge], depth: usize) {
        self.label(label);
        let scope = self.scope();
        if !self.chance(20) {
            self.statements(depth + 1);
        }
        self.feed(merges);
        self.restore(&scope);
    }

    /// A branch that ends the function.
    fn early_return(&mut self, label: &str, depth: usize) {
        self.label(label);
        let scope = self.scope();
        self.statements(depth + 1);
        self.return_value();
        self.restore(&scope);
    }

    /// A loop that runs a small number of times, with values carried around it.
    pub fn counted_loop(&mut self, depth: usize) {
        if self.chance(20) {
            return self.byte_loop();
        }
        let (head, exit) = (self.new_label("loop"), self.new_label("exit"));
        let class = self.g.random.pick(&[W, W, L]);
        let (start, step, test, end) = self.trip(class);
        let counter = self.temp();
        let mut merges = self.merges(4);
        self.feed(&mut merges);
        let before = self.block.clone();
        self.fall(&head);
        // The phis come first in the text, but what they get at the end is only known then.
        let outside = std::mem::take(&mut self.out);
        self.block = head.clone();
        self.loops += 1;
        self.nesting += 1;
        let outer = self.scope();
        self.values[class].push(counter.clone());
        for merge in &merges {
            self.values[merge.class].push(merge.to.clone());
        }
        let carried = self.scope();
        let top_test = self.chance(50);
        let mut leaving = Vec::new();
        if top_test {
            let body = self.new_label("body");
            let more = self.emit(W, format_args!("{test} {counter}, {end}"));
            self.line(format_args!("\tjnz {more}, @{body}, @{exit}"));
            self.label(&body);
        }
        self.statements(depth + 1);
        if self.chance(25) {
            let (out, on) = (self.new_label("break"), self.new_label("on"));
            let condition = self.condition();
            self.line(format_args!("\tjnz {condition}, @{out}, @{on}"));
            self.label(&out);
            self.line(format_args!("\tjmp @{exit}"));
            leaving.push(out);
            self.label(&on);
            self.statements(depth + 1);
        }
        let next = self.emit(class, format_args!("{step} {counter}, 1"));
        self.feed(&mut merges);
        let latch = self.block.clone();
        if top_test {
            self.line(format_args!("\tjmp @{head}"));
        } else {
            let more = self.emit(W, format_args!("{test} {next}, {end}"));
            self.line(format_args!("\tjnz {more}, @{head}, @{exit}"));
        }
        let inside = std::mem::replace(&mut self.out, outside);
        let letter = LETTERS[class];
        self.line(format_args!("@{head}"));
        self.line(format_args!("\t{counter} ={letter} phi @{before} {start}, @{latch} {next}"));
        for merge in &merges {
            let letter = LETTERS[merge.class];
            self.line(format_args!("\t{} ={letter} phi {}", merge.to, merge.args.join(", ")));
        }
        self.out.push_str(&inside);
        self.label(&exit);
        // Past a test at the end everything inside is known, unless there is another way out.
        if top_test || !leaving.is_empty() {
            self.restore(&carried);
        }
        self.loops -= 1;
        self.nesting -= 1;
        if !top_test && self.chance(50) {
            self.restore(&outer);
        }
        self.drop_memory(&outer);
    }

    /// Start, step, test and end of a loop that ends.
    fn trip(&mut self, class: usize) -> (String, &'static str, String, String) {
        let letter = LETTERS[class];
        let count = self.below(7) as i64;
        match self.below(5) {
            0 => (count.to_string(), "sub", format!("csgt{letter}"), "0".into()),
            1 => ("0".into(), "add", format!("cult{letter}"), count.to_string()),
            2 => {
                let value = self.operand(class);
                let end = self.emit(class, format_args!("and {value}, 7"));
                ("0".into(), "add", format!("cslt{letter}"), end)
            }
            3 => ((-count).to_string(), "add", format!("csle{letter}"), "-1".into()),
            _ => ("0".into(), "add", format!("cslt{letter}"), count.to_string()),
        }
    }

    /// A loop over the bytes of memory: sums, fills or copies them.
    fn byte_loop(&mut self) {
        let size = self.g.random.pick(&[1u64, 2, 4, 8, 8, 12, 16]);
        let from = self.ready_object(size);
        let (head, exit) = (self.new_label("bytes"), self.new_label("exit"));
        let kind = self.below(3);
        let to = self.emit(L, format_args!("alloc8 16"));
        let class = self.g.random.pick(&[W, L]);
        let letter = LETTERS[class];
        let before = self.block.clone();
        let (i, next, sum, total) = (self.temp(), self.temp(), self.temp(), self.temp());
        let start = self.operand(class);
        let start = if class == W { self.as_w(start) } else { start };
        self.fall(&head);
        self.label(&head);
        self.line(format_args!("\t{i} =l phi @{before} 0, @{head} {next}"));
        self.line(format_args!("\t{sum} ={letter} phi @{before} {start}, @{head} {total}"));
        let at = self.emit(L, format_args!("add {from}, {i}"));
        let byte = self.emit(class, format_args!("loadub {at}"));
        match kind {
            0 => {
                let shifted = self.emit(class, format_args!("shl {sum}, 8"));
                self.line(format_args!("\t{total} ={letter} or {shifted}, {byte}"));
            }
            1 => {
                let scaled = self.emit(class, format_args!("mul {sum}, 31"));
                self.line(format_args!("\t{total} ={letter} add {scaled}, {byte}"));
            }
            _ => {
                let place = self.emit(L, format_args!("add {to}, {i}"));
                self.line(format_args!("\tstoreb {byte}, {place}"));
                self.line(format_args!("\t{total} ={letter} xor {sum}, {byte}"));
            }
        }
        self.line(format_args!("\t{next} =l add {i}, 1"));
        let more = self.emit(W, format_args!("cultl {next}, {size}"));
        self.line(format_args!("\tjnz {more}, @{head}, @{exit}"));
        self.label(&exit);
        self.values[class].push(total);
        if kind > 1 {
            self.objects.push(Object { address: to, size, ready: true, stable: self.loops == 0 });
        }
    }

    /// A loop entered at two places, which no natural loop is.
    pub fn two_entries(&mut self, depth: usize) {
        let (a, b) = (self.new_label("left"), self.new_label("right"));
        let exit = self.new_label("exit");
        let counter = self.emit(L, format_args!("alloc4 4"));
        let count = self.below(6);
        self.line(format_args!("\tstorew {count}, {counter}"));
        let condition = self.condition();
        let class = self.below(4);
        let mut merges =
            [self.temp(), self.temp(), self.temp()].map(|to| Merge { class, to, args: Vec::new() });
        self.feed(&mut merges[..2]);
        self.line(format_args!("\tjnz {condition}, @{a}, @{b}"));
        self.loops += 1;
        self.nesting += 1;
        let scope = self.scope();
        // Each half gives its own phi's successor a value; both are written before either's phi
        // is complete.
        let mut halves = Vec::new();
        let outside = std::mem::take(&mut self.out);
        for (half, (label, other)) in [(&a, &b), (&b, &a)].into_iter().enumerate() {
            self.block = label.clone();
            self.values[class].push(merges[half].to.clone());
            self.statements(depth + 2);
            let (there, leaving) = merges.split_at_mut(2);
            self.feed(&mut there[1 - half..2 - half]);
            self.feed(leaving);
            let old = self.emit(W, format_args!("loadw {counter}"));
            let new = self.emit(W, format_args!("sub {old}, 1"));
            self.line(format_args!("\tstorew {new}, {counter}"));
            let more = self.emit(W, format_args!("csgtw {new}, 0"));
            self.line(format_args!("\tjnz {more}, @{other}, @{exit}"));
            halves.push(std::mem::take(&mut self.out));
            self.restore(&scope);
        }
        self.out = outside;
        let letter = LETTERS[class];
        for (half, label) in [&a, &b].into_iter().enumerate() {
            self.line(format_args!("@{label}"));
            let (to, args) = (&merges[half].to, merges[half].args.join(", "));
            self.out.push_str(&format!("\t{to} ={letter} phi {args}\n"));
            self.out.push_str(&halves[half]);
        }
        self.loops -= 1;
        self.nesting -= 1;
        self.label(&exit);
        self.write_phis(&merges[2..]);
    }

    /// A chain of comparisons of one value, whose cases meet or fall into each other.
    pub fn switch(&mut self, depth: usize) {
        let class = self.g.random.pick(&[W, W, L]);
        let value = self.value(class);
        let mask = self.g.random.pick(&[3, 7, 15]);
        let key = self.emit(class, format_args!("and {value}, {mask}"));
        let join = self.new_label("join");
        let mut merges = self.merges(2);
        let cases = self.g.random.between(2, 6);
        let labels: Vec<String> = (0..cases).map(|_| self.new_label("case")).collect();
        self.nesting += 1;
        let letter = LETTERS[class];
        for (i, label) in labels.iter().enumerate() {
            let test = self.emit(W, format_args!("ceq{letter} {key}, {i}"));
            let next = self.new_label("test");
            self.line(format_args!("\tjnz {test}, @{label}, @{next}"));
            self.label(&next);
        }
        self.feed(&mut merges);
        self.line(format_args!("\tjmp @{join}"));
        for label in &labels {
            self.branch(label, &mut merges, depth.max(2));
            self.line(format_args!("\tjmp @{join}"));
        }
        self.label(&join);
        self.write_phis(&merges);
        self.nesting -= 1;
    }

    /// Blocks that are never run, and faults that never happen.
    pub fn dead_code(&mut self) {
        let (dead, live) = (self.new_label("dead"), self.new_label("live"));
        let zero = match self.below(3) {
            0 => "0".to_owned(),
            1 if !self.g.options.plain => "4294967296".to_owned(),
            _ => {
                let value = self.value(W);
                self.emit(W, format_args!("xor {value}, {value}"))
            }
        };
        self.line(format_args!("\tjnz {zero}, @{dead}, @{live}"));
        self.label(&dead);
        let value = self.value(W);
        let op = if self.g.options.plain { "add" } else { "div" };
        let fault = self.emit(W, format_args!("{op} {value}, 0"));
        let global = self.global_for(W);
        if let Some(global) = global.filter(|_| SIZES[W] == 4) {
            self.line(format_args!("\tstorew {fault}, {global}"));
        }
        match self.below(3) {
            0 => self.line(format_args!("\thlt")),
            1 => self.line(format_args!("\tjmp @{dead}")),
            _ => {
                let lost = self.new_label("lost");
                self.line(format_args!("\thlt\n@{lost}\n\tjmp @{lost}"));
            }
        }
        self.label(&live);
    }
}
