#!/usr/bin/env bats
# What programs announce with cprof/trace.h, read while they run. The programs
# print the same lines as annotations_dump: what they did is the expectation.

# shellcheck disable=SC2030,SC2031 # each test has its own
load helpers

dump() { LD_LIBRARY_PATH=$BUILD timeout 100 "$BUILD/tests/unit/annotations_dump" "$@"; }

# alike PROGRAM ARG...: what it says of itself is what was read of it.
alike() {
	dump "$@" >said 2>got || { cat got; return 1; }
	diff <(grep -E '^[0-9]+ [a-z]' said | sort) <(grep -E '^-?[0-9]+ [a-z]' got | sort)
	[ -s said ]
}

@test "all kinds, scopes too, from programs built in all ways, stripped" {
	local how
	for how in annotated annotated_static annotated_gc; do
		cp "$TRACEES/$how" p
		strip -s p
		alike ./p all
		grep -q 'events 13 lost 0 unknown 0 rings 1 fibers 1' got
	done
}

@test "a child has a ring of its own: nothing twice, nothing missing" {
	alike "$TRACEES/annotated" fork
	grep -q 'events 4 lost 0' got
}

@test "a library that comes and goes is read before it is gone" {
	alike "$TRACEES/annotated" plugin "$TRACEES/libannotated_plugin.so"
	grep -q 'events 20 lost 0' got
}

@test "threads that are gone at once, and their last words" {
	dump --count "$TRACEES/annotated" threads 2>got
	assert_equal "$(grep -E '^(begin|end|events)' got)" "$(printf '%s\n' 'begin: 800' 'end: 800' \
		'events 1600 lost 0 unknown 0 rings 1 fibers 0')"
}

@test "the last events of a program that ends at once, gives its ring up, or is killed" {
	alike "$TRACEES/annotated" shutdown
	alike "$TRACEES/annotated" kill 5
	alike "$TRACEES/annotated" exec
}

@test "a ring that is given up twice is read, one in memory of the program's is counted" {
	cat >down.c <<-'END'
		#include <cprof/trace.h>
		#include <stdio.h>
		static _Alignas(64) cprof_trace_event storage[1024];
		int main(int argc, char **argv)
		{
			(void)argv;
			if (argc > 1)
				cprof_trace_init(storage, 1024);
			for (int i = 0; i < 2; i++) {
				for (int n = 0; n < 100; n++)
					CPROF_TRACE_INSTANT("n");
				cprof_trace_shutdown();
			}
			return printf("%d\n", (int)cprof_trace_root_v1.head) < 0;
		}
	END
	"${CC:-cc}" -I "$SOURCES/include" -o down down.c
	assert_equal "$(dump --count ./down 2>got)" 200
	grep -q '^events 200 lost 0 ' got
	# The memory is the program's again at once: what was read by then, was read.
	recorded=$(dump --count ./down storage 2>got)
	assert_equal "$(awk '/^events/ { print $2 + $4 }' got)" "$recorded"
}

@test "writers that race, and signal handlers between: read + lost = recorded, none torn" {
	local how recorded events lost
	for how in "storm 2 $(long_or 10000000 100000)" "signals"; do
		# shellcheck disable=SC2086 # words
		dump --count "$TRACEES/annotated" $how >said 2>got
		recorded=$(awk '{ n += $1 } END { print n }' said)
		events=$(sed -n 's/^events \([0-9]*\).*/\1/p' got)
		lost=$(sed -n 's/^events.* lost \([0-9]*\).*/\1/p' got)
		assert_equal $((events + lost)) "$recorded"
		grep -qx 'torn: 0' got || [ "$how" = signals ]
	done
}

# What a program records with HOW it ends: its own count, and what there is of it.
recorded_and_told() {
	recorded=$(CPROF_TRACE_EVENTS=4096 "$CPROF" run -q --annotations -o x.data -- ./ends "$@" 2>err |
		awk '{ n += $1 } END { print n }')
	told=$("$CPROF" report --json x.data | jq '.annotations | .events + .lost')
}

