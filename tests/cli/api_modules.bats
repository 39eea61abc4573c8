#!/usr/bin/env bats
# The API's rules as modules see them: small ones from tests/modules, built as a
# stranger would, that print what they got of a program that says what it did.

load helpers
load tracees

setup_file() {
	export MODULES=$BATS_FILE_TMPDIR CC=${CC:-cc} CXX=${CXX:-c++}
	local name
	for name in afterwards beat covprobe ctxprobe eltprobe fetchprobe flagprobe keptprobe late lifecycle snapprobe; do
		module "$name" "$name"
	done
	module one filters -DNAME=one -DWANTS=1
	module two filters -DNAME=two -DWANTS=0
	module first sampleprobe -DNAME=first
	module second sampleprobe -DNAME=second
	$CC -O1 -o "$MODULES/program" "$SOURCES/tests/modules/program.c"
	$CC -g -O2 -o "$MODULES/fetched" "$SOURCES/tests/modules/fetched.c"
	$CC -O1 -o "$MODULES/kept" "$SOURCES/tests/modules/kept.c"
	strip -g -o "$MODULES/bare" "$MODULES/fetched"
	$CXX -g -O2 -o "$MODULES/probed" "$SOURCES/tests/modules/probed.cpp" -pthread
}

# module NAME FILE FLAG...
module() {
	local name=$1 file=$2
	shift 2
	$CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -fPIC -shared -O1 -I "$SOURCES/include" \
		-o "$MODULES/libcprof-profiler-$name.so" "$SOURCES/tests/modules/$file.c" "$@"
}

# probe PROFILE... [-- CMD...]: standard output of all of it, sorted out by the
# tests; what cprof itself says is an error. However fast the machine is, no
# function is called too often.
way= # how calls are seen

probe() {
	local options=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=(--profile="$1")
		shift
	done
	shift || set -- "$MODULES/probed"
	separately timeout 120 "$CPROF" run --plugin-dir="$MODULES" --max-rate=0 $way "${options[@]}" -- "$@"
	assert_equal "$status" 0
	assert_equal "$stderr" ""
}

@test "the headers have every name, type and value that they had, in C99 and in C++11" {
	local names how
	for names in cprof trace; do
		for how in CPROF_TRACE_IMPLEMENTATION CPROF_TRACE_DISABLE; do
			$CC -std=c99 -pedantic -Wall -Wextra -Werror -D$how -I "$SOURCES/include" \
				-c -o $names.o "$SOURCES/tests/modules/names_$names.c"
			$CXX -xc++ -std=c++11 -pedantic -Wall -Wextra -Werror -D$how -I "$SOURCES/include" \
				-c -o $names.oo "$SOURCES/tests/modules/names_$names.c"
		done
	done
	# And the library has every function.
	nm -u cprof.o | awk '{ print $2 }' | sort >used
	nm -D --defined-only "$BUILD/libcprof.so" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort >there
	[ "$(wc -l <used)" -gt 100 ]
	assert_equal "$(comm -23 used there)" ""
}

@test "all filters are asked about all functions, whatever the others say" {
	needs nm
	nm --defined-only "$MODULES/probed" | awk '$2 == "T" && $3 ~ /^probed_/ { print $3 }' |
		sort >want
	# The newest is asked first: who wants nothing, then who wants all of it.
	for modules in 'one:one.txt two:two.txt' 'two:two.txt one:one.txt'; do
		rm -f one.txt two.txt
		# shellcheck disable=SC2086 # words
		probe $modules
		cmp one.txt two.txt
		for kind in calls coverage; do
			sed -n "s/^$kind \(probed_.*\)/\1/p" one.txt | sort -u | diff want -
		done
	done
}

@test "coverage data: false of what was not chosen, zeros of what never ran" {
	probe covprobe
	assert_line "probed_add: true, some entries, all executed"
	assert_line "probed_never: true, some entries, none executed"
	assert_line "probed_fib: false, no entries, none executed"
	probe covprobe:off
	assert_equal "$(grep -c ": false, no entries, none executed" <<<"$output")" 3
}

@test "the sampler is its first asker's" {
	probe first:real,50 second:process,100 -- sleep 1
	assert_line "first: enable 1 set 1 get 1 mode 2 50 Hz"
	assert_line "second: enable 1 set 0 get 0 mode 2 50 Hz"
	assert_line "first: hits"
	assert_line "second: hits"
}

@test "no samples in mode NONE; no frequency is refused" {
	probe first:none,100 second:real,100 -- sleep 0.2
	assert_line "first: no hits"
	assert_line "second: no hits"
	probe first:real,0 -- sleep 0.2
	assert_line "first: enable 1 set 0 get 1 mode 0 100 Hz"
	assert_line "first: no hits"
}

