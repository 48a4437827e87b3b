//! One case a rule: what it makes of a few instructions, and that without it they become
//! something else.

use super::{Folder, rules_of};
use crate::analysis::cfg::Cfg;
use crate::ir::print::print_function;
use crate::ir::{Function, Module, Op};
use crate::opt::dead::dead;
use crate::parse::{Options, parse};

/// The function in `text`, a body without header; `class` is what it returns.
fn read(class: &str, body: &str) -> (Module, Function) {
    let body = body.replace("; ", "\n");
    let text = format!(
        "function {class} $f(w %a, w %b, l %p, l %q, d %x) {{\n@start\n%s =l copy %p\n{body}\n}}"
    );
    let mut module = Module::default();
    let options = Options { internal_ops: true };
    parse("test", text.as_bytes(), &options, &mut module).expect("a valid function");
    let f = module.functions.iter().next().expect("a function").clone();
    (module, f)
}

/// The body of `f`, lines joined by `; `.
fn show(module: &Module, f: &Function) -> String {
    let mut text = Vec::new();
    print_function(module, f, &mut text);
    let text = String::from_utf8(text).expect("text");
    let lines = text.lines().map(str::trim);
    lines.skip(2).filter(|l| *l != "}").collect::<Vec<_>>().join("; ")
}

/// Folds a body, without one rule if `disabled` names one, and drops what is then dead.
fn folded(class: &str, body: &str, disabled: Option<&'static str>) -> String {
    let (module, mut f) = read(class, body);
    let rpo = Cfg::new(&f).rpo;
    let mut folder = Folder::new(&mut f, &rpo);
    folder.disabled = disabled;
    folder.sweep(&rpo);
    dead(&mut f, &rpo);
    show(&module, &f)
}

