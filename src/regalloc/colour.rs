//! Colours for the segments of [`webs`](super::webs): grouping, and the choice of registers.

use super::Pool;
use super::webs::{Hint, Row, Segment, Webs};
use crate::index::{Index, IndexVec, index_types};
use crate::target::machine::{PReg, PRegSet};
use std::collections::BinaryHeap;

index_types! {
    /// Segments that are one value across block boundaries.
    Node = "n";
}

/// The price of the first use of a register that has to be saved: a store and a load.
const SAVE: f32 = 2.0;
/// How often one node may be tried for groups; bounds the work on long ranges.
const TRIES: u8 = 16;

/// Colours all segments; also returns the registers in use at each of `points`.
pub fn run(pool: &Pool, webs: Webs, points: usize) -> (IndexVec<Segment, Row>, Vec<PRegSet>) {
    let mut painter = Painter::new(pool, webs, points);
    painter.want();
    let mut order: Vec<Node> = painter.weight.indices().collect();
    order.sort_by(|a, b| painter.weight[*b].total_cmp(&painter.weight[*a]));
    for node in order {
        if painter.group_of[node] == 0 {
            painter.group(node);
        }
    }
    (painter.webs.rows, painter.busy)
}

/// Rows by key: offsets and one flat list.
struct Lists<T> {
    first: Vec<u32>,
    rows: Vec<T>,
}

impl<T: Copy> Lists<T> {
    fn new(keys: usize, pairs: &[(usize, T)]) -> Lists<T> {
        let mut first = vec![0_u32; keys + 1];
        for (k, _) in pairs {
            first[k + 1] += 1;
        }
        for k in 0..keys {
            first[k + 1] += first[k];
        }
        let Some(&(_, filler)) = pairs.first() else { return Lists { first, rows: Vec::new() } };
        let mut rows = vec![filler; pairs.len()];
        let mut place = first.clone();
        for &(k, row) in pairs {
            rows[place[k] as usize] = row;
            place[k] += 1;
        }
        Lists { first, rows }
    }

    fn of(&self, key: usize) -> &[T] {
        &self.rows[self.first[key] as usize..self.first[key + 1] as usize]
    }
}

/// A node that wants to join a group; the heaviest first.
#[derive(Copy, Clone, PartialEq)]
struct Wish {
    weight: f32,
    node: Node,
}

impl Eq for Wish {}

impl PartialOrd for Wish {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Wish {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.weight.total_cmp(&other.weight).then(other.node.cmp(&self.node))
    }
}

struct Painter<'a> {
    pool: &'a Pool,
    webs: Webs,
    node_of: IndexVec<Segment, Node>,
    segments: Lists<Segment>,
    weight: IndexVec<Node, f32>,
    forbidden: IndexVec<Node, PRegSet>,
    /// Segments that want the register of this one.
    friends: Lists<(Segment, f32)>,
    hints: Lists<(PReg, f32)>,
    /// Of each point: colours in use, and colours that something there has a hint for.
    busy: Vec<PRegSet>,
    wanted: Vec<PRegSet>,
    /// Of each point: the last group that occupies it.
    mark: Vec<u32>,
    group_of: IndexVec<Node, u32>,
    groups: u32,
    tries: IndexVec<Node, u8>,
    used: PRegSet,
}

