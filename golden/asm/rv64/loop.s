.text
.balign 4
.globl sum
sum:
	li a5, 0
	j .Lbb0_1
.Lbb0_2:
	lw a4, 0(a0)
	addw a5, a5, a4
	addi a0, a0, 4
	addiw a1, a1, -1
.Lbb0_1:
	bnez a1, .Lbb0_2
	mv a0, a5
	ret
.type sum, @function
.size sum, .-sum
.section .note.GNU-stack,"",@progbits