/// Rule, class of the result, body, body after folding.
type Case = (&'static str, &'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    ("add_zero", "w", "%r =w add %a, 0; ret %r", "ret %a"),
    ("add_symbol", "l", "%r =l add $g, 12; %t =l add 4, %r; ret %t", "ret $g+16"),
    ("add_constants", "w", "%t =w add %a, 3; %r =w add %t, 4; ret %r", "%r =w add %a, 7; ret %r"),
    ("add_subtracted", "w", "%t =w sub 3, %a; %r =w add %t, 4; ret %r", "%r =w sub 7, %a; ret %r"),
    ("add_complement", "w", "%t =w xor %a, -1; %r =w add %t, 4; ret %r", "%r =w sub 3, %a; ret %r"),
    ("add_negated", "w", "%t =w neg %a; %r =w add %t, %b; ret %r", "%r =w sub %b, %a; ret %r"),
    ("add_cancel", "w", "%t =w sub %a, %b; %r =w add %b, %t; ret %r", "ret %a"),
    ("add_self", "w", "%r =w add %a, %a; ret %r", "%r =w shl %a, 1; ret %r"),
    (
        "add_rotated",
        "w",
        "%t =w shl %a, 3; %u =w shr %a, 29; %r =w add %t, %u; ret %r",
        "%r =w rotl %a, 3; ret %r",
    ),
    (
        "add_outward",
        "l",
        "%t =l add %p, 8; %r =l add %q, %t; ret %r",
        "%t.1 =l add %p, %q; %r =l add %t.1, 8; ret %r",
    ),
    ("sub_self", "w", "%r =w sub %a, %a; ret %r", "ret 0"),
    ("sub_constant", "w", "%r =w sub %a, 5; ret %r", "%r =w add %a, -5; ret %r"),
    ("sub_from_zero", "w", "%r =w sub 0, %a; ret %r", "%r =w neg %a; ret %r"),
    ("sub_from_ones", "w", "%r =w sub -1, %a; ret %r", "%r =w xor %a, -1; ret %r"),
    ("sub_symbols", "l", "%t =l add $g, 8; %r =l sub %t, $g; ret %r", "ret 8"),
    (
        "sub_from_constant",
        "w",
        "%t =w sub 9, %a; %r =w sub 2, %t; ret %r",
        "%r =w add %a, -7; ret %r",
    ),
    ("sub_negated", "w", "%t =w neg %a; %r =w sub %b, %t; ret %r", "%r =w add %b, %a; ret %r"),
    ("sub_cancel", "w", "%t =w add %b, %a; %r =w sub %t, %b; ret %r", "ret %a"),
    (
        "sub_common",
        "l",
        "%t =l add %p, 24; %u =l add %p, 8; storel %t, %q; storel %u, %q; %r =l sub %t, %u; ret %r",
        "%t =l add %p, 24; %u =l add %p, 8; storel %t, %q; storel %u, %q; ret 16",
    ),
    (
        "sub_outward",
        "l",
        "%t =l add %p, 24; %r =l sub %q, %t; ret %r",
        "%t.1 =l sub %q, %p; %r =l add %t.1, -24; ret %r",
    ),
    ("neg_neg", "w", "%t =w neg %a; %r =w neg %t; ret %r", "ret %a"),
    ("neg_sub", "w", "%t =w sub %a, %b; %r =w neg %t; ret %r", "%r =w sub %b, %a; ret %r"),
    ("neg_add", "w", "%t =w add %a, 5; %r =w neg %t; ret %r", "%r =w sub -5, %a; ret %r"),
    ("neg_complement", "w", "%t =w xor %a, -1; %r =w neg %t; ret %r", "%r =w add %a, 1; ret %r"),
    ("neg_mul", "w", "%t =w mul %a, 5; %r =w neg %t; ret %r", "%r =w mul %a, -5; ret %r"),
    ("mul_minus_one", "w", "%r =w mul %a, -1; ret %r", "%r =w neg %a; ret %r"),
    ("mul_power", "l", "%r =l mul %p, 16; ret %r", "%r =l shl %p, 4; ret %r"),
    ("mul_constants", "w", "%t =w mul %a, 3; %r =w mul %t, 5; ret %r", "%r =w mul %a, 15; ret %r"),
    ("mul_shifted", "w", "%t =w shl %a, 2; %r =w mul %t, 5; ret %r", "%r =w mul %a, 20; ret %r"),
    ("mul_negated", "w", "%t =w neg %a; %r =w mul %t, 5; ret %r", "%r =w mul %a, -5; ret %r"),
    (
        "mul_outward",
        "w",
        "%t =w add %a, 2; %r =w mul %t, 5; ret %r",
        "%t.1 =w mul %a, 5; %r =w add %t.1, 10; ret %r",
    ),
    ("div_one", "w", "%r =w div %a, 1; ret %r", "ret %a"),
    ("div_minus_one", "w", "%r =w div %a, -1; ret %r", "%r =w neg %a; ret %r"),
    (
        "div_unsigned",
        "w",
        "%t =w extub %a; %r =w div %t, 10; ret %r",
        "%t =w extub %a; %r =w udiv %t, 10; ret %r",
    ),
    ("rem_one", "w", "%r =w rem %a, -1; ret %r", "ret 0"),
    (
        "rem_unsigned",
        "w",
        "%t =w extub %a; %r =w rem %t, 10; ret %r",
        "%t =w extub %a; %r =w urem %t, 10; ret %r",
    ),
    ("udiv_power", "w", "%r =w udiv %a, 16; ret %r", "%r =w shr %a, 4; ret %r"),
    ("urem_power", "w", "%r =w urem %a, 16; ret %r", "%r =w and %a, 15; ret %r"),
    ("urem_small", "w", "%t =w extub %a; %r =w urem %t, 300; ret %r", "%t =w extub %a; ret %t"),
    ("and_self", "w", "%r =w and %a, %a; ret %r", "ret %a"),
    ("and_constants", "w", "%t =w and %a, 12; %r =w and %t, 9; ret %r", "%r =w and %a, 8; ret %r"),
    (
        "and_redundant",
        "w",
        "%t =w shr %a, 24; %r =w and %t, 4095; ret %r",
        "%t =w shr %a, 24; ret %t",
    ),
    ("and_demanded", "w", "%t =w or %a, 48; %r =w and %t, 15; ret %r", "%r =w and %a, 15; ret %r"),
    ("and_extension", "l", "%r =l and %p, 4294967295; ret %r", "%r =l extuw %p; ret %r"),
    ("and_absorb", "w", "%t =w or %a, %b; %r =w and %t, %a; ret %r", "ret %a"),
    ("or_self", "w", "%r =w or %a, %a; ret %r", "ret %a"),
    ("or_constants", "w", "%t =w or %a, 12; %r =w or %t, 3; ret %r", "%r =w or %a, 15; ret %r"),
    ("or_redundant", "w", "%r =w or %a, 0; ret %r", "ret %a"),
    ("or_demanded", "w", "%t =w and %a, -16; %r =w or %t, 15; ret %r", "%r =w or %a, 15; ret %r"),
    ("or_absorb", "w", "%t =w and %a, %b; %r =w or %t, %b; ret %r", "ret %b"),
    (
        "or_rotated",
        "w",
        "%t =w shl %a, 3; %u =w shr %a, 29; %r =w or %t, %u; ret %r",
        "%r =w rotl %a, 3; ret %r",
    ),
    (
        "or_rotated_by",
        "l",
        "%n =w and %a, 63; %m =w sub 64, %n; %t =l shl %p, %n; %u =l shr %p, %m; %r =l or %u, %t; ret %r",
        "%r =l rotl %p, %a; ret %r",
    ),
    ("xor_self", "w", "%r =w xor %a, %a; ret %r", "ret 0"),
    ("xor_zero", "w", "%r =w xor %a, 0; ret %r", "ret %a"),
    ("xor_constants", "w", "%t =w xor %a, 12; %r =w xor %t, 10; ret %r", "%r =w xor %a, 6; ret %r"),
    ("xor_cancel", "w", "%t =w xor %a, %b; %r =w xor %a, %t; ret %r", "ret %b"),
    (
        "xor_comparison",
        "w",
        "%t =w csltw %a, %b; %r =w xor %t, 1; ret %r",
        "%r =w csgew %a, %b; ret %r",
    ),
    (
        "xor_rotated",
        "l",
        "%t =l shl %p, 60; %u =l shr %p, 4; %r =l xor %t, %u; ret %r",
        "%r =l rotl %p, 60; ret %r",
    ),
    ("shift_zero", "w", "%r =w sar %a, 64; ret %r", "ret %a"),
    ("shift_count", "w", "%t =w and %b, 31; %r =w shl %a, %t; ret %r", "%r =w shl %a, %b; ret %r"),
    (
        "shift_demanded",
        "w",
        "%t =w and %a, 65535; %r =w shl %t, 16; ret %r",
        "%r =w shl %a, 16; ret %r",
    ),
    ("shl_shl", "w", "%t =w shl %a, 3; %r =w shl %t, 4; ret %r", "%r =w shl %a, 7; ret %r"),
    ("shl_shr", "w", "%t =w sar %a, 3; %r =w shl %t, 3; ret %r", "%r =w and %a, -8; ret %r"),
    (
        "shl_outward",
        "l",
        "%t =l add %p, 3; %r =l shl %t, 3; ret %r",
        "%t.1 =l shl %p, 3; %r =l add %t.1, 24; ret %r",
    ),
    ("shr_shr", "w", "%t =w shr %a, 3; %r =w shr %t, 4; ret %r", "%r =w shr %a, 7; ret %r"),
    ("shr_shl", "w", "%t =w shl %a, 24; %r =w shr %t, 24; ret %r", "%r =w extub %a; ret %r"),
    (
        "sar_nonnegative",
        "w",
        "%t =w extuh %a; %r =w sar %t, 3; ret %r",
        "%t =w extuh %a; %r =w shr %t, 3; ret %r",
    ),
    ("sar_sar", "w", "%t =w sar %a, 30; %r =w sar %t, 4; ret %r", "%r =w sar %a, 31; ret %r"),
    ("sar_shl", "l", "%t =l shl %p, 48; %r =l sar %t, 48; ret %r", "%r =l extsh %p; ret %r"),
    ("rotr_constant", "w", "%r =w rotr %a, 3; ret %r", "%r =w rotl %a, 29; ret %r"),
    ("compare_swapped", "w", "%r =w csltw 5, %a; ret %r", "%r =w csgtw %a, 5; ret %r"),
    ("compare_self", "w", "%r =w csgew %a, %a; ret %r", "ret 1"),
    ("compare_range", "w", "%t =w extub %a; %r =w csltw %t, 256; ret %r", "ret 1"),
    ("compare_edge", "w", "%r =w cugtw %a, 0; ret %r", "%r =w cnew %a, 0; ret %r"),
    ("compare_zero", "w", "%r =w csgew %a, 1; ret %r", "%r =w csgtw %a, 0; ret %r"),
    (
        "compare_comparison",
        "w",
        "%t =l csltw %a, %b; %r =w ceql %t, 0; ret %r",
        "%r =w csgew %a, %b; ret %r",
    ),
    (
        "compare_boolean",
        "l",
        "%t =w and %a, 1; %r =l cnew %t, 0; ret %r",
        "%t =w and %a, 1; %r =l extuw %t; ret %r",
    ),
    ("compare_sum", "w", "%t =w add %a, 5; %r =w ceqw %t, 3; ret %r", "%r =w ceqw %a, -2; ret %r"),
    (
        "compare_difference",
        "w",
        "%t =w sub %a, %b; %r =w cnew %t, 0; ret %r",
        "%r =w cnew %a, %b; ret %r",
    ),
    (
        "compare_bit",
        "w",
        "%t =w and %a, 8; %r =w ceqw %t, 8; ret %r",
        "%t =w and %a, 8; %r =w cnew %t, 0; ret %r",
    ),
    (
        "compare_signed",
        "w",
        "%t =l extsw %a; %r =w csltl %t, -7; ret %r",
        "%r =w csltw %a, -7; ret %r",
    ),
    (
        "compare_unsigned",
        "w",
        "%t =l extuw %a; %u =l extub %b; %r =w csltl %t, %u; ret %r",
        "%u =l extub %b; %r =w cultw %a, %u; ret %r",
    ),
    ("select_same", "w", "%r =w select %a, %b, %b; ret %r", "ret %b"),
    ("select_known", "w", "%t =w or %a, 1; %r =w select %t, %b, %a; ret %r", "ret %b"),
    (
        "select_condition",
        "w",
        "%t =w ceqw %a, 0; %r =w select %t, %b, %a; ret %r",
        "%r =w select %a, %a, %b; ret %r",
    ),
    (
        "select_boolean",
        "l",
        "%t =w csltw %a, %b; %r =l select %t, 0, 1; ret %r",
        "%r =l csgew %a, %b; ret %r",
    ),
    (
        "extend_redundant",
        "w",
        "%t =w loadsb %p; %u =w add %t, 0; %r =w extsh %u; %v =w add %u, %r; ret %v",
        "%t =w loadsb %p; %v =w shl %t, 1; ret %v",
    ),
    (
        "extend_narrow",
        "l",
        "%t =w extub %a; %r =l extub %t; %u =l extsw %t; %v =l xor %r, %u; ret %v",
        "%t =w extub %a; %r =l extuw %t; %u =l extuw %t; %v =l xor %r, %u; ret %v",
    ),
    ("extend_demanded", "w", "%t =w and %a, 511; %r =w extsb %t; ret %r", "%r =w extsb %a; ret %r"),
    ("extend_extension", "l", "%t =w extsb %a; %r =l extsw %t; ret %r", "%r =l extsb %a; ret %r"),
    ("extend_load", "l", "%t =w loadsb %p; %r =l extub %t; ret %r", "%r =l loadub %p; ret %r"),
    (
        "extend_comparison",
        "l",
        "%t =w csltw %a, %b; %r =l extuw %t; ret %r",
        "%r =l csltw %a, %b; ret %r",
    ),
    (
        "extend_unsigned",
        "l",
        "%t =w shr %a, 1; %r =l extsw %t; ret %r",
        "%t =w shr %a, 1; %r =l extuw %t; ret %r",
    ),
    ("copy_value", "w", "%r =w copy %a; ret %r", "ret %a"),
    ("cast_cast", "l", "%t =d cast %p; %r =l cast %t; ret %r", "ret %p"),
    (
        "store_demanded",
        "",
        "%t =w extub %a; storeh %t, %p; %u =w extuh %b; storeb %u, %q; ret",
        "%t =w extub %a; storeh %t, %p; storeb %b, %q; ret",
    ),
];

