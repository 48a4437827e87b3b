.text
.balign 16
.globl half
half:
	hint #34
	fmov d1, #0.5
	fmul d0, d0, d1
	ret
.type half, @function
.size half, .-half
.text
.balign 16
.globl zero
zero:
	hint #34
	movi d0, #0
	ret
.type zero, @function
.size zero, .-zero
.text
.balign 16
.globl minus
minus:
	hint #34
	fneg s0, s0
	ret
.type minus, @function
.size minus, .-minus
.section .note.GNU-stack,"",@progbits
