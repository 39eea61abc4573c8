#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program of small functions side by side, as source:   make.py SEED c|c++

Which of the shapes below follow one another, whom they call and with what is the seed's
to say, and nothing else's. Each function is one of two numbers, near zero, and says the
same for the same ones each time, so the program judges itself:

    program                          one round; prints what all functions said, as a sum
    program FILE THREADS US LEAPS    rounds without end, of so many threads, until SIGTERM:
        "fine", or what was wrong, and a status; FILE is mapped, and counts the rounds of
        each thread. A timer's handler calls them, too, each US microseconds (0: never);
        each 16th time it leaves by siglongjmp, where LEAPS is 1.

With -DCOUNTED one round prints how often each function was entered.
"""
import random
import sys

COUNT = 48
MOST = 120  # calls that a call may come to

# What is in front of the functions. An `f` is counted where it begins.
HEAD = r"""
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <alloca.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <pthread.h>
#include <unistd.h>
#ifdef __clang__
#define N __attribute__((noinline, used))
#define S __attribute__((noinline)) static
#else
#define N __attribute__((noipa, used))
#define S __attribute__((noinline, noclone)) static
#endif
#ifdef COUNTED
#define C(i) entered[i]++;
#else
#define C(i)
#endif
#ifdef __cplusplus
#define EXTERN extern "C"
#else
#define EXTERN
#endif
typedef double two __attribute__((vector_size(16)));
typedef float eight __attribute__((vector_size(32)));
struct pair { long a; double b; };
struct large { long a[7]; char c; };
struct mixed { float a, b; int c; };
static __attribute__((unused)) long entered[COUNT];
"""

# %(n)s its name, %(i)s its number, %(g)s and %(h)s two that it may call, %(k)s a number.
# How often it calls each stands in front.
C_SHAPES = [
    (0, "{ return 0; }"),
    (0, "{ return x; }"),
    (0, "{ return x + y; }"),
    (0, "{ return x ? 1 : y; }"),
    (0, "{ return x * %(k)s - (y >> 1); }"),
    (1, "{ return %(g)s(x, y); }"),
    (1, "{ return %(g)s(y, x); }"),
    (1, "{ return %(g)s(x, y) + 1; }"),
    (1, "{ if (x) return y; return %(g)s(x, y); }"),
    (1, "{ if (x < 0) return %(g)s(y, x); return x; }"),
    (1, "{ if (x < y) return %(g)s(x, y); return %(h)s(y, x); }"),
    (1, "{ while (y > x) { x++; if (x == 7) return %(g)s(x, y); } return x; }"),
    (1, "{ long a; if (x < 0) return y; a = %(g)s(x, y); return a ^ %(h)s(y, a & 7) ^ x; }"),
    (16, "{ if (x <= 0) return 0; return %(n)s(x - 1, y) + %(g)s(y, x); }"),
    (0, "{ if (x <= 0) return y; return %(n)s(x - 1, y + 1); }"),
    (0, "{ if (x <= 0) return y; return -%(n)s(x - 1, y); }"),
    (1, """{
	switch (x) {
	case 0: return 5;
	case 1: return %(g)s(x, y);
	case 2: y += 3; break;
	case 3: return %(h)s(y, x) * 2;
	case 4: y ^= 9; /* on */
	case 5: return y - %(k)s;
	case 6: return 77;
	default: return x;
	}
	return y;
}"""),
    (1, """{
	static const void *const to[] = { &&a, &&b, &&c, &&d };
	long n = 0;
	goto *to[x & 3];
a:	y += 2;
b:	if (n++ > 3) return %(g)s(x, y);
	x++; goto *to[y & 3];
c:	return x - y;
d:	y--; goto *to[y & 1];
}"""),
    (1, """{
	static long (*const to[])(long, long) = { %(g)s, %(h)s, %(g)s };
	return to[(unsigned long)x %% 3](x, y);
}"""),
    (0, """{
	long a = 1, b = 2;
	for (long i = 0; i < (x & 7); i++) { long c = a + b; a = b; b = c ^ y; }
	return a;
}"""),
    (1, """{
	char *room = (char *)alloca((x & 15) + 1);
	memset(room, (int)y, (x & 15) + 1);
	return room[x & 15] + %(g)s(x, y);
}"""),
    (1, """{
	volatile long in[(x & 3) + 1];
	in[x & 3] = y;
	return in[x & 3] * 3 + %(g)s(x, y);
}"""),
]

# With functions of other forms in front, which nothing but that one calls.
C_HELPED = [
    (0, "S double d%(i)s(double a, float b, long x) { __asm__(\"\"); return a * b + x; }",
     "{ return (long)d%(i)s(x * 0.5, y * 0.25f, x); }"),
    (0, "S two w%(i)s(two a, two b) { __asm__(\"\"); return a * b + a; }",
     "{ two a = { (double)x, (double)y }, b = { 2, 3 }; a = w%(i)s(a, b); return (long)(a[0] - a[1]); }"),
    (0, "S eight w%(i)s(eight a, long x) { __asm__(\"\"); return a + (float)x; }",
     "{ eight a = { (float)x, 1, 2, 3, 4, 5, 6, (float)y }; a = w%(i)s(a, y); return (long)(a[0] + a[7] * 16); }"),
    (0, "S long double l%(i)s(long double a, long double b) { __asm__(\"\"); return a * b - 1; }",
     "{ return (long)l%(i)s(x, y); }"),
    (0, "S __int128 q%(i)s(__int128 a, long b) { __asm__(\"\"); return a * b + 1; }",
     "{ return (long)(q%(i)s((__int128)x << 40, y) >> 38); }"),
    (0, "S struct pair p%(i)s(struct pair p, long x) { __asm__(\"\"); p.a += x; p.b *= 2; return p; }",
     "{ struct pair p = { x, (double)y }; p = p%(i)s(p, y); return p.a + (long)p.b; }"),
    (0, "S struct large p%(i)s(struct large p, long x) { __asm__(\"\"); p.a[6] += x; p.c = 7; return p; }",
     "{ struct large p = { { x, 1, 2, 3, 4, 5, y }, 1 }; p = p%(i)s(p, y); return p.a[6] * 3 + p.c + p.a[0]; }"),
    (0, "S struct mixed p%(i)s(struct mixed p) { __asm__(\"\"); p.a += p.b; p.c++; return p; }",
     "{ struct mixed p = { (float)x, (float)y, 4 }; p = p%(i)s(p); return (long)p.a * p.c; }"),
    (0, "S long m%(i)s(long a, int b, char c, long d, short e, long f, long g, int h, long i)\n"
        "{ __asm__(\"\"); return a - b + c * d - e + f * 3 - g + h * i; }",
     "{ return m%(i)s(x, (int)y, 3, x, (short)y, 6, y, 8, x); }"),
    (0, """S long s%(i)s(int n, ...)
{
	va_list l;
	double d = 0;
	long s = 0;
	va_start(l, n);
	while (n-- > 0) { s = s * 3 + va_arg(l, long); d += va_arg(l, double); }
	va_end(l);
	return s + (long)d;
}""", "{ return s%(i)s((int)(x & 7), x, 1.5, y, 2.5, 3L, x * 1.0, 4L, 0.5, 5L, 1.0, y, 2.0, 7L, 3.0); }"),
    (0, """__attribute__((noinline, noreturn)) static void j%(i)s(jmp_buf *to, long v) { __asm__(""); longjmp(*to, (int)(v & 7) + 1); }
