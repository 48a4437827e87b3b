.text
.balign 16
.globl _f
_f:
	hint #34
	stp x29, x30, [sp, #-32]!
	mov x29, sp
	str x19, [sp, #16]
	mov x19, x0
	sxtw x3, w1
	movz w0, #1
	movz w1, #2
	movz w2, #3
	movz w4, #5
	movz w5, #6
	movz w6, #7
	mov x7, x19
	bl _g
	add x0, x0, x19
	ldr x19, [sp, #16]
	ldp x29, x30, [sp], #32
	ret
.subsections_via_symbols
