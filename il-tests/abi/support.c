// What the functions of all signatures share: the table of values, the checks, and the way from C to
// IL and back, which sees to the registers.
//
// enter_il calls the function whose address is in a scratch register with marks in all registers that
// it must save, and notes what is in them afterwards. enter_c calls one, looks at the alignment of the
// stack, and overwrites all registers that the function need not save. Neither moves the stack
// arguments: the return address is kept in memory, so calls through one of them do not nest.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sys/mman.h>
#endif

#define TABLE (1 << 16)

_Alignas(16) unsigned char V[TABLE];
int signature;
static int faults;

static unsigned char value_at(unsigned at) {
	unsigned x = at * 0x9e3779b1u;
	x ^= x >> 15;
	return x * 0x85ebca77u >> 24;
}

static void report(int place) {
	// One of a kind is enough.
	static int last_signature = -1, last_place;
	if (signature == last_signature && place == last_place)
		return;
	last_signature = signature;
	last_place = place;
	faults++;
	printf("fault %d %d\n", signature, place);
}

void check(int place, const void *p, int at, int length) {
	const unsigned char *bytes = p;
	for (int i = 0; i < length; i++)
		if (bytes[i] != value_at(at + i)) {
			report(place);
			return;
		}
}

void check_number(int place, long long got, long long wanted) {
	if (got != wanted)
		report(place);
}

