#!/usr/bin/env bats
# Waits for locks, against what the program says: how often it waited, on which
# mutex, and who held it.

load helpers
load tracees

# said NAME: what ./out says behind NAME.
said() {
	sed -n "s/^contend: ok.* $1 \([^ ]*\).*/\1/p" out
}

# told: of x.data, as the program says it; ends in the functions that waited.
told() {
	"$CPROF" report --json x.data | jq -r '.locks |
		"\(map(.waits - .timed_out) | add) \(map(.timed_out) | add) \(map(.address) | unique |
		join(",")) \(map(.owners[].tid) | unique | map(tostring) | join(",")) \(map(.waited_in) |
		sort | join(","))"'
}

# as_said: it is that.
as_said() {
	assert_equal "$(told)" "$(said waits) $(said timed_out) $(said lock) $(said holder) gives_up,waits_for_it"
}

@test "each wait is told: how often, on which mutex, who held it, who gave up" {
	"$CPROF" run --locks -q -o x.data -- "$TRACEES/contend" --rounds=20 >out
	[ "$(said waits) $(said timed_out)" = '20 20' ]
	as_said
	run "$CPROF" report --json x.data
	# A variable has its name; up to 20 ms are waited in vain.
	assert_equal "$(jq -c '[.locks[] | .variable, .type, .unfinished] | unique' <<<"$output")" \
		'[0,"contended","pthread_mutex_t"]'
	[ "$(jq '.locks[] | select(.waited_in == "gives_up").total_ns' <<<"$output")" -ge 100000000 ]
	[ "$(jq '[.locks[] | .longest_ns <= .total_ns and .longest_ns > 0] | all' <<<"$output")" = true ]
	assert_equal "$(jq '.locks == (.locks | sort_by(-.total_ns))' <<<"$output")" true
	assert_equal "$(jq 'has("exceptions")' <<<"$output")" false
	# Two stops a wait.
	assert_equal "$(jq .overhead.call_stops <<<"$output")" 80
}

@test "mutexes on the heap, in a child, in a static program, in a C library without symbols" {
	needs objcopy
	"$CPROF" run --locks -q -o x.data -- "$TRACEES/contend" --mode=heap >out
	as_said
	assert_equal "$("$CPROF" report --json x.data | jq -c '[.locks[].variable] | unique')" '[null]'
	"$CPROF" run --locks -q -o x.data -- "$TRACEES/contend" --mode=fork >out
	as_said
	"$CPROF" run --locks -q -o x.data -- "$TRACEES/contend_static" >out
	as_said
	library=$(ldd "$TRACEES/contend" | awk '/libc\.so/ { print $3 }')
	mkdir stripped
	# Then no debug file belongs to it.
	objcopy --strip-all --remove-section=.note.gnu.build-id --remove-section=.gnu_debuglink \
		--remove-section=.gnu_debugdata "$library" "stripped/${library##*/}"
	"$CPROF" run --locks -q -o x.data -- env LD_LIBRARY_PATH="$PWD/stripped" \
		"$TRACEES/contend" >out
	as_said
}

@test "locks that are free, recursive ones, trylock: nothing is told, and nothing stops" {
	run --separate-stderr "$CPROF" run --locks -o x.data -- "$TRACEES/contend" --mode=free
	assert_success
	assert_output 'contend: ok waits 0'
	assert_regex "$stderr" 'Locks  no lock was waited for'
	run "$CPROF" report --json x.data
	assert_equal "$(jq -c '[.locks, .overhead.call_stops]' <<<"$output")" '[[],0]'
	[ "$(jq .overhead.call_sites <<<"$output")" -ge 4 ]
	"$CPROF" run -q -o x.data -- true
	assert_equal "$("$CPROF" report --json x.data | jq 'has("locks")')" false
}

@test "the table says it: waits, times, the variable, who waited, who held it" {
	run --separate-stderr "$CPROF" run --locks -o x.data -- "$TRACEES/contend" --rounds=3
	assert_success
	holder=$(sed -n 's/.*holder \([0-9]*\).*/\1/p' <<<"$output")
	run "$CPROF" report x.data
	assert_regex "$output" 'Locks  6 waits of together .*, 3 timed out'
	assert_regex "$output" " 3 +[0-9.]+ .?s +[0-9.]+ .?s +3  contended +gives_up +contend \($holder\)"
	assert_regex "$output" " 3 +[0-9.]+ .?s +[0-9.]+ .?s +contended +waits_for_it +contend \($holder\)"
	"$CPROF" run -q --locks -t waits_for_it -o x.data -- "$TRACEES/contend" --rounds=3 >out
	run "$CPROF" report --under=waits_for_it x.data
	assert_regex "$output" ' 3 +[0-9.]+ .?s +[0-9.]+ .?s +contended +waits_for_it '
	refute_output --partial 'timed out'
}

