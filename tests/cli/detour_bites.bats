#!/usr/bin/env bats
# What is known to bite code that writes to a program: each says what it says alone, by
# detours as far as they may go, and every call is there.

load helpers

# alone PROGRAM ARGUMENT...: what it says, to alone.out.
alone() { "$@" >alone.out; }

# traced OPTION... -- PROGRAM ARGUMENT...: says the same, recorded in x.data.
traced() {
	"$CPROF" run -q -o x.data --max-rate=0 "$@" >traced.out
	diff alone.out traced.out
}

# calls FUNCTION: how many are recorded.
calls() { "$CPROF" report --json x.data | jq --arg f "$1" '[.calls.functions[] | select(.function == $f).calls] | add'; }
records() { "$CPROF" report --json x.data | jq .overhead.records; }

# Detours find their rings by the base of gs. The kernel keeps it for who sets it.
@test "gs is the program's: of its own code, a library's, one that is loaded late" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >gs.c <<'END'
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#define OWN __attribute__((noinline, noclone))
static volatile long sink;
OWN long work(long x) { sink += x; return x * 3 + 1; }
OWN void set(void *base) { if (syscall(SYS_arch_prctl, ARCH_SET_GS, base)) abort(); }
OWN void *get(void) { void *base = NULL; if (syscall(SYS_arch_prctl, ARCH_GET_GS, &base)) abort(); return base; }
OWN long load(void) { long v; __asm__ volatile("mov %%gs:8, %0" : "=r"(v)); return v; }
static void *thread(void *arg)
{
	long own[4] = { 0, (long)arg, 0, 0 }, sum = 0;
	if (get()) { puts("base of a new thread is not 0"); exit(1); }
	for (int i = 0; i < 2000; i++) sum += work(i);
	set(own);
	for (int i = 0; i < 2000; i++) {
		if (get() != own || load() != own[1]) { puts("gs is another"); exit(1); }
		own[1] = work(own[1]) & 0xffff;
		sum += own[1];
	}
	set(NULL);
	return (void *)sum;
}
int main(int argc, char **argv)
{
	long sum = 0;
	int early = argc > 1 && !strcmp(argv[1], "early");
	static long area[4] = { 0, 77, 0, 0 };
	if (early) set(area);
	else if (get()) { puts("base is not 0"); return 1; }
	for (int i = 0; i < 3000; i++) sum += work(i);
	if (early && (get() != area || load() != 77)) { puts("gs is another"); return 1; }
	for (long i = 0; i < 4 && !early; i++) {
		pthread_t t; void *got;
		pthread_create(&t, NULL, thread, (void *)(i + 5)); pthread_join(t, &got); sum += (long)got;
	}
	if (!early && get()) { puts("base is not 0 any more"); return 1; }
	printf("%ld\n", sum);
}
END
	cat >libgs.c <<'END'
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
long gs_round(long v)
{
	static __thread long area[4]; long got; void *base = 0;
	area[1] = v;
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, area)) return -1;
	__asm__ volatile("mov %%gs:8, %0" : "=r"(got));
	if (syscall(SYS_arch_prctl, ARCH_GET_GS, &base) || base != area) return -2;
	return got;
}
END
	cat >uses.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline, noclone))
static volatile long sink;
OWN long work(long x) { sink += x; return x * 3 + 1; }
static long (*round_)(long);
#ifdef LINKED
long gs_round(long);
#endif
static void *thread(void *a) { long s = 0; for (long i = 0; i < 3000; i++) { s += work(i); long g = round_(i); if (g != i) { printf("gs gave %ld for %ld\n", g, i); exit(1); } } return (void *)s; }
int main(int argc, char **argv)
{
	long sum = 0;
	for (int i = 0; i < 5000; i++) sum += work(i);
#ifdef LINKED
	round_ = gs_round;
#else
	void *lib = dlopen(argv[1], RTLD_NOW); if (!lib) { puts(dlerror()); return 1; }
	*(void **)&round_ = dlsym(lib, "gs_round");
#endif
	pthread_t t[3];
	for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 3; i++) { void *s; pthread_join(t[i], &s); sum += (long)s; }
	sum += (long)thread(NULL);
	printf("%ld\n", sum);
}
END
	gcc -O2 -g -pthread -o gs gs.c
	gcc -O2 -g -shared -fPIC -o libgs.so libgs.c
	gcc -O2 -g -pthread -o late uses.c
	gcc -O2 -g -pthread -DLINKED -o linked uses.c ./libgs.so
	for how in early late; do
		alone ./gs $how
		traced -t program -- ./gs $how
	done
	assert_equal "$(records)" 0
	alone ./linked
	traced -t work,thread -- ./linked
	assert_equal "$(calls work) $(calls thread)" "17000 4"
	assert_equal "$(records)" 0
	alone ./late ./libgs.so
	traced -t work,thread -- ./late ./libgs.so
	assert_equal "$(calls work) $(calls thread)" "17000 4"
	# Those before the library came.
	[ "$(records)" -gt 9000 ] && [ "$(records)" -le 10000 ]
}

# It has no instruction that uses gs: code that it makes at run time may.
@test "a base of gs that is set by the C library's arch_prctl(), or by syscall()" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >set.c <<'END'
#include <asm/prctl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int arch_prctl(int, unsigned long);
static volatile long sink;
static long own[64];
__attribute__((noinline)) long work(long x) { sink += x; return x * 3 + 1; }
int main(void)
{
	unsigned long base = 1;
	long sum = 0;
	for (int i = 0; i < 100; i++) sum += work(i);
#ifdef BY_NAME
	arch_prctl(ARCH_GET_GS, (unsigned long)&base);
	if (arch_prctl(ARCH_SET_GS, (unsigned long)own)) return 1;
#else
	syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, own)) return 1;
#endif
	for (int i = 0; i < 100; i++) sum += work(i);
	printf("%lu %ld\n", base, sum);
	return 0;
}
END
	gcc -O1 -g -o by_number set.c
	gcc -O1 -g -DBY_NAME -o by_name set.c
	for way in by_number by_name; do
		alone "./$way"
		traced -t work -- "./$way"
		assert_equal "$(calls work)" 200
		traced --allocs -- "./$way"
	done
}