S long k%(i)s(jmp_buf *to, long x, long y)
{
	__asm__("");
	if (x > 3)
		j%(i)s(to, y);
	return x <= 0 ? y : k%(i)s(to, x - 1, y) + 1;
}""", "{ jmp_buf to; int v = _setjmp(to); if (v) return v * 5 + x; return k%(i)s(&to, y, x); }"),
    (0, "__attribute__((ms_abi, noinline)) static long z%(i)s(long x, long y, long z, long a, double d)\n"
        "{ __asm__(\"\"); return x - y * z + a + (long)d; }",
     "{ return z%(i)s(x, y, 3, x, y * 0.5) + x * y; }"),
    (0, "S long o%(i)s(long x, long y);\nS long e%(i)s(long x, long y) { __asm__(\"\"); return x <= 0 ? y : o%(i)s(x - 1, y) + 1; }\n"
        "S long o%(i)s(long x, long y) { __asm__(\"\"); return x <= 0 ? -y : e%(i)s(x - 1, y) * 2; }",
     "{ return e%(i)s(x, y); }"),
    # One that a caller knows to leave registers alone that it need not (-fipa-ra).
    (0, "S long u%(i)s(long x) { __asm__ volatile(\"\"); return x + 1; }",
     "{ long a = x * 3, b = y * 5, c = x ^ y; return u%(i)s(x) + a * b - u%(i)s(y) * c + a; }"),
    (0, "S void u%(i)s(long *x) { __asm__ volatile(\"\" ::: \"memory\"); *x += %(k)s; }",
     "{ u%(i)s(&x); u%(i)s(&y); u%(i)s(&x); return x * y; }"),
]

C_ONLY = [
    (1, """{
#ifdef __clang__
	return %(g)s(x, y);
#else
	__attribute__((noinline)) long inner(long a) { if (a > 2) y++; return a + x; }
	long s = inner(y);
	return s * inner(x) + %(g)s(x, y);
#endif
}"""),
]

CPP_HELPED = [
    (0, """struct g%(i)s { long *n; explicit g%(i)s(long *n) : n(n) { ++*n; } ~g%(i)s() { *n += 10; } };
