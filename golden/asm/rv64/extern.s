.text
.balign 4
.globl f
f:
	addi sp, sp, -16
	sd ra, 0(sp)
	1: auipc a5, %got_pcrel_hi(number)
	ld a5, %pcrel_lo(1b)(a5)
	lw a0, 0(a5)
	call g@plt
	ld ra, 0(sp)
	addi sp, sp, 16
	ret
.type f, @function
.size f, .-f
.section .note.GNU-stack,"",@progbits
