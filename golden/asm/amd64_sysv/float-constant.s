.text
.balign 16
.globl half
half:
	endbr64
	mulsd .Lfp8_3fe0000000000000(%rip), %xmm0
	ret
.type half, @function
.size half, .-half
.text
.balign 16
.globl zero
zero:
	endbr64
	xorps %xmm0, %xmm0
	ret
.type zero, @function
.size zero, .-zero
.text
.balign 16
.globl minus
minus:
	endbr64
	xorps .Lfp16_0000000080000000(%rip), %xmm0
	ret
.type minus, @function
.size minus, .-minus
.section .rodata
.balign 16
.Lfp16_0000000080000000:
	.quad 2147483648,0
.section .rodata
.balign 8
.Lfp8_3fe0000000000000:
	.quad 4602678819172646912
.section .note.GNU-stack,"",@progbits
