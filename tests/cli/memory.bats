#!/usr/bin/env bats
# What profilers are told of memory and files: bytes read and written, the size of the
# heap, finalizing, roots; against strace, /proc/self/maps, the addresses that the
# program prints, and the order of what it writes.

load helpers
load tracees

CC=${CC:-cc}

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	$CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -fPIC -shared -O1 -I "$SOURCES/include" \
		-o libcprof-profiler-memoryprobe.so "$SOURCES/tests/modules/memoryprobe.c"
}

# probe [OPTION...] -- CMD...: the events in ./told; what CMD prints in ./out.
probe() {
	local options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	"$CPROF" run -q --plugin-dir=. --profile=memoryprobe "${options[@]}" -- \
		sh -c 'exec "$@" >out' sh "$@" >told
	[[ $(tail -n 1 told) == 'wrong 0' ]] || fail "$(tail -n 20 told)"
}

# transfers, happened: reads and writes; what is finalized, too; without the numbers
# of processes.
transfers() { awk '$2 ~ /^(read|write)$/ { print $2, $3, $4 }' told; }
happened() { awk '$2 ~ /^(read|write|final)/ { $1 = ""; print substr($0, 2) }' told; }

# transfers_of_strace FILE: what each thread of `strace -f` read and wrote from and
# to which descriptors, in order, after the dynamic linker was done: it unmaps its cache last.
transfers_of_strace() {
	python3 - "$1" <<'END'
import collections, re, sys
reads = "read pread64 readv preadv preadv2 recvfrom recvmsg".split()
writes = "write pwrite64 writev pwritev pwritev2 sendto sendmsg vmsplice".split()
both = "sendfile splice tee copy_file_range".split()
begun, linked, told = {}, set(), collections.defaultdict(list)
threads = []
for line in open(sys.argv[1], errors="replace"):
    tid, call = line.split(None, 1)
    if tid not in threads:
        threads.append(tid)
    if call.rstrip().endswith("<unfinished ...>"):
        begun[tid] = call.rstrip()[:-len("<unfinished ...>")]
        continue
    m = re.match(r"<\.\.\. \w+ resumed>(.*)", call, re.S)
    if m:
        call = begun.pop(tid) + m.group(1)
    m = re.match(r"(\w+)\((.*)\)\s+= (\d+)", call, re.S)
    if not m:
        continue
    name, n = m.group(1), int(m.group(3))
    if name == "munmap":
        linked.add("any")
    if not linked or n == 0:
        continue
    if name.endswith("mmsg"):
        n = sum(int(x) for x in re.findall(r"msg_len=(\d+)", m.group(2)))
    arguments = m.group(2).split(", ")
    source = arguments[1 if name == "sendfile" else 0]
    sink = arguments[{"sendfile": 0, "tee": 1}.get(name, 2)] if name in both else source
    if name in reads or name == "recvmmsg" or name in both:
        told[tid].append(f"read {source} {n}")
    if name in writes or name == "sendmmsg" or name in both:
        told[tid].append(f"write {sink} {n}")
for i, tid in enumerate(threads):
    for what in told[tid]:
        print(i, what)
END
}

TRANSFERS=trace=munmap,read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2,recvfrom,recvmsg,recvmmsg,sendto,sendmsg,sendmmsg,sendfile,splice,tee,vmsplice,copy_file_range

