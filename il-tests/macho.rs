//! Objects and programs of Apple's targets, where there is neither their linker nor their system.
//!
//! Clang assembles for them anywhere, and the object can be looked at. And the assembly runs: written
//! in the words of ELF it is the same code, calls and all, and Linux runs it on such a processor.
//! What differs beyond that is left to a few lines of assembly: variadic functions of the C library,
//! which on arm64 take their arguments elsewhere, and thread-local variables, which are one here.

use backend::index::Index;
use backend::ir::{Linkage, Module, SymbolId};
use object::{File, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget};
use object::{SectionKind, Symbol};
use std::collections::HashMap;

/// Names that code refers to though no IL does.
const OUR_OWN: [&str; 3] = ["_memcpy", "_memmove", "__tlv_bootstrap"];

/// Functions of the C library that tests call from IL, each with a sister whose name starts with
/// `v`, and the number of their named parameters.
const VARIADIC: [(&str, usize); 4] =
    [("printf", 1), ("sprintf", 2), ("fprintf", 2), ("snprintf", 3)];

/// Compares what an object file of a module defines, exports and refers to with the module.
pub fn inspect(bytes: &[u8], module: &Module) -> Result<(), String> {
    let file = File::parse(bytes).map_err(|e| e.to_string())?;
    let symbols: HashMap<&[u8], Symbol<'_, '_>> =
        file.symbols().filter_map(|s| Some((s.name_bytes().ok()?, s))).collect();
    let mut faults = Vec::new();
    let functions = module.functions.iter().map(|f| (f.symbol, &f.linkage, true));
    let data = module.data.iter().map(|d| (d.symbol, &d.linkage, false));
    for (symbol, linkage, code) in functions.chain(data) {
        let Some(name) = mangled(module, symbol) else { continue };
        if let Some(fault) = definition(&file, symbols.get(&name[..]), linkage, code) {
            faults.push(format!("{}: {fault}", String::from_utf8_lossy(&name)));
        }
    }
    let ids = (0..module.symbols.len()).map(SymbolId::new);
    let known: Vec<Vec<u8>> = ids.filter_map(|id| mangled(module, id)).collect();
    for symbol in file.symbols().filter(Symbol::is_undefined) {
        let name = symbol.name_bytes().map_err(|e| e.to_string())?;
        let own = OUR_OWN.iter().any(|own| own.as_bytes() == name);
        let quoted = !name.starts_with(b"_");
        if !own && !quoted && !known.iter().any(|known| known == name) {
            faults.push(format!("{}: undefined", String::from_utf8_lossy(name)));
        }
    }
    faults.extend(thread_accesses(&file));
    if faults.is_empty() { Ok(()) } else { Err(format!("object: {}", faults.join("\n"))) }
}

/// A symbol as the object names it; of a quoted one only if that is what is in the quotes.
fn mangled(module: &Module, symbol: SymbolId) -> Option<Vec<u8>> {
    let name = module.symbols.name(symbol);
    match name.strip_prefix(b"\"").and_then(|n| n.strip_suffix(b"\"")) {
        Some(inside) => (!inside.contains(&b'\\')).then(|| inside.to_vec()),
        None => Some([b"_", name].concat()),
    }
}

/// What is wrong with a definition.
fn definition(
    file: &File<'_>,
    symbol: Option<&Symbol<'_, '_>>,
    linkage: &Linkage,
    code: bool,
) -> Option<String> {
    let Some(symbol) = symbol else { return Some("not there".into()) };
    if linkage.common && !code && !linkage.thread {
        return (!symbol.is_common()).then(|| "not common".into());
    }
    if symbol.is_global() != linkage.export {
        return Some(format!("global: {}", symbol.is_global()));
    }
    let index = symbol.section_index()?;
    let section = file.section_by_index(index).ok()?;
    let name = section.name().unwrap_or_default();
    let wrong = match (code, linkage.thread) {
        (true, _) => linkage.section.is_none() && section.kind() != SectionKind::Text,
        (false, true) => name != "__thread_vars",
        (false, false) => section.kind() == SectionKind::Text && linkage.section.is_none(),
    };
    wrong.then(|| format!("in {name}"))
}

/// Thread-local variables that code does not reach by way of their descriptors.
fn thread_accesses(file: &File<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    for section in file.sections().filter(|s| s.kind() == SectionKind::Text) {
        for (at, relocation) in section.relocations() {
            let RelocationTarget::Symbol(index) = relocation.target() else { continue };
            let Ok(symbol) = file.symbol_by_index(index) else { continue };
            let place = symbol.section_index().and_then(|i| file.section_by_index(i).ok());
            let thread = place.is_some_and(|s| s.name() == Ok("__thread_vars"));
            let RelocationFlags::MachO { r_type, .. } = relocation.flags() else { continue };
            // X86_64_RELOC_TLV; ARM64_RELOC_TLVP_LOAD_PAGE21 and PAGEOFF12.
            let right = match file.architecture() {
                object::Architecture::X86_64 => r_type.0 == 9,
                _ => r_type.0 == 8 || r_type.0 == 9,
            };
            if thread && !right {
                let name = symbol.name().unwrap_or_default();
                faults.push(format!("{name}: relocation {r_type:?} at {at:#x}"));
            }
        }
    }
    faults
}

