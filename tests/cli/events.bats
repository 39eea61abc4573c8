#!/usr/bin/env bats
# Events in their order, judged by what strace and gdb see of the same program.
load helpers

# happened [OPTION] : events of ./happenings, in ./events.
happened() {
	"$CPROF" run -q --plugin-dir="$BUILD/tests/modules" --profile="events:$1events" -- \
		"$TRACEES/happenings" >out
	[ "$(cat out)" = 'happenings: ok all of it' ]
}

# order PATTERN...: lines that match come in this order (others between them).
order() {
	local line
	exec {events}<events
	for pattern; do
		while :; do
			read -r -u "$events" line || {
				echo "not there, or too early: $pattern" >&2
				return 1
			}
			[[ $line =~ $pattern ]] && break
		done
	done
	exec {events}<&-
}

@test "threads, forks, execs, names and signals come in strace's order" {
	needs strace python3
	happened ''
	strace -f -o trace -e trace=execve,clone,clone3,fork,vfork,prctl -e signal=all \
		"$TRACEES/happenings"
	run python3 "$BATS_TEST_DIRNAME/events_judge.py" strace events trace
	assert_success
	assert_output --partial 'the same'
}

@test "libraries come and go in gdb's order" {
	needs gdb python3
	happened ''
	GDB_OUT=libraries gdb -q -batch -nx -x "$BATS_TEST_DIRNAME/events_gdb.py" \
		"$TRACEES/happenings" >gdb.out 2>&1 </dev/null
	run python3 "$BATS_TEST_DIRNAME/events_judge.py" gdb events libraries
	assert_success
	assert_output --partial 'the same'
}

# Each of these is within, before and behind the others in some thread.
@test "threads, forks, libraries, exceptions and signals come in one order, which is gdb's" {
	needs gdb python3
	local module="$BUILD/tests/modules"
	${CXX:-c++} -g -O0 -o mixed "$BATS_TEST_DIRNAME/events_mixed.cpp" -pthread -ldl
	"$CPROF" run -q --plugin-dir="$module" --profile=events:throws,events -- \
		./mixed "$TRACEES/libplugin.so"
	gdb -q -nx -batch -x "$BATS_TEST_DIRNAME/events_mixed.gdb" --args \
		./mixed "$TRACEES/libplugin.so" >gdb.out 2>&1 </dev/null
	run -0 python3 "$BATS_TEST_DIRNAME/events_judge.py" mixed events gdb.out
	assert_output '49 events, the same'
}

@test "each birth has its end, each beginning is told before" {
	happened ''
	for pair in 'domain_loading domain_loaded' 'domain_loaded domain_unloading' \
		'domain_unloading domain_unloaded' 'image_loaded image_unloading' \
		'image_unloading image_unloaded' 'assembly_loading assembly_loaded' \
		'assembly_loaded assembly_unloading' 'assembly_unloading assembly_unloaded' \
		'context_loaded context_unloaded' 'thread_started thread_stopping' \
		'thread_stopping thread_stopped' 'thread_stopped thread_exited'; do
		read -r first second <<<"$pair"
		awk -v first="$first" -v second="$second" '
			{ what = ($3 ~ /^assembly/ ? "" : $1 " ") $4 " " $5 }
			$3 == first { open[what]++ }
			$3 == second && open[what]-- < 1 { print "too early: " $0; bad = 1 }
			END { for (w in open) if (open[w]) { print first " without " second ": " w; bad = 1 }
				exit bad }' events
	done
	run -0 grep -c runtime_initialized events
	assert_output 1
	tail -n 2 events >last
	printf '0 0 runtime_shutdown_begin\n0 0 runtime_shutdown_end\n' | diff - last
}