@test "every way to read and write is told with its bytes, as strace has it" {
	needs strace python3
	cat >ways.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
int main(void)
{
	static char b[70000];
	struct iovec v[2] = { { b, 100 }, { b + 100, 23 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
	struct mmsghdr mm[20] = { 0 };
	int f = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), g, s[2], p[2], q[2], i;
	FILE *stream;
	loff_t at = 0;

	write(f, b, 70000);
	pwrite(f, b, 11, 3);
	writev(f, v, 2);
	pwritev(f, v, 2, 70000);
	pwritev2(f, v, 1, 0, 0);
	lseek(f, 0, SEEK_SET);
	read(f, b, 12);
	pread(f, b, 13, 1);
	readv(f, v, 2);
	preadv(f, v, 2, 5);
	preadv2(f, v, 1, 0, 0);
	read(f, b, 0); /* nothing */
	read(-1, b, 5); /* nothing */
	socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
	send(s[0], b, 14, 0);
	sendto(s[0], b, 15, 0, NULL, 0);
	sendmsg(s[0], &m, 0);
	recv(s[1], b, 100, 0);
	recvfrom(s[1], b, 100, 0, NULL, NULL);
	recvmsg(s[1], &m, 0);
	for (i = 0; i < 3; i++)
		mm[i].msg_hdr = m;
	v[0].iov_len = 7;
	sendmmsg(s[0], mm, 3, 0);
	recvmmsg(s[1], mm, 3, 0, NULL);
	pipe(p);
	pipe(q);
	g = open("other", O_RDWR | O_CREAT | O_TRUNC, 0600);
	sendfile(g, f, NULL, 1234);
	copy_file_range(f, &at, g, NULL, 2345, 0);
	splice(f, &at, p[1], NULL, 999, 0);
	tee(p[0], q[1], 500, 0);
	vmsplice(p[1], v, 1, 0);
	stream = fopen("other", "r+");
	setvbuf(stream, NULL, _IOFBF, 512);
	fread(b, 1, 2000, stream);
	fseek(stream, 0, SEEK_END);
	fwrite(b, 1, 3000, stream);
	fclose(stream);
	puts("done");
	return 0;
}
END
	$CC -O1 -w -D_GNU_SOURCE -o ways ways.c
	strace -f -o strace.out -e "$TRANSFERS" ./ways >out
	transfers_of_strace strace.out | cut -d ' ' -f 2- >expected
	[ "$(wc -l <expected)" -gt 30 ]
	rm file other
	probe -- ./ways
	transfers | diff expected -
	$CC -O1 -w -D_GNU_SOURCE -static -o static ways.c
	rm file other
	probe -- ./static
	transfers | diff expected -
}

@test "what sort reads and writes in threads, and what its children do, is what strace has" {
	needs strace python3
	seq 1 400000 | awk '{ print ($1 * 7919) % 1000003 }' >numbers
	sort -n --parallel=4 -S 1M --compress-program=gzip -o sorted numbers
	strace -f -o strace.out -e "$TRANSFERS" sort -n --parallel=4 -S 1M -o expected_sorted numbers
	transfers_of_strace strace.out | cut -d ' ' -f 2- | sort >expected
	probe --follow -- sort -n --parallel=4 -S 1M -o sorted numbers
	transfers | sort | diff expected -
	cmp sorted expected_sorted
	# Children: gzip gets all that sort writes to it, and the other way round.
	probe --follow -- sort -n --parallel=1 -S 1M --compress-program=gzip -o sorted numbers
	cmp sorted expected_sorted
	[ "$(awk '{ print $1 }' told | sort -u | wc -l)" -gt 5 ]
	probe --follow -- sh -c 'head -c 100000 /dev/zero | cat | wc -c'
	assert_equal "$(awk '$2 == "write" && $4 > 7 { n += $4 } END { print n }' told)" 200000
	assert_equal "$(awk '$2 == "read" && $3 == 0 { n += $4 } END { print n }' told)" 200000
}

@test "the size of the heap is what the program's own mappings say" {
	cat >sizes.c <<'END'
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* What may be read and written without being of a file: [heap], and what has no name. */
static long mapped(long *heap_ret)
{
	static char text[1 << 16];
	int fd = open("/proc/self/maps", O_RDONLY), at;
	long sum = 0, n, got;
	char *line, *end, access[5];
	unsigned long a, b;

	for (n = 0; (got = pread(fd, text + n, sizeof(text) - 1 - n, n)) > 0;)
		n += got;
	close(fd);
	text[n] = 0;
	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &a, &b, access, &at);
		if (!strcmp(line + at, "[heap]"))
			*heap_ret = b - a;
		if (!strncmp(access, "rw-", 3) && (!line[at] || !strcmp(line + at, "[heap]")))
			sum += b - a;
	}
	return sum;
}
static long before;
static void say(void)
{
	char line[50];
	long heap;

	write(1, line, snprintf(line, sizeof(line), "%ld\n", mapped(&heap) - before));
}
static pthread_barrier_t barrier;
static void *work(void *unused)
{
	void *p[50];
	int i;

	(void)unused;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	p[0] = malloc(1000); /* an arena of its own */
	say();
	for (i = 1; i < 50; i++)
		p[i] = malloc(50000);
	say();
	while (--i)
		free(p[i]);
	say();
	malloc_trim(0);
	say();
	return p[0];
}
int main(void)
{
	pthread_t thread;
	void *p, *q, *r[100];
	long heap;
	int i;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, work, NULL);
	pthread_barrier_wait(&barrier);
	before = mapped(&heap);
	before -= heap; /* pthread_create() made it */
	say();
	p = malloc(1 << 20); /* mapped by itself */
	say();
	p = realloc(p, 8 << 20);
	say();
	for (i = 0; i < 100; i++) /* moves the break */
		r[i] = malloc(60000);
	say();
	for (i = 0; i < 100; i++)
		free(r[i]);
	say();
	malloc_trim(0);
	say();
	free(p);
	say();
	/* The program's own: not the allocator's. */
	q = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(q, 1 << 20);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	sbrk(40960);
	say();
	return 0;
}
END
	$CC -O1 -w -fno-builtin -D_GNU_SOURCE -pthread -o sizes sizes.c
	probe -- ./sizes
	awk '$2 == "heap" { size = $3 } $2 == "write" { print size }' told | diff out -
	[ "$(sort -u out | wc -l)" -gt 7 ]
	$CC -O1 -w -fno-builtin -D_GNU_SOURCE -pthread -static -o static sizes.c
	probe -- ./static
	awk '$2 == "heap" { size = $3 } $2 == "write" { print size }' told | diff out -
	# The recorder keeps it: the most that the mappings ever said, and each size in order.
	"$CPROF" run -q --allocs -o data -- ./sizes >out
	assert_equal "$("$CPROF" report --json data | jq .allocations.held_most_bytes)" "$(sort -n out | tail -n 1)"
	most=$(sort -n out | tail -n 1 | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta')
	[[ $("$CPROF" report --allocs data) == *" at once, of $most that the allocator had"* ]]
	"$CPROF" replay --json data | jq 'select(.event == "heap") | .size' >sizes.told
	"$CPROF" merge -o merged data data
	"$CPROF" replay --json merged | jq 'select(.event == "heap") | .size' | diff sizes.told -
	[ "$(uniq sizes.told | wc -l)" = "$(wc -l <sizes.told)" ]
	[ "$(comm -23 <(sort -u out) <(sort -u sizes.told) | wc -l)" = 0 ]
	# Who doesn't ask is told nothing.
	"$CPROF" run -q --plugin-dir=. --profile=memoryprobe:quiet -- ./sizes >told
	assert_equal "$(grep -c ' heap \| write ' told)" 0
	[[ $(tail -n 1 told) == 'wrong 0' ]]
}