// A copy that ends where a page ends, with nothing behind it.
void *at_end(const void *p, unsigned size) {
	enum { PAGE = 1 << 16, COUNT = 64 };
	static char *pages;
	static unsigned next;
	if (!pages) {
#ifdef _WIN32
		DWORD old;
		pages = VirtualAlloc(0, 2 * PAGE * COUNT, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
		for (int i = 0; i < COUNT; i++)
			VirtualProtect(pages + (2 * i + 1) * PAGE, PAGE, PAGE_NOACCESS, &old);
#else
		pages = mmap(0, 2 * PAGE * COUNT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (int i = 0; i < COUNT; i++)
			mprotect(pages + (2 * i + 1) * PAGE, PAGE, PROT_NONE);
#endif
	}
	char *end = pages + (2 * (next++ % COUNT) + 1) * PAGE;
	return memcpy(end - size, p, size);
}

static void crash(int number) {
	printf("crash %d %d\n", signature, number);
	fflush(stdout);
	_Exit(3);
}

void start(void) {
	for (int i = 0; i < TABLE; i++)
		V[i] = value_at(i);
	int numbers[] = {SIGSEGV, SIGILL, SIGFPE, SIGABRT};
	for (int i = 0; i < 4; i++)
		signal(numbers[i], crash);
}

int misaligned;
unsigned long long keep[40], after[40];
#ifdef _WIN32
enum { SAVED = 8 + 20 };
#elif defined __x86_64__
enum { SAVED = 6 };
#elif defined __aarch64__
enum { SAVED = 11 + 8 };
#else
enum { SAVED = 12 + 12 };
#endif
// The marks, then the stack pointer, which is to be what it was.
unsigned long long marks[SAVED];

void check_saved(void) {
	for (int i = 0; i < SAVED; i++)
		if (after[i] != marks[i])
			report(1000 + i);
	if (after[SAVED] != keep[SAVED])
		report(1099);
}

void run(int number, void (*f)(void)) {
	signature = number;
	misaligned = 0;
	for (int i = 0; i < SAVED; i++)
		marks[i] = 0xa5a5f00d00000000u + 0x01010101u * i;
	f();
	if (misaligned)
		report(1100);
}

int finish(void) {
	printf("done %d\n", faults);
	return 0;
}

#if defined __x86_64__

// Saved registers first, then the stack pointer. The arguments are the macro for general registers,
// that for vector registers, and the place.
#ifdef _WIN32
#define ALL(g, x) g(rbx, 0) g(rbp, 8) g(r12, 16) g(r13, 24) g(r14, 32) g(r15, 40) g(rdi, 48) \
	g(rsi, 56) x(6, 64) x(7, 80) x(8, 96) x(9, 112) x(10, 128) x(11, 144) x(12, 160) \
	x(13, 176) x(14, 192) x(15, 208)
#define STACK "224"
#define SPOIL_G(g) g(rcx) g(rdx) g(r8) g(r9) g(r10) g(r11)
#define SPOIL_X(x) x(1) x(2) x(3) x(4) x(5)
#else
#define ALL(g, x) g(rbx, 0) g(rbp, 8) g(r12, 16) g(r13, 24) g(r14, 32) g(r15, 40)
#define STACK "48"
#define SPOIL_G(g) g(rcx) g(rsi) g(rdi) g(r8) g(r9) g(r10) g(r11)
#define SPOIL_X(x) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15)
#endif
#define KEEP_G(r, at) "movq %" #r ", keep+" #at "(%rip)\n"
#define KEEP_X(r, at) "movups %xmm" #r ", keep+" #at "(%rip)\n"
#define MARK_G(r, at) "movq marks+" #at "(%rip), %" #r "\n"
#define MARK_X(r, at) "movups marks+" #at "(%rip), %xmm" #r "\n"
#define AFTER_G(r, at) "movq %" #r ", after+" #at "(%rip)\n"
#define AFTER_X(r, at) "movups %xmm" #r ", after+" #at "(%rip)\n"
#define BACK_G(r, at) "movq keep+" #at "(%rip), %" #r "\n"
#define BACK_X(r, at) "movups keep+" #at "(%rip), %xmm" #r "\n"
#define BAD_G(r) "movabsq $0x5bad5bad5bad5bad, %" #r "\n"
#define BAD_X(r) "pcmpeqd %xmm" #r ", %xmm" #r "\n"
#define LOOK(n) "leaq 8(%rsp), %r11\ntestl $15, %r11d\nje " #n "f\nmovl $1, misaligned(%rip)\n" #n ":\n"

__asm__(".text\n.globl enter_il, enter_c, ick, ickn\n"
	".lcomm il_target, 8\n.lcomm il_return, 8\n.lcomm c_target, 8\n.lcomm c_return, 8\n"
	"enter_il:\n"
	"movq %r11, il_target(%rip)\npopq il_return(%rip)\n"
	ALL(KEEP_G, KEEP_X) "movq %rsp, keep+" STACK "(%rip)\n"
	ALL(MARK_G, MARK_X)
	"callq *il_target(%rip)\n"
	ALL(AFTER_G, AFTER_X) "movq %rsp, after+" STACK "(%rip)\n"
	ALL(BACK_G, BACK_X) "movq keep+" STACK "(%rip), %rsp\n"
	"pushq il_return(%rip)\nret\n"
	"enter_c:\n"
	"movq %r11, c_target(%rip)\n" LOOK(1)
	"popq c_return(%rip)\ncallq *c_target(%rip)\npushq c_return(%rip)\n"
	SPOIL_G(BAD_G) SPOIL_X(BAD_X)
	"ret\n"
	"ick:\n" LOOK(1) "jmp check\n"
	"ickn:\n" LOOK(1) "jmp check_number\n");

#elif defined __aarch64__

#define EACH(g, two) two " x19, x20, [x17]\n" two " x21, x22, [x17, 16]\n" \
	two " x23, x24, [x17, 32]\n" two " x25, x26, [x17, 48]\n" two " x27, x28, [x17, 64]\n" \
	two " d8, d9, [x17, 88]\n" two " d10, d11, [x17, 104]\n" two " d12, d13, [x17, 120]\n" \
	two " d14, d15, [x17, 136]\n" g " x29, [x17, 80]\n"
#define ADDRESS(name) "adrp x17, " name "\nadd x17, x17, :lo12:" name "\n"
#define BAD_X(n) "mvn x" #n ", x17\n"
#define BAD_V(n) "movi v" #n ".16b, #0xa7\n"
#define LOOK "mov x17, sp\ntst x17, 15\nb.eq 1f\n" ADDRESS("misaligned") "mov w16, 1\nstr w16, [x17]\n1:\n"

__asm__(".text\n.globl enter_il, enter_c, ick, ickn\n"
	".lcomm il_return, 8\n.lcomm c_target, 16\n"
	"enter_il:\n"
	ADDRESS("il_return") "str x30, [x17]\n"
	ADDRESS("keep") EACH("str", "stp") "mov x29, sp\nstr x29, [x17, 152]\n"
	ADDRESS("marks") EACH("ldr", "ldp")
	"blr x16\n"
	ADDRESS("after") EACH("str", "stp") "mov x29, sp\nstr x29, [x17, 152]\n"
	ADDRESS("keep") "ldr x29, [x17, 152]\nmov sp, x29\n" EACH("ldr", "ldp")
	ADDRESS("il_return") "ldr x30, [x17]\nret\n"
	"enter_c:\n"
	ADDRESS("c_target") "str x16, [x17]\nstr x30, [x17, 8]\n" LOOK
	ADDRESS("c_target") "ldr x16, [x17]\nblr x16\n"
	ADDRESS("c_target") "ldr x30, [x17, 8]\n"
	BAD_X(2) BAD_X(3) BAD_X(4) BAD_X(5) BAD_X(6) BAD_X(7) BAD_X(8) BAD_X(9) BAD_X(10) BAD_X(11)
	BAD_X(12) BAD_X(13) BAD_X(14) BAD_X(15) BAD_X(16)
	BAD_V(4) BAD_V(5) BAD_V(6) BAD_V(7) BAD_V(16) BAD_V(17) BAD_V(18) BAD_V(19) BAD_V(20) BAD_V(21)
	BAD_V(22) BAD_V(23) BAD_V(24) BAD_V(25) BAD_V(26) BAD_V(27) BAD_V(28) BAD_V(29) BAD_V(30)
	BAD_V(31) "ret\n"
	"ick:\n" LOOK "b check\n"
	"ickn:\n" LOOK "b check_number\n");

#elif defined __riscv

#define EACH(s, f, base) s " s0, 0(" base ")\n" s " s1, 8(" base ")\n" s " s2, 16(" base ")\n" \
	s " s3, 24(" base ")\n" s " s4, 32(" base ")\n" s " s5, 40(" base ")\n" s " s6, 48(" base ")\n" \
	s " s7, 56(" base ")\n" s " s8, 64(" base ")\n" s " s9, 72(" base ")\n" s " s10, 80(" base ")\n" \
	s " s11, 88(" base ")\n" f " fs0, 96(" base ")\n" f " fs1, 104(" base ")\n" \
	f " fs2, 112(" base ")\n" f " fs3, 120(" base ")\n" f " fs4, 128(" base ")\n" \
	f " fs5, 136(" base ")\n" f " fs6, 144(" base ")\n" f " fs7, 152(" base ")\n" \
	f " fs8, 160(" base ")\n" f " fs9, 168(" base ")\n" f " fs10, 176(" base ")\n" \
	f " fs11, 184(" base ")\n"
#define BAD_X(r) "not " #r ", sp\n"
#define BAD_F(r) "fmv.d.x " #r ", sp\n"
#define LOOK "andi t1, sp, 15\nbeqz t1, 1f\nla t2, misaligned\nli t1, 1\nsw t1, 0(t2)\n1:\n"

// The static chain's register, t2, is left alone on the way in.
__asm__(".text\n.globl enter_il, enter_c, ick, ickn\n"
	".lcomm il_return, 8\n.lcomm c_return, 8\n"
	"enter_il:\n"
	"la t1, il_return\nsd ra, 0(t1)\n"
	"la t1, keep\n" EACH("sd", "fsd", "t1") "sd sp, 192(t1)\n"
	"la t1, marks\n" EACH("ld", "fld", "t1")
	"jalr t0\n"
	"la t1, after\n" EACH("sd", "fsd", "t1") "sd sp, 192(t1)\n"
	"la t1, keep\n" EACH("ld", "fld", "t1") "ld sp, 192(t1)\n"
	"la t1, il_return\nld ra, 0(t1)\nret\n"
	"enter_c:\n"
	LOOK "la t1, c_return\nsd ra, 0(t1)\njalr t0\nla t1, c_return\nld ra, 0(t1)\n"
	BAD_X(t0) BAD_X(t1) BAD_X(t2) BAD_X(t3) BAD_X(t4) BAD_X(t5) BAD_X(t6) BAD_X(a2) BAD_X(a3)
	BAD_X(a4) BAD_X(a5) BAD_X(a6) BAD_X(a7) BAD_F(ft0) BAD_F(ft1) BAD_F(ft2) BAD_F(ft3) BAD_F(ft4)
	BAD_F(ft5) BAD_F(ft6) BAD_F(ft7) BAD_F(ft8) BAD_F(ft9) BAD_F(ft10) BAD_F(ft11) BAD_F(fa2)
	BAD_F(fa3) BAD_F(fa4) BAD_F(fa5) BAD_F(fa6) BAD_F(fa7)
	"ret\n"
	"ick:\n" LOOK "tail check\n"
	"ickn:\n" LOOK "tail check_number\n");

#endif
