.text
.balign 4
.globl f
f:
	mv a4, a0
	sext.w a5, a4
	beqz a5, .Lbb0_1
	addi sp, sp, -32
	sd ra, 0(sp)
	sd s0, 8(sp)
	sd s1, 16(sp)
	mv s0, a4
	mv a0, s0
	call g
	mv s1, a0
	mv a0, s0
	call h
	addw a0, s1, a0
	ld ra, 0(sp)
	ld s0, 8(sp)
	ld s1, 16(sp)
	addi sp, sp, 32
	ret
.Lbb0_1:
	li a0, 0
	ret
.type f, @function
.size f, .-f
.section .note.GNU-stack,"",@progbits
