//! The body of a function: labels, phis, instructions and jumps, a line each.

use super::lex::{Key, Token};
use super::{Open, Parsed, Parser, Skip, shown};
use crate::index::Index;
use crate::ir::ops::Want;
use crate::ir::{
    AbiType, Access, Arg, Block, BlockId, Call, Class, Const, Inst, Jump, Op, Phi, Ref, TempId,
};
use smallvec::SmallVec;

/// What may stand on the next line.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Place {
    /// No block is open: a label.
    Label,
    /// Just below a label: phis too.
    Phis,
    Insts,
}

/// The largest block of stack or memory that one instruction may ask for.
const CONSTANT_SIZE_LIMIT: u64 = (1 << 31) - 16;

impl<'a> Parser<'a> {
    /// Everything up to the closing brace, which is taken.
    pub(super) fn function_body(&mut self) -> Parsed<()> {
        let body = &mut self.body;
        body.label_blocks.clear();
        body.phi_at.clear();
        body.inst_at.clear();
        body.jump_at.clear();
        body.open = None;
        body.has_call = false;
        body.phis.clear();
        body.insts.clear();
        let mut place = Place::Label;
        loop {
            self.skip_newlines();
            if self.faults.is_full() {
                return Err(Skip);
            }
            match self.token {
                Token::End => {
                    let which = match self.body.head_lost {
                        true => "a function".to_owned(),
                        false => {
                            let name = self.module.symbols.name(self.f.symbol);
                            format!("function ${}", shown(name))
                        }
                    };
                    let message = format!(
                        "the file ends inside {which}: expected a label, an instruction or '}}'"
                    );
                    return self.fail(message);
                }
                Token::RightBrace => break,
                Token::Label => place = self.label_line(),
                _ if self.is_at_definition() => {
                    return self.expected("'}' at the end of the function before this definition");
                }
                _ if place == Place::Label => {
                    self.code_outside_blocks();
                    self.body.lost = true;
                    self.skip_to_label();
                }
                _ => match self.line(place) {
                    Ok(next) => place = next,
                    Err(Skip) => {
                        self.skip_line();
                        place = Place::Insts;
                    }
                },
            }
        }
        if let Some(open) = &self.body.open {
            let name = shown(self.f.names.get(open.name));
            let message = format!("block @{name} has no jump or return at its end");
            self.faults.add(self.start, message);
            self.close(Jump::Hlt, self.start);
        } else if self.f.blocks.is_empty() {
            self.faults.add(self.start, "a function without blocks: expected a label");
        }
        self.advance();
        Ok(())
    }

    #[cold]
    fn code_outside_blocks(&mut self) {
        let why = if self.f.blocks.is_empty() {
            "a label before the function's first instruction"
        } else {
            "a label or '}' after the end of a block"
        };
        // A fault was recorded, which is all there is to do.
        let _: Parsed<()> = self.expected(why);
    }

    /// Moves to the next line that a function's body can go on with.
    fn skip_to_label(&mut self) {
        while !matches!(self.token, Token::Label | Token::RightBrace | Token::End)
            && !self.is_at_definition()
        {
            self.skip_line();
            self.skip_newlines();
        }
    }

    /// `@name`. Ends the open block if there is one.
    fn label_line(&mut self) -> Place {
        let at = self.start;
        let number = self.label();
        let name = self.name();
        let id = self.f.names.add(name);
        if self.body.open.is_some() {
            self.close(Jump::Jmp(BlockId::new(number)), at);
        }
        if self.body.label_blocks[number].is_some() {
            self.faults.add(at, format!("block @{} is defined twice", shown(name)));
        } else {
            self.body.label_blocks[number] = Some(self.f.blocks.next_index());
        }
        self.body.open = Some(Open { name: id });
        self.advance();
        if self.end_of_line("the end of the line after a label").is_err() {
            self.skip_line();
        }
        Place::Phis
    }

