//! How debuggers, profilers and exceptions find their way out of a function: what prologues and
//! epilogues do to the frame, turned into rules of DWARF call frame information.
//!
//! DWARF 5, section 6.4: at each instruction the canonical frame address (CFA), which is the stack
//! pointer of the caller before its call, is a register plus an offset, and a saved register is at
//! an offset from the CFA.

use super::machine::PReg;
use smallvec::SmallVec;

/// What a target's frames have in common.
#[derive(Debug)]
pub struct Unwind {
    pub stack_pointer: PReg,
    /// What leads from frame to frame where a frame pointer is kept.
    pub frame_pointer: PReg,
    /// The CFA is this far above the stack pointer where a function begins.
    pub at_entry: i64,
    /// The number of a register in DWARF.
    pub number: fn(PReg) -> u16,
    /// Where the return address is, by that number.
    pub return_address: u16,
    /// Appends the name of a register as `.cfi` directives spell it.
    pub name: fn(&mut Vec<u8>, PReg),
}

/// What the instruction just sent, of a prologue or an epilogue, has done.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FrameAction {
    /// Pushed a register of 8 bytes.
    Push(PReg),
    /// Moved the stack pointer down by so many bytes.
    Allocate(i64),
    /// Stored a register at an offset from the stack pointer.
    Save(PReg, i64),
    /// Made a register the frame pointer: the stack pointer plus an offset.
    SetFrame(PReg, i64),
    /// Popped a register of 8 bytes.
    Pop(PReg),
    /// Loaded a saved register.
    Restore(PReg),
    /// Moved the stack pointer up by so many bytes.
    Release(i64),
    /// Made the stack pointer what it was after so many bytes of pushes and saves, counted from the
    /// CFA.
    Reset(i64),
    /// The prologue is complete.
    EndPrologue,
    /// An epilogue follows; `last`: and no code behind it.
    BeginEpilogue { last: bool },
    /// The epilogue has returned.
    EndEpilogue,
    /// A block follows that runs with the frame, or without.
    Block { framed: bool },
}

/// A rule of call frame information.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The CFA is a register plus an offset.
    Cfa(PReg, i64),
    /// The offset of the CFA from its register.
    CfaOffset(i64),
    CfaRegister(PReg),
    /// A register of the caller is at an offset from the CFA.
    Saved(PReg, i64),
    /// A register has the caller's value.
    Same(PReg),
    Remember,
    Recall,
}

/// The frame as it is at one place of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
struct State {
    register: PReg,
    offset: i64,
    /// The CFA minus the stack pointer.
    depth: i64,
    saved: SmallVec<[(PReg, i64); 12]>,
}

/// Follows the actions of a function and gives the rules they make.
#[derive(Debug)]
pub struct Tracker {
    stack_pointer: PReg,
    now: State,
    entry: State,
    /// As the prologue left it.
    framed: Option<State>,
    /// As it was before the epilogue.
    before: Option<State>,
}

impl Tracker {
    pub fn new(unwind: &Unwind) -> Tracker {
        let state = State {
            register: unwind.stack_pointer,
            offset: unwind.at_entry,
            depth: unwind.at_entry,
            saved: SmallVec::new(),
        };
        Tracker {
            stack_pointer: unwind.stack_pointer,
            now: state.clone(),
            entry: state,
            framed: None,
            before: None,
        }
    }

    /// Takes note of an action; `rule` gets what is to be written.
    pub fn action(&mut self, action: FrameAction, mut rule: impl FnMut(Rule)) {
        match action {
            FrameAction::Push(r) => {
                self.move_stack(8, &mut rule);
                self.save(r, -self.now.depth, &mut rule);
            }
            FrameAction::Allocate(bytes) => self.move_stack(bytes, &mut rule),
            FrameAction::Save(r, offset) => self.save(r, offset - self.now.depth, &mut rule),
            FrameAction::SetFrame(r, offset) => {
                self.now.offset = self.now.depth - offset;
                self.now.register = r;
                rule(if offset == 0 {
                    Rule::CfaRegister(r)
                } else {
                    Rule::Cfa(r, self.now.offset)
                });
            }
            FrameAction::Pop(r) => {
                self.move_stack(-8, &mut rule);
                self.restore(r, &mut rule);
            }
            FrameAction::Restore(r) => self.restore(r, &mut rule),
            FrameAction::Release(bytes) => self.move_stack(-bytes, &mut rule),
            FrameAction::Reset(depth) => {
                let bytes = depth - self.now.depth;
                self.move_stack(bytes, &mut rule);
            }
            FrameAction::EndPrologue => self.framed = Some(self.now.clone()),
            FrameAction::BeginEpilogue { last } => {
                if !last {
                    self.before = Some(self.now.clone());
                    rule(Rule::Remember);
                }
            }
            FrameAction::EndEpilogue => {
                if let Some(before) = self.before.take() {
                    self.now = before;
                    rule(Rule::Recall);
                }
            }
            FrameAction::Block { framed } => {
                let wanted = if framed { self.framed.as_ref() } else { Some(&self.entry) };
                if let Some(wanted) = wanted.filter(|&w| *w != self.now).cloned() {
                    self.become_state(wanted, &mut rule);
                }
            }
        }
    }