@test "a program that may not read the time stamp counter: by prctl(), by strict seccomp" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >stamp.c <<'END'
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile long sink;
__attribute__((noinline)) long work(long x) { sink += x; return x * 3 + 1; }
int main(int argc, char **argv)
{
	long sum = 0;
	(void)argv;
	for (int i = 0; i < 100; i++) sum += work(i);
	if (argc > 1 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) : prctl(PR_SET_TSC, PR_TSC_SIGSEGV)) return 1;
	for (int i = 0; i < 100; i++) sum += work(i);
	if (write(1, sum == 29900 ? "right\n" : "wrong\n", 6) != 6) return 2;
	syscall(SYS_exit, 0);
}
END
	gcc -O1 -g -o stamp stamp.c
	for strict in "" strict; do
		alone ./stamp $strict
		traced -t work -a -r -- ./stamp $strict
		assert_equal "$(calls work)" 200
	done
}

# The kernel sends who is interrupted in a sequence to its end, by where its code was.
@test "restartable sequences lose nothing, and are not lost" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >rseq.c <<'END'
/* counts by restartable sequences: per CPU, each update a critical section */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/rseq.h>
#define OWN __attribute__((noinline, noclone))
#define CPUS 1024
static struct { long count; char pad[56]; } counts[CPUS];
static volatile long sink, aborted;
OWN long work(long x) { sink += x; return x + 1; }
static struct rseq *own(void) { return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset); }
/* The whole function is little more than the sequence. */
OWN int add(long n)
{
	struct rseq *r = own();
	uint32_t cpu = __atomic_load_n(&r->cpu_id_start, __ATOMIC_RELAXED);
	__asm__ goto volatile(
		".pushsection __rseq_cs, \"aw\"\n.balign 32\n3:\n.long 0, 0\n.quad 1f, (2f - 1f), 4f\n.popsection\n"
		"lea 3b(%%rip), %%rax\nmov %%rax, %c[cs](%[r])\n"
		"1:\ncmp %[cpu], %c[id](%[r])\njnz 4f\n"
		"mov (%[at]), %%rax\nadd %[n], %%rax\n"
		"mov %%rax, (%[at])\n2:\n"
		".pushsection .text.abort, \"ax\"\n.byte 0x0f, 0xb9, 0x3d\n.long 0x53053053\n4:\njmp %l[stop]\n.popsection\n"
		: : [r] "r"(r), [cs] "i"(offsetof(struct rseq, rseq_cs)), [id] "i"(offsetof(struct rseq, cpu_id)),
		    [cpu] "r"(cpu), [at] "r"(&counts[cpu % CPUS].count), [n] "r"(n) : "rax", "memory", "cc" : stop);
	return 1;
stop:
	aborted++;
	return 0;
}
static void *thread(void *a) { for (long i = 0; i < ROUNDS; i++) { work(i); while (!add(1)) ; } return a; }
int main(void)
{
	pthread_t t[4]; long sum = 0;
	if (!__rseq_size) { puts("no rseq"); return 0; }
	for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
	for (int i = 0; i < CPUS; i++) sum += counts[i].count;
	printf("%ld\n", sum);
}
END
	gcc -O2 -g -pthread -DROUNDS="$(long_or 50000 12500)" -o sequences rseq.c || skip "no rseq here"
	alone ./sequences
	made=$(long_or 200000 50000)
	grep -qx "$made" alone.out || skip "the kernel has no rseq"
	traced -t program -- ./sequences
	assert_equal "$(calls work)" "$made"
	[ "$(records)" -ge $((4 * made)) ]
	traced -t program -s 999 -- ./sequences
	traced -t program --traps -- ./sequences
	# nothing stands in a sequence: where it goes when it is not finished, within
	assert_equal "$("$CPROF" functions ./sequences add | awk '$NF == "add" || $8 == "add" { print $5, $6 }')" '2 0'
	"$CPROF" cover -q -o c.data -- ./sequences >cover.out
	diff cover.out alone.out
	"$CPROF" cover -q --count -o c.data -- ./sequences >cover.out
	diff cover.out alone.out
}

@test "text that the program protects otherwise, and moves to memory of its own" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >remap.c <<'END'
/* moves its text to memory of its own (huge pages where there are), as databases and browsers do; changes protections */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define OWN __attribute__((noinline, noclone))
static volatile long sink;
OWN long work(long x) { sink += x; return x * 3 + 1; }
OWN long turn(long n) { long s = 0; for (long i = 0; i < n; i++) s += work(i); return s; }
static uintptr_t start, end;
static int find(struct dl_phdr_info *i, size_t size, void *data)
{
	(void)size; (void)data;
	for (int k = 0; k < i->dlpi_phnum; k++)
		if (!i->dlpi_name[0] && i->dlpi_phdr[k].p_type == PT_LOAD && i->dlpi_phdr[k].p_flags & PF_X) {
			start = (i->dlpi_addr + i->dlpi_phdr[k].p_vaddr) & ~4095ul;
			end = (i->dlpi_addr + i->dlpi_phdr[k].p_vaddr + i->dlpi_phdr[k].p_memsz + 4095) & ~4095ul;
		}
	return 1;
}
/* In a library's code and on no page of its own. */
static void move(void)
{
	size_t size = end - start;
	char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED) exit(2);
	memcpy(copy, (void *)start, size);
	madvise(copy, size, MADV_HUGEPAGE);
	if (mprotect(copy, size, PROT_READ | PROT_EXEC)) exit(3);
	if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) != (void *)start) exit(4);
}
int main(int argc, char **argv)
{
	long sum = turn(2000);
	if (argc > 2) while (access(argv[2], F_OK)) { turn(10); usleep(1000); }
	dl_iterate_phdr(find, NULL);
	if (mprotect((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC)) exit(1);
	sum += turn(2000);
	if (mprotect((void *)start, end - start, PROT_READ | PROT_EXEC)) exit(1);
	sum += turn(2000);
	move();
	sum += turn(2000);
	if (mprotect((void *)start, end - start, PROT_READ | PROT_EXEC)) exit(1);
	madvise((void *)start, end - start, MADV_DONTNEED & 0);
	sum += turn(2000);
	printf("%ld\n", sum);
	if (argc > 1) { fflush(stdout); for (;;) { sum += turn(100); usleep(1000); if (!access(argv[1], F_OK)) break; } }
}
END
	gcc -O2 -g -o remap remap.c
	alone ./remap
	for how in "" --traps; do
		traced -t work,turn $how -- ./remap
		assert_equal "$(calls work) $(calls turn)" "10000 5"
	done
	# It moves while somebody is attached, who leaves then, and calls what was moved.
	for how in "" --traps; do
		rm -f stop go
		start ./remap stop go
		local program=$pid
		"$CPROF" attach -q -o x.data -t work,turn $how "$program" 3>&- &
		local controller=$!
		started+=("$controller")
		until_true "$CPROF" ctl "$program" status >status
		: >go
		until_true grep -q . out
		"$CPROF" ctl "$program" stop
		wait "$controller"
		: >stop
		wait "$program"
		diff alone.out out
	done
}

