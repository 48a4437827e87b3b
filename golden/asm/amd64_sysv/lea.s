.text
.balign 16
.globl three
three:
	endbr64
	leal (%rdi,%rdi,2), %eax
	ret
.type three, @function
.size three, .-three
.text
.balign 16
.globl sum
sum:
	endbr64
	leaq 100(%rdi,%rsi), %rax
	ret
.type sum, @function
.size sum, .-sum
.text
.balign 16
.globl scaled
scaled:
	endbr64
	leaq (%rdi,%rsi,8), %rax
	ret
.type scaled, @function
.size scaled, .-scaled
.section .note.GNU-stack,"",@progbits
