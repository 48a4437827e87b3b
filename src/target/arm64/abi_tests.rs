//! Places by the rules; clang's code for Apple has been looked at for what its page does not say.

use super::*;
use crate::index::Index;

/// Places of the parameters of the first function of `text`, all or the first `named` of them
/// before the `...`.
fn assigned(convention: &Convention, text: &str, named: Option<usize>) -> Assignment {
    let mut module = Module::default();
    let options = crate::parse::Options::default();
    crate::parse::parse("-", text.as_bytes(), &options, &mut module).unwrap();
    let f = &module.functions[Index::new(0)];
    let args: Vec<AbiType> = f.params.iter().map(|p| p.ty).collect();
    let variadic = named.is_some();
    let named = named.unwrap_or(args.len());
    (convention.assign)(&module, &Signature { ret: f.ret, args: &args, named, variadic })
}

fn places(convention: &Convention, types: &str, params: &str) -> (Vec<Place>, u64) {
    let text = format!("{types}\nfunction $f({params}) {{\n@s\n\tret\n}}");
    let all = assigned(convention, &text, None);
    (all.places, all.stack)
}

fn pieces(list: &[(PReg, u64, u8)]) -> Place {
    let piece =
        |&(reg, offset, bytes): &(PReg, u64, u8)| Piece { at: Spot::Reg(reg), offset, bytes };
    Place::Pieces(list.iter().map(piece).collect())
}

fn stack(offset: u64, bytes: u8) -> Place {
    Place::Stack { offset, bytes }
}

/// The place of one parameter and of the result of a type, the same in all conventions.
fn both(ty: &str) -> (Place, Place, Option<PReg>) {
    let text = format!("{ty}\nfunction :t $f(:t %a) {{\n@s\n\tret %a\n}}");
    let mut module = Module::default();
    crate::parse::parse("-", text.as_bytes(), &crate::parse::Options::default(), &mut module)
        .unwrap();
    let ret = module.functions[Index::new(0)].ret.unwrap();
    let mut all = assigned(&ELF, &text, None);
    assert_eq!(all, assigned(&APPLE, &text, None));
    (all.places.remove(0), (ELF.result)(&module, ret), all.hidden)
}

#[test]
fn small_aggregates() {
    let same = |ty: &str, list: &[(PReg, u64, u8)]| {
        assert_eq!(both(ty), (pieces(list), pieces(list), None), "{ty}");
    };
    same("type :t = { b 3 }", &[(x(0), 0, 3)]);
    same("type :t = { l, w }", &[(x(0), 0, 8), (x(1), 8, 8)]);
    same("type :t = { l, b 3 }", &[(x(0), 0, 8), (x(1), 8, 8)]);
    same("type :t = { b 13 }", &[(x(0), 0, 8), (x(1), 8, 5)]);
    same("type :t = { l, d }", &[(x(0), 0, 8), (x(1), 8, 8)]);
    same("type :t = { s, w }", &[(x(0), 0, 8)]);
    same("type :t = align 16 { d }", &[(x(0), 0, 8), (x(1), 8, 8)]);
}

#[test]
fn homogeneous_aggregates() {
    let same = |ty: &str, size: u8, count: u8| {
        let list: Vec<_> = (0..count).map(|n| (v(n), u64::from(n * size), size)).collect();
        assert_eq!(both(ty), (pieces(&list), pieces(&list), None), "{ty}");
    };
    same("type :t = { s }", 4, 1);
    same("type :t = { s 3 }", 4, 3);
    same("type :t = { d, d, d, d }", 8, 4);
    same("type :t = { { d } { d 2 } }", 8, 2);
    same("type :u = { s, s }\ntype :t = { :u 2 }", 4, 4);
    same("type :e = { }\ntype :u = { { s } { s } }\ntype :t = { :u, :e, s }", 4, 2);
    same("type :t = align 16 { d 2 }", 8, 2);
}

#[test]
fn memory_and_nothing() {
    let memory = (Place::Reference(Spot::Reg(x(0))), Place::StackAggregate(0), Some(x(8)));
    assert_eq!(both("type :t = { l 3 }"), memory);
    assert_eq!(both("type :t = { s 5 }"), memory);
    assert_eq!(both("type :t = { d 3, s }"), memory);
    assert_eq!(both("type :t = align 8 { 8 }"), memory);
    // There is padding after the floats.
    assert_eq!(both("type :u = align 16 { d }\ntype :t = { :u 2 }"), memory);
    assert_eq!(both("type :t = { }"), (Place::Nothing, Place::Nothing, None));
}