@test "a library that is mapped three times at once" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >libtw.c <<'END'
static volatile long sink;
__attribute__((noinline)) long tw_work(long x) { sink += x; return x * 3 + 1; }
long tw_turn(long n) { long s = 0; for (long i = 0; i < n; i++) s += tw_work(i); return s; }
END
	cat >twice.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static long (*turn[3])(long);
static void *thread(void *a) { long s = 0; for (int i = 0; i < 20; i++) s += (*(long (**)(long))a)(500); return (void *)s; }
int main(int argc, char **argv)
{
	long sum = 0; pthread_t t[3];
	for (int i = 0; i < 3; i++) {
		void *lib = i == 2 ? dlopen(argv[1], RTLD_NOW) : dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
		if (!lib) { puts(dlerror()); return 1; }
		*(void **)&turn[i] = dlsym(lib, "tw_turn");
	}
	if (turn[0] == turn[1] || turn[1] == turn[2]) return 2;
	for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, thread, &turn[i]);
	for (int i = 0; i < 3; i++) { void *s; pthread_join(t[i], &s); sum += (long)s; }
	printf("%ld\n", sum);
}
END
	gcc -O2 -g -shared -fPIC -o libtw.so libtw.c
	gcc -O2 -g -pthread -o twice twice.c
	alone ./twice "$PWD/libtw.so"
	for how in "" --traps; do
		traced -t 'lib:libtw*' $how -- ./twice "$PWD/libtw.so"
		assert_equal "$(calls tw_work) $(calls tw_turn)" "30000 60"
	done
}

# The code of detours is elsewhere each time, and the library in the place where it was.
@test "libraries that come and go: every call of each is there" {
	for how in "" --traps; do
		separately "$CPROF" run -q -o x.data --max-rate=0 -t 'lib:libplugin*' $how -- \
			"$TRACEES/dlopen_loop" --rounds=20
		assert_success
		assert_equal "$stderr" "$(grep '^dlopen_loop:' <<<"$stderr")"
		# Twenty loads in each of two threads, each round.
		assert_equal "$(calls plugin_work)" 800
	done
}

# Two of them, in any order, so that they come to other places, too.
@test "libraries that come and go: nothing is left mapped of each" {
	cat >comes.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
static unsigned lines(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned n = 0; int c;
	while ((c = getc(maps)) != EOF) n += c == '\n';
	fclose(maps); return n;
}
int main(int argc, char **argv)
{
	unsigned early = 0, late, sum = 0; (void)argc;
	for (unsigned i = 0; i < 60; i++) {
		void *first = dlopen(argv[1 + i / 3 % 2], RTLD_NOW), *second = dlopen(argv[2 - i / 3 % 2], RTLD_NOW);
		for (int n = 0; n < 2; n++) {
			unsigned (*work)(unsigned) = (unsigned (*)(unsigned))dlsym(n ? second : first, "work");
			sum += work(i);
		}
		dlclose(i % 5 ? first : second); dlclose(i % 5 ? second : first);
		late = lines(); early = early || i < 30 ? early : late;
	}
	printf("%u %d\n", sum, (int)(late - early));
	return 0;
}
END
	echo 'static unsigned __attribute__((noinline)) more(unsigned x) { __asm__(""); return x > 7 ? x + 3 : x * 5; }
		unsigned work(unsigned x) { unsigned n, sum = 0; for (n = 0; n < 20; n++) sum += more(x + n); return sum; }' >lib.c
	gcc -O1 -g -o comes comes.c
	gcc -O1 -g -shared -fpic -o liba.so lib.c
	gcc -O1 -g -shared -fpic -DOTHER -Wl,-z,max-page-size=65536 -o libb.so lib.c
	run ./comes ./liba.so ./libb.so
	assert_output --regexp '^[0-9]+ 0$'
	alone="$output"
	for how in "run -t lib:lib[ab]*" "run --traps -t lib:lib[ab]*" cover "cover --count"; do
		read -ra how <<<"$how"
		run --separate-stderr "$CPROF" "${how[0]}" -q -o x.data "${how[@]:1}" -- ./comes ./liba.so ./libb.so
		assert_equal "$output" "$alone"
		[ "${how[0]}" = cover ] || assert_equal "$(calls more)" 2400
	done
}