    /// The number of the label at hand.
    fn label(&mut self) -> usize {
        let number = self.body.labels.number(self.text, self.start + 1, self.end);
        if number == self.body.label_blocks.len() {
            self.body.label_blocks.push(None);
        }
        number
    }

    /// Puts the open block into the function. `jump` names blocks by label number.
    fn close(&mut self, jump: Jump, at: usize) {
        let body = &mut self.body;
        let name = body.open.take().map(|open| open.name);
        let phis = body.phis.drain(..).collect();
        let insts = body.insts.drain(..).collect();
        self.f.blocks.push(Block { name, phis, insts, jump });
        body.jump_at.push(at);
    }

    #[inline]
    fn end_of_line(&mut self, what: &str) -> Parsed<()> {
        match self.token {
            Token::Newline => Ok(()),
            _ => self.expected(what),
        }
    }

    /// A line of the open block.
    #[inline]
    fn line(&mut self, place: Place) -> Parsed<Place> {
        let at = self.start;
        // Until the line is understood it may have said anything.
        let lost = std::mem::replace(&mut self.body.lost, true);
        match self.token {
            Token::Temp => return self.result_line(place, lost),
            Token::Op(op) => {
                self.body.lost = lost;
                match op {
                    Op::Call => self.call(None, None, at)?,
                    Op::Dbgloc => self.dbgloc(at)?,
                    _ => self.operation(op, Class::W, None, at, at, false)?,
                }
                return Ok(Place::Insts);
            }
            Token::Key(Key::Volatile) => {
                self.body.lost = lost;
                self.volatile(Class::W, None, at, at)?;
                return Ok(Place::Insts);
            }
            Token::Key(Key::Phi) => {
                self.body.lost = lost;
                return self.fail("'phi' needs a result: %name =class phi ...");
            }
            Token::Key(Key::Ret | Key::Jmp | Key::Jnz | Key::Hlt) => {
                match self.jump() {
                    Ok(jump) => self.close(jump, at),
                    Err(Skip) => {
                        // It ends the block all the same.
                        self.close(Jump::Hlt, at);
                        self.skip_line();
                        return Ok(Place::Label);
                    }
                }
            }
            Token::Word => {
                let word = self.found();
                return self.fail(format!("unknown instruction {word}"));
            }
            _ => return self.expected("a label, an instruction, a jump or '}'"),
        }
        self.body.lost = lost;
        Ok(Place::Label)
    }

    /// A line that starts with `%name =type`.
    #[inline]
    fn result_line(&mut self, place: Place, lost: bool) -> Parsed<Place> {
        let at = self.start;
        let t = self.temp();
        self.advance();
        self.expect(Token::Equals, "'=' and a class after the result's name")?;
        let class_at = self.start;
        let ty = self.abi_type("a class (w, l, s or d)")?;
        let class = ty.class();
        self.define(t, class, at);
        self.body.lost = lost;
        if !matches!(ty, AbiType::Base(_)) && self.token != Token::Op(Op::Call) {
            let message = "only a call may have this type: the class must be w, l, s or d";
            self.faults.add(class_at, message);
            return Err(Skip);
        }
        match self.token {
            Token::Op(Op::Call) => self.call(Some(t), Some(ty), at)?,
            Token::Op(Op::Dbgloc) => return self.fail("'dbgloc' has no result"),
            Token::Op(op) => self.operation(op, class, Some(t), at, class_at, false)?,
            Token::Key(Key::Phi) => {
                self.phi(t, class, at, place)?;
                return Ok(Place::Phis);
            }
            Token::Key(Key::Volatile) => self.volatile(class, Some(t), at, class_at)?,
            Token::Key(Key::Load) => {
                self.operation(load_of(class), class, Some(t), at, class_at, false)?;
            }
            Token::Word => {
                let word = self.found();
                return self.fail(format!("unknown instruction {word}"));
            }
            _ => return self.expected("an instruction after the class"),
        }
        Ok(Place::Insts)
    }

