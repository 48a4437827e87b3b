.text
.balign 16
.globl byte
byte:
	endbr64
	movzbl (%rdi), %eax
	ret
.type byte, @function
.size byte, .-byte
.text
.balign 16
.globl word
word:
	endbr64
	movslq %edi, %rax
	ret
.type word, @function
.size word, .-word
.text
.balign 16
.globl half
half:
	endbr64
	leal (%rdi,%rsi), %eax
	cwtl
	ret
.type half, @function
.size half, .-half
.section .note.GNU-stack,"",@progbits