# Faults there come to a thread of the program's, which may be stopped, or wait.
@test "pointers into memory whose faults the program serves itself: nobody waits for them" {
	cat >served.c <<'END'
/* Passes pointers to pages that nobody filled, and counts the faults that it is asked to serve. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#define OWN __attribute__((noinline, noclone))
#define PAGES 64
struct thing { long a; const char *name; };
static volatile long sink, faults;
static char *area, *filled;
static int fd;
OWN int text(const char *s) { sink += (long)s & 1; return 1; }
OWN int thing(struct thing *t) { sink += (long)t & 1; return 2; }
OWN long serve(long at)
{
	struct uffdio_copy copy = { .dst = at & -4096L, .src = (long)filled, .len = 4096 };
	faults++;
	ioctl(fd, UFFDIO_COPY, &copy);
	return at;
}
static void *server(void *arg)
{
	struct uffd_msg m;
	while (read(fd, &m, sizeof(m)) == sizeof(m)) serve(m.arg.pagefault.address);
	return arg;
}
int main(int argc, char **argv)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register all = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t t;
	filled = aligned_alloc(4096, 4096);
	strcpy(filled, "filled");
	area = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 100; i++) { struct thing x = { i, "x" }; text("own"); thing(&x); }
	if (argc > 1 && !strcmp(argv[1], "device")) {
		int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
		fd = device < 0 ? -1 : ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC);
	} else {
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	}
	if (fd < 0) fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	all.range.start = (long)area; all.range.len = PAGES * 4096;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &all)) { puts("no userfaultfd"); return 0; }
	if (argc > 1 && !strcmp(argv[1], "served")) pthread_create(&t, NULL, server, NULL);
	while (argc > 2 && access(argv[2], F_OK)) { text("waits"); usleep(1000); }
	for (int i = 0; i < 10; i++) text(area + i * 4096);
	for (int i = 10; i < 20; i++) thing((struct thing *)(area + i * 4096));
	printf("%ld faults\n", faults);
	if (argc > 1 && !strcmp(argv[1], "served")) printf("%s after %ld fault\n", area, faults);
}
END
	gcc -O1 -g -pthread -o served served.c
	for who in nobody device served; do
		alone ./served "$who"
		for how in "" --traps; do
			traced -t text,thing,serve -a $how -- ./served "$who"
			assert_equal "$(calls text) $(calls thing)" "110 110"
		done
	done
	# Who has it before anybody attaches.
	alone ./served nobody
	for how in "" --traps; do
		rm -f go
		start ./served nobody go
		local program=$pid
		"$CPROF" attach -q -o x.data -t text,thing -a $how "$program" 3>&- &
		local controller=$!
		started+=("$controller")
		until_true "$CPROF" ctl "$program" status >status
		: >go
		wait "$program" "$controller"
		diff alone.out out
		assert_equal "$(calls thing)" 10
	done
}

# No file has an instruction that uses gs, or sets its base.
@test "a base of gs that code made at run time sets" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >made.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#define OWN __attribute__((noinline, noclone))
static volatile long sink;
static sigjmp_buf back;
static void (*set)(void *); static long (*load)(void);
OWN long work(long x) { sink += x; return x * 3 + 1; }
static void illegal(int n) { siglongjmp(back, n); }
static void *thread(void *arg)
{
	long *own = calloc(4096, 8), sum = 0;
	for (long i = 0; i < 1000; i++) sum += work(i);
	own[1] = (long)own;
	set(own);
	for (long i = 0; i < 2000; i++) { sum += work(i); if (load() != (long)own) { puts("another gs"); exit(1); } }
	for (int i = 0; i < 4096; i++) if (i != 1 && own[i]) { puts("written to"); exit(1); }
	*(long *)arg = sum;
	return NULL;
}
int main(void)
{
	/* Processors may have it where the kernel does not keep what it sets. */
	if (!(getauxval(AT_HWCAP2) & 2)) { puts("no such instruction"); return 0; }
	unsigned char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Each byte is one off, so that this file has none of these instructions. */
	static const unsigned char set_code[] = { 0xf4, 0x49, 0x10, 0xaf, 0xe0, 0xc4 }; /* wrgsbase %rdi; ret */
	static const unsigned char load_code[] = { 0x66, 0x49, 0x8c, 0x05, 0x26, 0x09, 0x01, 0x01, 0x01, 0xc4 }; /* mov %gs:8, %rax; ret */
	for (unsigned i = 0; i < sizeof(set_code); i++) made[i] = set_code[i] - 1;
	for (unsigned i = 0; i < sizeof(load_code); i++) made[64 + i] = load_code[i] - 1;
	*(void **)&set = made; *(void **)&load = made + 64;
	signal(SIGILL, illegal);
	if (sigsetjmp(back, 1)) { puts("no such instruction"); return 0; }
	set(NULL);
	pthread_t t; long sums[4] = { 0 }, sum = 0;
	for (int i = 0; i < 4; i++) { pthread_create(&t, NULL, thread, &sums[i]); pthread_join(t, NULL); sum += sums[i]; }
	thread(&sums[0]);
	set(NULL);
	for (long i = 0; i < 1000; i++) sum += work(i);
	printf("%ld\n", sum + sums[0]);
}
END
	gcc -O1 -g -pthread -o made made.c
	alone ./made
	for how in "" --traps; do
		traced -t work $how -- ./made
		grep -q no alone.out || assert_equal "$(calls work)" 16000
	done
	traced -t work -a -r -s 999 -- ./made
	traced --allocs -- ./made
}

# Mappings are read again when a library comes: the program's text is in no file then.
@test "text that is in no file any more is traced on, and text that is another is said to be" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >libplace.c <<'END'
__attribute__((noinline)) long place(long x) { return x + 1; }
END
	cat >elsewhere.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define OWN __attribute__((noinline, noclone))
static volatile long sink;
OWN long work(long x) { sink += x; return x * 3 + 1; }
OWN long turn(long n) { long s = 0; for (long i = 0; i < n; i++) s += work(i); return s; }
/* Copies [from, from + 4096) to anonymous memory in its place; `code`, if any, comes to `at`. */
static void move(char *from, char *at, const char *code, size_t size)
{
	char *copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED) exit(2);
	if (code) memcpy(copy + (at - from), code, size);
	else memcpy(copy, from, 4096);
	if (mprotect(copy, 4096, PROT_READ | PROT_EXEC)) exit(3);
	if (mremap(copy, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, from) != from) exit(4);
}
int main(int argc, char **argv)
{
	void *lib = dlopen(argv[1], RTLD_NOW);
	long (*place)(long), sum = turn(1000);
	if (!lib || argc < 3) { puts(dlerror()); return 1; }
	*(void **)&place = dlsym(lib, "place");
	for (long i = 0; i < 1000; i++) sum += place(i);
	if (!strcmp(argv[2], "moved")) {
		extern char __executable_start, etext;
		for (char *at = (char *)((uintptr_t)&turn & -4096ul); at < &etext && at >= &__executable_start; at += 4096) move(at, 0, 0, 0);
		move((char *)((uintptr_t)place & -4096ul), 0, 0, 0);
	} else {
		move((char *)((uintptr_t)place & -4096ul), (char *)(uintptr_t)place, "\x48\x8d\x47\x02\xc3", 5); /* lea 2(%rdi), %rax; ret */
	}
	if (!dlopen(argv[3], RTLD_NOW)) { puts(dlerror()); return 1; }
	for (long i = 0; i < 1000; i++) sum += place(i);
	printf("%ld\n", sum + turn(1000));
	fflush(stdout);
	_exit(0);
}
END
	gcc -O2 -g -shared -fPIC -o libplace.so libplace.c
	gcc -O2 -g -shared -fPIC -o libother.so -xc - <<<"int other(void) { return 1; }"
	gcc -O2 -g -o elsewhere elsewhere.c
	for how in "" --traps; do
		alone ./elsewhere ./libplace.so moved ./libother.so
		traced -t work,turn,place $how -- ./elsewhere ./libplace.so moved ./libother.so
		assert_equal "$(calls work) $(calls turn) $(calls place)" "2000 2 2000"
		alone ./elsewhere ./libplace.so another ./libother.so
		"$CPROF" run -o x.data --max-rate=0 -t work,place $how -- ./elsewhere ./libplace.so another ./libother.so >traced.out 2>err
		diff alone.out <(head -1 traced.out)
		assert_equal "$(calls work) $(calls place)" "2000 1000"
		grep -q 'the code of .*/libplace.so was replaced by the program' err
	done
}

