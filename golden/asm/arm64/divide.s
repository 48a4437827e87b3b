.text
.balign 16
.globl quotient
quotient:
	hint #34
	sdiv w0, w0, w1
	ret
.type quotient, @function
.size quotient, .-quotient
.text
.balign 16
.globl rest
rest:
	hint #34
	udiv x2, x0, x1
	msub x0, x2, x1, x0
	ret
.type rest, @function
.size rest, .-rest
.section .note.GNU-stack,"",@progbits
