.section .tls$,"dw"
.balign 8
own:
	.int 5
.text
.balign 16
.globl local
.def local; .scl 2; .type 32; .endef
local:
	movq %gs:0x58, %rax
	movl _tls_index(%rip), %ecx
	movq (%rax,%rcx,8), %rax
	leaq own@SECREL32(%rax), %rax
	movl (%rax), %eax
	ret
.text
.balign 16
.globl other
.def other; .scl 2; .type 32; .endef
other:
	movq %gs:0x58, %rax
	movl _tls_index(%rip), %ecx
	movq (%rax,%rcx,8), %rax
	leaq theirs@SECREL32(%rax), %rax
	movl (%rax), %eax
	ret