# Bytes of breakpoints that are the program's own.
@test "what the program maps in the place of traced text is left as it is" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	gcc -O2 -g -shared -fPIC -o libplace.so -xc - <<<'__attribute__((noinline)) long place(long x) { return x + 1; }'
	cat >over.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *lib = dlopen(argv[1], RTLD_NOW);
	static unsigned char traps[4096];
	long (*place)(long), sum = 0;
	if (!lib || argc < 4) return 1;
	*(void **)&place = dlsym(lib, "place");
	while (access(argv[2], F_OK)) { sum += place(1); usleep(1000); }
	char *page = (char *)((uintptr_t)place & -4096ul);
	FILE *file = tmpfile();
	memset(traps, 0xcc, sizeof(traps));
	if (!file || fwrite(traps, 1, sizeof(traps), file) != sizeof(traps) || fflush(file)) return 2;
	if (mmap(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_FIXED, fileno(file), 0) != page) return 3;
	puts("mapped"); fflush(stdout);
	while (access(argv[3], F_OK)) usleep(1000);
	puts(memcmp(page, traps, sizeof(traps)) ? "changed" : "as it was"); fflush(stdout);
	_exit(!sum);
}
END
	gcc -O2 -g -o over over.c
	for how in "" --traps; do
		rm -f stop go
		start ./over ./libplace.so go stop
		local program=$pid
		"$CPROF" attach -q -o x.data -t place $how "$program" 2>err.cprof 3>&- &
		local controller=$!
		started+=("$controller")
		until_true "$CPROF" ctl "$program" status >status
		: >go
		until_true grep -q mapped out
		"$CPROF" ctl "$program" stop
		wait "$controller"
		: >stop
		wait "$program"
		assert_equal "$(tail -1 out)" "as it was"
	done
}

# A thread that sleeps has the base of its ring yet when cprof has gone, and the next one, too.
@test "who sleeps from one session into the third" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >sleeps.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int sum;
static int wakes[2];
__attribute__((noinline, noclone)) void work(int n) { for (int i = 0; i < n; i++) sum += i; }
static void *sleeper(void *p)
{
	char c;
	while (read(wakes[0], &c, 1) == 1) { work(3); work(4); printf("%c\n", c); }
	return p;
}
static void *busy(void *p)
{
	for (;;) { work(2); usleep(300); }
	return p;
}
int main(void)
{
	char c;
	pthread_t t;
	setvbuf(stdout, 0, _IONBF, 0);
	if (pipe(wakes)) return 1;
	pthread_create(&t, 0, sleeper, 0);
	pthread_create(&t, 0, busy, 0);
	while (read(0, &c, 1) == 1) {
		work(5);
		if (write(wakes[1], &c, 1) != 1) return 1;
	}
	puts("over");
}
END
	gcc -O1 -g -pthread -o sleeps sleeps.c
	calls_come() { "$CPROF" ctl "$program" status 2>err.ctl | grep -Eq '^  calls .* [1-9][0-9,]* events'; }
	says() { grep -qx "$1" out; }
	session() { # WORD: the sleeper wakes up in it, and says so
		"$CPROF" attach -q -o x.data -t work "$program" 2>err.cprof 3>&- 9>&- &
		local controller=$!
		until_true calls_come
		printf %s "$1" >&9
		until_true says "$1"
		kill -TERM "$controller"
		wait "$controller"
	}
	mkfifo in
	./sleeps <in >out 2>err 3>&- &
	program=$!
	started+=("$program")
	exec 9>in
	session a
	# It has a ring, which must not go while it sleeps.
	grep -q cprof-rings "/proc/$program/maps"
	for _ in 1 2 3 4 5; do
		"$CPROF" attach -q -d 300ms -o x.data -t work "$program" 9>&-
		grep -q cprof-rings "/proc/$program/maps"
	done
	session b
	exec 9>&-
	wait "$program"
	assert_equal "$(tr '\n' ' ' <out)" "a b over "
}

# What detours need below 2 GiB stands below such a program, not in the way of its heap.
@test "a program at a low address whose heap grows past 2 GiB" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >grow.c <<'END'
#include <stdio.h>
#include <unistd.h>
static volatile long sink;
__attribute__((noinline, noclone)) long work(long x) { sink += x; sink ^= 0x12345; return x * 3 + sink; }
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 2200; i++) {
		sum += work(i);
		if (sbrk(1 << 20) == (void *)-1) { printf("no more than %d MB\n", i); return 1; }
	}
	printf("%ld\n", sum);
}
END
	for how in -no-pie -static; do
		gcc -O1 -g $how -o grow grow.c
		alone ./grow
		traced -t work -- ./grow
		assert_equal "$(calls work)" 2200
		[ "$(records)" -gt 4000 ]
	done
}