S long t%(i)s(long x, long y) { if (x > 1) throw x + y; return x - y; }
S long m%(i)s(long x, long y, long *n) { g%(i)s here(n); return t%(i)s(x, y) + 1; }""",
     "{ long n = 0; try { return m%(i)s(x, y, &n) * 100 + n; } catch (long v) { return v * 1000 + n; } }"),
    (0, """S long t%(i)s(long x) { if (x > 4) throw (int)x; return x <= 0 ? 0 : t%(i)s(x - 1) + 2; }
S long m%(i)s(long x) { try { return t%(i)s(x); } catch (int v) { if (x & 1) throw; return v; } }""",
     "{ try { return m%(i)s(x) + y; } catch (...) { return m%(i)s(3) - y; } }"),
    (0, """namespace { struct b%(i)s { virtual long say(long x) { return x; } virtual ~b%(i)s() {} };
struct c%(i)s : b%(i)s { long y; long say(long x) override { return x * y; } }; }
S long v%(i)s(b%(i)s *b, long x) { return b->say(x); }""",
     "{ b%(i)s b; c%(i)s c; c.y = y; return v%(i)s(x & 1 ? &b : &c, x) + v%(i)s(&c, y); }"),
]

# Two instructions, and two that stand around a call, for the unwinder.
PUSH = ".cfi_adjust_cfa_offset 8\n"
POP = ".cfi_adjust_cfa_offset -8\n"
ASM_SHAPES = [
    (0, "xor %%eax, %%eax\nret"),
    (0, "mov %%edi, %%eax\nret"),
    (0, "push $%(k)s\n" + PUSH + "pop %%rax\n" + POP + "ret"),
    (0, "mov %%rdi, %%rax\nrep ret"),
    (0, "lea (%%rdi, %%rsi), %%rax\nret $0"),
    (0, "%(n)s_again: dec %%rdi\njns %(n)s_again\nmov %%rsi, %%rax\nret"),
    (0, "%(n)s_again: add %%rdi, %%rsi\nsub $1, %%rdi\njg %(n)s_again\nmov %%rsi, %%rax\nret"),
    (0, "xor %%eax, %%eax\n1: add %%rsi, %%rax\ndec %%rdi\njns 1b\nret"),
    (0, "mov $%(k)s, %%ecx\n1: add %%rdi, %%rsi\nloop 1b\nmov %%rsi, %%rax\nret"),
    (0, "mov %%rdi, %%rcx\njrcxz 1f\nlea (%%rdi, %%rsi, 2), %%rax\nret\n1: mov %%rsi, %%rax\nret"),
    (0, "jmp 1f\nnop\nnop\n1: mov %%rsi, %%rax\nret"),
    (0, "cmp %%rsi, %%rdi\njl 1f\nmov %%rdi, %%rax\nret\n1: neg %%rsi\nmov %%rsi, %%rax\nret"),
    (0, "test %%rdi, %%rdi\nje 1f\n.byte 0xf0\n1: incq -8(%%rsp)\nmov %%rsi, %%rax\nret"),
    (0, "mov %%rdi, -8(%%rsp)\nmov %%rsi, -16(%%rsp)\nmov -8(%%rsp), %%rax\nsub -16(%%rsp), %%rax\nret"),
    (0, "lea 1f(%%rip), %%rax\nmov (%%rax), %%rax\nadd %%rdi, %%rax\nret\n1: .quad 0xe9c3eb0fccc2e875"),
    (0, "cmpl $%(k)s, 1f(%%rip)\nje 2f\nxor %%eax, %%eax\nret\n2: mov %%rsi, %%rax\nret\n1: .long %(k)s"),
    (0, "mov $24, %%eax\nsyscall\nlea (%%rdi, %%rsi), %%rax\nret"),
    (0, "enter $16, $0\n.cfi_def_cfa %%rbp, 16\n.cfi_offset %%rbp, -16\nmov %%rdi, -8(%%rbp)\nmov -8(%%rbp), %%rax\nleave\n"
        ".cfi_def_cfa %%rsp, 8\nret"),
    (0, "mov %%fs:0, %%rax\nsub %%fs:0, %%rax\nadd %%rsi, %%rax\nret"),
    (0, "call 1f\n1: " + PUSH + "pop %%rcx\n" + POP + "lea 2(%%rdi, %%rsi), %%rax\nret"),
    (1, "jmp %(g)s"),
    (1, "xchg %%rdi, %%rsi\njmp %(g)s"),
    (1, "test %%rdi, %%rdi\njz %(g)s\nlea 1(%%rsi), %%rax\nret"),
    (1, "sub $8, %%rsp\n" + PUSH + "call %(g)s\nadd $8, %%rsp\n" + POP + "ret"),
    (1, "push %%rbx\n" + PUSH + ".cfi_offset %%rbx, -16\nmov %%rsi, %%rbx\ncall %(g)s\nadd %%rbx, %%rax\npop %%rbx\n"
        + POP + "ret"),
    (1, "dec %%rdi\njs 1f\njmp %(g)s\n1: mov %%rsi, %%rax\nret"),
]

# Several symbols in a row: what is called is the first one, and what jumps around in it.
ASM_GROUPS = [
    # A byte long, and called by a jump.
    (0, [("%(n)s", "mov %%rdi, %%rax\njmp r%(i)s"), ("r%(i)s", "ret")]),
    # A jump to a place within the first five bytes of the next one.
    (0, [("%(n)s", "mov $%(k)s, %%eax\ntest %%rdi, %%rdi\njs r%(i)s\njmp 7f"),
         ("r%(i)s", "xor %%eax, %%eax\n7: add %%rsi, %%rax\nret")]),
    # Falls into the next one.
    (0, [("%(n)s", "inc %%rdi"), ("r%(i)s", "lea (%%rdi, %%rsi), %%rax\nret")]),
    (0, [("%(n)s", "xor %%edx, %%edx"), ("r%(i)s", "mov %%rsi, %%rax\nret")]),
    (0, [("%(n)s", "call r%(i)s\nadd %%rsi, %%rax\nret"), ("r%(i)s", "mov %%edi, %%eax\nret")]),
]

MAIN = r"""
typedef long function(long, long);
static function *const all[] = { %(all)s };