    fn volatile(
        &mut self,
        class: Class,
        to: Option<TempId>,
        at: usize,
        class_at: usize,
    ) -> Parsed<()> {
        self.advance();
        match self.token {
            Token::Op(op) if op.is_load() || op.is_store() || op == Op::Blit => {
                self.operation(op, class, to, at, class_at, true)
            }
            Token::Key(Key::Load) if to.is_some() => {
                self.operation(load_of(class), class, to, at, class_at, true)
            }
            _ => self.expected("a load, a store or 'blit' after 'volatile'"),
        }
    }

    /// An instruction that is no call, phi or `dbgloc`; the token at hand is its name.
    #[inline]
    fn operation(
        &mut self,
        mut op: Op,
        class: Class,
        to: Option<TempId>,
        at: usize,
        class_at: usize,
        volatile: bool,
    ) -> Parsed<()> {
        // The low half of what an `l` load reads is what a `w` load of the same place reads.
        if op == Op::Loadl && class == Class::W && to.is_some() {
            op = Op::Loadsw;
        }
        let wants = op.wants(class);
        if wants[0] == Want::Invalid || to.is_some() != op.row().result {
            return self.no_such_form(op, class, to.is_some(), at, class_at);
        }
        let count = wants.iter().position(|&want| want == Want::Nothing).unwrap_or(3);
        let word = (self.start, self.end);
        self.advance();
        let mut args = [Ref::NONE; 3];
        let mut n = 0;
        if self.token != Token::Newline {
            loop {
                if n == count {
                    return self.operand_count(word, count);
                }
                let operand_at = self.start;
                args[n] = self.operand("an operand")?;
                n += 1;
                if op.row().effect == crate::ir::ops::Effect::Pinned || op == Op::Blit {
                    self.check_constant(op, n - 1, args[n - 1], operand_at);
                }
                match self.token {
                    Token::Comma => self.advance(),
                    Token::Newline => break,
                    _ => return self.expected("',' or the end of the line after an operand"),
                }
            }
        }
        if n != count {
            return self.operand_count(word, count);
        }
        if op == Op::Vastart && !self.f.variadic {
            self.faults.add(at, "'vastart' in a function that is not variadic (no '...')");
        }
        self.push(Inst { op, class, volatile, to, args }, at);
        Ok(())
    }

    #[inline]
    fn push(&mut self, inst: Inst, at: usize) {
        self.body.insts.push(inst);
        self.body.inst_at.push(at);
    }

    #[cold]
    fn no_such_form(
        &mut self,
        op: Op,
        class: Class,
        result: bool,
        at: usize,
        class_at: usize,
    ) -> Parsed<()> {
        let name = shown(&self.text[self.start..self.end]);
        if result && !op.row().result {
            self.faults.add(at, format!("'{name}' has no result"));
        } else if !result && op.row().result {
            self.faults.add(at, format!("'{name}' needs a result: %name =class {name} ..."));
        } else {
            let classes: Vec<String> = Class::ALL
                .into_iter()
                .filter(|&class| op.wants(class)[0] != Want::Invalid)
                .map(|class| class.letter().to_string())
                .collect();
            let message = format!(
                "'{name}' has no form of class {}: its class must be {}",
                class.letter(),
                classes.join(" or ")
            );
            self.faults.add(class_at, message);
        }
        Err(Skip)
    }

    #[cold]
    fn operand_count(&mut self, word: (usize, usize), count: usize) -> Parsed<()> {
        if let Token::Bad(_) = self.token {
            return self.expected("an operand");
        }
        let plural = if count == 1 { "" } else { "s" };
        let word = shown(&self.text[word.0..word.1]);
        let found = self.found();
        self.fail(format!("'{word}' takes {count} operand{plural}, found {found} instead"))
    }