# A step in a detour, in a slot, or in a jump that leads there is no way back to where it
# begins. By breakpoints each step is one of those that it takes alone.
@test "a program that steps through its own code" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >step.c <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#define OWN __attribute__((noinline, noipa))
OWN long work(long x) { return x * 3; } /* so small that its jump needs a hop */
OWN long calls(long x) { return work(x) + 1; }
OWN long jumps(long x) { return x > 2 ? work(x + 1) : x; }
static long (*volatile table[])(long) = { work, calls, jumps };
OWN long through(long x) { return table[x % 3](x) + table[(x + 1) % 3](x); }
OWN long recurs(long n) { return n <= 0 ? 1 : n * recurs(n - 1); }
OWN void copies(char *to, const char *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
OWN long late(long x) { return x ^ 5; }
OWN long asks(void) { long r; __asm__ volatile("syscall" : "=a"(r) : "a"(186) : "rcx", "r11", "memory"); return r > 0; }
OWN long all(long x)
{
	char a[8] = "stepped", b[8];
	copies(b, a, 8);
	return calls(x) + jumps(x) + through(x) + recurs(x) + b[1] + asks() + (x > 7 ? late(x) : 0);
}
extern char __executable_start[];
static long at[10000];
static volatile int steps;
static void step(int n, siginfo_t *i, void *context)
{
	(void)n; (void)i;
	at[steps++] = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	if (steps == 10000) { puts("no end of it"); fflush(stdout); _Exit(1); }
}
int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_sigaction = step, .sa_flags = SA_SIGINFO };
	long sum = 0, before = atoi(argv[1]);
	(void)argc;
	for (long i = 0; i < before; i++) sum += all(i & 7);
	sigaction(SIGTRAP, &sa, NULL);
	for (long i = 0; i < 10; i++) {
		__asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq" : : : "memory", "cc");
		sum += all(i);
		__asm__ volatile("pushfq\n andq $~0x100, (%%rsp)\n popfq" : : : "memory", "cc");
	}
	printf("%ld\n", sum);
	for (int i = 0; i < steps && argv[2]; i++) printf("%lx\n", at[i] - (long)__executable_start);
}
END
	gcc -O1 -g -mno-red-zone -o step step.c
	for before in 0 100; do # the first call is made by who steps; or is one of many
		alone ./step $before steps
		for what in program work work,late all; do
			traced -t $what --traps -- ./step $before steps
		done
		"$CPROF" cover -q -o cover.data -- ./step $before steps >traced.out
		diff alone.out traced.out
		alone ./step $before
		for what in program work work,late all; do
			for how in "" --fast "-a -r"; do
				# shellcheck disable=SC2086 # words
				traced -t $what $how -- ./step $before
			done
		done
		traced -t work,late -- ./step $before
		assert_equal "$(calls late)" $((2 + before / 1000))
	done
}

# What was written there is gone, and the mappings look as before.
@test "text that is mapped from its file once more, or whose pages are given back" {
	cat >anew.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#define OWN __attribute__((section("own_text"), noinline, noipa))
static volatile long sink;
__attribute__((aligned(65536))) OWN long one(long x) { sink += x; return x * 3 + sink; }
OWN long two(long n) { return n <= 0 ? 1 : n * two(n - 1); }
extern char __start_own_text[], __stop_own_text[];
static void anew(const char *how, char *text, long size)
{
	unsigned long low, high, offset;
	char line[400];
	FILE *maps = fopen("/proc/self/maps", "r");
	int fd = open("/proc/self/exe", O_RDONLY);
	if (!strcmp(how, "madvise")) { madvise(text, size, MADV_DONTNEED); return; }
	while (fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &low, &high, &offset) == 3 && low <= (unsigned long)text && high > (unsigned long)text) break;
	if (mmap(text, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, offset + ((unsigned long)text - low)) != text) abort();
}
int main(int argc, char **argv)
{
	long page = sysconf(_SC_PAGESIZE), size = (__stop_own_text - __start_own_text + page - 1) / page * page, unseen = 0;
	time_t end = time(NULL) + 30;
	unsigned char was[16];
	(void)argc;
	for (int i = 0; i < 100; i++) one(i);
	anew(argv[1], __start_own_text, size);
	memcpy(was, __start_own_text, sizeof was);
	while (argv[2] && !memcmp(__start_own_text, was, sizeof was) && time(NULL) < end) { unseen++; one(1); usleep(1000); }
	for (int i = 0; i < 1000; i++) { one(i); two(3); }
	puts(!argv[2] || (unseen && time(NULL) < end) ? "done" : "nobody came");
}
END
	gcc -O1 -g -o anew anew.c
	echo 'done' >alone.out
	for how in mmap madvise; do
		for option in "" --traps "-a -r --stack"; do
			# shellcheck disable=SC2086 # words
			traced -t one,two $option -- ./anew $how wait 2>err
			grep "mapped the code of .*/anew anew.*up to when that was seen is not told" err
			assert_equal "$(calls one)" 1100
			assert_equal "$(calls two)" 4000
		done
		traced -t one,two -- ./anew $how 2>err
		grep "mapped the code of .*/anew anew.*from then on is not told" err
		assert_equal "$(calls one)" 100
	done
}

@test "threads that have a hundred bytes of stack left" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >small.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
extern int leaf(int);
__asm__(".text\n.globl leaf\n.type leaf,@function\nleaf: lea 1(%rdi,%rdi,2),%eax\n nopl 0x0(%rax,%rax,1)\n ret\n.size leaf,.-leaf\n");
/* Calls with `room` bytes below the stack pointer. */
static int low(long room)
{
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int got = 0;
	if (mprotect(stack, 32768, PROT_NONE)) return -1;
	__asm__ volatile("mov %%rsp, %%rbx\n mov %1, %%rsp\n mov $5, %%edi\n call leaf\n mov %%eax, %%edi\n call leaf\n mov %%rbx, %%rsp"
			 : "+a"(got) : "r"(stack + 32768 + room) : "rbx", "rdi", "memory", "cc");
	return got;
}
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 50; i++) sum += leaf(i);
	for (long room = 8; room < 400; room += 8) sum += low(room);
	printf("%d\n", sum);
}
END
	gcc -O1 -g -o small small.c
	alone ./small
	for how in "" --traps; do
		traced -t leaf $how -- ./small
		assert_equal "$(calls leaf)" 148
	done
}

# The first handler's call is told by a stop, in which the alarm comes, as long as its stack is
# not known, and with stacks always. One a turn, at another time in each: alarms that come
# faster than their handler is done have it given up.
@test "an alarm in a handler on the same alternate stack" {
	cat >nested.c <<'END'
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#define NI __attribute__((noinline, noipa))
static char stack[262144];
static sigjmp_buf back;
static long handled, worked, alarms, nested;
static volatile int faulting;
#define COUNT(what) __asm__ volatile("incq %0" : "+m"(what))
NI int handle(int x) { COUNT(handled); return x ^ 5; }
NI int work(int x) { volatile int a[40]; COUNT(worked); for (int i = 0; i < 40; i++) a[i] = x + i; return a[x % 40]; }
static void on_alarm(int sig) { COUNT(alarms); if (faulting) COUNT(nested); handle(sig); }
static void on_fault(int sig)
{
	faulting = 1;
	handle(sig);
	for (volatile int i = 0; i < 20000; i++);
	handle(sig);
	faulting = 0;
	siglongjmp(back, 1);
}
int main(void)
{
	struct itimerval once = { 0 };
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART };
	sigaltstack(&ss, NULL);
	sigaction(SIGALRM, &action, NULL);
	action.sa_handler = on_fault;
	sigaction(SIGSEGV, &action, NULL);
	for (volatile int turn = 0; turn < 50000 && (alarms < 300 || nested < 30); turn++) {
		once.it_value.tv_usec = 10 + turn * 7 % 500;
		setitimer(ITIMER_REAL, &once, NULL);
		if (!sigsetjmp(back, 1)) { for (int i = 0; i < 50; i++) work(i); *(volatile int *)8 = 1; }
	}
	once.it_value.tv_usec = 0;
	setitimer(ITIMER_REAL, &once, NULL);
	printf("%ld %ld %d\n", handled, worked, nested >= 30);
}
END
	gcc -O1 -g -o nested nested.c
	for how in --fast "-a -r" "--fast --stack"; do
		# shellcheck disable=SC2086 # words
		"$CPROF" run -q -o x.data --max-rate=0 -t work,handle $how -- ./nested >said
		assert_equal "$(calls handle) $(calls work) 1" "$(cat said)"
	done
}

