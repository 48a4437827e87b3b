.text
.balign 16
.globl f
f:
	endbr64
	ud2
.type f, @function
.size f, .-f
.text
.balign 16
.globl g
g:
	endbr64
.Lbb1_1:
	jmp .Lbb1_1
.type g, @function
.size g, .-g
.section .note.GNU-stack,"",@progbits
