/* SPDX-License-Identifier: MIT
 *
 * What detours read where pointers lead to: strings and bytes at the ends of pages, of
 * memory that is there, is not, or goes away; and that nobody but who serves faults
 * ever meets one.
 *
 *     test_detour_reach           the tests
 *     test_detour_reach cost      what it costs, in ns
 */
#include "test.h"

#include "detour_ground.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#define PAGE 4096
#define LIMIT 40

static struct cp_records reader;
static int number = -1;
static uint8_t *pages; /* three, of which the last is not there */

static uint64_t for_ever(void)
{
	return __rdtsc() + (UINT64_C(1) << 42);
}

/* The first argument of detour_called() leads to the value. */
static void patch(struct cp_detour_value value)
{
	struct cp_detour d;

	if (number >= 0)
		ground_unpatch(number);
	d = ground_window((void *)detour_called, detour_called_exit);
	value.kind = CP_DETOUR_GENERAL;
	value.reg = 5;
	d.records[0] = ground_record(1, 0);
	d.records[0].values[d.records[0].value_count++] = value;
	d.record_count = 1;
	number = ground_make(&d);
	CHECK(number >= 0);
	ground_patch(number);
}

static const struct cp_detour_value string = { .reach = CP_DETOUR_STRING, .size = LIMIT };

static void set_memory(const struct cp_records_memory *memory)
{
	cp_records_set_memory(&reader, memory);
}

static const struct cp_records_memory probing = { .may_probe = true };

struct read {
	unsigned how, size;
	char text[LIMIT + 8];
};

/* What the next call's record has. */
static struct read call(const void *pointer)
{
	uint64_t a = (uintptr_t)pointer;
	struct read read = { .how = UINT32_MAX };
	const struct cp_detour_reached *r;
	struct cp_record record;

	CHECK(detour_called(a, 7) == detour_plain(a, 7));
	if (!cp_records_next(&reader, __rdtsc(), &record))
		return read;
	r = (const void *)record.values;
	read.how = r->how;
	read.size = r->size;
	if (r->size <= LIMIT)
		memcpy(read.text, r + 1, r->size);
	cp_records_release(&reader);
	CHECK(!cp_records_next(&reader, __rdtsc(), &record));
	return read;
}

static void check_string(const char *pointer, unsigned how, const char *text)
{
	struct read r = call(pointer);

	CHECK_U64(r.how, how);
	CHECK_U64(r.size, strlen(text));
	CHECK(!memcmp(r.text, text, strlen(text)));
}

/* ---- strings ---- */

/* Each length at each distance from the end of what can be read. */
static void test_lengths(const struct cp_records_memory *memory)
{
	char *end = (char *)pages + 2 * PAGE, *at;
	struct read r;
	unsigned length;

	patch(string);
	set_memory(memory);
	for (length = 0; length <= LIMIT + 1; length++) {
		for (at = end - length - 1; at > end - LIMIT - 24; at--) {
			memset(end - 2 * LIMIT, 'x', 2 * LIMIT);
			memset(at, 'a' + (int)length % 26, length);
			at[length] = 0;
			r = call(at);
			CHECK_U64(r.how, length < LIMIT ? CP_DETOUR_READ : CP_DETOUR_READ_CUT);
			CHECK_U64(r.size, length < LIMIT ? length : LIMIT);
			CHECK(!memcmp(r.text, at, r.size));
		}
	}
	/* Without a NUL before that end. */
	memset(end - 2 * LIMIT, 'x', 2 * LIMIT);
	for (length = 0; length <= LIMIT + 1; length++) {
		r = call(end - length);
		CHECK_U64(r.how, length < LIMIT ? CP_DETOUR_READ_BAD : CP_DETOUR_READ_CUT);
		CHECK_U64(r.size, length < LIMIT ? length : LIMIT);
	}
	/* Over the border between two pages, and any bytes. */
	for (at = (char *)pages + PAGE - LIMIT - 2; at < (char *)pages + PAGE + 2; at++) {
		for (length = 1; length < 100; length++)
			at[length - 1] = (char)(length * 37 % 255 + 1);
		at[30] = 0;
		check_string(at, CP_DETOUR_READ, at);
	}
}

static void test_bytes(void)
{
	char *end = (char *)pages + 2 * PAGE;
	struct read r;
	unsigned size, at;

	set_memory(&probing);
	for (size = 0; size <= LIMIT; size += 5) {
		patch((struct cp_detour_value){
			.reach = CP_DETOUR_BYTES, .size = (uint16_t)size, .at = { -3 } });
		for (at = 0; at <= size + 1; at++) {
			r = call(end - at + 3);
			CHECK_U64(r.how, at < size ? CP_DETOUR_READ_BAD : CP_DETOUR_READ);
			CHECK_U64(r.size, at < size ? at : size);
			CHECK(!memcmp(r.text, end - at, r.size));
		}
	}
}

