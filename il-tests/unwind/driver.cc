// Throws exceptions through the frames of frames.ssa, and walks them.
#include <cstdio>
#include <cstdlib>
#include <unwind.h>

#ifdef _WIN32
// There a `long` has 4 bytes.
#define long long long
#define random rand
#endif

typedef long (*Callback)(long);
struct Big { long field[5]; };

extern "C" {
long small(Callback, long);
long many(Callback, long);
long dynamic(Callback, long);
long late(Callback, long);
long large(Callback, long);
double floats(Callback, double);
long stack(Callback, long, long, long, long, long, long, long, long, long, Big);
long nest(Callback, long, long);
}

static int failures;

static void expect(const char *what, long found, long wanted) {
	if (found != wanted) {
		printf("%s: %d, not %d\n", what, (int)found, (int)wanted);
		failures++;
	}
}

static bool throwing;
static void *function;
static int frames, found;

static _Unwind_Reason_Code step(_Unwind_Context *context, void *) {
	void *at = (void *)(_Unwind_GetIP(context) - 1);
	frames++;
	if (_Unwind_FindEnclosingFunction(at) == function)
		found++;
	return frames < 200 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static long callback(long x) {
	if (throwing)
		throw x + 1;
	frames = found = 0;
	_Unwind_Backtrace(step, nullptr);
	return x * 2;
}

// Calls `call` with values of its own in registers that calls keep, with and without an exception.
template <class F>
__attribute__((noinline)) static void check(const char *what, void *f, F call, long wanted, int levels) {
	long a = random(), b = random(), c = random(), d = random();
	double x = random() / 3.0, y = random() / 7.0;
	const long a0 = a, b0 = b, c0 = c, d0 = d;
	const double x0 = x, y0 = y;
	asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	function = f;
	throwing = false;
	expect(what, call(), wanted);
	expect("frames", found, levels);
	throwing = true;
	long caught = 0;
	try {
		call();
	} catch (long value) {
		caught = value;
	}
	expect(what, caught, 8);
	asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	if (a != a0 || b != b0 || c != c0 || d != d0 || x != x0 || y != y0) {
		printf("%s: registers are not what they were\n", what);
		failures++;
	}
}

int main() {
	long s = 7 * 3 ^ 7 * 5;
	s = (s + 7 * 7) ^ 7 * 11;
	s = (s + 7 * 13) ^ 7 * 17;
	s = (s + 7 * 19) ^ 7 * 23;
	s = (s + 7 * 29) ^ 7 * 31;
	s = (s + 7 * 37) ^ 7 * 41;
	s = (s + 7 * 43) ^ 14;
	Big big = {{1000, 2, 3, 4, 5}};
	check("small", (void *)small, [] { return small(callback, 7); }, 21, 1);
	check("many", (void *)many, [] { return many(callback, 7); }, s, 1);
	check("dynamic", (void *)dynamic, [] { return dynamic(callback, 7); }, 21, 1);
	check("late", (void *)late, [] { return late(callback, 7); }, 21, 1);
	check("large", (void *)large, [] { return large(callback, 7); }, 28, 1);
	check("floats", (void *)floats, [] { return (long)(2 * floats(callback, 7)); }, 133, 1);
	check("stack", (void *)stack,
	      [&] { return stack(callback, 1, 2, 3, 4, 5, 6, 7, 8, 7, big); }, 14 + 7 + 1000 + 8, 1);
	check("nest", (void *)nest, [] { return nest(callback, 7, 9); }, 14 + 45, 10);
	if (!failures)
		puts("ok");
	return failures != 0;
}