@test "a running program's, from outside, and it is left as it was" {
	begin contend
	"$CPROF" attach -q -o x.data --locks -d 1s "$tracee"
	left_alone "$tracee"
	finish
	[[ $finished == "status 0, contend: ok"* ]]
	cp "$tracee_output" out
	# Where attaching and leaving cut a wait, its beginning or its end is missing.
	run "$CPROF" report --json x.data
	[ "$(jq '[.locks[].waits] | add' <<<"$output")" -gt 5 ]
	[ "$(jq '[.locks[].timed_out] | add' <<<"$output")" -gt 2 ]
	[ "$(jq '[.locks[].unfinished] | add' <<<"$output")" -le 1 ]
	assert_equal "$(jq -r '[.locks[].address] | unique | .[]' <<<"$output")" "$(said lock)"
	assert_equal "$(jq '[.locks[].owners[].tid] | unique | .[]' <<<"$output")" "$(said holder)"
}

@test "too many are told as long as --max-rate allows, and that it was so" {
	run --separate-stderr "$CPROF" run --locks --max-rate=5 -o x.data -- "$TRACEES/contend" --rounds=20
	assert_success
	assert_regex "$stderr" 'none is told after'
	run "$CPROF" report --json x.data
	[ "$(jq '[.locks[].waits] | add' <<<"$output")" -lt 40 ]
	[ "$(jq .no_locks_after_ns <<<"$output")" -gt 0 ]
}

@test "beside calls, and merged" {
	"$CPROF" run --locks -t waits_for_it -q -o 1.data -- "$TRACEES/contend" >out
	"$CPROF" run --locks -q -o 2.data -- "$TRACEES/contend" >out
	"$CPROF" merge -o x.data 1.data 2.data
	run "$CPROF" report --json x.data
	assert_equal "$(jq -c '[([.locks[].waits] | add), .calls.events]' <<<"$output")" '[20,10]'
}

@test "a wait that is not over when the program ends is told" {
	"$CPROF" run --locks -q -o x.data -- "$TRACEES/contend" --mode=exit
	assert_equal "$("$CPROF" report --json x.data | jq -c '[.locks[] | .waits, .unfinished]')" '[1,1]'
	assert_equal "$("$CPROF" replay --json x.data | jq -r .end)" unfinished
}

@test "replay shows waits when they are over, within the calls that they are in" {
	"$CPROF" run --locks -t waits_for_it,gives_up -q -o x.data -- "$TRACEES/contend" --rounds=1 >out
	run "$CPROF" replay --json x.data
	assert_equal "$(jq -r '"\(.event) \(.function) \(.depth) \(.end)"' <<<"$output" | grep -v tail_call)" \
		"enter waits_for_it 0 null
wait waits_for_it 1 acquired
enter gives_up 0 null
wait gives_up 1 timed_out
leave gives_up 0 null"
	assert_equal "$(jq -r 'select(.event == "wait") | "\(.address) \(.owner) \(.variable)"' \
		<<<"$output" | sort -u)" "$(said lock) $(said holder) contended"
	run "$CPROF" replay x.data
	assert_regex "$output" 'waited [0-9.]+ .?s for contended, held by contend \([0-9]*\), timed out in gives_up'
	"$CPROF" run --locks --stack -q -o x.data -- "$TRACEES/contend" --rounds=1 >out
	run "$CPROF" replay --json x.data
	assert_equal "$(jq -rs '.[0].stack | index("waits_for_it") as $i | .[$i:$i + 2] | join(" ")' \
		<<<"$output")" 'waits_for_it run_waiter'
}

