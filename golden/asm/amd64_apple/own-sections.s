.text
.balign 16
.globl _used
_used:
	pushq %rax
	call _inner
	movl %eax, %edi
	call "a b"
	popq %rcx
	ret
.text
.balign 16
_inner:
	leal 1(%rdi), %eax
	ret
.text
.balign 16
"a b":
	movl %edi, %eax
	addl _value(%rip), %eax
	ret
.section __TEXT,special,regular,pure_instructions
.balign 16
.no_dead_strip _elsewhere
_elsewhere:
	movl $5, %eax
	ret
.data
.balign 8
.globl _value
_value:
	.int 1
.zerofill __DATA,__bss,_zero,16,3
.section __DATA,__thread_vars,thread_local_variables
_own:
	.quad __tlv_bootstrap,0,_own$tlv$init
.section __DATA,__thread_data,thread_local_regular
.balign 8
_own$tlv$init:
	.int 2
.section __DATA,__thread_vars,thread_local_variables
_own_zero:
	.quad __tlv_bootstrap,0,_own_zero$tlv$init
.tbss _own_zero$tlv$init,8,3
.comm _shared,8,3
.section __DATA,mine
.balign 8
.no_dead_strip _named
_named:
	.quad 3
.data
.balign 8
_rel.ro:
	.int 4
.data
.balign 8
"quo\"ted":
	.int 5
.subsections_via_symbols
