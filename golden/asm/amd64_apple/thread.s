.section __DATA,__thread_vars,thread_local_variables
_own:
	.quad __tlv_bootstrap,0,_own$tlv$init
.section __DATA,__thread_data,thread_local_regular
.balign 8
_own$tlv$init:
	.int 5
.text
.balign 16
.globl _local
_local:
	pushq %rax
	movq _own@TLVP(%rip), %rdi
	call *(%rdi)
	movl (%rax), %eax
	popq %rcx
	ret
.text
.balign 16
.globl _other
_other:
	pushq %rax
	movq _theirs@TLVP(%rip), %rdi
	call *(%rdi)
	movl (%rax), %eax
	popq %rcx
	ret
.subsections_via_symbols