# The program says how often fib was called; of the others there are 10 calls,
# of which one is left by a tail call, four by exceptions and longjmp.
@test "each flag brings its events and no others" {
	local flags calls leaves contexts want
	for flags in 0 2 4 8 16 32 64 128 256 512 1024 2048 6 24 10 42 66 72 96 126; do
		probe flagprobe:$flags
		[[ $output =~ fib\ ([0-9]+)\ calls ]]
		calls=$((BASH_REMATCH[1] + 10))
		leaves=$((calls - 5))
		contexts=$(((flags & 6) == 6 ? calls : 0))
		contexts=$((contexts + ((flags & 24) == 24 ? leaves : 0)))
		want="$((flags & 2 ? calls : 0)) enters $((flags & 8 ? leaves : 0)) leaves "
		want+="$((flags & 32 ? 1 : 0)) tail calls $((flags & 64 ? 4 : 0)) unwound $contexts contexts"
		grep -q -x -F "$want" <<<"$output" || complain "$flags: $output; not: $want"
		[ "$((flags & 32))" = 0 ] || grep -q -x "probed_tail => probed_add" <<<"$output" ||
			complain "$flags: no target: $output"
	done
	no_complaints
	# The first call of each function, and no more of it.
	probe flagprobe:$((2048 | 126))
	assert_line "9 enters 0 leaves 0 tail calls 0 unwound 9 contexts"
}

@test "a call that is left unwound tells by which exception" {
	probe flagprobe:64,why
	assert_equal "$(grep ' left by ' <<<"$output")" "probed_throw left by int
probed_jump left by no exception
probed_throw left by int
probed_through left by int"
	assert_line "0 enters 0 leaves 0 tail calls 4 unwound 0 contexts"
}

# Each program does one of the things that modules ask for.
@test "what heartbeat filters anew is traced, though no event comes" {
	local program
	"$MODULES/program" stop >out &
	program=$!
	run -0 timeout 60 "$CPROF" attach -q --plugin-dir="$MODULES" --profile=beat $program
	assert_line "cprof: beat: before none, then some, in the end none"
	: >stop
	wait $program || [ $? = 7 ]
}

# The program overwrites what it passes at once, and says what it was.
@test "what is copied at a call is what was there, with and without debug information" {
	local program how
	for program in fetched bare; do
		for how in '' typed late; do
			for way in '' --traps; do
				probe fetchprobe:$how -- "$MODULES/$program"
				[ "$how" = late ] || output=$(grep -v ^late <<<"$output")
				sed '$d;/^typed/d' fetched.out | diff - <(printf '%s\n' "$output") ||
					complain "$program, $how, $way"
				[ "$how" ] || grep -q "$([ $way ] && echo by || echo without) stops" fetched.out ||
					complain "$program, $way: $(tail -1 fetched.out)"
				[ "$how$program" != typedfetched ] ||
					assert_equal "$(grep -c '^typed "text[0-9]*"$' fetched.out)" 50
			done
		done
	done
	no_complaints
}

@test "stacks that are kept, and sums by key, are what the program did" {
	probe keptprobe -- "$MODULES/kept"
	assert_equal "$(cat kept.out)" "$output"
}

@test "what is asked for too late is refused, and changes nothing" {
	local can='create load sampling clauses monitors annotations coverage mode branches context cpu vector trace allocations'
	local program what other
	while read -r what program; do
		# shellcheck disable=SC2086 # words
		probe late:early -- "$TRACEES"/$program
		assert_line "taken: ${can// / 1 } 1"
		assert_line "some ${what%-*}"
		[ "$what" = "${what#*-}" ] || assert_line "some ${what#*-}"
		assert_line "some calls of others"
		assert_line "some values"
		assert_line "some cpu times"
		assert_line "covered 1"
		# shellcheck disable=SC2086
		probe late -- "$TRACEES"/$program
		assert_line "taken: ${can// / 0 } 0"
		assert_line "set by another: 0"
		assert_line "mode 1 999 Hz own 1"
		assert_line "1 calls of main"
		for other in waits clauses annotations allocations files vectors 'calls of others' values 'cpu times'; do
			assert_line "no $other"
		done
		assert_line "covered 0"
	done <<-END
		waits-allocations contend --rounds=3
		clauses throws_O0
		annotations annotated all
		samples-vectors busy_threads --ms=100
	END
}