impl<'a> Painter<'a> {
    fn new(pool: &'a Pool, webs: Webs, points: usize) -> Painter<'a> {
        let count = webs.rows.len();
        let (node_of, nodes) = nodes(&webs);
        let members: Vec<(usize, Segment)> =
            webs.rows.indices().map(|s| (node_of[s].index(), s)).collect();
        let mut friends = Vec::with_capacity(2 * (webs.same.len() + webs.affinities.len()));
        let affinities = webs.affinities.iter().map(|f| (f.a, f.b, f.weight));
        for (a, b, weight) in webs.same.iter().copied().chain(affinities) {
            friends.push((a.index(), (b, weight)));
            friends.push((b.index(), (a, weight)));
        }
        let hints: Vec<_> =
            webs.hints.iter().map(|h: &Hint| (h.segment.index(), (h.to, h.weight))).collect();
        let mut weight = IndexVec::filled(0.0, nodes);
        let mut forbidden = IndexVec::filled(PRegSet::EMPTY, nodes);
        for (s, row) in webs.rows.enumerate() {
            weight[node_of[s]] += row.weight;
            let all: &mut PRegSet = &mut forbidden[node_of[s]];
            *all = all.union(row.forbidden);
        }
        Painter {
            pool,
            segments: Lists::new(nodes, &members),
            weight,
            forbidden,
            friends: Lists::new(count, &friends),
            hints: Lists::new(count, &hints),
            busy: vec![PRegSet::EMPTY; points],
            wanted: vec![PRegSet::EMPTY; points],
            mark: vec![0; points],
            group_of: IndexVec::filled(0, nodes),
            groups: 0,
            tries: IndexVec::filled(0, nodes),
            used: PRegSet::EMPTY,
            node_of,
            webs,
        }
    }

    /// Marks where fixed operands would like a register to be theirs.
    fn want(&mut self) {
        for hint in &self.webs.hints {
            let row = &self.webs.rows[hint.segment];
            if !row.forbidden.contains(hint.to) {
                for point in &mut self.wanted[row.start as usize..row.end as usize] {
                    point.insert(hint.to);
                }
            }
        }
    }

    /// Forms the group of a node and colours it.
    fn group(&mut self, seed: Node) {
        self.groups += 1;
        let mut members = vec![seed];
        let mut wishes = BinaryHeap::new();
        let mut forbidden = self.forbidden[seed];
        self.join(seed, &mut wishes);
        while let Some(wish) = wishes.pop() {
            let node = wish.node;
            if self.group_of[node] != 0 || self.tries[node] >= TRIES {
                continue;
            }
            self.tries[node] += 1;
            let both = forbidden.union(self.forbidden[node]);
            if self.is_open(node, both) && self.is_apart(node) {
                forbidden = both;
                members.push(node);
                self.join(node, &mut wishes);
            }
        }
        let segments: Vec<Segment> =
            members.iter().flat_map(|n| self.segments.of(n.index())).copied().collect();
        if self.paint(&segments) || members.len() == 1 && segments.len() == 1 {
            return;
        }
        for node in members {
            let segments = self.segments.of(node.index()).to_vec();
            if !self.paint(&segments) && segments.len() > 1 {
                for segment in segments {
                    self.paint(&[segment]);
                }
            }
        }
    }

    fn join(&mut self, node: Node, wishes: &mut BinaryHeap<Wish>) {
        self.group_of[node] = self.groups;
        for &s in self.segments.of(node.index()) {
            let row = &self.webs.rows[s];
            self.mark[row.start as usize..row.end as usize].fill(self.groups);
            for &(friend, weight) in self.friends.of(s.index()) {
                let node = self.node_of[friend];
                if self.group_of[node] == 0 {
                    wishes.push(Wish { weight, node });
                }
            }
        }
    }

    /// Whether some register is left to a group with what is forbidden to it.
    fn is_open(&self, node: Node, forbidden: PRegSet) -> bool {
        !self.bank(self.segments.of(node.index())[0]).without(forbidden).is_empty()
    }

    /// Whether a node lives nowhere where the present group does.
    fn is_apart(&self, node: Node) -> bool {
        self.segments.of(node.index()).iter().all(|&s| {
            let row = &self.webs.rows[s];
            self.mark[row.start as usize..row.end as usize].iter().all(|&m| m != self.groups)
        })
    }

    fn bank(&self, s: Segment) -> PRegSet {
        self.pool.allowed.in_bank(self.webs.rows[s].bank)
    }

    /// Gives the segments the best register that is free for all of them, if there is one.
    fn paint(&mut self, segments: &[Segment]) -> bool {
        let mut taken = PRegSet::EMPTY;
        let mut wanted = PRegSet::EMPTY;
        let mut score = [0.0_f32; 64];
        for &s in segments {
            let row = &self.webs.rows[s];
            let points = row.start as usize..row.end as usize;
            taken = taken.union(row.forbidden);
            taken = self.busy[points.clone()].iter().fold(taken, |all, p| all.union(*p));
            wanted = self.wanted[points].iter().fold(wanted, |all, p| all.union(*p));
            for &(r, weight) in self.hints.of(s.index()) {
                score[r.index()] += weight;
            }
            for &(friend, weight) in self.friends.of(s.index()) {
                if let Some(r) = self.webs.rows[friend].colour {
                    score[r.index()] += weight;
                }
            }
        }
        let open = self.bank(segments[0]).without(taken);
        let mut best: Option<(f32, PReg)> = None;
        for &r in self.pool.order.iter().filter(|r| open.contains(**r)) {
            let mut value = score[r.index()];
            if wanted.contains(r) && value == 0.0 {
                value -= 0.01;
            }
            if self.pool.callee_saved.contains(r) && !self.used.contains(r) {
                value -= SAVE;
            }
            if best.is_none_or(|(most, _)| value > most) {
                best = Some((value, r));
            }
        }
        let Some((_, r)) = best else { return false };
        self.used.insert(r);
        for &s in segments {
            let row = &mut self.webs.rows[s];
            row.colour = Some(r);
            for point in &mut self.busy[row.start as usize..row.end as usize] {
                point.insert(r);
            }
        }
        true
    }
}

/// Joins segments of one value that meet at an edge.
fn nodes(webs: &Webs) -> (IndexVec<Segment, Node>, usize) {
    let mut root: IndexVec<Segment, Segment> = webs.rows.indices().collect();
    for &(a, b, _) in &webs.same {
        let (a, b) = (find(&mut root, a), find(&mut root, b));
        if a != b {
            root[a.max(b)] = a.min(b);
        }
    }
    let mut node_of = IndexVec::filled(Node::new(0), webs.rows.len());
    let mut count = 0;
    for s in webs.rows.indices() {
        let r = find(&mut root, s);
        if r == s {
            node_of[s] = Node::new(count);
            count += 1;
        } else {
            node_of[s] = node_of[r];
        }
    }
    (node_of, count)
}

fn find(root: &mut IndexVec<Segment, Segment>, mut s: Segment) -> Segment {
    while root[s] != s {
        root[s] = root[root[s]];
        s = root[s];
    }
    s
}
