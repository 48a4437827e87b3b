.text
.balign 16
.globl less
less:
	endbr64
	pushq %rax
	cmpq %rsi, %rdi
	jge .Lbb0_1
	call f
	popq %rcx
	ret
.Lbb0_1:
	call g
	popq %rcx
	ret
.type less, @function
.size less, .-less
.text
.balign 16
.globl zero
zero:
	endbr64
	pushq %rax
	testl %edi, %edi
	je .Lbb1_1
	call f
	popq %rcx
	ret
.Lbb1_1:
	call g
	popq %rcx
	ret
.type zero, @function
.size zero, .-zero
.text
.balign 16
.globl mask
mask:
	endbr64
	pushq %rax
	testb $12, %dil
	je .Lbb2_1
	call f
	popq %rcx
	ret
.Lbb2_1:
	call g
	popq %rcx
	ret
.type mask, @function
.size mask, .-mask
.section .note.GNU-stack,"",@progbits
