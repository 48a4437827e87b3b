//! Large inputs, made by the harness: shapes that make a compiler slow or deep.

use std::fmt::Write;

/// A large input.
pub struct Generated {
    pub name: &'static str,
    /// Seconds that compiling it may take, without optimisation of this program.
    pub seconds: f64,
    make: fn(&mut String) -> std::fmt::Result,
}

impl Generated {
    pub fn text(&self) -> Vec<u8> {
        let mut text = format!("# {}\n", self.name);
        (self.make)(&mut text).expect("a string can always be written to");
        text.into_bytes()
    }
}

/// Each exits with 0 if the code is right.
pub const GENERATED: &[Generated] = &[
    Generated { name: "width-chain", seconds: 2.0, make: width_chain },
    Generated { name: "many-blocks", seconds: 5.0, make: many_blocks },
    Generated { name: "wide-live", seconds: 5.0, make: wide_live },
    Generated { name: "large-data", seconds: 3.0, make: large_data },
    Generated { name: "many-functions", seconds: 4.0, make: many_functions },
    Generated { name: "phi-fan-in", seconds: 5.0, make: phi_fan_in },
    Generated { name: "deep-chain", seconds: 5.0, make: deep_chain },
    Generated { name: "deep-loops", seconds: 5.0, make: deep_loops },
    Generated { name: "long-names", seconds: 2.0, make: long_names },
];

/// Phis and masks in which each value uses the one before twice: exponential in a naive walk.
fn width_chain(o: &mut String) -> std::fmt::Result {
    writeln!(o, "export function w $main() {{\n@s\n\t%x0 =w loadub $d\n\t%c =w loadw $d")?;
    for i in 0..1500 {
        writeln!(o, "\tjnz %c, @a{i}, @b{i}\n@a{i}\n\t%y{i} =w and %x{i}, 255\n\tjmp @j{i}")?;
        writeln!(o, "@b{i}\n\t%z{i} =w or %x{i}, 1\n\tjmp @j{i}\n@j{i}")?;
        writeln!(o, "\t%x{} =w phi @a{i} %y{i}, @b{i} %z{i}", i + 1)?;
    }
    writeln!(o, "\t%e =w extub %x1500\n\t%r =w sub %e, 200\n\tret %r\n}}")?;
    writeln!(o, "export data $d = {{ w 200 }}")
}

/// Blocks in a row, each with a branch to the next two.
fn many_blocks(o: &mut String) -> std::fmt::Result {
    const N: usize = 20_000;
    writeln!(o, "export function w $main() {{\n@b0\n\t%x =w copy 0")?;
    for i in 1..N {
        writeln!(o, "\t%x =w add %x, 1\n\t%c =w csltw %x, 100000")?;
        writeln!(o, "\tjnz %c, @b{i}, @b{}\n@b{i}", i + 1)?;
    }
    writeln!(o, "\tjmp @b{N}\n@b{N}\n\t%r =w cnew %x, {}\n\tret %r\n}}", N - 1)
}

/// Values that are all live at once, and over a call.
fn wide_live(o: &mut String) -> std::fmt::Result {
    const N: usize = 4000;
    writeln!(o, "export data $d = {{ l 3, l $nothing }}\nfunction $nothing() {{\n@s\n\tret\n}}")?;
    writeln!(o, "export function w $main() {{\n@s\n\t%b =l loadl $d\n\t%p =l add $d, 8")?;
    for i in 0..N {
        writeln!(o, "\t%x{i} =l mul %b, {i}")?;
    }
    writeln!(o, "\t%f =l loadl %p\n\tcall %f()\n\t%s =l copy 0")?;
    for i in 0..N {
        writeln!(o, "\t%s =l add %s, %x{i}")?;
    }
    writeln!(o, "\t%r =w cnel %s, {}\n\tret %r\n}}", N * (N - 1) / 2 * 3)
}

