.text
.balign 16
.globl f
.def f; .scl 2; .type 32; .endef
f:
	subq $40, %rsp
	movq .refptr.number(%rip), %rax
	movl (%rax), %ecx
	call g
	addq $40, %rsp
	ret
.section .rdata$.refptr.number,"dr"
.globl .refptr.number
.linkonce discard
.balign 8
.refptr.number:
	.quad number
