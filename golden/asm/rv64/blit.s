.text
.balign 4
.globl small
small:
	lbu a5, 0(a0)
	lbu a4, 1(a0)
	lbu a3, 2(a0)
	lbu a2, 3(a0)
	sb a5, 0(a1)
	sb a4, 1(a1)
	sb a3, 2(a1)
	sb a2, 3(a1)
	lbu a5, 4(a0)
	lbu a4, 5(a0)
	lbu a3, 6(a0)
	sb a5, 4(a1)
	sb a4, 5(a1)
	sb a3, 6(a1)
	ret
.type small, @function
.size small, .-small
.text
.balign 4
.globl large
large:
	ld a5, 0(a0)
	ld a4, 8(a0)
	ld a3, 16(a0)
	ld a2, 24(a0)
	sd a5, 0(a1)
	sd a4, 8(a1)
	sd a3, 16(a1)
	sd a2, 24(a1)
	ld a5, 32(a0)
	sd a5, 32(a1)
	ret
.type large, @function
.size large, .-large
.section .note.GNU-stack,"",@progbits