/// A million items, and a string of a million bytes.
fn large_data(o: &mut String) -> std::fmt::Result {
    const N: usize = 1_000_000;
    write!(o, "export data $big = {{ w")?;
    for i in 0..N {
        write!(o, " {i}")?;
    }
    writeln!(o, " }}\nexport data $str = {{ b \"{}\", b 0 }}", "a".repeat(N))?;
    writeln!(o, "export function w $main() {{\n@s\n\t%p =l add $big, {}", 4 * (N - 1))?;
    writeln!(o, "\t%x =w loadw %p\n\t%n =l call $strlen(l $str)\n\t%a =w cnew %x, {}", N - 1)?;
    writeln!(o, "\t%b =w cnel %n, {N}\n\t%r =w or %a, %b\n\tret %r\n}}")
}

fn many_functions(o: &mut String) -> std::fmt::Result {
    const N: usize = 20_000;
    for i in 0..N {
        writeln!(o, "function w $f{i}(w %a) {{\n@s\n\t%b =w add %a, {}", i % 7)?;
        writeln!(o, "\tjnz %b, @t, @e\n@t\n\t%b =w mul %b, 3\n@e\n\tret %b\n}}")?;
    }
    let want = (1 + (N - 1) % 7) * 3;
    writeln!(o, "export function w $main() {{\n@s\n\t%x =w call $f{}(w 1)", N - 1)?;
    writeln!(o, "\t%r =w cnew %x, {want}\n\tret %r\n}}")
}

/// Branches into one block with many phis.
fn phi_fan_in(o: &mut String) -> std::fmt::Result {
    const N: usize = 3000;
    const PHIS: usize = 20;
    writeln!(
        o,
        "export data $d = {{ w 2500 }}\nexport function w $main() {{\n@s\n\t%k =w loadw $d"
    )?;
    for i in 0..N {
        writeln!(
            o,
            "\t%c{i} =w ceqw %k, {i}\n\tjnz %c{i}, @h{i}, @n{i}\n@h{i}\n\tjmp @out\n@n{i}"
        )?;
    }
    writeln!(o, "\tjmp @out\n@out")?;
    for j in 0..PHIS {
        write!(o, "\t%p{j} =w phi @n{} 0", N - 1)?;
        for i in 0..N {
            write!(o, ", @h{i} {}", i * j)?;
        }
        writeln!(o)?;
    }
    writeln!(o, "\t%s =w copy 0")?;
    for j in 0..PHIS {
        writeln!(o, "\t%s =w add %s, %p{j}")?;
    }
    writeln!(o, "\t%r =w cnew %s, {}\n\tret %r\n}}", 2500 * PHIS * (PHIS - 1) / 2)
}

/// A chain of dependent operations in one block: recursion over operands would end badly.
fn deep_chain(o: &mut String) -> std::fmt::Result {
    const N: u64 = 100_000;
    writeln!(o, "export data $d = {{ l 7 }}\nexport function w $main() {{\n@s\n\t%x0 =l loadl $d")?;
    let mut value = 7u64;
    for i in 0..N {
        let (op, number) = if i % 2 == 0 { ("mul", 5) } else { ("xor", i) };
        value = if i % 2 == 0 { value.wrapping_mul(5) } else { value ^ i };
        writeln!(o, "\t%x{} =l {op} %x{i}, {number}", i + 1)?;
    }
    writeln!(o, "\t%r =w cnel %x{N}, {}\n\tret %r\n}}", value as i64)
}

/// Loops inside each other.
fn deep_loops(o: &mut String) -> std::fmt::Result {
    const DEPTH: usize = 1000;
    writeln!(o, "export function w $main() {{\n@s\n\t%n =w copy 0")?;
    for i in 0..DEPTH {
        writeln!(o, "\t%i{i} =w copy 1\n@h{i}")?;
    }
    writeln!(o, "\t%n =w add %n, 1")?;
    for i in (0..DEPTH).rev() {
        writeln!(o, "\t%i{i} =w sub %i{i}, 1\n\tjnz %i{i}, @h{i}, @e{i}\n@e{i}")?;
    }
    writeln!(o, "\t%r =w cnew %n, 1\n\tret %r\n}}")
}

/// Names of a hundred thousand bytes.
fn long_names(o: &mut String) -> std::fmt::Result {
    let name = "n".repeat(100_000);
    writeln!(o, "data ${name} = {{ w 4 }}\nexport function w $main() {{\n@{name}")?;
    writeln!(o, "\t%{name} =w loadw ${name}\n\t%r =w sub %{name}, 4\n\tret %r\n}}")
}
