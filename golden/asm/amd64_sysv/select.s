.text
.balign 16
.globl maximum
maximum:
	endbr64
	movl %esi, %eax
	cmpl %eax, %edi
	cmovg %edi, %eax
	ret
.type maximum, @function
.size maximum, .-maximum
.text
.balign 16
.globl lower
lower:
	endbr64
	ucomisd %xmm0, %xmm1
	jbe .Lbb1_1
	ret
.Lbb1_1:
	movaps %xmm1, %xmm0
	ret
.type lower, @function
.size lower, .-lower
.section .note.GNU-stack,"",@progbits