@test "read + lost = recorded, however a program ends" {
	cat >ends.c <<-'END'
		#include <cprof/trace.h>
		#include <fcntl.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			static char *none[] = { "true", NULL };
			const char *how = argv[argc - 2];
			long n = atol(argv[argc - 1]), i;
			pid_t child = -1;
			char line[40];
			if (!strcmp(how, "fork")) {
				for (i = 0; i < n; i++)
					CPROF_TRACE_INSTANT("before");
				child = fork();
			}
			for (i = 0; i < n; i++)
				CPROF_TRACE_INSTANT("n");
			i = snprintf(line, sizeof(line), "%llu\n", (unsigned long long)
				(cprof_trace_root_v1.head - cprof_trace_root_v1.first));
			if (write(1, line, (size_t)i) != i)
				return 1;
			if (child > 0)
				waitpid(child, NULL, 0);
			if (!strcmp(how, "exec"))
				execv("/bin/true", none);
			if (!strcmp(how, "fexecve"))
				fexecve(open("/bin/true", O_RDONLY), none, none + 1);
			if (!strcmp(how, "raw"))
				syscall(SYS_execve, "/bin/true", none, none + 1);
			if (!strcmp(how, "kill"))
				kill(getpid(), SIGKILL);
			if (!strcmp(how, "abort"))
				abort();
			_exit(0);
		}
	END
	"${CC:-cc}" -D_GNU_SOURCE -w -I "$SOURCES/include" -o ends ends.c
	local how n
	for how in exec fexecve fork kill abort exit; do
		for n in 500 40000; do # the ring holds 4,096
			recorded_and_told "$how" "$n"
			echo "$how $n: $recorded $told"
			assert_equal "$told" "$recorded"
			refute_regex "$(cat err)" 'may be missing'
		done
	done
	# A system call that nobody sees coming: what was lost is not known, and that is said.
	recorded_and_told raw 40000
	((told <= recorded))
	grep -q 'executed another one without being seen before: annotations right before' err
}

@test "a large ring is read to its end" {
	cat >fill.c <<-'END'
		#include <cprof/trace.h>
		static cprof_trace_event events[1000]; /* BEGIN, of no thread and no name */
		int main(void)
		{
			for (int i = 0; i < 1000; i++)
				cprof_trace_submit(events, 1000);
			return 0;
		}
	END
	"${CC:-cc}" -O2 -I "$SOURCES/include" -o fill fill.c
	CPROF_TRACE_EVENTS=1048576 dump --count ./fill 2>got
	grep -q '^events 1000000 lost 0 ' got
}

@test "switched on from outside while it runs, off again afterwards" {
	mkfifo in
	"$TRACEES/annotated" late <in >said &
	local pid=$! dumping
	started+=("$pid")
	exec 7>in
	until_true grep -q unseen said
	dump --events=10 --attach "$pid" 2>got 7>&- &
	dumping=$!
	# Again and again, until something was read.
	more() { echo x >&7; grep -q seen got; }
	until_true more
	wait "$dumping"
	exec 7>&-
	wait "$pid"
	grep -qx 'before: enabled 0 recorded 0 ring no' said
	grep -qx 'enabled 0' said
	run cat got
	refute_output --partial unseen
	grep -q ' lost 0 ' got
}

@test "run --annotations records them, beside samples, of a stripped program" {
	cp "$TRACEES/annotated" p
	strip -s p
	"$CPROF" run -q --annotations -- ./p all >said
	"$CPROF" export -f chrome -o - >trace.json
	# shellcheck disable=SC2016 # jq's
	jq -e '[.traceEvents[] | select(.ph == "X" and (.name | IN("scopes", "part", "block")))] | length == 3' trace.json
	jq -e '[.traceEvents[] | select(.ph == "C" and .name == "level") | .args | to_entries[0].value] == [-42]' trace.json
	jq -e '[.traceEvents[] | select(.name == "async") | .ph] == ["b", "e"]' trace.json
	run "$CPROF" report --annotations
	assert_line --regexp ' part$'
}