# It comes in the middle of a call that was told, which the program then never makes; the
# next one is told as what it is. Who was about to return may be told to have done so.
@test "an alarm whose handler jumps out of a call" {
	cat >left.c <<'END'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#define CALLS 400000
static sigjmp_buf back;
static volatile int next, alarms;
static char returned[CALLS];
__attribute__((noinline, noipa)) int work(int x) { return 3 * x + 1; }
static void on_alarm(int sig) { alarms += sig == SIGALRM; siglongjmp(back, 1); }
int main(void)
{
	const struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	sigsetjmp(back, 1);
	while (alarms < 1000 && next < CALLS) {
		int i = next;
		next = i + 1;
		work(i);
		returned[i] = 1;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < next; i++)
		if (returned[i])
			printf("work(%d) = %d\n", i, 3 * i + 1);
}
END
	gcc -O1 -g -o left left.c
	for how in --max-rate=0 --traps; do
		"$CPROF" run -q -o x.data --max-rate=0 $how -t work -a -r -- ./left | sort >said
		"$CPROF" replay x.data | grep -oE 'work\([0-9]+\) = -?[0-9]+' | sort >told
		assert_equal "$(comm -23 said told | wc -l)" 0
		assert_equal "$(awk -F'[()= ]+' '$3 != 3 * $2 + 1' told | wc -l)" 0
		assert [ -s said ]
	done
}

# What they point to is read without asking whether that is allowed only where no filter of
# system calls can come unseen.
@test "texts of a static program without a stop" {
	cat >texts.c <<'END'
#include <stdio.h>
static const char *const words[] = { "one", "two", "three", "four" };
__attribute__((noinline, noipa)) long work(const char *s, int x) { return s[0] + x; }
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 3000; i++) sum += work(words[i & 3], i);
	printf("%ld\n", sum);
}
END
	for how in -static -static-pie; do
		gcc -O1 -g $how -o texts texts.c
		alone ./texts
		traced -t work -a -r -- ./texts
		assert_equal "$("$CPROF" replay x.data | grep -c 'work("t[a-z]*", [0-9]* *) = ')" 1500
		[ "$(records)" -gt 5900 ]
	done
}

# Of windows that lead to one place alone, some would be led into the way of the heap.
@test "the heap of a static program of which everything is traced" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >heap.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	int i = 0;
	while (i < 1400 && sbrk(1 << 20) != (void *)-1) i++;
	printf("%d MB\n", i);
}
END
	gcc -O1 -g -static -no-pie -o heap heap.c
	alone setarch -R ./heap
	traced -t program -a -r -- setarch -R ./heap
}

# What rings are mapped for is locked, too, and resident: few are mapped. Servers that may lock
# their memory, by an option, mostly don't.
@test "a program that locks all of its memory" {
	cat >locks.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline, noipa)) long work(long n) { return n * 3 + 1; }
int main(int argc, char **argv)
{
	char line[128];
	long sum = 0, locked = 0;
	int failed = argc > 1 && mlockall(MCL_CURRENT | MCL_FUTURE);
	for (int i = 0; i < 300; i++) sum += work(i);
	FILE *status = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof(line), status)) sscanf(line, "VmLck: %ld kB", &locked);
	printf("%ld, %s\n", sum, !failed && locked > 100000 ? "100 MB are locked" : "little is locked");
}
END
	for how in '' -static; do
		# shellcheck disable=SC2086
		gcc -O1 $how -o locks locks.c
		for option in "" lock; do
			# shellcheck disable=SC2086
			alone ./locks $option
			# shellcheck disable=SC2086
			traced -t work -- ./locks $option
			assert_equal "$("$CPROF" replay x.data | grep -c 'work()')" 300
			[ "$(records)" -ge 290 ]
		done
	done
}

# What stands for SIGTRAP in the kernel's masks while there are breakpoints is a signal that a
# program may block, too: most do that block everything but SIGTRAP.
# masks PID: what its threads block; of the first, which is now and then in a handler for SIGTRAP,
# whether it ever does not block that: what it returns to has been written before.
masks() {
	local task mask
	for task in /proc/"$1"/task/*; do
		for _ in {1..200}; do
			mask=$((16#$(sed -n 's/^SigBlk:\t//p' "$task/status")))
			[ "${task##*/}" = "$1" ] || break
			mask=$((mask & 16))
			((mask)) || break
		done
		echo "$((mask & 16)) $mask"
	done
}