    fn move_stack(&mut self, down: i64, rule: &mut impl FnMut(Rule)) {
        self.now.depth += down;
        if self.now.register == self.stack_pointer && down != 0 {
            self.now.offset = self.now.depth;
            rule(Rule::CfaOffset(self.now.offset));
        }
    }

    fn save(&mut self, r: PReg, offset: i64, rule: &mut impl FnMut(Rule)) {
        self.now.saved.push((r, offset));
        rule(Rule::Saved(r, offset));
    }

    fn restore(&mut self, r: PReg, rule: &mut impl FnMut(Rule)) {
        if r == self.now.register {
            // What the CFA counted from is the caller's again.
            self.now.register = self.stack_pointer;
            self.now.offset = self.now.depth;
            rule(Rule::Cfa(self.now.register, self.now.offset));
        }
        if let Some(n) = self.now.saved.iter().position(|s| s.0 == r) {
            self.now.saved.remove(n);
            rule(Rule::Same(r));
        }
    }

    fn become_state(&mut self, wanted: State, rule: &mut impl FnMut(Rule)) {
        if (wanted.register, wanted.offset) != (self.now.register, self.now.offset) {
            rule(Rule::Cfa(wanted.register, wanted.offset));
        }
        for s in self.now.saved.iter().filter(|s| !wanted.saved.contains(s)) {
            rule(Rule::Same(s.0));
        }
        for s in wanted.saved.iter().filter(|s| !self.now.saved.contains(s)) {
            rule(Rule::Saved(s.0, s.1));
        }
        self.now = wanted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FrameAction::*;
    use pretty_assertions::assert_eq;

    const SP: PReg = PReg::int(4);
    const FP: PReg = PReg::int(5);
    const A: PReg = PReg::int(3);
    const B: PReg = PReg::int(12);

    fn rules(actions: &[FrameAction]) -> Vec<Rule> {
        let unwind = Unwind {
            stack_pointer: SP,
            frame_pointer: FP,
            at_entry: 8,
            number: |r| r.index() as u16,
            return_address: 16,
            name: |_, _| {},
        };
        let mut tracker = Tracker::new(&unwind);
        let mut rules = Vec::new();
        for &action in actions {
            tracker.action(action, |r| rules.push(r));
        }
        rules
    }

    #[test]
    fn pushes_and_pops() {
        let actions = [
            Push(A),
            Allocate(24),
            EndPrologue,
            BeginEpilogue { last: false },
            Release(24),
            Pop(A),
            EndEpilogue,
            BeginEpilogue { last: true },
            Release(24),
            Pop(A),
            EndEpilogue,
        ];
        let expected = [
            Rule::CfaOffset(16),
            Rule::Saved(A, -16),
            Rule::CfaOffset(40),
            Rule::Remember,
            Rule::CfaOffset(16),
            Rule::CfaOffset(8),
            Rule::Same(A),
            Rule::Recall,
            Rule::CfaOffset(16),
            Rule::CfaOffset(8),
            Rule::Same(A),
        ];
        assert_eq!(rules(&actions), expected);
    }

    #[test]
    fn a_frame_pointer_keeps_the_rule() {
        let actions = [
            Push(FP),
            SetFrame(FP, 0),
            Push(A),
            Allocate(32),
            EndPrologue,
            BeginEpilogue { last: true },
            Reset(24),
            Pop(A),
            Pop(FP),
        ];
        let expected = [
            Rule::CfaOffset(16),
            Rule::Saved(FP, -16),
            Rule::CfaRegister(FP),
            Rule::Saved(A, -24),
            Rule::Same(A),
            Rule::Cfa(SP, 8),
            Rule::Same(FP),
        ];
        assert_eq!(rules(&actions), expected);
    }

    #[test]
    fn stores_at_once_and_a_late_frame() {
        let actions = [
            Block { framed: false },
            Allocate(32),
            Save(A, 16),
            Save(B, 24),
            EndPrologue,
            Block { framed: false },
            Block { framed: true },
            Block { framed: true },
        ];
        let expected = [
            Rule::CfaOffset(40),
            Rule::Saved(A, -24),
            Rule::Saved(B, -16),
            Rule::Cfa(SP, 8),
            Rule::Same(A),
            Rule::Same(B),
            Rule::Cfa(SP, 40),
            Rule::Saved(A, -24),
            Rule::Saved(B, -16),
        ];
        assert_eq!(rules(&actions), expected);
    }
}