S unsigned long round_of_all(void)
{
	unsigned long s = 0;

	for (long r = 0; r < 4; r++)
		for (int i = 0; i < COUNT; i++) {
			s = s * 31 + (unsigned long)all[i](r & 3, r & 7);
			s = s * 3 + (unsigned long)all[i](r - 15, 3);
			s = s * 5 + (unsigned long)all[i](r + 5, 9 - r);
		}
	return s;
}

static volatile sig_atomic_t stop;
static volatile unsigned long first;
static unsigned long said[COUNT];
static long wrong, *counts, ticks, leaps;
static __thread sigjmp_buf again;
static __thread volatile int within;

static void on(int n) { (void)n; stop = 1; }

static void tick(int n)
{
	long i = __atomic_add_fetch(&ticks, 1, __ATOMIC_RELAXED);

	(void)n;
	if ((unsigned long)all[i %% COUNT](3, 2) != said[i %% COUNT])
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
	if (leaps && within && i %% 16 == 0) {
		within = 0;
		siglongjmp(again, 1);
	}
}

static void *work(void *arg)
{
	sigsetjmp(again, 1);
	within = 1;
	while (!stop) {
		if (round_of_all() != first)
			__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		counts[(long)arg]++;
	}
	within = 0;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[8];
	struct itimerval each;
	struct sigaction action;
	long count, us;

	if (argc < 5) {
		printf("%%lx\n", round_of_all());
#ifdef COUNTED
		for (int i = 0; i < COUNT; i++)
			printf("f%%d %%ld\n", i, entered[i]);
#endif
		return 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	count = atol(argv[2]);
	us = atol(argv[3]);
	leaps = atol(argv[4]);
	first = round_of_all();
	for (int i = 0; i < COUNT; i++)
		said[i] = (unsigned long)all[i](3, 2);
	counts = (long *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open(argv[1], O_RDWR), 0);
	memset(&action, 0, sizeof(action));
	action.sa_handler = on;
	sigaction(SIGTERM, &action, NULL);
	action.sa_handler = tick;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	for (long i = 1; i < count; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	each.it_interval.tv_sec = each.it_value.tv_sec = 0;
	each.it_interval.tv_usec = each.it_value.tv_usec = us;
	setitimer(ITIMER_REAL, &each, NULL);
	work(NULL);
	for (long i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	puts(wrong ? "wrong" : "fine");
	return wrong != 0;
}
"""


class Maker:
    def __init__(self, seed, language):
        self.rnd = random.Random(f"{seed} {language}")
        self.cplusplus = language == "c++"
        self.cost = []
        self.of_c = C_SHAPES * 2 + ([] if self.cplusplus else C_ONLY)
        self.with_help = C_HELPED + (CPP_HELPED * 3 if self.cplusplus else [])

    def called(self, times):
        """One that may be called so often, and what that comes to."""
        fit = [i for i, cost in enumerate(self.cost) if cost * times <= MOST // 2]
        i = self.rnd.choice(fit) if fit else 0
        return f"f{i}", self.cost[i] * times

    def function(self, i):
        kind = self.rnd.choices(["c", "helped", "naked", "asm", "group"], [8, 4, 2, 2, 1])[0]
        rows = {"c": self.of_c, "helped": self.with_help, "group": ASM_GROUPS}.get(kind, ASM_SHAPES)
        row = self.rnd.choice(rows if i else C_SHAPES[:5])
        names = {"n": f"f{i}", "i": i, "k": self.rnd.randint(1, 9)}
        names["g"], g = self.called(row[0]) if i else ("f0", 0)
        names["h"], h = self.called(row[0]) if i else ("f0", 0)
        self.cost.append(1 + max(row[0], 1) + g + h)
        return getattr(self, kind if i else "c")(names, row)

    @staticmethod
    def c(names, row):
        begins = "EXTERN N long %(n)s(long x, long y)\n"
        return (begins + "{\n\tC(%(i)s)\n" + row[-1] + "\n}\n") % names

    def helped(self, names, row):
        return row[1] % names + "\n" + self.c(names, row)

    def naked(self, names, row):
        text = (row[1] % names).replace("\n", "\\n\\t")
        return f"EXTERN __attribute__((naked, used)) long {names['n']}(long x, long y)\n{{\n\t__asm__(\"{text}\");\n}}\n"

    def asm(self, names, row):
        return self.group(names, (0, [("%(n)s", row[1])]))

    def group(self, names, row):
        lines = ["\t.text"]
        if self.rnd.random() < 0.3:
            lines.append("\t.p2align 4")
        for name, text in row[1]:
            name = name % names
            lines += [f"\t.globl {name}", f"\t.type {name}, @function", f"{name}:\t.cfi_startproc"]
            lines += ["\t" + line for line in (text % names).split("\n")]
            lines += ["\t.cfi_endproc", f"\t.size {name}, . - {name}"]
        return "__asm__(" + "\n\t".join('"%s\\n"' % line.replace("\t", "\\t") for line in lines) + ");\n"


def source(seed, language):
    maker = Maker(seed, language)
    parts = [f"#define COUNT {COUNT}", HEAD]
    parts += [f"EXTERN long f{i}(long x, long y);" for i in range(COUNT)]
    parts += [maker.function(i) for i in range(COUNT)]
    parts.append(MAIN % {"all": ", ".join(f"f{i}" for i in range(COUNT))})
    return "\n".join(parts)


if __name__ == "__main__":
    print(source(sys.argv[1], sys.argv[2]))