@test "the runtime is there before constructors are; who calls whom; what fails" {
	happened calls,
	order 'domain_loaded' 'thread_started' 'image_loaded .*/libc' 'runtime_initialized' \
		'begin_invoke traced_constructor' 'enter traced_constructor' \
		'leave traced_constructor' 'end_invoke traced_constructor' 'begin_invoke main' 'enter main' \
		'begin_invoke traced_start$' 'enter traced_start$' 'leave traced_start$' \
		'end_invoke traced_start$' 'thread_stopping' \
		'enter traced_start_and_leave' 'thread_stopping' 'thread_stopped' \
		'signal_delivered [0-9]+ 10 0$' 'begin_invoke traced_handler' 'enter traced_handler' \
		'leave traced_handler' 'end_invoke traced_handler' 'signal_delivered [0-9]+ 11 0x10$' \
		'image_loaded .*/libplugin.so 0' 'method_free plugin_work' 'image_unloaded .*/libplugin.so 0' \
		'image_loading /nonexistent/libnone.so 0' 'image_failed /nonexistent/libnone.so 0' \
		'context_loaded 1' 'image_loaded .*/libplugin.so 1' 'image_unloaded .*/libplugin.so 1' \
		'context_unloaded 1' 'begin_invoke traced_compare' 'leave traced_compare' \
		'end_invoke traced_compare' 'domain_unloaded' 'domain_loaded' 'leave main' 'end_invoke main' \
		'thread_stopping' 'begin_invoke traced_atexit' 'end_invoke traced_atexit' \
		'thread_name [0-9]+ renamed' 'domain_name [0-9]+ renamed'
	# Calls from one traced function to another invoke nothing.
	run ! grep -E 'invoke (children|signals)' events
}

@test "a library is there when it is about to be unloaded, or that is said" {
	cat >loads.c <<-'END'
		#include <dlfcn.h>
		#include <link.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			void *library;
			for (int i = 0; i < 3; i++) {
				library = dlopen(argv[argc - 1], RTLD_NOW);
				if (!library || dlclose(library))
					return 1;
			}
			/* By itself: nobody is asked. */
			library = dlopen(argv[argc - 1], RTLD_NOW);
			if (munmap((void *)((struct link_map *)library)->l_addr, 4096))
				return 1;
			return 0;
		}
	END
	"${CC:-cc}" -w -o loads loads.c -ldl
	"$CPROF" run -q --plugin-dir="$BUILD/tests/modules" --profile=lastlook:seen -- \
		./loads "$TRACEES/libplugin.so"
	assert_equal "$(grep -c '/libplugin.so mapped ELF$' seen)" 3
	assert_equal "$(grep '/libplugin.so' seen | sed 1,3d | cut -d' ' -f2)" gone
	# What ends with its process.
	grep -q '/libc.so.6 gone ' seen
	assert_equal "$(grep -c ' mapped ' seen)" 3
}

@test "breakpoints are for those who asked: sampling places none" {
	# Room for the instructions that breakpoints replaced.
	areas() { awk '$2 == "r-xp" && $6 == ""' maps | wc -l; }
	"$CPROF" run -q -o run.data -- cat /proc/self/maps >maps
	run areas
	assert_output 0
	"$CPROF" run -q --plugin-dir="$BUILD/tests/modules" --profile=events:events -- \
		cat /proc/self/maps >maps
	run areas
	refute_output 0
}

@test "an attached program's libraries are told, and it is left as it was" {
	start sleep 100
	until_true grep -q '/sleep$' "/proc/$pid/maps" # no longer the shell
	until_true grep -q libc "/proc/$pid/maps"
	"$CPROF" attach -q -d 300ms --plugin-dir="$BUILD/tests/modules" --profile=events:events "$pid"
	order 'domain_loaded .*sleep' 'thread_started' 'image_loaded .*sleep 0' \
		'image_loaded .*libc.so.6 0' 'runtime_initialized' 'runtime_shutdown_begin' 'runtime_shutdown_end'
	kill -0 "$pid"
}

@test "log:verbose says what is loaded, in which namespace, and what is not" {
	local line plugin
	plugin=$(realpath "$TRACEES/libplugin.so")
	separately "$CPROF" run -q -o run.data --profile=log:verbose -- "$TRACEES/happenings"
	assert_success
	assert_output 'happenings: ok all of it'
	line='^cprof: (log: )?'
	grep -E "$line(image_.*(plugin|none)|context_)" <<<"$stderr" | sed -E "s/$line//" >said
	cat >want <<-END
		image_loading $plugin
		image_loaded $plugin
		image_unloading $plugin
		image_unloaded $plugin
		image_loading /nonexistent/libnone.so
		image_failed /nonexistent/libnone.so
		context_loaded 1
		image_loading $plugin
		image_loaded $plugin
		image_unloading $plugin
		image_unloaded $plugin
		context_unloaded 1
	END
	diff want said
	for what in 'thread_name [0-9]+ worker' 'domain_name [0-9]+ renamed' \
		'signal_delivered [0-9]+ 11 at 0x10' runtime_initialized; do
		grep -Eq "$line$what\$" <<<"$stderr"
	done
}
