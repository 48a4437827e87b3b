.text
.balign 16
.globl constant
constant:
	hint #34
	sbfiz w0, w0, #2, #27
	lsr w0, w0, #1
	ret
.type constant, @function
.size constant, .-constant
.text
.balign 16
.globl variable
variable:
	hint #34
	lsl x0, x0, x1
	ret
.type variable, @function
.size variable, .-variable
.section .note.GNU-stack,"",@progbits