@test "contexts: arguments, results, this; NULL where there is nothing, with the reason" {
	probe ctxprobe
	local none='NULL(-21)'
	assert_line "enter probed_add this=$none arg=20/4 arg=22/8 arg=$none local=$none result=$none"
	assert_line "leave probed_add this=$none arg=20/4 arg=22/8 arg=$none local=$none result=42/4"
	# void, and after a tail call
	assert_line "leave probed_void this=$none arg=\"text\"/8 arg=$none arg=$none local=$none result=$none"
	assert_line "enter probed_tail this=$none arg=5/4 arg=$none arg=$none local=$none result=$none"
	refute_line --partial "leave probed_tail"
	assert_line "leave probed_big this=$none arg={a={1, 2, 3, 4, 5}}/40 arg=2.5/8 arg=$none local=$none result={a={3, 2, 3, 4, 5}}/40"
	assert_line "leave shape::area(int) const this=&{width=6}/8 arg=&{width=6}/8 arg=7/4 arg=$none local=$none result=42/4"
	assert_line "shape::area(int) const takes 2: this, height"
	refute_line --partial "lives"
}

# By detours, registers are those that values are in.
@test "names stay to the end, memory until the process is gone, values and registers for the event" {
	for way in '' --traps; do
		probe afterwards
		assert_equal "$(cat afterwards.out)" \
			"enter: probed_add of probed, 2 argument, probed, memory, values
rdi 20 rsi 22
leave: values, rax 42
shutdown: probed_add of probed, 2 argument, probed, no memory, no values
cleanup: probed_add of probed, 2 argument, probed, no memory, no values"
	done
}

@test "contexts: nothing without introspection" {
	probe ctxprobe:off
	local none='NULL(-9)'
	assert_line "leave probed_add this=$none arg=$none arg=$none arg=$none local=$none result=$none"
	refute_line --partial "/4"
}

@test "snapshots: whole, with registers, aborted, by seed, refused; frames die" {
	probe snapprobe -- "$MODULES/probed" threads
	assert_line "own: success, main, no contexts"
	assert_line "registers: success, main, all contexts"
	assert_line "aborted: the snapshot was aborted by its callback"
	assert_line "seed: success, main, no contexts"
	assert_line "seed outside of code: the seed does not point into known code"
	assert_line "other: success, probed_spin, no contexts"
	assert_line "gone: no such thread, or it has exited"
	assert_line "no event: no such thread, or it has exited"
	refute_line --partial "undead"
	refute_line --partial "lies"
}

@test "hooks: which statuses the rules give" {
	probe eltprobe:matrix
	local flags
	assert_line "nobody: -2 -2 -2 -2 -2"
	assert_line "no hooks: -2 -2"
	assert_line "no mask: -2"
	assert_line "no mapper: -2"
	assert_line "mappers: 0, then -9"
	for flags in nothing 'enter and leave' 'stack snapshot'; do
		assert_line "$flags: 0, slow -8, fast 0"
	done
	for flags in arguments result frame; do
		assert_line "$flags: 0, slow 0, fast -8"
		assert_line "fast, then ${flags}: -8"
	done
	assert_line "slow, then no slow flag: -8"
	assert_line "slow, then a stack snapshot: -8"
	assert_line "slow, then no enter and leave: -8"
	assert_line "slow, then another slow flag: 0"
	assert_line "fast, then nothing: -8"
	assert_line "fast, then enter and leave: 0"
	assert_line "fast, then a stack snapshot: 0"
	refute_line --partial "the mask is another"
}

@test "hooks: as many fast as slow, no more stops than events, the mapper's ids" {
	# Four calls are left by an exception or longjmp, of which the CLR tells nothing.
	local how want="10 enters, 5 leaves, 1 tail calls, 2 by id, 0 by a refused one"
	for how in fast slow args retval frame; do
		for way in --traps ''; do
			probe eltprobe:$how
			assert_line "late: -7 -7 -7 -7, what may change 0"
			assert_line "$want"
			[ -z "$way" ] || assert_line "16 stops for 16 events"
			refute_line --partial "the mapper's data"
		done
		# The first call from each place, and whose stack is not known yet.
		[ $how != fast ] || [ "$(sed -n 's/ stops for 16 events//p' <<<"$output")" -lt 16 ]
	done
}

@test "hooks: none of what the mapper refuses, whoever else wants its calls" {
	for how in fast slow; do
		probe eltprobe:$how "calls:spec=probed_*,output=$BATS_TEST_TMPDIR/calls"
		assert_line "10 enters, 5 leaves, 1 tail calls, 2 by id, 0 by a refused one"
	done
}

@test "hooks: those set last, and none without their flag" {
	probe eltprobe:replaced
	assert_line "0 enters, 5 leaves, 0 tail calls, 0 by id, 0 by a refused one"
	probe eltprobe:masked
	assert_line "0 enters, 0 leaves, 0 tail calls, 0 by id, 0 by a refused one"
	assert_line "0 stops for 0 events"
}

