.text
.balign 4
.globl array
array:
	slli a5, a1, 2
	add a5, a0, a5
	lw a0, 12(a5)
	ret
.type array, @function
.size array, .-array
.data
.balign 8
table:
	.int 1,2,3,4
.text
.balign 4
.globl symbol
symbol:
	slli a5, a0, 2
	1: auipc a4, %pcrel_hi(table)
	addi a4, a4, %pcrel_lo(1b)
	add a5, a5, a4
	lw a0, 0(a5)
	ret
.type symbol, @function
.size symbol, .-symbol
.text
.balign 4
.globl slot
slot:
	addi sp, sp, -32
	sd ra, 0(sp)
	sw a0, 16(sp)
	addi a0, sp, 8
	call use
	ld ra, 0(sp)
	addi sp, sp, 32
	ret
.type slot, @function
.size slot, .-slot
.section .note.GNU-stack,"",@progbits
