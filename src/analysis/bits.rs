//! Known bits: which bits of an integer are the same on every run, and how many top bits repeat
//! the sign.
//!
//! [`Bits::of`] is the transfer function of one instruction, from the facts of its operands; it
//! never walks further. [`phi_bits`] solves the loops: every phi, and what it depends on, starts as
//! "no value seen yet" and sweeps in reverse postorder take facts back until nothing changes. Only the fixed point is returned, so no optimistic fact is ever seen. After
//! [`MAX_SWEEPS`] what still changes is given up, which bounds the work.

use crate::index::{BitSet, IndexVec};
use crate::ir::{BlockId, Class, Function, Inst, Op, Ref, TempId, Value};

/// What is known of an integer of class `w` (32 bits, the rest of the masks is 0) or `l`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Bits {
    /// Bits that are 0.
    pub zeros: u64,
    /// Bits that are 1.
    pub ones: u64,
    /// How many top bits, the sign included, equal the sign: at least 1.
    pub signs: u32,
}

/// Sweeps of [`phi_bits`] before it gives up what still changes.
const MAX_SWEEPS: usize = 8;

/// Bits of a class: 32 or 64.
pub fn width(class: Class) -> u32 {
    class.size() * 8
}

/// The bits of a class: all of them set.
pub fn mask(class: Class) -> u64 {
    low(width(class))
}

/// The low `n` bits set.
pub fn low(n: u32) -> u64 {
    if n >= 64 { !0 } else { (1 << n) - 1 }
}

impl Bits {
    /// Nothing is known.
    pub const UNKNOWN: Bits = Bits { zeros: 0, ones: 0, signs: 1 };

    /// The start of an optimistic analysis: no value has been seen yet. Meets as the identity.
    const UNSEEN: Bits = Bits { zeros: !0, ones: !0, signs: 64 };

    /// All bits are known.
    pub fn constant(value: u64, class: Class) -> Bits {
        let value = value & mask(class);
        let shift = 64 - width(class);
        let signed = (value << shift) as i64;
        let same = if signed < 0 { signed.leading_ones() } else { signed.leading_zeros() };
        Bits { zeros: !value & mask(class), ones: value, signs: same.min(width(class)) }
    }

    /// Only bits in `possible` can be set.
    fn within(possible: u64, class: Class) -> Bits {
        Bits { zeros: !possible & mask(class), ones: 0, signs: 1 }.normal(class)
    }

    /// Sign-extended from the low `n` bits.
    fn signed(n: u32, class: Class) -> Bits {
        Bits { zeros: 0, ones: 0, signs: width(class) - n + 1 }
    }

    fn is_unseen(self) -> bool {
        self.zeros & self.ones != 0
    }

    /// Lets the masks and the count of sign bits tell each other what they know.
    fn normal(mut self, class: Class) -> Bits {
        if self == Bits::UNKNOWN {
            return self;
        }
        let width = width(class);
        let shift = 64 - width;
        let leading = |known: u64| (!(known << shift)).leading_zeros().min(width);
        self.signs = self.signs.max(leading(self.zeros)).max(leading(self.ones)).clamp(1, width);
        let repeated = mask(class) & !low(width - self.signs);
        if self.zeros & repeated != 0 {
            self.zeros |= repeated;
        } else if self.ones & repeated != 0 {
            self.ones |= repeated;
        }
        self
    }

    /// The value, if every bit of it is known.
    pub fn value(self, class: Class) -> Option<u64> {
        (self.zeros | self.ones == mask(class)).then_some(self.ones)
    }

    /// What is known whichever of the two values it is.
    pub fn meet(self, other: Bits) -> Bits {
        Bits {
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            signs: self.signs.min(other.signs),
        }
    }

    /// What two facts of one value say together.
    pub fn join(self, other: Bits, class: Class) -> Bits {
        let both = Bits {
            zeros: self.zeros | other.zeros,
            ones: self.ones | other.ones,
            signs: self.signs.max(other.signs),
        };
        if both.is_unseen() { self } else { both.normal(class) }
    }

    /// The facts of the low half of an `l`.
    fn low_half(self) -> Bits {
        let half = Bits {
            zeros: self.zeros & low(32),
            ones: self.ones & low(32),
            signs: self.signs.saturating_sub(32).max(1),
        };
        half.normal(Class::W)
    }