@test "fibers that are not announced: every switch is noticed, each fiber has a track" {
	alike "$TRACEES/annotated" fibers 3
	"$CPROF" run -q --annotations -- "$TRACEES/annotated" fibers 3 >said
	"$CPROF" export -f chrome -o - >trace.json
	jq -e '[.traceEvents[] | select(.ph == "X" and .name == "fiber") | .tid] | length == 3 and (unique | length == 3)' trace.json
	"$CPROF" run -q --annotations -o two.data -- "$TRACEES/coroutines" --rounds=1 >out
	run "$CPROF" report --annotations two.data
	# So many in each of its two threads, on stacks of their own while both run.
	made=$(sed -n 's/.*: ok \([0-9]*\) coroutines.*/\1/p' out)
	assert_line --regexp '^Fibers +[0-9]+ fibers, [1-9][0-9,]* switches'
	told=$(awk '$1 == "Fibers" { print $2 }' <<<"$output")
	((told >= made && told <= 2 * made))
}

@test "CPROF_TRACE_DISABLE leaves no symbol; without it nothing is exported" {
	needs nm
	"${CC:-cc}" -I "$SOURCES/include" -DCPROF_TRACE_DISABLE -c -o none.o "$SOURCES/tests/tracees/annotated_plugin.c"
	assert_equal "$(nm none.o | awk '{ print $NF }' | grep -v '^\.')" annotate
	run nm -D --defined-only "$TRACEES/libannotated_plugin.so"
	refute_output --partial cprof
}

# killed WHO: attaches, has something read, kills, and waits until it is let go.
killed() {
	local pid controller tracer
	mkfifo in
	"$TRACEES/annotated" late <in >said &
	pid=$!
	started+=("$pid")
	exec 7>in
	until_true grep -q unseen said
	"$CPROF" attach -q --annotations "$pid" >/dev/null 2>&1 7>&- &
	controller=$!
	started+=("$controller")
	held() { tracer=$(awk '/^TracerPid/ { print $2 }' "/proc/$pid/status") && [ "$tracer" != 0 ]; }
	free() { ! held; }
	until_true held
	recording() { echo x >&7; "$CPROF" report --annotations 2>/dev/null | grep -q ' seen$'; }
	until_true recording
	if [ "$1" = tracer ]; then kill -KILL "$tracer"; else kill -KILL "$controller"; fi
	wait "$controller" || true
	until_true free
	exec 7>&-
	wait "$pid"
	grep -qx 'enabled 0' said
}

@test "whichever half of cprof is killed, the other one switches annotations off" {
	killed tracer
	rm in
	killed controller
}

@test "one root and one note in what is linked, however that is done" {
	local cc how two=$SOURCES/tests/tracees/annotated_plugin.c
	cat >main.c <<-'END'
		#include <cprof/trace.h>
		#include <stdio.h>
		void annotate(int value);
		int main(void)
		{
			cprof_trace_set_enabled(true);
			CPROF_TRACE_SCOPE("main");
			annotate(1);
			return printf("%d\n", (int)cprof_trace_root_v1.head) < 0;
		}
	END
	for cc in gcc clang; do
		command -v $cc >/dev/null || { echo "# $cc is not installed" >&3; continue; }
		for how in -O0 '-O2 -flto' '-O2 -static -Wl,--gc-sections -ffunction-sections -fdata-sections' \
			'-O2 -static-pie -fPIE -s'; do
			# shellcheck disable=SC2086 # words
			$cc $how -I "$SOURCES/include" main.c "$two" -o linked
			strip -s linked
			assert_equal "$cc $how: $(./linked) $(readelf -Wn linked | grep -c 0x54435250)" "$cc $how: 2 1"
		done
	done
}