#[test]
fn every_rule_does_what_its_case_says() {
    let mut wrong = Vec::new();
    for &(rule, class, body, wanted) in CASES {
        let got = folded(class, body, None);
        if got != wanted {
            wrong.push(format!("{rule}: {body}\n    wanted {wanted}\n    got    {got}"));
        }
        if folded(class, body, Some(rule)) == got {
            wrong.push(format!("{rule}: {body}\n    does not need the rule"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_case() {
    let mut tables: Vec<&str> =
        Op::ALL.iter().flat_map(|&op| rules_of(op)).map(|r| r.name).collect();
    tables.sort_unstable();
    tables.dedup();
    let mut cases: Vec<&str> = CASES.iter().map(|case| case.0).collect();
    cases.sort_unstable();
    cases.dedup();
    assert_eq!(tables, cases);
}

#[test]
fn facts_go_round_loops_only_as_a_whole() {
    let becomes = |before: &str, after: &str| {
        crate::opt::testing::assert_becomes(before, after, |f| {
            let rpo = Cfg::new(f).rpo;
            super::fold(f, &rpo)
        });
    };
    // A counter that stays below 8 is extended already.
    becomes(
        "function w $f(w %n) {
        @start
        @loop
            %i =w phi @start 0, @loop %k
            %j =w add %i, 1
            %k =w and %j, 7
            %e =w extub %i
            %g =l extsw %k
            %c =w ceqw %k, %n
            jnz %c, @loop, @end
        @end
            ret %e
        }",
        "function w $f(w %n) {
        @start
        @loop
        %i =w phi @start 0, @loop %k
        %j =w add %i, 1
        %k =w and %j, 7
        %g =l extuw %k
        %c =w ceqw %k, %n
        jnz %c, @loop, @end
        @end
        ret %i
        }",
    );
    // Both phis see the load sooner or later, so the mask of their conjunction stays.
    let text = "function w $f(w %n, l %p) {
        @start
        @loop
        %p.1 =w phi @start 0, @loop %v
        %q =w phi @start 0, @loop %p.1
        %v =w loadsw %p
        %a =w and %p.1, %q
        %m =w and %a, 15
        jnz %m, @loop, @end
        @end
        ret %m
        }";
    becomes(text, text);
}