    /// How many top bits are known to be 0.
    pub fn leading_zeros(self, class: Class) -> u32 {
        (!(self.zeros << (64 - width(class)))).leading_zeros().min(width(class))
    }

    /// How many low bits are known to be 0.
    pub fn trailing_zeros(self) -> u32 {
        (!self.zeros).trailing_zeros()
    }

    /// True if the sign is known to be 0.
    pub fn is_nonnegative(self, class: Class) -> bool {
        self.zeros >> (width(class) - 1) & 1 != 0
    }

    /// True if some bit is known to be 1.
    pub fn is_nonzero(self) -> bool {
        self.ones != 0
    }

    /// The least and greatest value, unsigned.
    pub fn unsigned_range(self, class: Class) -> (u64, u64) {
        (self.ones, !self.zeros & mask(class))
    }

    /// The least and greatest value, signed.
    pub fn signed_range(self, class: Class) -> (i64, i64) {
        let width = width(class);
        let sign = 1u64 << (width - 1);
        let extend = |v: u64| ((v << (64 - width)) as i64) >> (64 - width);
        let least = self.ones | (sign & !self.zeros);
        let greatest = !self.zeros & mask(class) & !(sign & !self.ones);
        let bound = 1i64 << (width - self.signs).min(62);
        if self.signs == 1 {
            (extend(least), extend(greatest))
        } else {
            (extend(least).max(-bound), extend(greatest).min(bound - 1))
        }
    }

    /// The facts of an operand, in a context that wants `class`; `temps` holds those of the
    /// temporaries.
    pub fn operand(f: &Function, temps: &IndexVec<TempId, Bits>, r: Ref, class: Class) -> Bits {
        match r.value() {
            Value::Temp(t) => match (f.temps[t].class, class) {
                (Class::L, Class::W) if !temps[t].is_unseen() => temps[t].low_half(),
                (Class::W | Class::L, _) => temps[t],
                (Class::S | Class::D, _) => Bits::UNKNOWN,
            },
            _ => match f.bits_as(r, class) {
                Some(value) if class.is_int() => Bits::constant(value, class),
                _ => Bits::UNKNOWN,
            },
        }
    }

    /// The facts of an instruction's result.
    pub fn of(f: &Function, temps: &IndexVec<TempId, Bits>, inst: &Inst) -> Bits {
        let class = inst.class;
        if !class.is_int() {
            return Bits::UNKNOWN;
        }
        if inst.op == Op::Select {
            let a = Bits::operand(f, temps, inst.args[1], class);
            return a.meet(Bits::operand(f, temps, inst.args[2], class));
        }
        if let Some((bits, signed)) = inst.op.extension() {
            let x = Bits::operand(f, temps, inst.args[0], Class::W);
            return if x.is_unseen() { x } else { extended(x, bits, signed, class) };
        }
        if let Some(known) = fixed(inst.op, class) {
            return known;
        }
        if !is_followed(inst.op) {
            return Bits::UNKNOWN;
        }
        let a = Bits::operand(f, temps, inst.args[0], class);
        if a.is_unseen() {
            return a;
        }
        if matches!(inst.op, Op::Sar | Op::Shr | Op::Shl | Op::Rotl | Op::Rotr) {
            let count = Bits::operand(f, temps, inst.args[1], Class::W);
            return if count.is_unseen() { count } else { shifted(inst.op, class, a, count) };
        }
        if inst.args[1].is_none() {
            return unary(inst.op, class, a).normal(class);
        }
        let b = Bits::operand(f, temps, inst.args[1], class);
        if b.is_unseen() { b } else { binary(inst.op, class, a, b).normal(class) }
    }
}

/// Facts that do not depend on operands: of comparisons and loads.
fn fixed(op: Op, class: Class) -> Option<Bits> {
    if op.comparison().is_some() {
        return Some(Bits::within(1, class));
    }
    Some(match op {
        Op::Loadub => Bits::within(0xff, class),
        Op::Loaduh => Bits::within(0xffff, class),
        Op::Loaduw => Bits::within(low(32), class),
        Op::Loadsb => Bits::signed(8, class),
        Op::Loadsh => Bits::signed(16, class),
        Op::Loadsw => Bits::signed(32, class),
        _ => return None,
    })
}

