.text
.balign 4
.globl wide
wide:
	1: auipc a5, %pcrel_hi(.Lfp8_0123456789abcdef)
	ld a5, %pcrel_lo(1b)(a5)
	add a0, a0, a5
	ret
.type wide, @function
.size wide, .-wide
.text
.balign 4
.globl narrow
narrow:
	slli a5, a0, 52
	srli a0, a5, 52
	ret
.type narrow, @function
.size narrow, .-narrow
.text
.balign 4
.globl store
store:
	li a5, -1
	sd a5, 0(a0)
	li a5, 7
	sw a5, 8(a0)
	li a5, -1
	sb a5, 12(a0)
	ret
.type store, @function
.size store, .-store
.section .rodata
.balign 8
.Lfp8_0123456789abcdef:
	.quad 81985529216486895
.section .note.GNU-stack,"",@progbits
