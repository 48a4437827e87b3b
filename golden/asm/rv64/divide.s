.text
.balign 4
.globl quotient
quotient:
	divw a0, a0, a1
	ret
.type quotient, @function
.size quotient, .-quotient
.text
.balign 4
.globl rest
rest:
	remu a0, a0, a1
	ret
.type rest, @function
.size rest, .-rest
.section .note.GNU-stack,"",@progbits
