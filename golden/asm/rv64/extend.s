.text
.balign 4
.globl byte
byte:
	lbu a0, 0(a0)
	ret
.type byte, @function
.size byte, .-byte
.text
.balign 4
.globl word
word:
	ret
.type word, @function
.size word, .-word
.text
.balign 4
.globl half
half:
	addw a5, a0, a1
	slli a5, a5, 48
	srai a0, a5, 48
	ret
.type half, @function
.size half, .-half
.section .note.GNU-stack,"",@progbits