/* Pointers to pointers, the last of which may lie over a border. */
static void test_through(void)
{
	char **pointer = (char **)(void *)(pages + PAGE - 3), *end = (char *)pages + 2 * PAGE;
	char *text = (char *)pages + 100;
	struct {
		uint64_t other;
		char **pointer;
	} s = { 0, pointer - 2 };

	strcpy(text + 8, "at last");
	memcpy(pointer, &text, sizeof(text));
	set_memory(&probing);
	patch((struct cp_detour_value){
		.reach = CP_DETOUR_STRING, .size = LIMIT, .through = 2, .at = { 8, 16, 8 } });
	check_string((char *)&s, CP_DETOUR_READ, "at last");
	s.pointer = NULL;
	check_string((char *)&s, CP_DETOUR_READ_BAD, "");
	s.pointer = (char **)(void *)(end - 16 - 7); /* all but its last byte */
	check_string((char *)&s, CP_DETOUR_READ_BAD, "");
	s.pointer = pointer - 2;
	cp_records_read(&reader, 1);
	check_string((char *)&s, CP_DETOUR_READ_NOT, "");
	cp_records_read(&reader, for_ever());
}

/* ---- what isn't there ---- */

static void test_bad(void)
{
	static const uint64_t bad[] = { 0,
					1,
					4095,
					0x1000,
					UINT64_C(0x00007ffffffff000),
					UINT64_C(0x0000800000000000),
					UINT64_C(0x7fffffffffffffff),
					UINT64_C(0x8000000000000000),
					UINT64_C(0xffffffffff600000), /* vsyscall: the kernel's */
					UINT64_MAX };
	FILE *file = tmpfile();
	size_t i;
	char *p;

	patch(string);
	set_memory(&probing);
	for (i = 0; i < CP_ARRAY_SIZE(bad); i++)
		check_string((char *)(uintptr_t)bad[i], CP_DETOUR_READ_BAD, "");
	check_string((char *)pages + 2 * PAGE, CP_DETOUR_READ_BAD, "");
	/* Mapped, but not readable; of a file, but behind its end. */
	p = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check_string(p, CP_DETOUR_READ_BAD, "");
	CHECK(file && !ftruncate(fileno(file), 1));
	p = mmap(p, 2 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fileno(file), 0);
	check_string(p, CP_DETOUR_READ, "");
	check_string(p + PAGE, CP_DETOUR_READ_BAD, "");
	CHECK(!ftruncate(fileno(file), 0));
	check_string(p, CP_DETOUR_READ_BAD, "");
	munmap(p, 2 * PAGE);
	fclose(file);
}

/* ---- without system calls ---- */

static void find_stack(struct cp_records_memory *ret)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	CHECK(maps);
	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[stack]"))
			CHECK(sscanf(line, "%lx-%lx", &ret->stack_low, &ret->stack_end) == 2);
	}
	if (maps)
		fclose(maps);
}

static void test_known(void)
{
	struct cp_records_memory memory = { 0 };
	char text[] = "on the stack";
	static char fixed[] = "in the program";

	patch(string);
	set_memory(&memory);
	check_string(text, CP_DETOUR_READ_NOT, "");
	find_stack(&memory);
	set_memory(&memory);
	check_string(text, CP_DETOUR_READ, "on the stack");
	check_string(fixed, CP_DETOUR_READ_NOT, "");
	/* Below sp it may not be there. */
	check_string((char *)((uintptr_t)text - 65536), CP_DETOUR_READ_NOT, "");
	check_string((char *)memory.stack_end, CP_DETOUR_READ_NOT, "");
	/* Somebody else's. */
	memory.stack_low = memory.stack_end - 64;
	set_memory(&memory);
	check_string(text, CP_DETOUR_READ_NOT, "");
	memory.known[0] = (struct cp_detour_range){ 0x1000, 0x2000 };
	memory.known[1] = (struct cp_detour_range){ (uintptr_t)fixed, (uintptr_t)fixed + 6 };
	set_memory(&memory);
	check_string(fixed, CP_DETOUR_READ_NOT, "in the");
	check_string(fixed + 7, CP_DETOUR_READ_NOT, "");
	memory.known[1].end += 9;
	set_memory(&memory);
	check_string(fixed, CP_DETOUR_READ, "in the program");
	/* All rows are in use. */
	memory.known[7] = memory.known[1];
	for (unsigned i = 0; i < 7; i++)
		memory.known[i] = memory.known[0];
	set_memory(&memory);
	check_string(fixed, CP_DETOUR_READ, "in the program");
	check_string((char *)((uintptr_t)fixed - 1), CP_DETOUR_READ_NOT, "");
	/* Nobody would serve a fault. */
	cp_records_read(&reader, __rdtsc());
	check_string(fixed, CP_DETOUR_READ_NOT, "");
	cp_records_read(&reader, for_ever());
}