    /// Checks an operand that stands for a size, if it is a constant.
    fn check_constant(&mut self, op: Op, index: usize, r: Ref, at: usize) {
        let size = self.f.bits(r);
        match op {
            Op::Blit if index < 2 => {}
            Op::Blit => match size {
                Some(size) if size <= CONSTANT_SIZE_LIMIT => {}
                Some(size) => {
                    let message = format!(
                        "invalid size {} of a blit: it must be from 0 to {CONSTANT_SIZE_LIMIT}",
                        size as i64
                    );
                    self.faults.add(at, message);
                }
                None => self.faults.add(at, "the size of a blit must be an integer constant"),
            },
            _ => {
                if let Some(size) = size
                    && size > CONSTANT_SIZE_LIMIT
                {
                    let message = format!(
                        "invalid size {} of a stack allocation: it must be from 0 to \
                         {CONSTANT_SIZE_LIMIT}",
                        size as i64
                    );
                    self.faults.add(at, message);
                }
            }
        }
    }

    /// A temporary or a constant.
    #[inline]
    fn operand(&mut self, what: &str) -> Parsed<Ref> {
        let r = match self.token {
            Token::Temp => Ref::temp(self.temp()),
            Token::Int(value) => self.f.int(value),
            Token::Single(bits) => self.f.constant(Const::Single(bits)),
            Token::Double(bits) => self.f.constant(Const::Double(bits)),
            Token::Global => return self.symbol_operand(Access::Direct),
            Token::Key(Key::Extern | Key::Thread) => return self.dynamic_operand(),
            _ => return self.expected(what),
        };
        self.advance();
        Ok(r)
    }

    /// `extern` and `thread`, in any order and number, then a symbol.
    fn dynamic_operand(&mut self) -> Parsed<Ref> {
        let (mut is_extern, mut is_thread) = (false, false);
        loop {
            match self.token {
                Token::Key(Key::Extern) => is_extern = true,
                Token::Key(Key::Thread) => is_thread = true,
                Token::Global => break,
                _ => return self.expected("a symbol ($name) after 'extern' or 'thread'"),
            }
            self.advance();
        }
        self.symbol_operand(match (is_extern, is_thread) {
            (false, false) => Access::Direct,
            (true, false) => Access::Extern,
            (false, true) => Access::Thread,
            (true, true) => Access::ExternThread,
        })
    }

    fn dbgloc(&mut self, at: usize) -> Parsed<()> {
        self.advance();
        let line = self.place_number("the line number after 'dbgloc'")?;
        let mut column = Ref::small_int(0).expect("0 is small");
        if self.token == Token::Comma {
            self.advance();
            column = self.place_number("the column number after ','")?;
        }
        self.end_of_line("',' or the end of the line after a line number")?;
        self.push(Inst::effect(Op::Dbgloc, &[line, column]), at);
        Ok(())
    }

    fn place_number(&mut self, what: &str) -> Parsed<Ref> {
        let Token::Int(n) = self.token else { return self.expected(what) };
        if i32::try_from(n).is_err() || n < 0 {
            return self.fail(format!("invalid line or column number {n}"));
        }
        self.advance();
        Ok(self.f.int(n))
    }

    fn phi(&mut self, to: TempId, class: Class, at: usize, place: Place) -> Parsed<()> {
        if place != Place::Phis {
            return self.fail("a 'phi' must stand at the start of its block");
        }
        if self.f.blocks.is_empty() {
            return self.fail("a 'phi' in the first block, which has no predecessors");
        }
        self.advance();
        let mut args = SmallVec::new();
        while self.token != Token::Newline {
            if self.token != Token::Label {
                return self.expected("a predecessor's label (@name) and its value");
            }
            let label = self.label();
            self.advance();
            let r = self.operand("the value that comes from that block")?;
            args.push((BlockId::new(label), r));
            match self.token {
                Token::Comma => self.advance(),
                Token::Newline => break,
                _ => return self.expected("',' or the end of the line after a value"),
            }
            if self.token == Token::Newline {
                return self.expected("a predecessor's label (@name) after ','");
            }
        }
        self.body.phis.push(Phi { to, class, args });
        self.body.phi_at.push(at);
        Ok(())
    }

