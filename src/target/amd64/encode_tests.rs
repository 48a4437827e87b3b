//! Every row through both sinks: the printed line, assembled, gives the bytes and relocations that
//! encoding gives.

use super::*;
use crate::ir::Module;
use crate::target::amd64::instances::{instances, module};
use crate::target::amd64::{SYSV, print};
use crate::target::{Names, Target};
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What GNU as makes of a text; `None` if there is no GNU as.
fn assembled(source: &[u8]) -> Option<Vec<u8>> {
    // Tests of one process run at the same time.
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("backend-encode-{}-{number}.o", std::process::id());
    let file = std::env::temp_dir().join(name);
    let mut child = Command::new("as")
        .args(["--64", "-o"])
        .arg(&file)
        .arg("-")
        .stdin(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take().unwrap().write_all(source).unwrap();
    assert!(child.wait().unwrap().success());
    let bytes = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    Some(bytes)
}

fn name_of(module: &Module, goal: Goal) -> String {
    let target: &Target = &SYSV;
    let names = Names { module, target, function: 3 };
    let mut out = Vec::new();
    match goal {
        Goal::Symbol(symbol) => names.push_symbol(&mut out, symbol),
        Goal::System(name) => out.extend_from_slice(name.as_bytes()),
        Goal::Pool(bits, size) => names.push_literal(&mut out, bits, size),
    }
    String::from_utf8(out).unwrap().trim_matches('"').to_owned()
}

#[test]
fn bytes_are_those_of_the_assembler() {
    let module = module();
    let names = Names { module: &module, target: &SYSV, function: 3 };
    let mut source = Vec::new();
    // Where each instruction begins, in the text and in the code.
    let mut starts = Vec::new();
    let mut code = Code::default();
    let jumps = |i: &Instruction| i.args.iter().any(|a| matches!(a, Arg::Block(_)));
    for instance in instances().iter().filter(|i| !jumps(i)) {
        starts.push((source.len(), code.bytes.len()));
        print::print(instance, &names, &mut source);
        source.push(b'\n');
        encode(instance, &mut code);
    }
    let Some(file) = assembled(&source) else {
        eprintln!("no as here");
        return;
    };
    let file = object::File::parse(&file[..]).unwrap();
    let section = file.section_by_name(".text").unwrap();
    let bytes = section.data().unwrap();
    starts.push((source.len(), code.bytes.len()));
    for pair in starts.windows(2) {
        let line = &source[pair[0].0..pair[1].0];
        let ours = &code.bytes[pair[0].1..pair[1].1];
        let theirs = bytes.get(pair[0].1..pair[1].1).unwrap_or_default();
        assert!(ours == theirs, "{}: {ours:02x?}, not {theirs:02x?}", line.escape_ascii());
    }
    assert_eq!(bytes.len(), code.bytes.len());

    let mut fixups = code.fixups.iter();
    for (at, relocation) in section.relocations() {
        let RelocationTarget::Symbol(symbol) = relocation.target() else { panic!("a symbol") };
        let symbol = file.symbol_by_index(symbol).unwrap().name().unwrap().to_owned();
        let RelocationFlags::Elf { r_type } = relocation.flags() else { panic!("ELF") };
        let fixup = fixups.next().unwrap();
        let row = &RELOCATIONS[usize::from(fixup.kind)];
        let ours = (fixup.at, row.elf, name_of(&module, fixup.to), fixup.addend);
        let theirs = (at, r_type.0, symbol, relocation.addend());
        let line = starts.partition_point(|s| s.1 as u64 <= at) - 1;
        let line = &source[starts[line].0..starts[line + 1].0];
        assert_eq!(ours, theirs, "{}", line.escape_ascii());
    }
    assert_eq!(fixups.next(), None);
    eprintln!("{} instructions", starts.len() - 1);
}

#[test]
fn padding_is_that_of_the_assembler() {
    let mut source = String::new();
    let mut ours = Vec::new();
    for align in [16, 32, 64, 128, 256, 1024] {
        for used in 1..=16 {
            source += &format!(".balign {align}\n.fill {used}, 1, 0xc3\n");
            let count = ours.len().next_multiple_of(align) - ours.len();
            pad(count, &mut ours);
            ours.extend(vec![0xc3; used]);
        }
    }
    let Some(file) = assembled(source.as_bytes()) else { return };
    let file = object::File::parse(&file[..]).unwrap();
    let theirs = file.section_by_name(".text").unwrap().data().unwrap();
    let first = ours.iter().zip(theirs).position(|(a, b)| a != b);
    assert_eq!((first, ours.len()), (None, theirs.len()));
}