#[test]
fn registers_run_out() {
    let types = "type :i = { l, l }\ntype :f = { d 2 }";
    let params = "l %a, l %b, l %c, l %d, l %e, l %f, l %g, :i %h, w %i, \
                  d %j, d %k, d %l, d %m, d %n, d %o, d %p, :f %q, s %r";
    let (all, bytes) = places(&ELF, types, params);
    assert_eq!(all[6], Place::Reg(x(6)));
    assert_eq!(all[7], Place::StackAggregate(0));
    // No argument goes back to x7 or v7.
    assert_eq!(all[8], stack(16, 8));
    assert_eq!(all[15], Place::Reg(v(6)));
    assert_eq!(all[16], Place::StackAggregate(24));
    assert_eq!(all[17], stack(40, 8));
    assert_eq!(bytes, 48);
}

#[test]
fn alignment_of_16() {
    let types = "type :q = align 16 { l 2 }\ntype :t = { :q }\ntype :big = align 16 { l 4 }";
    let pair = |n| pieces(&[(x(n), 0, 8), (x(n + 1), 8, 8)]);
    let (all, _) = places(&ELF, types, "l %a, :t %b, l %c");
    assert_eq!(all, [Place::Reg(x(0)), pair(2), Place::Reg(x(4))]);
    let (all, _) = places(&APPLE, types, "l %a, :t %b, l %c");
    assert_eq!(all, [Place::Reg(x(0)), pair(1), Place::Reg(x(3))]);
    // What the type itself asks for is not natural.
    let (all, _) = places(&ELF, types, "l %a, :q %b, l %c");
    assert_eq!(all, [Place::Reg(x(0)), pair(1), Place::Reg(x(3))]);
    // x7 is left out by the first and lost for all.
    let params = "l %a, l %b, l %c, l %d, l %e, l %f, l %g, :t %h, w %i, :t %j, :big %k";
    let (all, bytes) = places(&ELF, types, params);
    assert_eq!(all[7], Place::StackAggregate(0));
    assert_eq!(all[8], stack(16, 8));
    assert_eq!(all[9], Place::StackAggregate(32));
    assert_eq!(all[10], Place::Reference(Spot::Stack(48)));
    assert_eq!(bytes, 56);
}

#[test]
fn apple_packs_stack_arguments() {
    let types = "type :f = { s 3 }\ntype :b = { b 3 }\ntype :e = align 16 { l 2 }";
    let params = "l %a, l %b, l %c, l %d, l %e, l %f, l %g, l %h, ub %i, sh %j, w %k, sb %l, \
                  :b %m, ub %n, l %o, d %p, d %q, d %r, d %s, d %t, d %u, d %v, :f %w, s %x, \
                  ub %y, :e %z";
    let (all, bytes) = places(&APPLE, types, params);
    let expected = [
        stack(0, 1),
        stack(2, 2),
        stack(4, 4),
        stack(8, 1),
        Place::StackAggregate(16),
        stack(24, 1),
        stack(32, 8),
    ];
    assert_eq!(all[8..15], expected);
    let expected =
        [Place::StackAggregate(40), stack(52, 4), stack(56, 1), Place::StackAggregate(64)];
    assert_eq!(all[22..26], expected);
    assert_eq!(bytes, 80);
    // Floats alone are as aligned as one of them.
    let types = "type :f = align 16 { s 3, s }\ntype :e = align 16 { d 2 }";
    let params = "d %a, d %b, d %c, d %d, d %e, d %f, d %g, d %h, s %i, :f %j, :e %k, ub %l";
    let (all, bytes) = places(&APPLE, types, params);
    let expected =
        [stack(0, 4), Place::StackAggregate(4), Place::StackAggregate(24), Place::Reg(x(0))];
    assert_eq!((&all[8..], bytes), (&expected[..], 40));
    let (all, bytes) = places(&ELF, types, params);
    let expected =
        [stack(0, 8), Place::StackAggregate(8), Place::StackAggregate(24), Place::Reg(x(0))];
    assert_eq!((&all[8..], bytes), (&expected[..], 40));
}

#[test]
fn variadic_arguments() {
    let types = "type :f = { s 3 }\ntype :b = { b 3 }\ntype :e = align 16 { l 2 }\n\
                 type :m = { l 3 }";
    let params = "w %a, :f %b, w %c, s %d, :b %e, d %f, :e %g, :m %h";
    let text = format!("{types}\nfunction $f({params}) {{\n@s\n\tret\n}}");
    let elf = assigned(&ELF, &text, Some(1));
    assert_eq!(elf, assigned(&ELF, &text, None));
    let apple = assigned(&APPLE, &text, Some(1));
    assert_eq!((apple.ints, apple.floats, apple.stack), (1, 0, 72));
    let expected = [
        Place::Reg(x(0)),
        Place::StackAggregate(0),
        stack(16, 8),
        stack(24, 8),
        Place::StackAggregate(32),
        stack(40, 8),
        Place::StackAggregate(48),
        Place::Reference(Spot::Stack(64)),
    ];
    assert_eq!(apple.places, expected);
}
