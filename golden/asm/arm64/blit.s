.text
.balign 16
.globl small
small:
	hint #34
	ldr s0, [x0]
	ldr s1, [x0, #3]
	str s0, [x1]
	str s1, [x1, #3]
	ret
.type small, @function
.size small, .-small
.text
.balign 16
.globl large
large:
	hint #34
	ldp q0, q1, [x0]
	stp q0, q1, [x1]
	ldr d0, [x0, #32]
	str d0, [x1, #32]
	ret
.type large, @function
.size large, .-large
.section .note.GNU-stack,"",@progbits