    fn call(&mut self, to: Option<TempId>, ret: Option<AbiType>, at: usize) -> Parsed<()> {
        self.body.has_call = true;
        self.advance();
        let callee = self.operand("the function to call")?;
        self.expect(Token::LeftParen, "'(' and the arguments")?;
        let mut call = Call { ret, ..Call::default() };
        while self.token != Token::RightParen {
            self.argument(&mut call)?;
            if self.token == Token::RightParen {
                break;
            }
            self.expect(Token::Comma, "',' or ')' after an argument")?;
        }
        self.advance();
        self.end_of_line("the end of the line after a call")?;
        let class = ret.map_or(Class::W, AbiType::class);
        let row = Ref::call(self.f.calls.push(call));
        self.push(
            Inst { op: Op::Call, class, volatile: false, to, args: [callee, row, Ref::NONE] },
            at,
        );
        Ok(())
    }

    fn argument(&mut self, call: &mut Call) -> Parsed<()> {
        match self.token {
            Token::Key(Key::Dots) => {
                if call.variadic.is_some() {
                    return self.fail("a second '...': a call has only one");
                }
                call.variadic = Some(call.args.len() as u32);
                self.advance();
            }
            Token::Key(Key::Env) => {
                if call.env.is_some() {
                    self.faults.add(self.start, "a second 'env': a call has only one");
                } else if !call.args.is_empty() || call.variadic.is_some() {
                    self.faults.add(self.start, "'env' must be the first argument");
                }
                self.advance();
                call.env = self.operand("the value of 'env'")?;
            }
            _ => {
                let ty = self.abi_type(
                    "an argument's type (w, l, s, d, sb, ub, sh, uh or :name), 'env' or '...'",
                )?;
                let value = self.operand("an argument's value")?;
                call.args.push(Arg { ty, value });
            }
        }
        Ok(())
    }

    fn jump(&mut self) -> Parsed<Jump> {
        let word = self.token;
        self.advance();
        let jump = match word {
            Token::Key(Key::Jmp) => Jump::Jmp(self.target()?),
            Token::Key(Key::Jnz) => {
                let condition = self.operand("the condition of 'jnz'")?;
                self.expect(Token::Comma, "',' and two labels after the condition")?;
                let yes = self.target()?;
                self.expect(Token::Comma, "',' and the second label of 'jnz'")?;
                Jump::Jnz(condition, yes, self.target()?)
            }
            Token::Key(Key::Ret) if self.token == Token::Newline => Jump::Ret(Ref::NONE),
            Token::Key(Key::Ret) => {
                let (at, value) = (self.start, self.found());
                let mut r = self.operand("a return value")?;
                if self.f.ret.is_none() && !self.body.head_lost {
                    let message =
                        format!("a return value {value} in a function without a return type");
                    self.faults.add(at, message);
                }
                if self.f.ret.is_none() {
                    r = Ref::NONE;
                }
                Jump::Ret(r)
            }
            _ => Jump::Hlt,
        };
        self.end_of_line("the end of the line after a jump")?;
        Ok(jump)
    }

    fn target(&mut self) -> Parsed<BlockId> {
        if self.token != Token::Label {
            return self.expected("a label (@name)");
        }
        let number = self.label();
        self.advance();
        Ok(BlockId::new(number))
    }
}

/// What plain `load` means in each class.
fn load_of(class: Class) -> Op {
    match class {
        Class::W => Op::Loadsw,
        Class::L => Op::Loadl,
        Class::S => Op::Loads,
        Class::D => Op::Loadd,
    }
}