/// Ops whose result's facts come from their operands'.
fn is_followed(op: Op) -> bool {
    matches!(
        op,
        Op::Add
            | Op::Sub
            | Op::Neg
            | Op::Div
            | Op::Rem
            | Op::Udiv
            | Op::Urem
            | Op::Mul
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::Sar
            | Op::Shr
            | Op::Shl
            | Op::Copy
            | Op::Bswap
            | Op::Rotl
            | Op::Rotr
    )
}

fn extended(x: Bits, bits: u32, signed: bool, class: Class) -> Bits {
    let kept = low(bits);
    let known = Bits { zeros: x.zeros & kept, ones: x.ones & kept, signs: 1 };
    if !signed {
        return Bits { zeros: known.zeros | (mask(class) & !kept), ..known }.normal(class);
    }
    // The sign bits of x that reach into the kept part go on above it.
    let inside = (x.signs + bits).saturating_sub(32).max(1);
    Bits { signs: inside + width(class) - bits, ..known }.normal(class)
}

fn unary(op: Op, class: Class, a: Bits) -> Bits {
    match op {
        Op::Copy => a,
        Op::Neg => binary(Op::Sub, class, Bits::constant(0, class), a),
        Op::Bswap => {
            let swap = |known: u64| known.swap_bytes() >> (64 - width(class));
            Bits { zeros: swap(a.zeros), ones: swap(a.ones), signs: 1 }
        }
        _ => Bits::UNKNOWN,
    }
}

fn binary(op: Op, class: Class, a: Bits, b: Bits) -> Bits {
    let width = width(class);
    let least = a.signs.min(b.signs);
    match op {
        Op::And => Bits { zeros: a.zeros | b.zeros, ones: a.ones & b.ones, signs: least },
        Op::Or => Bits { zeros: a.zeros & b.zeros, ones: a.ones | b.ones, signs: least },
        Op::Xor => Bits {
            zeros: a.zeros & b.zeros | a.ones & b.ones,
            ones: a.zeros & b.ones | a.ones & b.zeros,
            signs: least,
        },
        // A bit of which nothing is known hides all above it.
        Op::Add | Op::Sub if a == Bits::UNKNOWN || b == Bits::UNKNOWN => Bits::UNKNOWN,
        Op::Add => sum(class, a, b, 0),
        // a - b is a + !b + 1.
        Op::Sub => sum(class, a, Bits { zeros: b.ones, ones: b.zeros, ..b }, 1),
        Op::Mul => product(class, a, b),
        Op::Udiv => Bits::within(low(width - a.leading_zeros(class)), class),
        Op::Urem => {
            let zeros = a.leading_zeros(class).max(b.leading_zeros(class));
            Bits::within(low(width - zeros), class)
        }
        Op::Div if a.is_nonnegative(class) && b.is_nonnegative(class) => {
            Bits::within(low(width - a.leading_zeros(class)), class)
        }
        Op::Div => Bits { signs: (a.signs - 1).max(1), ..Bits::UNKNOWN },
        Op::Rem if a.is_nonnegative(class) => {
            Bits::within(low(width - a.leading_zeros(class)), class)
        }
        Op::Rem => Bits { signs: a.signs, ..Bits::UNKNOWN },
        _ => Bits::UNKNOWN,
    }
}

/// a + b + carry: a bit of the sum is known where both bits and the carry into it are. The carries
/// are those of the least and of the greatest possible sum, where the two agree.
fn sum(class: Class, a: Bits, b: Bits, carry: u64) -> Bits {
    let mask = mask(class);
    let greatest = (!a.zeros & mask).wrapping_add(!b.zeros & mask).wrapping_add(carry) & mask;
    let least = a.ones.wrapping_add(b.ones).wrapping_add(carry) & mask;
    let carry_zeros = !(greatest ^ !a.zeros ^ !b.zeros);
    let carry_ones = least ^ a.ones ^ b.ones;
    let known = (a.zeros | a.ones) & (b.zeros | b.ones) & (carry_zeros | carry_ones) & mask;
    let signs = (a.signs.min(b.signs) - 1).max(1);
    Bits { zeros: !greatest & known, ones: least & known, signs }
}

