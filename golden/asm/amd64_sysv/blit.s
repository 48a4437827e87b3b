.text
.balign 16
.globl small
small:
	endbr64
	movss (%rdi), %xmm0
	movss %xmm0, (%rsi)
	movss 3(%rdi), %xmm0
	movss %xmm0, 3(%rsi)
	ret
.type small, @function
.size small, .-small
.text
.balign 16
.globl large
large:
	endbr64
	movups (%rdi), %xmm0
	movups %xmm0, (%rsi)
	movups 16(%rdi), %xmm0
	movups %xmm0, 16(%rsi)
	movsd 32(%rdi), %xmm0
	movsd %xmm0, 32(%rsi)
	ret
.type large, @function
.size large, .-large
.section .note.GNU-stack,"",@progbits