/* ---- faults ---- */

static volatile unsigned long faults;

static void on_fault(int signal, siginfo_t *info, void *ucontext)
{
	ucontext_t *context = ucontext;
	uint64_t on = cp_detour_fault(&cp_arch_x86_64, &ground.rings,
				      (uint64_t)context->uc_mcontext.gregs[REG_RIP]);

	(void)signal;
	(void)info;
	if (!on)
		_exit(99);
	faults++;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)on;
}

/* A page goes away that is known. */
static void test_gone(void)
{
	struct cp_records_memory memory = { .may_probe = true, .page_life = UINT64_C(1) << 42 };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned size;

	sigaction(SIGSEGV, &action, NULL);
	patch(string);
	set_memory(&memory);
	strcpy(p + PAGE - 12, "twelve bytes");
	strcpy(p + PAGE, ", and more");
	check_string(p + PAGE - 12, CP_DETOUR_READ, "twelve bytes, and more");
	memory.may_probe = false; /* what is known stays so */
	reader.ring->may_probe = 0;
	check_string(p + PAGE - 12, CP_DETOUR_READ, "twelve bytes, and more");
	CHECK_U64(faults, 0);
	mprotect(p + PAGE, PAGE, PROT_NONE);
	check_string(p + PAGE - 12, CP_DETOUR_READ_BAD, "twelve bytes");
	check_string(p + PAGE, CP_DETOUR_READ_BAD, "");
	check_string(p + PAGE - 3, CP_DETOUR_READ_BAD, "tes");
	CHECK_U64(faults, 3);
	for (size = 1; size <= 8; size *= 2) {
		patch((struct cp_detour_value){ .reach = CP_DETOUR_BYTES, .size = (uint16_t)size });
		CHECK_U64(call(p + PAGE).how, CP_DETOUR_READ_BAD);
		CHECK_U64(call(p).how, CP_DETOUR_READ);
	}
	patch((struct cp_detour_value){ .reach = CP_DETOUR_BYTES, .size = 8, .through = 1 });
	CHECK_U64(call(p + PAGE).how, CP_DETOUR_READ_BAD);
	CHECK_U64(faults, 8);
	/* A page that has to be asked for is never loaded from. */
	patch(string);
	set_memory(&probing);
	check_string(p + PAGE - 12, CP_DETOUR_READ_BAD, "twelve bytes");
	CHECK_U64(faults, 8);
	munmap(p, 2 * PAGE);
	signal(SIGSEGV, SIG_DFL);
}

/* What the program reads itself is read without the kernel being asked, which it need not be
 * ready for: always, or as the first word says. */
static void test_sure(void)
{
	const struct cp_records_memory silent = { 0 };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct said {
		uint64_t what;
		struct said *to;
		char text[24];
	} *said = (void *)(pages + 64), *other = (void *)(pages + PAGE + 64);
	struct cp_detour_value value = string;
	unsigned long before = faults;

	value.through = 1;
	value.at[0] = offsetof(struct said, to);
	value.at[1] = offsetof(struct said, text);
	strcpy(said->text, "here");
	strcpy(other->text, "over there");
	said->to = other;
	set_memory(&silent);
	patch(value);
	check_string((char *)said, CP_DETOUR_READ_NOT, "");
	value.sure = CP_DETOUR_SURE;
	patch(value);
	check_string((char *)said, CP_DETOUR_READ, "over there");
	value.sure = CP_DETOUR_SURE_IF;
	value.guard = 0x432b2b01;
	patch(value);
	said->what = UINT64_C(0x474e5543432b2b01);
	check_string((char *)said, CP_DETOUR_READ, "over there");
	said->what--;
	check_string((char *)said, CP_DETOUR_READ_BAD, "");
	value.sure = CP_DETOUR_SURE_IF_LIKE;
	patch(value);
	check_string((char *)said, CP_DETOUR_READ, "over there");
	said->what += 0x100;
	check_string((char *)said, CP_DETOUR_READ_BAD, "");
	patch((struct cp_detour_value){ .reach = CP_DETOUR_BYTES,
					.size = 8,
					.at = { offsetof(struct said, to) },
					.sure = CP_DETOUR_SURE });
	CHECK_U64(call(said).how, CP_DETOUR_READ);
	/* It was not true. */
	sigaction(SIGSEGV, &action, NULL);
	said->to = (void *)(pages + 2 * PAGE);
	value.sure = CP_DETOUR_SURE;
	patch(value);
	check_string((char *)said, CP_DETOUR_READ_BAD, "");
	CHECK_U64(faults - before, 1);
	signal(SIGSEGV, SIG_DFL);
}

