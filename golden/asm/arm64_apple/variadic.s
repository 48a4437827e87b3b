.data
.balign 8
_format:
	.ascii "%d %g\n"
	.byte 0
.text
.balign 16
.globl _print
_print:
	hint #34
	stp x29, x30, [sp, #-16]!
	mov x29, sp
	sub sp, sp, #16
	str w0, [sp]
	str d0, [sp, #8]
	adrp x0, _format@PAGE
	add x0, x0, _format@PAGEOFF
	bl _printf
	add sp, sp, #16
	ldp x29, x30, [sp], #16
	ret
.text
.balign 16
.globl _first
_first:
	hint #34
	sub sp, sp, #32
	add x0, sp, #32
	str x0, [sp]
	ldr x0, [sp]
	add x1, x0, #8
	str x1, [sp]
	ldr w0, [x0]
	add sp, sp, #32
	ret
.subsections_via_symbols
