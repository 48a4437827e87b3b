.text
.balign 16
.globl _leaf
_leaf:
	hint #34
	ret
.text
.balign 16
.globl _kept
_kept:
	hint #34
	stp x29, x30, [sp, #-32]!
	mov x29, sp
	stp x19, x20, [sp, #16]
	mov w19, w0
	mov w20, w1
	bl _g
	add w0, w19, w20
	ldp x19, x20, [sp, #16]
	ldp x29, x30, [sp], #32
	ret
.text
.balign 16
.globl _dynamic
_dynamic:
	hint #34
	stp x29, x30, [sp, #-16]!
	mov x29, sp
	add x0, x0, #15
	and x0, x0, #0xfffffffffffffff0
	sub sp, sp, x0, uxtx
	mov x0, sp
	bl _use
	mov sp, x29
	ldp x29, x30, [sp], #16
	ret
.subsections_via_symbols