/// Assembly for Mach-O in the words of ELF.
pub fn as_elf(text: &str, arm64: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        // Clang's comments.
        let end = if arm64 { code_end(line, ";") } else { code_end(line, "##") };
        let line = line[..end].trim_end();
        let words = line.trim_start();
        let (directive, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let fields: Vec<&str> = rest.split(',').map(str::trim).collect();
        let log =
            |n: usize| fields.get(n).and_then(|f| f.parse::<u32>().ok()).map_or(1, |n| 1u64 << n);
        let name = |n: usize| symbols(fields.get(n).unwrap_or(&""), arm64);
        match directive {
            ".subsections_via_symbols" | ".build_version" | ".no_dead_strip" | ".loh" => {}
            ".section" => out += &section(&fields),
            ".const" | ".cstring" | ".literal4" | ".literal8" | ".literal16" => {
                out += ".section .rodata\n";
            }
            ".zerofill" => out += &zeros(&name(2), fields[3], log(4)),
            ".tbss" => out += &zeros(&name(0), fields[1], log(2)),
            ".comm" => out += &format!(".comm {},{},{}\n", name(0), fields[1], log(2)),
            ".weak_definition" => out += &format!(".weak {}\n", name(0)),
            ".ascii" | ".asciz" | ".string" | ".file" => {
                out += line;
                out.push('\n');
            }
            _ => {
                out += &symbols(line, arm64);
                out.push('\n');
            }
        }
    }
    out + ".section .note.GNU-stack,\"\",%progbits\n"
}

/// Where a comment starts, or the line ends.
fn code_end(line: &str, comment: &str) -> usize {
    let mut quoted = false;
    for (at, c) in line.char_indices() {
        // A backslash before a quote stands only in strings, where nothing starts a comment.
        quoted ^= c == '"' && !line[..at].ends_with('\\');
        if !quoted && line[at..].starts_with(comment) {
            return at;
        }
    }
    line.len()
}

/// A section by what Mach-O says of it.
fn section(fields: &[&str]) -> String {
    let name = fields.get(1).unwrap_or(&"");
    match (fields[0], *name) {
        ("__TEXT", "__text") => ".text\n".into(),
        ("__TEXT", "__const" | "__cstring") => ".section .rodata\n".into(),
        ("__TEXT", name) if name.starts_with("__literal") => ".section .rodata\n".into(),
        ("__DATA", "__data" | "__const" | "__thread_vars" | "__thread_data") => ".data\n".into(),
        ("__TEXT", name) => format!(".section \"{name}\",\"ax\"\n"),
        (_, name) => format!(".section \"{name}\",\"aw\"\n"),
    }
}

fn zeros(name: &str, size: &str, align: u64) -> String {
    format!(".pushsection .bss\n.balign {align}\n{name}:\n.zero {size}\n.popsection\n")
}

/// A line with the names of its symbols and the parts of addresses as ELF spells them.
fn symbols(line: &str, arm64: bool) -> String {
    let mut out = String::with_capacity(line.len());
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let quoted = rest.strip_prefix('"').and_then(|r| r.find('"')).map(|end| end + 2);
        let length = match quoted {
            Some(end) => end,
            None => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
        };
        if length == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (name, after) = rest.split_at(length);
        rest = after;
        let bare = name.strip_prefix('_');
        let stood_in =
            |name: &str| VARIADIC.iter().any(|(v, _)| name.trim_start_matches('v') == *v);
        let name = match bare {
            Some(bare) if arm64 && stood_in(bare) => format!("apple_{bare}"),
            _ => bare.unwrap_or(name).to_owned(),
        };
        let part = rest.strip_prefix('@').map(|r| &r[..r.find(|c| !is_name(c)).unwrap_or(r.len())]);
        let Some(part) = part else {
            out += &name;
            continue;
        };
        rest = &rest[part.len() + 1..];
        let (before, behind) = match part.to_ascii_uppercase().as_str() {
            "PAGE" if arm64 => ("", ""),
            "PAGEOFF" => (":lo12:", ""),
            "GOTPAGE" | "TLVPPAGE" => (":got:", ""),
            "GOTPAGEOFF" | "TLVPPAGEOFF" => (":got_lo12:", ""),
            _ => ("", "@GOTPCREL"),
        };
        out += before;
        out += &name;
        out += behind;
    }
    out
}

/// What clang needs to compile C for Apple with the headers of Linux, to assembly for [`as_elf`].
pub fn c_flags(arm64: bool) -> Vec<&'static str> {
    let common = ["-fno-stack-protector", "-U__APPLE__", "-U__nonnull", "-D__linux__", "-isystem"];
    let own: &[&str] = if arm64 {
        &["/usr/aarch64-linux-gnu/include", "-mllvm", "-aarch64-neon-syntax=generic"]
    } else {
        &["/usr/include/x86_64-linux-gnu", "-isystem", "/usr/include"]
    };
    [&common, own].concat()
}

/// What programs made by [`as_elf`] are linked with: what finds thread-local variables, and for
/// arm64 variadic functions. The C library's get a list that is all on the stack; those with a list
/// in place of the arguments get one made of a pointer.
pub fn support(arm64: bool) -> String {
    let end = ".section .note.GNU-stack,\"\",%progbits\n";
    let find = if arm64 { "ldr x0, [x0, 16]" } else { "movq 16(%rdi), %rax" };
    let mut text = format!(".globl _tlv_bootstrap\n_tlv_bootstrap:\n\t{find}\n\tret\n");
    if !arm64 {
        return text + end;
    }
    for (name, named) in VARIADIC {
        let call = |label: &str, pointer: &str| {
            format!(
                ".globl {label}\n{label}:\n\tstp x29, x30, [sp, -48]!\n\tmov x29, sp\n\
                 \t{pointer}\n\tstp x9, xzr, [sp, 16]\n\tstp xzr, xzr, [sp, 32]\n\
                 \tadd x{named}, sp, 16\n\tbl v{name}\n\tldp x29, x30, [sp], 48\n\tret\n"
            )
        };
        text += &call(&format!("apple_{name}"), "add x9, sp, 48");
        text += &call(&format!("apple_v{name}"), &format!("mov x9, x{named}"));
    }
    text + end
}