/* ---- another thread's mappings ---- */

static char *shaken;
static atomic_bool over;

static void *shake(void *arg)
{
	(void)arg;
	while (!atomic_load(&over)) {
		mprotect(shaken, PAGE, PROT_NONE);
		mprotect(shaken, PAGE, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

/* Each call reads all of it or nothing, or up to where it went away. */
static void test_shaken(void)
{
	static const char text[] = "here and gone";
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	unsigned long i, there = 0, before = faults;
	pthread_t thread;
	struct read r;

	shaken = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	strcpy(shaken, text);
	sigaction(SIGSEGV, &action, NULL);
	patch(string);
	set_memory(&probing);
	atomic_store(&over, false);
	CHECK(!pthread_create(&thread, NULL, shake, NULL));
	for (i = 0; i < 50000; i++) {
		r = call(shaken);
		there += r.how == CP_DETOUR_READ;
		CHECK(r.how == CP_DETOUR_READ_BAD ||
		      (r.how == CP_DETOUR_READ && r.size == strlen(text)));
		CHECK(!memcmp(r.text, text, r.size));
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	signal(SIGSEGV, SIG_DFL);
	printf("%lu calls, read in %lu; faults in %lu\n", i, there, faults - before);
	munmap(shaken, PAGE);
}

/* ---- conditions ---- */

struct node {
	struct node *next;
	uint8_t byte;
	int16_t half;
	int32_t word;
	uint64_t all;
};

static bool accepted(const struct node *n, const struct cp_detour_test *test)
{
	uint64_t a = (uintptr_t)n;
	struct cp_record record;
	struct cp_detour d;

	ground_unpatch(number);
	d = ground_window((void *)detour_called, detour_called_exit);
	d.records[0] = ground_record(1, 0);
	d.records[0].when = CP_DETOUR_DECIDES;
	d.records[0].tests[d.records[0].test_count++] = *test;
	d.record_count = 1;
	number = ground_make(&d);
	CHECK(number >= 0);
	ground_patch(number);
	CHECK(detour_called(a, 7) == detour_plain(a, 7));
	cp_records_release(&reader);
	return cp_records_next(&reader, __rdtsc(), &record);
}

#define MEMBER(through_, name) \
	{ \
		CP_DETOUR_GENERAL, 5, .reach = CP_DETOUR_BYTES, .through = through_, \
				      .at = { through_ ? 0 : offsetof(struct node, name), \
					      offsetof(struct node, name) } \
	}

static void test_conditions(void)
{
	static struct node last = { NULL, 200, -5, -70000, UINT64_C(1) << 63 };
	static struct node first = { &last, 3, 4, 5, 6 };
	const struct {
		struct cp_detour_test test;
		bool first, last; /* are accepted */
	} rows[] = {
		{ { MEMBER(0, byte), CP_DETOUR_GT, 1, false, 100 }, false, true },
		{ { MEMBER(0, half), CP_DETOUR_LT, 2, true, 0 }, false, true },
		{ { MEMBER(0, word), CP_DETOUR_EQ, 4, true, (uint64_t)-70000 }, false, true },
		{ { MEMBER(0, all), CP_DETOUR_BITS, 8, false, 4 }, true, false },
		{ { MEMBER(0, next), CP_DETOUR_NE, 8, false, 0 }, true, false },
		/* What can't be read is for who takes the record. */
		{ { MEMBER(1, word), CP_DETOUR_NE, 4, true, 7 }, true, true },
		{ { MEMBER(1, word), CP_DETOUR_EQ, 4, true, 7 }, false, true },
		{ { MEMBER(1, byte), CP_DETOUR_EQ, 1, false, 200 }, true, true },
	};
	size_t i;

	set_memory(&probing);
	for (i = 0; i < CP_ARRAY_SIZE(rows); i++) {
		CHECK(accepted(&first, &rows[i].test) == rows[i].first);
		CHECK(accepted(&last, &rows[i].test) == rows[i].last);
	}
}

/* ---- what a table tells the distance of ---- */

struct object {
	const int64_t *table; /* the distance is 24 bytes below */
	int32_t before, base;
};

static void test_beside(void)
{
	static const int64_t table[4] = { offsetof(struct object, base), 1, 2, 3 };
	const struct object object = { table + 3, 6, 7 }, none = { NULL, 6, 7 };
	struct cp_detour_test test = { { CP_DETOUR_GENERAL, 5, .reach = CP_DETOUR_BYTES,
					 .through = 2, .beside = 2, .at = { 0, -24, 0 } },
				       CP_DETOUR_EQ,
				       4,
				       true,
				       7 };

	set_memory(&probing);
	CHECK(accepted((const struct node *)&object, &test));
	CHECK(accepted((const struct node *)&none, &test)); /* it can't be read */
	test.constant = 6;
	CHECK(!accepted((const struct node *)&object, &test));
}

/* ---- filters ---- */

static void forbid_probes(unsigned result)
{
	struct sock_filter rows[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, result),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { CP_ARRAY_SIZE(rows), rows };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

/* A filter that answers in the kernel's place, and one that kills. */
static void test_filters(void)
{
	static char fixed[] = "in the program";
	int status = -1;
	pid_t child = fork();

	if (!child) {
		patch(string);
		set_memory(&probing);
		forbid_probes(SECCOMP_RET_ERRNO | 1);
		check_string(fixed, CP_DETOUR_READ_NOT, "");
		forbid_probes(SECCOMP_RET_KILL_PROCESS);
		set_memory(&(struct cp_records_memory){ 0 });
		check_string(fixed, CP_DETOUR_READ_NOT, "");
		_exit(test_failures != 0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK_U64((uint64_t)status, 0);
}

/* ---- cost ---- */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* In ns for a call, the best of 41 rounds. */
static double best_of(uint64_t (*fn)(uint64_t, uint64_t), const void *argument)
{
	struct cp_record record;
	double best = 1e9, start, time;
	unsigned i, k;
	uint64_t sum = 0;

	for (i = 0; i < 41; i++) {
		start = now_ns();
		for (k = 0; k < 2000; k++)
			sum += fn((uintptr_t)argument, sum);
		time = (now_ns() - start) / 2000;
		best = time < best ? time : best;
		while (cp_records_next(&reader, __rdtsc(), &record))
			;
		cp_records_release(&reader);
	}
	__asm__ volatile("" ::"r"(sum));
	return best;
}

static int cost(void)
{
	struct cp_records_memory known = { 0 },
				 lives = { .may_probe = true, .page_life = UINT64_C(1) << 42 };
	char text[64] = "thirty-two letters, as they say.";
	struct cp_detour_value through = string, long_string = string;
	char *pointer = text;
	double plain, itself;

	through.through = 1;
	find_stack(&known);
	patch((struct cp_detour_value){ 0 });
	plain = best_of(detour_plain, text);
	itself = best_of(detour_called, text);
	printf("the pointer itself: %.1f more than a plain call; more than that:\n",
	       itself - plain);
	patch(string);
	set_memory(&known);
	printf("  32 bytes of string, own stack %.1f\n", best_of(detour_called, text) - itself);
	set_memory(&lives);
	printf("  page known a while            %.1f\n", best_of(detour_called, text) - itself);
	set_memory(&probing);
	printf("  page asked for each time      %.1f\n", best_of(detour_called, text) - itself);
	printf("  page not there                %.1f\n", best_of(detour_called, NULL) - itself);
	long_string.size = 200;
	patch(long_string);
	set_memory(&known);
	printf("  up to 200 bytes, own stack    %.1f\n", best_of(detour_called, text) - itself);
	patch(through);
	set_memory(&known);
	printf("  by another pointer, own stack %.1f\n", best_of(detour_called, &pointer) - itself);
	set_memory(&probing);
	printf("  by another pointer, asked for %.1f\n", best_of(detour_called, &pointer) - itself);
	return 0;
}

int main(int argc, char **argv)
{
	struct cp_records_memory lives = probing;

	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED && !munmap(pages + 2 * PAGE, PAGE));
	ground_prepare();
	ground_use_ring(1);
	cp_records_open(&reader, ground_ring(1), GROUND_LOG);
	cp_records_read(&reader, for_ever());
	if (argc > 1 && !strcmp(argv[1], "cost"))
		return cost();
	test_lengths(&probing);
	lives.page_life = UINT64_C(1) << 42;
	test_lengths(&lives);
	test_bytes();
	test_through();
	test_bad();
	test_known();
	test_gone();
	test_sure();
	test_shaken();
	test_conditions();
	test_beside();
	test_filters();
	TEST_MAIN_END;
}