# One source, two rings: what the program and its library announce side by side.
@test "an end belongs to the ring that it is in" {
	cat >both.c <<-'END'
		#include <cprof/trace.h>
		#ifdef LIBRARY
		#define NAME(x) library_##x
		#define SAID(x) x " of the library"
		#else
		#define NAME(x) program_##x
		#define SAID(x) x " of the program"
		#endif
		uint64_t NAME(start)(void);
		uint64_t NAME(begin)(void);
		uint64_t NAME(start)(void) { return cprof_trace_start(SAID("job"), "c", NULL); }
		uint64_t NAME(begin)(void) { return cprof_trace_begin(SAID("span"), "c", NULL); }
		#ifndef LIBRARY
		uint64_t library_start(void);
		uint64_t library_begin(void);
		int main(void)
		{
			uint64_t job = program_start(), other_job = library_start(), span, other_span;

			cprof_trace_finish(job);
			span = program_begin();
			other_span = library_begin();
			cprof_trace_end(span);
			cprof_trace_end(other_span);
			cprof_trace_finish(other_job); /* in this ring, but an id of that one */
			return 0;
		}
		#endif
	END
	"${CC:-cc}" -I "$SOURCES/include" -DLIBRARY -fPIC -shared -o libboth.so both.c
	"${CC:-cc}" -I "$SOURCES/include" -o both both.c ./libboth.so
	"$CPROF" run -q --annotations -- ./both
	run bash -c '"$CPROF" replay --json | jq -r "[.event, .name] | join(\" \")"'
	assert_output - <<-'END'
		start job of the program
		start job of the library
		finish job of the program
		begin span of the program
		begin span of the library
		end span of the program
		end span of the library
		finish job of the library
	END
}

@test "END_FUNC_SCOPE_WITH yields what it is given, whatever that is" {
	local how
	cat >with.c <<-'END'
		#include <cprof/trace.h>
		#include <stdio.h>
		struct bits { unsigned few : 3; };
		static const char *text(void)
		{
			CPROF_TRACE_BEGIN_FUNC_SCOPE();
			return CPROF_TRACE_END_FUNC_SCOPE_WITH("text");
		}
		static unsigned few(struct bits b)
		{
			CPROF_TRACE_BEGIN_FUNC_SCOPE();
			return CPROF_TRACE_END_FUNC_SCOPE_WITH(b.few);
		}
		#ifdef __cplusplus
		static int &same(int &x)
		{
			CPROF_TRACE_BEGIN_FUNC_SCOPE();
			return CPROF_TRACE_END_FUNC_SCOPE_WITH(x);
		}
		static void nothing(int &x)
		{
			CPROF_TRACE_BEGIN_FUNC_SCOPE();
			return CPROF_TRACE_END_FUNC_SCOPE_WITH(static_cast<void>(x++));
		}
		#endif
		int main(void)
		{
			struct bits b = { 5 };
		#ifdef __cplusplus
			int x = 7;
			nothing(x);
			if (&same(x) != &x || x != 8)
				return 1;
		#endif
			return printf("%s %u\n", text(), few(b)) < 0;
		}
	END
	for how in 'gcc -std=c99' 'gcc -std=c17 -O2' 'g++ -xc++ -std=c++11' 'g++ -xc++ -std=c++20 -O2' \
		'clang -std=c99' 'clang -std=c17 -O2' 'clang++ -xc++ -std=c++11' 'clang++ -xc++ -std=c++20 -O2'; do
		command -v "${how%% *}" >/dev/null || continue
		# shellcheck disable=SC2086 # words
		$how -Wall -Wextra -Wpedantic -Werror -I "$SOURCES/include" with.c -o with
		assert_equal "$how: $(CPROF_TRACE=1 ./with)" "$how: text 5"
	done
}

