.section .tdata,"awT"
.balign 8
own:
	.int 5
.text
.balign 16
.globl local
local:
	endbr64
	movl %fs:own@tpoff, %eax
	ret
.type local, @function
.size local, .-local
.text
.balign 16
.globl other
other:
	endbr64
	movq theirs@gottpoff(%rip), %rax
	movq %fs:0, %rcx
	addq %rcx, %rax
	movl (%rax), %eax
	ret
.type other, @function
.size other, .-other
.section .note.GNU-stack,"",@progbits
