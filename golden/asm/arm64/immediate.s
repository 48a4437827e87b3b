.text
.balign 16
.globl wide
wide:
	hint #34
	movz x1, #52719
	movk x1, #35243, lsl #16
	movk x1, #17767, lsl #32
	movk x1, #291, lsl #48
	add x0, x0, x1
	ret
.type wide, @function
.size wide, .-wide
.text
.balign 16
.globl narrow
narrow:
	hint #34
	and w0, w0, #0x00000fff
	ret
.type narrow, @function
.size narrow, .-narrow
.text
.balign 16
.globl store
store:
	hint #34
	movn x1, #0
	str x1, [x0]
	movz w1, #7
	str w1, [x0, #8]
	movz w1, #255
	strb w1, [x0, #12]
	ret
.type store, @function
.size store, .-store
.section .note.GNU-stack,"",@progbits
