.text
.balign 16
.globl equal
equal:
	endbr64
	xorl %eax, %eax
	ucomisd %xmm1, %xmm0
	setnp %al
	movl $0, %ecx
	cmovne %ecx, %eax
	ret
.type equal, @function
.size equal, .-equal
.text
.balign 16
.globl less
less:
	endbr64
	xorl %eax, %eax
	ucomiss %xmm0, %xmm1
	seta %al
	ret
.type less, @function
.size less, .-less
.text
.balign 16
.globl branch
branch:
	endbr64
	pushq %rax
	ucomisd %xmm1, %xmm0
	jne .Lbb2_2
	jnp .Lbb2_1
.Lbb2_2:
	call f
	popq %rcx
	ret
.Lbb2_1:
	call g
	popq %rcx
	ret
.type branch, @function
.size branch, .-branch
.section .note.GNU-stack,"",@progbits
