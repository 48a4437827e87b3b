.text
.balign 16
.globl _f
_f:
	pushq %rax
	movq _number@GOTPCREL(%rip), %rax
	movl (%rax), %edi
	call _g
	popq %rcx
	ret
.subsections_via_symbols