fn product(class: Class, a: Bits, b: Bits) -> Bits {
    let width = width(class);
    let mut zeros = low((a.trailing_zeros() + b.trailing_zeros()).min(width));
    let leading = a.leading_zeros(class) + b.leading_zeros(class);
    if leading > width {
        zeros |= mask(class) & !low(2 * width - leading);
    }
    // A number with s sign bits has width - s + 1 significant ones; a product has their sum.
    let significant = 2 * width + 2 - a.signs - b.signs;
    let signs = (width + 1).saturating_sub(significant).max(1);
    Bits { zeros, ones: 0, signs }
}

fn shifted(op: Op, class: Class, a: Bits, count: Bits) -> Bits {
    let width = width(class);
    let mask = mask(class);
    let Some(count) = count.value(Class::W) else {
        let unknown = Bits::UNKNOWN;
        return match op {
            Op::Shl => Bits { zeros: low(a.trailing_zeros().min(width)), ..unknown }.normal(class),
            Op::Shr => Bits::within(low(width - a.leading_zeros(class)), class),
            Op::Sar => {
                Bits { signs: a.signs, zeros: mask & !low(width - a.leading_zeros(class)), ones: 0 }
            }
            _ => unknown,
        };
    };
    let n = count as u32 % width;
    let sign_extend = |v: u64| ((v << (64 - width)) as i64 >> (64 - width)) as u64;
    let rotate = |v: u64, n: u32| if n == 0 { v } else { (v << n | v >> (width - n)) & mask };
    let known = match op {
        Op::Shl => Bits {
            zeros: (a.zeros << n | low(n)) & mask,
            ones: a.ones << n & mask,
            signs: a.signs.saturating_sub(n).max(1),
        },
        Op::Shr => {
            Bits { zeros: (a.zeros >> n) | (mask & !(mask >> n)), ones: a.ones >> n, signs: 1 }
        }
        Op::Sar => Bits {
            zeros: (sign_extend(a.zeros) as i64 >> n) as u64 & mask,
            ones: (sign_extend(a.ones) as i64 >> n) as u64 & mask,
            signs: (a.signs + n).min(width),
        },
        Op::Rotl => Bits { zeros: rotate(a.zeros, n), ones: rotate(a.ones, n), signs: 1 },
        Op::Rotr => {
            let n = (width - n) % width;
            Bits { zeros: rotate(a.zeros, n), ones: rotate(a.ones, n), signs: 1 }
        }
        _ => Bits::UNKNOWN,
    };
    known.normal(class)
}

/// Facts of the phis at the fixed point, in a table for all temporaries. Only what loop phis depend
/// on is looked at; the rows of all else say nothing.
pub fn phi_bits(f: &Function, rpo: &[BlockId]) -> IndexVec<TempId, Bits> {
    let mut temps = IndexVec::filled(Bits::UNKNOWN, f.temps.len());
    let nodes = Dependence::new(f, rpo).nodes(rpo);
    for node in &nodes {
        temps[node.to(f)] = Bits::UNSEEN;
    }
    for sweep in 0.. {
        let mut changed = false;
        for node in &nodes {
            let to = node.to(f);
            let old = temps[to];
            let new = match *node {
                Node::Phi(b, i) => {
                    let phi = &f.blocks[b].phis[i as usize];
                    let args = phi.args.iter();
                    args.fold(old, |m, &(_, r)| m.meet(Bits::operand(f, &temps, r, phi.class)))
                }
                // Meeting the old fact keeps the descent monotone.
                Node::Inst(b, i) => old.meet(Bits::of(f, &temps, &f.blocks[b].insts[i as usize])),
            };
            if new != old {
                temps[to] = new;
                changed |= matches!(node, Node::Phi(..));
            }
        }
        if !changed {
            break;
        }
        if sweep >= MAX_SWEEPS {
            give_up(f, &nodes, &mut temps);
        }
    }
    for node in &nodes {
        let known = &mut temps[node.to(f)];
        if known.is_unseen() {
            *known = Bits::UNKNOWN;
        }
    }
    temps
}