@test "with --stack the report says where waits come from, as often as the program waited" {
	cat >waits.cpp <<-'END'
		#include <pthread.h>
		#include <cstdio>
		#include <ctime>
		static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
		__attribute__((noipa)) static int takes(pthread_mutex_t *m)
		{
			timespec until;
			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_sec += (until.tv_nsec += 20000000) / 1000000000;
			until.tv_nsec %= 1000000000;
			return pthread_mutex_timedlock(m, &until) != 0;
		}
		__attribute__((noipa)) static int one() { return takes(&first) + takes(&second); }
		__attribute__((noipa)) static int two(int deep) { return deep ? two(deep - 1) + 1 : takes(&first); }
		static void *run(void *)
		{
			for (int i = 0; i < 3; i++)
				one();
			for (int i = 0; i < 2; i++)
				two(0);
			return (void *)(long)two(20);
		}
		int main()
		{
			pthread_t t;
			pthread_mutex_lock(&first);
			pthread_mutex_lock(&second);
			pthread_create(&t, nullptr, run, nullptr);
			pthread_join(t, nullptr);
			std::puts("first one 3\nfirst two 2\nfirst two 1 of deep\nsecond one 3");
		}
	END
	g++ -g -O1 -fno-optimize-sibling-calls -o waits waits.cpp -pthread
	"$CPROF" run --locks --stack -q -o x.data -- ./waits >expected
	"$CPROF" report --json x.data >x.json
	jq -r '.locks[] | .variable as $lock | .from[] | "\($lock) \(.stack[1].function | sub("\\(.*"; "")) " +
		"\(.waits)\(if .cut then " of deep" else "" end)"' x.json | sort >got
	diff <(sort expected) got
	# From who took the lock on outwards, with all of the time.
	jq -e '[.locks[].from[].stack[0].function == "takes(pthread_mutex_t*)"] | all' x.json
	jq -e '[.locks[] | .total_ns == ([.from[].total_ns] | add)] | all' x.json
	line=$(grep -n 'int one()' waits.cpp | cut -d: -f1)
	run "$CPROF" report --locks x.data
	assert_line --regexp '^Waits +longest in all first, by where they came from$'
	assert_equal "$(grep -c '^  3 waits of .* for \(first\|second\) from$' <<<"$output")" 2
	assert_equal "$(grep -c "^      one()  waits.cpp:$line\$" <<<"$output")" 2
	assert_equal "$(grep -c '^      …$' <<<"$output")" 1
	"$CPROF" run --locks -q -o y.data -- ./waits >expected
	run "$CPROF" report --locks y.data
	refute_line --regexp '^Waits'
	assert_equal "$("$CPROF" report --json y.data | jq 'any(.locks[]; has("from"))')" false
}

@test "Rust's Mutex" {
	[ -x "$TRACEES/contend_rust" ] || skip 'rustc is not installed'
	"$CPROF" run --locks -q -o x.data -- "$TRACEES/contend_rust" >out
	assert_equal "$(cat out)" 'waits 20'
	assert_equal "$("$CPROF" report --json x.data | jq -c '[.locks[] |
		select(.waited_in == "contend_rust::waits_for_it") | .type, .waits, .owners[0].tid]')" \
		'["std::sync::Mutex",20,null]'
}

@test "Rust, optimised: who waits may be inlined into what the library calls it by" {
	needs rustc
	sed 's/inline(never)/inline(always)/' "$SOURCES/tests/tracees/contend_rust.rs" >waits.rs
	rustc -O -g -o waits waits.rs
	run nm -C waits
	refute_output --partial waits_for_it
	"$CPROF" run --locks -q -o x.data -- ./waits >out
	assert_equal "$("$CPROF" report --json x.data | jq -c '[.locks[] |
		select(.waited_in == "waits::waits_for_it") | .waits]')" '[20]'
}

@test "programs whose locks can't be watched are named, once" {
	[ -x "$TRACEES/known_stack_musl" ] || skip 'musl-gcc is not installed'
	run --separate-stderr "$CPROF" run --locks -q -o x.data -- "$TRACEES/known_stack_musl" --rounds=1
	assert_success
	assert_equal "$(grep -c "locks of .*known_stack_musl can't be watched: " <<<"$stderr")" 1
	run --separate-stderr "$CPROF" run --locks -q -o x.data -- true
	assert_equal "$stderr" ''
}

@test "modules get the three events, when they ask for them" {
	"$CPROF" run -q --plugin-dir="$BUILD/tests/modules" --profile=monitors:events -- \
		"$TRACEES/contend" --rounds=2 >out
	at="$(said lock) pthread_mutex_t $(said holder) contended"
	of=$(said waiter)
	for _ in 1 2; do
		printf '%s\n' "$of contention $at" "$of acquired $at" "$of contention $at" "$of failed $at"
	done >expected
	diff expected events
	"$CPROF" run -q --plugin-dir="$BUILD/tests/modules" --profile=monitors:unasked,events -- \
		"$TRACEES/contend" --rounds=2 >out
	[ ! -s events ]
	run "$CPROF" modules --events
	for event in contention failed acquired; do
		assert_regex "$output" "monitor_$event +raised "
	done
}
