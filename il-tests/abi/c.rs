//! The C of a signature: the same functions as the IL, and the way between them.

use super::il::{C_COPY, C_PARAMETER, C_RESULT, IL_PARAMETER, rest};
use super::signature::{Base, Signature, Type, Value};
use std::fmt::Write;

/// What the C of a target needs to know.
#[derive(Copy, Clone)]
pub struct Dialect {
    /// A register at will loaded with the address of the first, then a jump to the second: what
    /// stands between caller and callee. support.c takes over from there.
    pub jump: &'static str,
    /// Callers may leave garbage above narrow arguments and words.
    pub garbage: bool,
}

/// The text in front of all signatures.
pub const HEAD: &str = "#include <stdarg.h>
extern unsigned char V[];
extern int signature;
void start(void);
int finish(void);
void run(int, void (*)(void));
void check(int, const void *, int, int);
void check_number(int, long long, long long);
void check_saved(void);
static long long bits_of(double d) { long long l; __builtin_memcpy(&l, &d, 8); return l; }
static void spoil(void *p, int n) { __builtin_memset(p, 0x5a, n); __asm__ volatile (\"\" :: \"r\"(p) : \"memory\"); }
";

/// Appends the types and functions of the signature number `k`.
pub fn functions(k: usize, signature: &Signature, dialect: Dialect, out: &mut String) {
    for (n, value) in signature.args.iter().chain(&signature.ret).enumerate() {
        if let Type::Aggregate(aggregate) = &value.ty {
            let name = format!("t{k}_{n}");
            aggregate.define_c(&name, out);
            let size = aggregate.size();
            let _ = writeln!(out, "_Static_assert(sizeof({name}) == {size}, \"{name}\");");
        }
    }
    let jump = |from: &str, to: &str, through: &str| {
        let text = dialect.jump.replace("TARGET", to).replace("THROUGH", through);
        format!("__asm__(\".globl {from}\\n{from}:\\n{text}\");\n")
    };
    out.push_str(&jump(&format!("ti{k}"), &format!("il{k}"), "enter_il"));
    out.push_str(&jump(&format!("tc{k}"), &format!("c{k}"), "enter_c"));
    callee(k, signature, out);
    readers(k, signature, out);
    caller(k, signature, dialect, out);
}

/// The program that makes all calls.
pub fn main(count: usize, out: &mut String) {
    for k in 0..count {
        let _ = writeln!(out, "void callc{k}(void);");
    }
    out.push_str("static void (*const all[])(void) = {\n");
    for k in 0..count {
        let _ = writeln!(out, "\tcalli{k}, callc{k},");
    }
    let _ = writeln!(
        out,
        "}};\nint main(void) {{ start(); for (int i = 0; i < {}; i++) run(i / 2, all[i]); \
         return finish(); }}",
        2 * count
    );
}

fn type_text(k: usize, n: usize, value: &Value) -> String {
    match &value.ty {
        Type::Base(base) => base.c(value.style >> 20).to_owned(),
        Type::Aggregate(_) => format!("t{k}_{n}"),
    }
}

fn result_type(k: usize, signature: &Signature) -> String {
    let n = signature.args.len();
    signature.ret.as_ref().map_or("void".to_owned(), |ret| type_text(k, n, ret))
}

/// A variable of the value's type that holds it.
fn define(k: usize, n: usize, name: &str, value: &Value, out: &mut String) {
    let ty = type_text(k, n, value);
    let (at, size) = (value.at, value.size());
    let _ = writeln!(out, "\t{ty} {name}; __builtin_memcpy(&{name}, V + {at}, {size});");
}

fn check(place: usize, name: &str, value: &Value, out: &mut String) {
    match &value.ty {
        Type::Aggregate(aggregate) => {
            for (offset, length) in aggregate.values() {
                let at = value.at + offset;
                let _ =
                    writeln!(out, "\tcheck({place}, (char *)&{name} + {offset}, {at}, {length});");
            }
        }
        Type::Base(base) if base.is_narrow() => {
            let _ = writeln!(out, "\tcheck_number({place}, {name}, {});", value.extended());
        }
        Type::Base(_) => {
            let _ = writeln!(out, "\tcheck({place}, &{name}, {}, {});", value.at, value.size());
        }
    }
}

fn callee(k: usize, signature: &Signature, out: &mut String) {
    let named = &signature.args[..signature.named()];
    let params = parameters(k, signature, |n, value| format!("{} a{n}", type_text(k, n, value)));
    let _ = writeln!(out, "{} c{k}({params}) {{", result_type(k, signature));
    if let Some(named) = signature.variadic {
        let _ = writeln!(out, "\tva_list ap; va_start(ap, a{});", named - 1);
        for (n, value) in signature.args.iter().enumerate().skip(named) {
            read(k, n, value, C_PARAMETER, "ap", out);
        }
        out.push_str("\tva_end(ap);\n");
    }
    for (n, value) in named.iter().enumerate() {
        check(C_PARAMETER + n, &format!("a{n}"), value, out);
        if matches!(value.ty, Type::Aggregate(_)) && value.size() > 0 {
            let _ = writeln!(out, "\tspoil(&a{n}, sizeof a{n});");
        }
    }
    if let Some(ret) = &signature.ret {
        define(k, signature.args.len(), "r", ret, out);
        out.push_str("\treturn r;\n");
    }
    out.push_str("}\n");
}

fn parameters(
    k: usize,
    signature: &Signature,
    mut text: impl FnMut(usize, &Value) -> String,
) -> String {
    let _ = k;
    let named = &signature.args[..signature.named()];
    let mut params: Vec<String> = named.iter().enumerate().map(|(n, v)| text(n, v)).collect();
    if signature.variadic.is_some() {
        params.push("...".into());
    }
    if params.is_empty() { "void".into() } else { params.join(", ") }
}

/// Reads the argument number `n` of a list and checks it.
fn read(k: usize, n: usize, value: &Value, side: usize, list: &str, out: &mut String) {
    let place = side + n;
    match value.ty {
        Type::Base(Base::S) => {
            let wanted = value.widened() as i64;
            let _ = writeln!(
                out,
                "\tcheck_number({place}, bits_of(va_arg({list}, double)), {wanted}ll);"
            );
        }
        Type::Base(base) if base.is_narrow() => {
            let _ = writeln!(
                out,
                "\tcheck_number({place}, va_arg({list}, int), {});",
                value.extended()
            );
        }
        _ => {
            let ty = type_text(k, n, value);
            let _ = writeln!(out, "\t{{ {ty} x = va_arg({list}, {ty});");
            check(place, "x", value, out);
            out.push_str("\t}\n");
        }
    }
}

/// Functions that read the list of a variadic function in IL: single arguments, and all the rest.
fn readers(k: usize, signature: &Signature, out: &mut String) {
    for (n, value) in signature.args.iter().enumerate().skip(signature.named()) {
        let _ = writeln!(out, "void cv{k}_{n}(va_list *ap) {{");
        read(k, n, value, IL_PARAMETER, "*ap", out);
        out.push_str("}\n");
    }
    if let Some(first) = rest(signature) {
        let _ = writeln!(out, "void cw{k}(va_list ap) {{");
        for (n, value) in signature.args.iter().enumerate().skip(first) {
            read(k, n, value, IL_PARAMETER, "ap", out);
        }
        out.push_str("}\n");
    }
}

/// Whether the C caller passes garbage above this argument.
fn has_garbage(value: &Value, dialect: Dialect) -> bool {
    let word = matches!(value.ty, Type::Base(base) if base.is_narrow() || base == Base::W);
    dialect.garbage && word && value.style >> 21 & 1 == 0
}

fn caller(k: usize, signature: &Signature, dialect: Dialect, out: &mut String) {
    let params = parameters(k, signature, |n, value| match has_garbage(value, dialect) {
        true => "long long".into(),
        false => type_text(k, n, value),
    });
    let ret = result_type(k, signature);
    let _ = writeln!(out, "{ret} ti{k}({params});\nvoid calli{k}(void) {{");
    let mut args = Vec::new();
    for (n, value) in signature.args.iter().enumerate() {
        if n < signature.named() && has_garbage(value, dialect) {
            // The table goes on behind the value.
            let at = value.at;
            let _ = writeln!(out, "\tlong long a{n}; __builtin_memcpy(&a{n}, V + {at}, 8);");
        } else {
            define(k, n, &format!("a{n}"), value, out);
        }
        args.push(format!("a{n}"));
    }
    let call = format!("ti{k}({})", args.join(", "));
    let n = signature.args.len();
    match &signature.ret {
        Some(value) => {
            let _ = writeln!(out, "\t{} r = {call};\n\tcheck_saved();", type_text(k, n, value));
            check(C_RESULT, "r", value, out);
        }
        None => {
            let _ = writeln!(out, "\t{call};\n\tcheck_saved();");
        }
    }
    for (n, value) in signature.args.iter().enumerate() {
        if matches!(value.ty, Type::Aggregate(_)) {
            check(C_COPY + n, &format!("a{n}"), value, out);
        }
    }
    out.push_str("}\n");
}