@test "the size of the heap holds when threads give regions back and get each other's" {
	cat >regions.c <<'END'
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#define SIZE 200000 /* mapped: 200704 with its header */
static void *work(void *unused)
{
	void *p, *kept = NULL;
	int i;

	(void)unused;
	for (i = 0; i < 1000; i++) {
		p = malloc(SIZE);
		free(kept);
		kept = p;
		if (i % 3 == 0) {
			free(kept);
			kept = NULL;
		}
	}
	return kept ? kept : malloc(SIZE);
}
int main(void)
{
	pthread_t threads[6];
	int i;

	free(malloc(1)); /* the break: 135168 */
	mallopt(M_MMAP_THRESHOLD, 100000);
	mallopt(M_ARENA_MAX, 1);
	for (i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
	$CC -O1 -w -fno-builtin -pthread -o regions regions.c
	local turn
	for turn in 1 2 3; do
		probe -- ./regions
		assert_equal "$turn $(awk '$2 == "heap" { size = $3 } END { print size }' told)" \
			"$turn $((135168 + 6 * 200704))"
	done
	# Regions are whole pages, whatever is asked for.
	cat >pages.c <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
void *malloc(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
void free(void *p) { munmap(p, 5001); }
int main(void)
{
	void *p = malloc(5000);

	p = mremap(p, 5000, 9000, MREMAP_MAYMOVE);
	mremap(p, 9000, 5000, 0);
	free(p);
	return 0;
}
END
	$CC -O1 -w -fno-builtin -o pages pages.c
	probe -- ./pages
	assert_equal "$(awk '$2 == "heap" { print $3 }' told | tail -n 4 | xargs)" '8192 12288 8192 0'
}

# ends_program: handlers, a destructor and a library's, each of which writes a line.
ends_program() {
	cat >library.c <<'END'
#include <stdlib.h>
#include <unistd.h>
static void at_unload(void) { write(1, "library\n", 8); }
__attribute__((constructor)) static void begin(void) { atexit(at_unload); }
END
	cat >ends.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static const char *how;
static void first(void)
{
	write(1, "1\n", 2);
	if (!strcmp(how, "ends"))
		_exit(3);
	if (!strcmp(how, "again"))
		exit(4);
	if (!strcmp(how, "exec"))
		execl("./ends", "ends", NULL);
	if (!strcmp(how, "fork in it") && fork())
		wait(NULL);
}
static void second(void) { write(1, "22\n", 3); }
static void *ends(void *unused) { exit(0); return unused; }
int main(int argc, char **argv)
{
	pthread_t thread;
	void *library;

	how = argc > 1 ? argv[1] : "";
	atexit(second);
	atexit(first);
	at_quick_exit(second);
	write(1, "main\n", 5);
	if (!strcmp(how, "library")) {
		library = dlopen("./library.so", RTLD_NOW);
		write(1, "loaded\n", 7);
		dlclose(library);
		write(1, "unloaded\n", 9);
	} else if (!strcmp(how, "quick")) {
		quick_exit(0);
	} else if (!strcmp(how, "at once")) {
		_exit(0);
	} else if (!strcmp(how, "thread")) {
		pthread_create(&thread, NULL, ends, NULL);
		pause();
	} else if (!strcmp(how, "fork")) {
		if (!fork())
			return 0;
		wait(NULL);
	}
	return 0;
}
END
	$CC -O1 -w -fPIC -shared -o library.so library.c
	$CC -O1 -w -o ends ends.c
}

# finalized HOW LINE...: what happens is that, in this order.
finalized() {
	local how=$1
	shift
	"$CPROF" run -q --plugin-dir=. --profile=memoryprobe -- sh -c 'exec "$@" >out' sh ./ends "$how" >told || true
	# What was there right before an exec can't be walked behind it.
	[[ $how = exec || $(tail -n 1 told) == 'wrong 0' ]] || fail "$how: $(cat told)"
	happened | diff <(printf '%s\n' "$@") - || fail "$how"
}

@test "finalizing begins before the first handler and ends behind the last one" {
	ends_program
	local begin='write 1 5' handlers=('write 1 2' 'write 1 3')
	finalized '' "$begin" finalizing "${handlers[@]}" finalized
	finalized thread "$begin" finalizing "${handlers[@]}" finalized
	finalized again "$begin" finalizing "${handlers[@]}" finalized
	# Another program in the middle has its own.
	finalized exec "$begin" finalizing 'write 1 2' \
		"$begin" finalizing "${handlers[@]}" finalized
	finalized quick "$begin" finalizing 'write 1 3' finalized
	# A library alone.
	finalized library "$begin" 'write 1 7' finalizing 'write 1 8' finalized 'write 1 9' \
		finalizing "${handlers[@]}" finalized
	# Nothing is finalized; and not all.
	finalized 'at once' "$begin"
	finalized ends "$begin" finalizing 'write 1 2'
	# Each process by itself.
	probe --follow -- ./ends fork
	awk '/write/ { print $1 }' told | sort -u >processes
	assert_equal "$(wc -l <processes)" 2
	while read -r process; do
		assert_equal "$(sed -n "s/^$process \([wf].*\)/\1/p" told | tail -n 4 | xargs)" \
			"finalizing ${handlers[*]} finalized"
	done <processes
	assert_equal "$(grep -c finalized told)" 2
	# A process that is forked in the middle of it has the end of it.
	probe --follow -- ./ends 'fork in it'
	happened | sort | uniq -c | awk '{ $1 = $1 } 1' | diff - <(printf '%s\n' '2 finalized' '1 finalizing' \
		'1 write 1 2' '2 write 1 3' '1 write 1 5')
	$CC -O1 -w -static -o ends ends.c 2>static.log
	finalized '' "$begin" finalizing "${handlers[@]}" finalized
	finalized ends "$begin" finalizing 'write 1 2'
	probe -- sqlite3 :memory: 'select 1'
	assert_equal "$(grep -c finaliz told)" 2
}

# roots_program: says where its variables and stacks are, by itself and in threads,
# and with a library that is loaded at the start and one that comes and goes.
roots_program() {
	cat >lib.c <<'END'
#include <stdio.h>
__thread long lib_local[5] = { 3 };
static long lib_data[100] = { 1 }, lib_bss[3000];
void lib_say(const char *who)
{
	dprintf(1, "%s static %p %zu\n", who, (void *)lib_data, sizeof(lib_data));
	dprintf(1, "%s static %p %zu\n", who, (void *)lib_bss, sizeof(lib_bss));
}
void lib_say_local(const char *who) { dprintf(1, "%s tls %p %zu\n", who, (void *)lib_local, sizeof(lib_local)); }
END
	cat >roots.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern char edata[], end[], data_start[];
static __thread long local[7] = { 1 };
static __thread long wide[8] __attribute__((aligned(256)));
static long data[9] = { 2 }, bss[50];
#ifdef LIB
void lib_say(const char *), lib_say_local(const char *);
#else
static void lib_say(const char *who) { (void)who; }
static void lib_say_local(const char *who) { (void)who; }
#endif
static void say_stack(const char *who)
{
	pthread_attr_t attr;
	void *low;
	size_t size;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	dprintf(1, "%s stack %p %zu\n", who, low, size);
	dprintf(1, "%s tls %p %zu\n", who, (void *)local, sizeof(local));
	dprintf(1, "%s tls %p %zu\n", who, (void *)wide, sizeof(wide));
	lib_say_local(who);
}
static pthread_barrier_t barrier;
static void *work(void *unused)
{
	say_stack("thread");
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];
	pthread_attr_t attr;
	void *library;

	say_stack("main");
	dprintf(1, "main static %p %zu\n", (void *)data, sizeof(data));
	dprintf(1, "main static %p %zu\n", (void *)bss, sizeof(bss));
	dprintf(1, "main static %p %zu\n", (void *)data_start, end - data_start);
	lib_say("lib");
	pthread_barrier_init(&barrier, NULL, 3);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 200000);
	pthread_create(&threads[0], NULL, work, NULL);
	pthread_create(&threads[1], &attr, work, NULL);
	pthread_barrier_wait(&barrier);
	if (argc > 1) { /* attached to */
		write(2, "ready", 5);
		read(0, &argc, 1);
	}
	library = dlopen("./later.so", RTLD_NOW);
	if (library) {
		((void (*)(const char *))dlsym(library, "lib_say"))("later");
		dlclose(library);
	}
	pthread_barrier_wait(&barrier);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
END
	$CC -O1 -w -fPIC -shared -o liblib.so lib.c
	cp liblib.so later.so
	$CC -O1 -w -D_GNU_SOURCE -DLIB -pthread -o roots roots.c -L. -llib -Wl,-rpath,"$PWD"
	$CC -O1 -w -D_GNU_SOURCE -pthread -static -o static roots.c 2>static.log
}

# roots_hold: each place in ./out lies in one root of its kind in ./told, a stack is
# one, all that was registered is unregistered, nothing twice at once.
roots_hold() {
	python3 - <<'END'
import collections, sys
roots, live = [], {}
for line in open("told"):
    w = line.split()
    if w[1] == "root":
        assert (w[0], w[3]) not in live, line
        live[w[0], w[3]] = True
        roots.append((w[2], int(w[3], 16), int(w[4], 16)))
    elif w[1] == "unroot":
        assert live.pop((w[0], w[2]), False), line
assert not live, live
seen = collections.Counter()
for line in open("out"):
    who, kind, start, size = line.split()
    start, size = int(start, 16), int(size)
    within = [r for r in roots if r[0] == kind and r[1] <= start and start + size <= r[2]]
    assert within, line
    if kind == "stack": # of whole pages; glibc leaves those of the arguments out
        assert start in [r[1] for r in within], (line, within)
        assert who == "main" or any(r[2] - start - size < 4096 for r in within), (line, within)
    seen[who, kind] += 1
print(*(f"{who} {kind} {n}" for (who, kind), n in sorted(seen.items())), sep="; ")
END
}

@test "roots: data, stacks and thread-local variables, where the program says they are" {
	needs python3
	roots_program
	probe -- ./roots
	run roots_hold
	assert_output 'later static 2; lib static 2; main stack 1; main static 3; main tls 3; thread stack 2; thread tls 6'
	# The data ends where the linker says that it does.
	last=$(nm roots | awk '$3 == "_end" { print $1 }')
	assert_equal "$(awk -v exe="$PWD/roots" '$2 == "root" && $3 == "static" && $7 == exe { print $5 }' told | grep -c "${last: -3}\$")" 1
	probe -- ./static
	run roots_hold
	assert_output 'later static 2; main stack 1; main static 3; main tls 2; thread stack 2; thread tls 4'
	# A forked process has its own; an exec ends those of the program before.
	probe --follow -- sh -c './roots; exec ./roots'
	run roots_hold
	assert_output 'later static 4; lib static 4; main stack 2; main static 6; main tls 6; thread stack 4; thread tls 12'
	assert_equal "$(grep -c "root static .*$PWD/roots\$" told)" 2
}

@test "roots: stacks that the program makes for its threads are these, and not what is around them" {
	needs python3
	cat >own.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#define SIZE 262144
static char data[2][SIZE] __attribute__((aligned(4096)));
static __thread long local[4] = { 1 };
static pthread_barrier_t barrier;
static void *work(void *unused)
{
	pthread_attr_t attr;
	void *low;
	size_t size;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	dprintf(1, "thread stack %p %zu\n", low, size);
	dprintf(1, "thread tls %p %zu\n", (void *)local, sizeof(local));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}
int main(void)
{
	char *mapped = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *stacks[7] = { data[0], data[1], malloc(SIZE), malloc(SIZE), mapped, mapped + SIZE, NULL };
	pthread_t threads[7];
	pthread_attr_t attr;
	int i;

	pthread_barrier_init(&barrier, NULL, 8);
	for (i = 0; i < 7; i++) {
		pthread_attr_init(&attr);
		if (stacks[i] && pthread_attr_setstack(&attr, stacks[i], SIZE))
			return 1;
		pthread_create(&threads[i], &attr, work, NULL);
	}
	/* A program begins when cprof has read all that was before: none of them is gone. */
	pthread_barrier_wait(&barrier);
	if (system("true"))
		return 1;
	pthread_barrier_wait(&barrier);
	for (i = 0; i < 7; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
	$CC -O1 -w -D_GNU_SOURCE -pthread -o own own.c
	probe -- ./own
	run roots_hold
	assert_output 'thread stack 7; thread tls 7'
	# Each to the byte, where glibc says that it is.
	awk '$2 == "root" && $3 == "stack" { print $4 }' told | sort >starts
	sed -n 's/thread stack 0x\([0-9a-f]*\) .*/\1/p' out | sort | comm -23 - starts >missing
	assert_equal "$(wc -l <missing)" 0
}

all_locals() { (($(grep -c 'root tls' told) >= 9)); }

@test "roots of a program that is attached to" {
	needs python3
	roots_program
	mkfifo input
	./roots wait <input >out 2>err &
	started+=("$!")
	exec 7>input
	until_true grep -q ready err
	"$CPROF" attach -q --plugin-dir=. --profile=memoryprobe "${started[0]}" >told 3>&- 7>&- &
	attached=$!
	until_true all_locals
	echo go >&7
	exec 7>&-
	wait "$attached"
	run roots_hold
	assert_output 'later static 2; lib static 2; main stack 1; main static 3; main tls 3; thread stack 2; thread tls 6'
}

@test "what a signal handler reads in the middle of a read is told, and what follows a longjmp" {
	cat >inside.c <<'END'
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>
#include <stdlib.h>
static int from[2], turns;
static sigjmp_buf back;
static char b[8];
static void handler(int number)
{
	(void)number;
	if (turns++ % 2) { /* leaves */
		write(from[1], "xy", 2);
		siglongjmp(back, 1);
	}
	write(from[1], "abcdefg", 7);
	read(from[0], b, 3);
}
__attribute__((noinline)) static long deep(int n)
{
	volatile char room[300];

	room[0] = 0;
	return (n ? deep(n - 1) : read(from[0], b, 8)) + room[0];
}
int main(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	volatile int i;

	pipe(from);
	sigaction(SIGALRM, &action, NULL);
	for (i = 0; i < 4; i++) {
		ualarm(50000, 0);
		if (sigsetjmp(back, 1))
			deep(4);
		else
			read(from[0], b, 8);
	}
	return 0;
}
END
	$CC -O1 -w -D_GNU_SOURCE -o inside inside.c
	probe -- ./inside
	assert_equal "$(awk '$2 == "read" { print $4 }' told | xargs)" '3 4 2 3 4 2'
	$CC -O1 -w -D_GNU_SOURCE -static -o inside inside.c
	probe -- ./inside
	assert_equal "$(awk '$2 == "read" { print $4 }' told | xargs)" '3 4 2 3 4 2'
}

@test "a thread control block that a program forges in the first page is none" {
	cat >forged.c <<'END'
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	long *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (page) /* MAP_FAILED: only root may */
		return 77;
	__asm__("" : "+r"(page));
	*page = 1;
	syscall(SYS_set_robust_list, 0x1010, 24);
	return !dlopen("./empty.so", RTLD_NOW);
}
END
	$CC -O1 -w -D_GNU_SOURCE -fno-delete-null-pointer-checks -o forged forged.c
	$CC -w -fPIC -shared -o empty.so -x c /dev/null
	run ./forged
	[ "$status" -ne 77 ] || skip "may not map the first page"
	timeout -k 1 60 "$CPROF" run -q --plugin-dir=. --profile=memoryprobe -- ./forged >told
	[[ $(tail -n 1 told) == 'wrong 0' ]]
}

@test "threads that are gone before they are looked at don't get the first one's stack" {
	cat >brief.c <<'END'
#include <pthread.h>
static void *nothing(void *unused) { return unused; }
static void *starts(void *unused)
{
	pthread_t threads[4];
	int i, j;

	for (i = 0; i < 400; i++) {
		for (j = 0; j < 4; j++)
			pthread_create(&threads[j], NULL, nothing, NULL);
		for (j = 0; j < 4; j++)
			pthread_join(threads[j], NULL);
	}
	return unused;
}
int main(void)
{
	pthread_t threads[3];
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, starts, NULL);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
	$CC -O1 -w -pthread -o brief brief.c
	local turn
	for turn in {1..8}; do
		"$CPROF" run -q --plugin-dir=. --profile=memoryprobe:quiet -- ./brief >told
		# The first one's stack ends where another one's would.
		assert_equal "$turn $(awk '$3 == "stack" { if (!end) end = $5; else if ($5 == end) again++ }
			END { print again + 0 }' told)" "$turn 0"
	done
}

@test "what happens right before an exec has its stack, though the program is another by then" {
	ends_program
	"$CPROF" run -q --plugin-dir=. --profile=memoryprobe -- ./ends exec >told
	# The module wants two frames of each event.
	assert_equal "$(tail -n 1 told)" 'wrong 0'
	assert_equal "$(grep -c 'write 1 2' told)" 2
}
