//! What the symbols of a module are to the compiler: which have their address taken, so that they
//! may be called through a pointer, and which name functions that return twice.

use crate::index::{BitSet, Index, IndexVec};
use crate::ir::{Access, DataItem, Function, FunctionId, Module, Op, Ref, SymbolId};

/// The symbols that are used other than as the callee of a direct call. `functions` are the
/// module's, wherever they are kept.
pub fn address_taken(
    module: &Module,
    functions: &IndexVec<FunctionId, Function>,
) -> BitSet<SymbolId> {
    let mut taken = BitSet::new(module.symbols.len());
    for data in module.data.iter() {
        for item in &data.items {
            if let DataItem::Address(_, symbol, _) = *item {
                taken.insert(symbol);
            }
        }
    }
    for f in functions.iter() {
        function(f, &mut taken);
    }
    // To an assembler a quoted name is the name without quotes.
    for i in (0..module.symbols.len()).map(SymbolId::new) {
        if let [b'"', inner @ .., b'"'] = module.symbols.name(i)
            && let Some(same) = module.symbols.find(inner)
        {
            if taken.contains(i) {
                taken.insert(same);
            }
            if taken.contains(same) {
                taken.insert(i);
            }
        }
    }
    taken
}

/// What returns a second time, long after, with registers as they were at the first.
const RETURN_TWICE: [&[u8]; 5] = [b"setjmp", b"_setjmp", b"sigsetjmp", b"__sigsetjmp", b"vfork"];

/// Whether `symbol` names a function that returns twice.
pub fn returns_twice(module: &Module, symbol: SymbolId) -> bool {
    // To an assembler a quoted name is the name without quotes.
    let name = match module.symbols.name(symbol) {
        [b'"', inner @ .., b'"'] => inner,
        name => name,
    };
    RETURN_TWICE.contains(&name)
}

/// Whether `f` calls a function that returns twice: nothing may move over such a call, and values
/// and memory at the call are seen again later, by code that did not store them.
pub fn calls_return_twice(f: &Function, module: &Module) -> bool {
    let calls = f.blocks.iter().flat_map(|b| &b.insts).filter(|inst| inst.op == Op::Call);
    calls
        .filter_map(|inst| f.symbol_of(inst.args[0]))
        .any(|(symbol, ..)| returns_twice(module, symbol))
}

fn function(f: &Function, taken: &mut BitSet<SymbolId>) {
    let mut used = |r: Ref| {
        if let Some((symbol, ..)) = f.symbol_of(r) {
            taken.insert(symbol);
        }
    };
    for block in f.blocks.iter() {
        for phi in &block.phis {
            phi.args.iter().for_each(|&(_, r)| used(r));
        }
        for inst in &block.insts {
            let direct = inst.op == Op::Call
                && matches!(f.symbol_of(inst.args[0]), Some((_, Access::Direct, 0)));
            let mut callee = direct;
            // The callee comes first; it counts only where it is also an argument.
            f.for_each_use(inst, |r| {
                if !std::mem::take(&mut callee) {
                    used(r);
                }
            });
        }
        used(block.jump.arg());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Options, parse};

    #[test]
    fn calls_alone_take_no_address() {
        let text = b"
            data $table = { l $in_data, w $in_data_too 4 }
            function w $f(w %a) {
            @start
                %x =l call $called(l $argument)
                %x =l call $both()
                %y =l add $both, 0
                %z =l call $offset+1()
                %z =l call extern $other()
                storel $stored, %y
                jnz %a, @one, @two
            @one
                jmp @two
            @two
                %p =l phi @start $in_phi, @one 0
                call $\"spelled\"(l $\"quoted\")
                %q =l call $quoted()
                ret $returned
            }";
        let mut module = Module::default();
        let options = Options { internal_ops: false };
        parse("test", text, &options, &mut module).unwrap();
        let functions = std::mem::take(&mut module.functions);
        let taken = address_taken(&module, &functions);
        let mut names: Vec<&str> =
            taken.iter().map(|s| std::str::from_utf8(module.symbols.name(s)).unwrap()).collect();
        names.sort_unstable();
        let expected = [
            "\"quoted\"",
            "argument",
            "both",
            "in_data",
            "in_data_too",
            "in_phi",
            "offset",
            "other",
            "quoted",
            "returned",
            "stored",
        ];
        assert_eq!(names, expected);
    }
}