@test "who blocks the signal that stands for SIGTRAP, and not SIGTRAP, goes on so" {
	gcc -O1 -pthread -o blocks -x c - <<-'END'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static volatile sig_atomic_t traps;
		static sigset_t set;
		static void on_trap(int s) { traps += s == SIGTRAP; }
		static void on_usr1(int s) { (void)s; }
		__attribute__((noinline, noclone)) static int called(int i) { __asm__ volatile("nopw 0(%%rax,%%rax)" : "+r"(i)); return i * 3; }
		static void *sleeper(void *end) { char c; return (void *)read(*(int *)end, &c, 1); }
		static void *poller(void *end) { (void)end; for (;;) usleep(20000); }
		int main(int argc, char **argv)
		{
			struct sigaction action = { .sa_handler = on_trap }, was;
			int ends[2], sum = 0, errors = 0;
			pthread_t thread;
			(void)argc;
			sigaction(SIGTRAP, &action, NULL);
			if (!strcmp(argv[1], "most")) {
				sigfillset(&set);
				sigdelset(&set, SIGTRAP);
			} else {
				sigemptyset(&set);
				sigaddset(&set, SIGSTKFLT);
			}
			action.sa_handler = on_usr1;
			action.sa_mask = set;
			sigaction(SIGUSR1, &action, NULL);
			pthread_sigmask(SIG_BLOCK, &set, NULL);
			if (pipe(ends) || pthread_create(&thread, NULL, sleeper, ends) || pthread_create(&thread, NULL, poller, NULL))
				return 1;
			fprintf(stderr, "ready\n");
			while (access("stop", F_OK)) {
				traps = 0;
				__asm__ volatile("int3");
				syscall(SYS_tgkill, getpid(), gettid(), SIGTRAP); /* raise() blocks all */
				errors += traps != 2;
				sum += called(sum);
				usleep(1000);
			}
			sigaction(SIGUSR1, NULL, &was);
			printf("%d errors, in a handler: %d\n", errors, sigismember(&was.sa_mask, SIGTRAP));
			return 0;
		}
	END
	for which in most one; do
		for how in '-t called' '-t called --traps' '-t program,lib:libc* --max-rate=0' '--allocs' '--locks' '-c'; do
			rm -f stop ready
			./blocks "$which" >out 2>ready 3>&- &
			until_true test -s ready
			masks $! >before
			# shellcheck disable=SC2086
			"$CPROF" attach -q -d 300ms $how $!
			masks $! >after
			: >stop
			wait $!
			assert_equal "$which $how: $(cat out)" "$which $how: 0 errors, in a handler: 0"
			diff before after
		done
	done
}

# What a library reads of its thread's mask is what it sets again, whenever we come and go: one
# wrong answer would stay for good.
@test "masks that are saved and set again are what they were, whenever cprof comes and leaves" {
	gcc -O1 -pthread -o saves -x c - <<-'END'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static int ended;
		__attribute__((noinline, noclone)) static int called(int i) { __asm__ volatile("nopw 0(%%rax,%%rax)" : "+r"(i)); return i * 3; }
		static void *saves(void *unused)
		{
			char path[64], line[128];
			sigset_t trap, usr1, was;
			long i, wrong = 0;
			FILE *status;

			(void)unused;
			sigemptyset(&trap);
			sigaddset(&trap, SIGTRAP);
			sigemptyset(&usr1);
			sigaddset(&usr1, SIGUSR1);
			pthread_sigmask(SIG_SETMASK, &trap, NULL);
			for (i = 0; !__atomic_load_n(&ended, __ATOMIC_RELAXED); i++) {
				pthread_sigmask(SIG_BLOCK, &usr1, &was);
				wrong += !sigismember(&was, SIGTRAP) || sigismember(&was, SIGSTKFLT);
				called((int)i);
				pthread_sigmask(SIG_SETMASK, &was, NULL);
				if (i % 64 == 0)
					usleep(200);
			}
			snprintf(path, sizeof(path), "/proc/self/task/%ld/status", (long)syscall(SYS_gettid));
			status = fopen(path, "r");
			while (fgets(line, sizeof(line), status) && strncmp(line, "SigBlk:", 7))
				;
			printf("%ld wrong, %s", wrong, line);
			return fclose(status) ? "" : NULL;
		}
		int main(void)
		{
			pthread_t threads[4];
			int i;

			for (i = 0; i < 4; i++)
				pthread_create(&threads[i], NULL, saves, NULL);
			fprintf(stderr, "ready\n");
			while (access("stop", F_OK))
				usleep(1000 + 0 * called(1));
			__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
			for (i = 0; i < 4; i++)
				pthread_join(threads[i], NULL);
			return 0;
		}
	END
	local round tracer
	for how in '-t called' '-t called --traps' '--allocs' '-c'; do
		rm -f stop ready
		./saves >out 2>ready 3>&- &
		pid=$!
		until_true test -s ready
		for ((round = 0; round < $(long_or 20 3); round++)); do
			# shellcheck disable=SC2086
			"$CPROF" attach -q -o x.data -d 50ms $how "$pid"
		done
		# One that is killed, and one that takes out what it left.
		# shellcheck disable=SC2086
		"$CPROF" attach -v -o x.data $how "$pid" >/dev/null 2>said 3>&- &
		until_true grep -Eq 'saves: [0-9]+ (functions|blocks)|libc.so.6: [1-9][0-9]* functions, [0-9]+ breakpoints' said
		tracer=$(sed -n 's/^TracerPid:\t//p' "/proc/$pid/status")
		kill -KILL $! "$tracer"
		wait $! || :
		"$CPROF" attach -q -o x.data -d 50ms "$pid"
		: >stop
		wait "$pid"
		assert_equal "$how: $(sort -u out)" "$how: 0 wrong, SigBlk:"$'\t'"0000000000000010"
	done
}

# Each is interrupted anywhere, at our stops too, and goes on when the other two had their turn.
@test "a timer's handler that switches between contexts makes no call twice" {
	cat >preempts.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#define NI __attribute__((noinline, noipa))
static ucontext_t home, contexts[3];
static volatile sig_atomic_t current, over;
static const long most[3] = { 20000, 10000, 5000 };
static volatile long done[3];
NI int inner(int x) { volatile int sum = 0; for (int i = 0; i < 100; i++) sum += x; return sum; }
NI void job(int k) { inner(k); done[k]++; }
static void set_mask(int how)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(how, &set, NULL);
}
static void work(int k)
{
	set_mask(SIG_UNBLOCK);
	while (done[k] < most[k]) job(k);
	__atomic_fetch_add(&over, 1, __ATOMIC_SEQ_CST);
	for (;;);
}
static void on_alarm(int signal)
{
	int before = current;
	(void)signal;
	if (over == 3) setcontext(&home);
	current = (before + 1) % 3;
	swapcontext(&contexts[before], &contexts[current]);
}
int main(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
	volatile int begun = 0;
	for (int k = 0; k < 3; k++) {
		getcontext(&contexts[k]);
		contexts[k].uc_stack.ss_sp = malloc(65536);
		contexts[k].uc_stack.ss_size = 65536;
		sigaddset(&contexts[k].uc_sigmask, SIGALRM);
		makecontext(&contexts[k], (void (*)(void))work, 1, k);
	}
	set_mask(SIG_BLOCK);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	getcontext(&home);
	if (!begun++) setcontext(&contexts[0]);
	printf("%ld %ld\n", done[0] + done[1] + done[2], done[0] + done[1] + done[2]);
}
END
	gcc -O1 -g -o preempts preempts.c
	alone ./preempts
	traced --fast -t job,inner -- ./preempts
	assert_equal "$(calls job) $(calls inner)" "$(cat alone.out)"
}