@test "an annotation leaves errno alone, without memory and with a wrong size, too" {
	cat >errno.c <<-'END'
		#include <cprof/trace.h>
		#include <errno.h>
		#include <stdio.h>
		#include <sys/resource.h>
		int main(int argc, char **argv)
		{
			struct rlimit none = { 0, 0 };
			int number = 42;

			(void)argv;
			cprof_trace_set_enabled(true);
			if (argc > 1)
				setrlimit(RLIMIT_AS, &none);
			errno = number;
			CPROF_TRACE_INSTANT("i");
			number = errno;
			return printf("%d %d\n", number, (int)cprof_trace_get_buffer().total_recorded) < 0;
		}
	END
	"${CC:-cc}" -I "$SOURCES/include" -o errno errno.c
	assert_equal "$(./errno no_memory)" '42 0'
	assert_equal "$(CPROF_TRACE_EVENTS=99999999999999999999 ./errno)" '42 1'
}

@test "ThreadSanitizer has nothing to say, neither at compile time nor of a ring that is overwritten" {
	local cc
	cat >races.c <<-'END'
		#include <cprof/trace.h>
		#include <pthread.h>
		static void *record(void *unused)
		{
			for (int i = 0; i < 3000; i++) {
				CPROF_TRACE_SCOPE("span");
				CPROF_TRACE_COUNTER("counter", i);
				cprof_trace_fiber_switch(1, 2);
				cprof_trace_intern("text");
			}
			return unused;
		}
		int main(void)
		{
			pthread_t t[4];

			for (int i = 0; i < 4; i++)
				pthread_create(&t[i], NULL, record, NULL);
			for (int i = 0; i < 4; i++)
				pthread_join(t[i], NULL);
			return 0;
		}
	END
	echo 'int main(void) { return 0; }' >nothing.c
	for cc in gcc clang; do
		command -v $cc >/dev/null || continue
		{ $cc -fsanitize=thread nothing.c -o races && ./races; } || skip "ThreadSanitizer does not work here"
		$cc -fsanitize=thread -O2 -Werror -I "$SOURCES/include" races.c -o races -pthread
		CPROF_TRACE=1 CPROF_TRACE_EVENTS=64 ./races
	done
}

@test "a name that is too long is cut between characters" {
	cat >long.c <<-'END'
		#include <cprof/trace.h>
		int main(void)
		{
			static char name[9001];

			for (int i = 0; i < 3000; i++)
				memcpy(name + 3 * i, "€", 3);
			CPROF_TRACE_INSTANT(name);
			CPROF_TRACE_INSTANT(name + 3);
			name[8999] = 0; /* not UTF-8 at all, at its end */
			CPROF_TRACE_INSTANT(name + 6000);
			return 0;
		}
	END
	"${CC:-cc}" -I "$SOURCES/include" -o long long.c
	"$CPROF" run -q --annotations -- ./long
	"$CPROF" replay --json | jq -se 'map(.name) | length == 3 and (.[:2] | all(test("^€{1300,}…$")))
		and (.[2] | test("^€{999}\ufffd+$"))'
}

@test "the header is clean as C99 and as C++11" {
	local warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Wundef -Wcast-align -Wredundant-decls -Werror -fsyntax-only'
	local cc define
	cat >clean.c <<-'END'
		#include <cprof/trace.h>
		int clean(int x);
		int clean(int x)
		{
			CPROF_TRACE_BEGIN_FUNC_SCOPE_WITH_OBJECT("o");
			CPROF_TRACE_SCOPE("a");
			CPROF_TRACE_SCOPE_WITH_OBJECT("b", "o");
			CPROF_TRACE_BEGIN_LOCAL_SCOPE(tag);
			CPROF_TRACE_INSTANT("i");
			CPROF_TRACE_COUNTER("c", x);
			CPROF_TRACE_END_LOCAL_SCOPE(tag);
			return CPROF_TRACE_END_FUNC_SCOPE_WITH(x + 1);
		}
	END
	for define in -DNOTHING -DCPROF_TRACE_DISABLE; do
		for cc in gcc clang; do
			command -v $cc >/dev/null || continue
			# shellcheck disable=SC2086 # words
			$cc -std=c99 $warnings -Wmissing-prototypes $define -I "$SOURCES/include" clean.c
			# shellcheck disable=SC2086 # words
			$cc -xc++ -std=c++11 $warnings -Wold-style-cast $define -I "$SOURCES/include" clean.c
		done
	done
}
