.text
.balign 4
.globl constant
constant:
	slliw a5, a0, 5
	srai a5, a5, 3
	srliw a0, a5, 1
	ret
.type constant, @function
.size constant, .-constant
.text
.balign 4
.globl variable
variable:
	sll a0, a0, a1
	ret
.type variable, @function
.size variable, .-variable
.section .note.GNU-stack,"",@progbits
