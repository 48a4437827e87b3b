//! The library as a program uses it: in memory, on several threads, with errors as values.

use backend::ir::build::Builder;
use backend::ir::{AbiType, Class, Op};
use backend::target::by_name;
use backend::{Input, Options, compile, compile_module};

const PROGRAM: &str = include_str!("programs/sieve.ssa");

fn options() -> Options {
    Options::new(by_name("amd64_sysv").expect("the target is there"))
}

fn assembly(text: &str, options: &Options) -> Vec<u8> {
    let input = Input { name: "memory.ssa", text: text.as_bytes() };
    compile(&[input], options).expect("the program is right").bytes
}

#[test]
fn several_compilations_at_once_do_not_meet() {
    let alone = assembly(PROGRAM, &options());
    let other = "export function w $f(w %a) {\n@s\n\tret %a\n}\n";
    let other_alone = assembly(other, &options());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|n| {
                let (text, wanted) =
                    if n % 2 == 0 { (PROGRAM, &alone) } else { (other, &other_alone) };
                scope.spawn(move || {
                    for _ in 0..20 {
                        assert!(assembly(text, &options()) == *wanted, "thread {n}");
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.join().expect("no thread fails");
        }
    });
}

#[test]
fn the_number_of_threads_does_not_show() {
    let many: String = (0..200)
        .map(|n| format!("function d $f{n}(d %a) {{\n@s\n\t%b =d mul %a, d_{n}.5\n\tret %b\n}}\n"))
        .collect();
    let one = assembly(&many, &Options { threads: 1, ..options() });
    for threads in [2, 3, 7] {
        assert!(assembly(&many, &Options { threads, ..options() }) == one, "{threads} threads");
    }
}

#[test]
fn bad_input_is_a_list_of_errors() {
    let input =
        Input { name: "bad.ssa", text: b"function $f() {\n@s\n\t%x =w add 1\n\tret %y\n}\n" };
    let errors = compile(&[input], &options()).expect_err("the program is wrong");
    let places: Vec<_> = errors.iter().map(|e| (e.file.as_str(), e.line)).collect();
    assert_eq!(places, [("bad.ssa", 3), ("bad.ssa", 4)]);
}

#[test]
fn a_module_built_in_memory_compiles() {
    let word = AbiType::Base(Class::W);
    let mut builder = Builder::new();
    let mut f = builder.function("twice");
    f.export().returns(word);
    let n = f.param(word, "n");
    let start = f.block("start");
    f.at(start);
    let sum = f.op(Op::Add, Class::W, &[n, n]);
    f.ret(Some(sum));
    f.finish().expect("the function is right");
    let built = compile_module(builder.finish(), &options()).bytes;
    let text = "export function w $twice(w %n) {\n@start\n\t%s =w add %n, %n\n\tret %s\n}\n";
    assert_eq!(
        String::from_utf8_lossy(&built),
        String::from_utf8_lossy(&assembly(text, &options()))
    );
}
