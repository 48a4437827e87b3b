.text
.balign 16
.globl _f
_f:
	hint #34
	stp x29, x30, [sp, #-16]!
	mov x29, sp
	adrp x0, _number@GOTPAGE
	ldr x0, [x0, _number@GOTPAGEOFF]
	ldr w0, [x0]
	bl _g
	ldp x29, x30, [sp], #16
	ret
.subsections_via_symbols