# 8 bytes, and 16 for each range. Flags: 1 captured, 2 passed by reference, 4 a
# register of which nothing more is known.
@test "hooks: sizes are asked for, infos belong to their hook" {
	probe eltprobe:slow
	assert_line "probed_add: ask -6, needs 40; one byte too few -6, needs 40, 0 bytes touched"
	assert_line "probed_add: 0, 2 ranges, 12 bytes, the first 20, flags 1, a frame, 0 bytes beyond"
	assert_line "probed_add: no size -2"
	assert_line "probed_big: ask -6, needs 40; one byte too few -6, needs 40, 0 bytes touched"
	assert_line "probed_big: 0, 2 ranges, 48 bytes, the first 1, flags 1, a frame, 0 bytes beyond"
	assert_line "probed_owner: ask -6, needs 24; one byte too few -6, needs 24, 0 bytes touched"
	assert_line "probed_owner: 0, 1 ranges, 8 bytes, the first 77, flags 3, a frame, 0 bytes beyond"
	assert_line "leave: 0, 0, 4 bytes: 42, a frame"
	assert_line "tail call: 0, a frame"
	assert_line "enter: enter -6 leave -9 tail call -9, of another function -2 -9 -9"
	assert_line "leave: enter -9 leave 0 tail call -9, of another function -9 -2 -9"
	assert_line "tail call: enter -9 leave -9 tail call 0, of another function -9 -9 -2"
	assert_line "outside: -9 -9 -9"
	refute_line --partial "lives"
	strip -g -o nodebug "$MODULES/probed"
	probe eltprobe:slow -- ./nodebug
	assert_line "probed_add: ask -6, needs 104; one byte too few -6, needs 104, 0 bytes touched"
	assert_line "probed_add: 0, 6 ranges, 48 bytes, the first 20, flags 5, a frame, 0 bytes beyond"
}

@test "hooks: what was not asked for is empty" {
	local without="probed_add: 0, 0 ranges, 0 bytes, the first -1, flags 0"
	probe eltprobe:args
	assert_line "probed_add: 0, 2 ranges, 12 bytes, the first 20, flags 1, no frame, 0 bytes beyond"
	assert_line "leave: 0, -20, 0 bytes: 0, no frame"
	assert_line "tail call: 0, no frame"
	probe eltprobe:retval
	assert_line "probed_add: ask -6, needs 8; one byte too few -6, needs 8, 0 bytes touched"
	assert_line "$without, no frame, 0 bytes beyond"
	assert_line "leave: 0, 0, 4 bytes: 42, no frame"
	probe eltprobe:frame
	assert_line "$without, a frame, 0 bytes beyond"
	assert_line "leave: 0, -20, 0 bytes: 0, a frame"
	assert_line "tail call: 0, a frame"
}

# let_go WHO SIGNAL: a program that is attached to is let go by that; what comes last.
let_go() {
	rm -f stop
	start "$MODULES/program" stop
	local program=$pid controller
	until_true test -e out # made by the child
	mv out program.out
	start env --default-signal=INT "$CPROF" attach --plugin-dir="$MODULES" \
		--profile=lifecycle:called "$program"
	controller=$pid
	until_true grep -q "3 calls" out
	task_state "/proc/$program"
	kill "-$2" "${!1}"
	wait "$controller" || true
	diff <(sed -n '/shutdown_begin/,$p' out) - <<-END
		newer runtime_shutdown_begin
		older runtime_shutdown_begin
		newer runtime_shutdown_end
		older runtime_shutdown_end
		newer cleanup
		older cleanup
	END
	until_true left_alone "$program"
	touch stop
	wait "$program" || assert_equal "$?" 7
}

@test "a program is let go: shutdown, then cleanup, the newest first; it runs on" {
	let_go controller INT
	let_go controller TERM
	# However that comes about.
	let_go tracer_of KILL
}

# A library that is loaded again and again, here and there: the same addresses are not the
# same code.
@test "a key of a stack stands for one stack, whatever is loaded where" {
	for program in "$TRACEES/counted --depth=6" "$TRACEES/dlopen_loop"; do
		# shellcheck disable=SC2086 # its arguments
		"$CPROF" run -q -o x.data -s 99 --plugin-dir="$BUILD/tests/modules" --profile=keys:said -- $program
		grep -Eq '^events [0-9]{4,}, without a key 0, .* differ 0$' said || { cat said; false; }
		[ "$program" != "$TRACEES/counted --depth=6" ] || mv said counted
	done
	# One key for many events.
	awk -F'[ ,]+' '{ exit !($8 <= $2 / 4) }' counted || { cat counted; false; }
}

@test "a stack that is walked again is what was captured, whatever was walked between" {
	for how in --max-rate=0 --traps; do
		"$CPROF" run -q -o x.data $how --plugin-dir="$BUILD/tests/modules" --profile=rewalks:said -- \
			"$TRACEES/counted" --depth=6
		grep -Eq '^events [0-9]{4,}, frames [0-9]{5,}, differ 0, other functions 0$' said || { cat said; false; }
	done
}
