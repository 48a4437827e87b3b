.text
.balign 4
.globl below
below:
	sltu a0, a0, a1
	ret
.type below, @function
.size below, .-below
.text
.balign 4
.globl equal
equal:
	addi a5, a0, -1000
	seqz a0, a5
	ret
.type equal, @function
.size equal, .-equal
.section .note.GNU-stack,"",@progbits
