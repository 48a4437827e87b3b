.text
.balign 4
.globl equal
equal:
	feq.d a0, fa0, fa1
	ret
.type equal, @function
.size equal, .-equal
.text
.balign 4
.globl less
less:
	flt.s a0, fa0, fa1
	ret
.type less, @function
.size less, .-less
.text
.balign 4
.globl branch
branch:
	addi sp, sp, -16
	sd ra, 0(sp)
	feq.d a5, fa0, fa1
	bnez a5, .Lbb2_1
	call f
	ld ra, 0(sp)
	addi sp, sp, 16
	ret
.Lbb2_1:
	call g
	ld ra, 0(sp)
	addi sp, sp, 16
	ret
.type branch, @function
.size branch, .-branch
.section .note.GNU-stack,"",@progbits
