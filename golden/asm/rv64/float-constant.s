.text
.balign 4
.globl half
half:
	1: auipc t6, %pcrel_hi(.Lfp8_3fe0000000000000)
	fld fa5, %pcrel_lo(1b)(t6)
	fmul.d fa0, fa0, fa5
	ret
.type half, @function
.size half, .-half
.text
.balign 4
.globl zero
zero:
	fmv.d.x fa0, zero
	ret
.type zero, @function
.size zero, .-zero
.text
.balign 4
.globl minus
minus:
	fneg.s fa0, fa0
	ret
.type minus, @function
.size minus, .-minus
.section .rodata
.balign 8
.Lfp8_3fe0000000000000:
	.quad 4602678819172646912
.section .note.GNU-stack,"",@progbits