/// A definition that may say something of a loop phi.
#[derive(Copy, Clone)]
enum Node {
    Phi(BlockId, u32),
    Inst(BlockId, u32),
}

impl Node {
    fn to(self, f: &Function) -> TempId {
        match self {
            Node::Phi(b, i) => f.blocks[b].phis[i as usize].to,
            Node::Inst(b, i) => f.blocks[b].insts[i as usize].to.expect("it has facts"),
        }
    }
}

/// What loop phis depend on.
struct Dependence<'a> {
    f: &'a Function,
    /// The definitions that can say anything.
    defs: IndexVec<TempId, Option<Node>>,
    relevant: BitSet<TempId>,
}

impl<'a> Dependence<'a> {
    fn new(f: &'a Function, rpo: &[BlockId]) -> Dependence<'a> {
        let mut defs = IndexVec::filled(None, f.temps.len());
        let mut loop_phis = Vec::new();
        let mut seen: BitSet<BlockId> = BitSet::new(f.blocks.len());
        for &b in rpo {
            let block = &f.blocks[b];
            for (i, phi) in block.phis.iter().enumerate().filter(|(_, p)| p.class.is_int()) {
                defs[phi.to] = Some(Node::Phi(b, i as u32));
                if phi.args.iter().any(|&(from, _)| !seen.contains(from)) {
                    loop_phis.push(phi.to);
                }
            }
            for (i, inst) in block.insts.iter().enumerate() {
                if let Some(to) = inst.to
                    && says_something(inst)
                {
                    defs[to] = Some(Node::Inst(b, i as u32));
                }
            }
            seen.insert(b);
        }
        let mut found = Dependence { f, defs, relevant: BitSet::new(f.temps.len()) };
        found.walk(loop_phis);
        found
    }

    /// Marks what the temporaries in `work` depend on. A phi with an argument of which nothing can
    /// be said is itself one.
    fn walk(&mut self, mut work: Vec<TempId>) {
        while let Some(t) = work.pop() {
            let Some(node) = self.defs[t] else { continue };
            if self.relevant.contains(t) {
                continue;
            }
            match node {
                Node::Phi(b, i) => {
                    let args = &self.f.blocks[b].phis[i as usize].args;
                    if args.iter().any(|&(_, r)| self.is_opaque(r)) {
                        self.defs[t] = None;
                        continue;
                    }
                    work.extend(args.iter().filter_map(|&(_, r)| r.as_temp()));
                }
                Node::Inst(b, i) => {
                    let inst = &self.f.blocks[b].insts[i as usize];
                    work.extend(inst.operands().iter().filter_map(|r| r.as_temp()));
                }
            }
            self.relevant.insert(t);
        }
    }

    fn is_opaque(&self, r: Ref) -> bool {
        match r.value() {
            Value::Temp(t) => self.defs[t].is_none(),
            _ => self.f.bits(r).is_none(),
        }
    }

    /// The definitions that matter, in reverse postorder.
    fn nodes(&self, rpo: &[BlockId]) -> Vec<Node> {
        let mut nodes = Vec::new();
        if self.relevant.is_empty() {
            return nodes;
        }
        for &b in rpo {
            let block = &self.f.blocks[b];
            for (i, phi) in block.phis.iter().enumerate() {
                if self.relevant.contains(phi.to) {
                    nodes.push(Node::Phi(b, i as u32));
                }
            }
            for (i, inst) in block.insts.iter().enumerate() {
                if inst.to.is_some_and(|t| self.relevant.contains(t)) {
                    nodes.push(Node::Inst(b, i as u32));
                }
            }
        }
        nodes
    }
}

/// True if the facts of the result are not always none.
fn says_something(inst: &Inst) -> bool {
    let op = inst.op;
    inst.class.is_int()
        && (is_followed(op)
            || op == Op::Select
            || op.extension().is_some()
            || fixed(op, inst.class).is_some())
}

/// Forgets every phi, so that the next sweep is the last.
fn give_up(f: &Function, nodes: &[Node], temps: &mut IndexVec<TempId, Bits>) {
    for node in nodes.iter().filter(|node| matches!(node, Node::Phi(..))) {
        temps[node.to(f)] = Bits::UNKNOWN;
    }
}
