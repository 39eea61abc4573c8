#!/usr/bin/env bats
# Profiler modules: found by name, judged before any code of them runs, called,
# and survived. They are built here as a stranger would, from tests/modules.

load helpers
load tracees

setup_file() {
	export MODULES=$BATS_FILE_TMPDIR CC=${CC:-cc}
	local name
	for name in hello lifecycle crash notes; do
		module "$MODULES" "$name"
	done
	$CC -O1 -o "$MODULES/program" "$SOURCES/tests/modules/program.c"
}

# module DIR NAME FLAG...: builds tests/modules/NAME.c there.
module() {
	local dir=$1 name=$2
	shift 2
	mkdir -p "$dir"
	$CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -fPIC -shared -O1 -I "$SOURCES/include" \
		-o "$dir/libcprof-profiler-$name.so" "$SOURCES/tests/modules/$name.c" "$@"
}

cprof_run() { separately timeout 60 "$CPROF" run --plugin-dir="$MODULES" "$@" -- "$MODULES/program"; }

@test "a module is loaded by its name; init gets the whole description" {
	cprof_run --profile=hello:a=1
	assert_equal "$status" 7
	assert_line hello:a=1
	cprof_run --profile=hello
	assert_line hello
	assert_not_exist cprof.data
}

@test "what is not found: every place is told, 125, and CMD does not start" {
	CPROF_PLUGIN_PATH=one:two LD_LIBRARY_PATH=three:$LD_LIBRARY_PATH cprof_run --plugin-dir=zero \
		--profile=nope
	assert_equal "$status" 125
	assert_equal "$output" ""
	[[ $stderr == *"no profiler named 'nope'"* ]]
	at=0
	for place in "$MODULES/" zero/ one/ two/ /cprof/profilers/ three/; do
		[[ ${stderr:at} == *"${place}libcprof-profiler-nope.so"* ]] || fail "not $place: $stderr"
	done
	[[ $stderr == *log*coverage* ]]
}

@test "the places are looked at in order" {
	for place in first second third; do
		module "$place" hello -DPLACE="\"$place\""
	done
	# Which file was loaded is told by the dynamic linker.
	loaded() { LD_DEBUG=files "$@" 2>&1 >/dev/null | sed -n 's/.*calling init: \(.*libcprof-profiler.*\)$/\1/p'; }
	export CPROF_PLUGIN_PATH=second:third LD_LIBRARY_PATH=third:$LD_LIBRARY_PATH
	assert_equal "$(loaded "$CPROF" run --plugin-dir=first --profile=hello -- true)" \
		first/libcprof-profiler-hello.so
	assert_equal "$(loaded "$CPROF" run --profile=hello -- true)" second/libcprof-profiler-hello.so
	unset CPROF_PLUGIN_PATH
	assert_equal "$(loaded "$CPROF" run --profile=hello -- true)" third/libcprof-profiler-hello.so
}

@test "a second load of a module does nothing" {
	cprof_run --profile=hello --profile=hello:x
	assert_equal "$status" 7
	assert_equal "$(grep -c ^hello <<<"$output")" 1
	[[ $stderr == *"hello is loaded already"* ]]
	cprof_run --profile=hello:x --profile=hello:x
	assert_equal "$(grep -c ^hello <<<"$output")" 1
	[[ $stderr != *already* ]]
}

# refused DIR NAME TEXT...: 125, nothing of the module ran, nor CMD.
refused() {
	local dir=$1 name=$2 text
	shift 2
	separately "$CPROF" run --plugin-dir="$dir" --profile="$name" -- "$MODULES/program"
	assert_equal "$status" 125
	assert_equal "$output" ""
	for text in "$@"; do
		[[ $stderr == *"$text"* ]] || fail "not '$text': $stderr"
	done
}

@test "another version of the API is refused before any code of the module runs" {
	module old hello -DCPROF_PROFILER_API_VERSION=0
	refused old hello 'version 0' 'version 1'
	module new hello -DCPROF_PROFILER_API_VERSION=2
	refused new hello 'version 2' 'version 1' newer
	module none hello -DCPROF_PROFILER_NO_NOTE
	refused none hello 'no version' 'version 1'
	# One of its files is enough, whichever it is.
	$CC -fPIC -I "$SOURCES/include" -c -o new.o "$SOURCES/tests/modules/hello.c"
	echo '#include <cprof/cprof.h>' | $CC -fPIC -I "$SOURCES/include" -DCPROF_PROFILER_API_VERSION=0 \
		-xc -c -o old.o -
	mkdir mixed
	for objects in 'new.o old.o' 'old.o new.o'; do
		# shellcheck disable=SC2086 # words
		$CC -shared -o mixed/libcprof-profiler-hello.so $objects
		refused mixed hello 'version 0' 'version 1'
	done
	# Symbols and section headers may be gone.
	strip -s old/libcprof-profiler-hello.so
	refused old hello 'version 0' 'version 1'
	"$SOURCES/tests/modules/headless" old/libcprof-profiler-hello.so
	readelf -S old/libcprof-profiler-hello.so | grep -q 'no sections'
	refused old hello 'version 0' 'version 1'
	cp "$MODULES/libcprof-profiler-hello.so" .
	"$SOURCES/tests/modules/headless" libcprof-profiler-hello.so
	separately "$CPROF" run --plugin-dir=. --profile=hello -- "$MODULES/program"
	assert_equal "$status" 7
}

@test "the version survives compilers, linkers and strip, in C and in C++" {
	local compiler how
	for compiler in 'gcc -std=c99' 'g++ -xc++ -std=c++11' 'clang -std=c99' 'clang++ -xc++ -std=c++11'; do
		command -v "${compiler%% *}" >/dev/null || { echo "# no ${compiler%% *}" >&3; continue; }
		for how in '-O0' '-O2 -flto -ffunction-sections -fdata-sections -Wl,--gc-sections'; do
			# shellcheck disable=SC2086 # words
			$compiler $how -fPIC -shared -Wall -Wextra -Werror -I "$SOURCES/include" \
				-o libcprof-profiler-hello.so "$SOURCES/tests/modules/hello.c"
			strip -s libcprof-profiler-hello.so
			separately "$CPROF" run --plugin-dir=. --profile="hello:$compiler $how" -- true
			assert_success
			assert_line "hello:$compiler $how"
		done
	done
}

@test "what is no module is refused" {
	mkdir d
	for file in "$SOURCES/README.md" /dev/null /bin/true "$MODULES/program"; do
		ln -sf "$file" d/libcprof-profiler-hello.so
		refused d hello libcprof-profiler-hello.so
	done
	head -c 3000 "$MODULES/libcprof-profiler-hello.so" >d/short
	ln -sf short d/libcprof-profiler-hello.so
	refused d hello libcprof-profiler-hello.so
	# The name of the file and that of the function differ.
	ln -sf "$MODULES/libcprof-profiler-hello.so" d/libcprof-profiler-other.so
	separately "$CPROF" run --plugin-dir=d --profile=other -- "$MODULES/program"
	assert_equal "$status" 125
	[[ $stderr == *cprof_profiler_init_other* ]]
	# A function that there is not.
	cat >missing.c <<-'END'
		#include <cprof/cprof.h>
		void cprof_there_is_no_such_function(void);
		CPROF_PROFILER_INIT(missing) { cprof_there_is_no_such_function(); }
	END
	$CC -fPIC -shared -I "$SOURCES/include" -o d/libcprof-profiler-missing.so missing.c
	refused d missing cprof_there_is_no_such_function
}

@test "names that can't be one are refused" {
	for name in ../hello /hello 'he llo' 'hello-x' '' ':x' "$(printf 'x%.0s' {1..200})" $'a\033[2J'; do
		cprof_run --profile="$name"
		assert_equal "$status" 125
		assert_equal "$output" ""
		[[ $stderr == *name* ]]
		[[ $stderr != *$'\033'* ]]
	done
}

@test "default and nothing mean the recorder with a report" {
	for profile in --profile=default --profile --profile=log:report; do
		rm -f cprof.data
		cprof_run $profile
		assert_equal "$status" 7
		assert_line 'Cost of profiling'
		assert_exist cprof.data
	done
	cprof_run --profile=log:output=other.data -t called
	assert_equal "$("$CPROF" report --json other.data | jq .calls.events)" 10
	[[ $stderr == *other.data* ]]
}

@test "the order of a life: start before constructors, then begin, end, cleanup, newest first" {
	cprof_run --profile=lifecycle
	assert_equal "$status" 7
	assert_equal "$output" "newer runtime_initialized
older runtime_initialized
program: constructor
program: done
newer runtime_shutdown_begin
older runtime_shutdown_begin
newer runtime_shutdown_end
older runtime_shutdown_end
newer cleanup
older cleanup"
}

@test "what is for init alone fails later; a callback is replaced and removed" {
	cprof_run --profile=lifecycle:called
	assert_equal "$status" 7
	line=$(grep ^late: <<<"$output")
	assert_equal "${line//[^1]/}" ""
	[[ $line == *'create 0 load 0 sampling 0'*'vector 0' ]]
	assert_line '3 calls'
	assert_equal "$(grep -c '^late:' <<<"$output")" 1
	# Nothing of the headers is left out.
	enables() { grep -h -o 'cprof_profiler_enable_[a-z_]*' "$@" | sort -u; }
	diff <(enables "$SOURCES"/include/cprof/*.h) <(enables "$SOURCES/tests/modules/lifecycle.c")
}

@test "a module's help is printed, and CMD does not start" {
	for profile in hello:help log:help coverage:help; do
		cprof_run --profile=$profile
		assert_success
		assert_line --regexp "^${profile%:*}: "
		refute_output --partial 'program:'
	done
	cprof_run --profile=nope:help
	assert_equal "$status" 125
}

@test "a module that was linked with -lcprof uses the cprof that runs" {
	module . hello -L "$BUILD" -lcprof
	readelf -d libcprof-profiler-hello.so | grep -q 'NEEDED.*libcprof'
	export LD_LIBRARY_PATH=$BUILD:$LD_LIBRARY_PATH
	separately "$CPROF" run --plugin-dir=. --profile=hello:x -- "$MODULES/program"
	assert_equal "$status" 7
	assert_line hello:x
}

@test "cprof exports what its map names, and nothing else of its own" {
	diff <(nm -D --defined-only "$CPROF" | awk '$3 ~ /^(cprof|cp)_/ { print $3 }' | sed 's/@.*//' | sort) \
		<(sed -n 's/^\t\(cprof_[a-z_0-9]*\);$/\1/p' "$SOURCES/src/engine/libcprof.map" | sort)
}

@test "a module writes where output= says" {
	local expected=$'thread 1\ndone'
	cprof_run --profile=notes
	assert_equal "$status" 7
	assert_equal "$(cat notes.txt)" "$expected"
	cprof_run --profile=notes:output=file
	assert_equal "$(cat file)" "$expected"
	# The process is known only later.
	cprof_run --profile=notes:output=+file
	assert_equal "$(cat file.[0-9]*)" "$expected"
	cprof_run --profile=notes:output=of-%p-%%
	assert_equal "$(cat of-[0-9]*-%)" "$expected"
	cprof_run --profile=notes:output=-
	assert_line 'thread 1'
	cprof_run --profile='notes:output=#5' 5>five
	assert_equal "$(cat five)" "$expected"
	# A command is waited for, and its failure is one.
	cprof_run --profile="notes:output=|cat >piped; echo end >>piped"
	assert_equal "$(cat piped)" "$expected"$'\nend'
	assert_equal "$status" 7
	cprof_run --profile='notes:output=|cat >/dev/null; exit 3'
	[[ $stderr == *'notes: not everything was written'* ]]
	for bad in none/file '#x' '#77' '|'; do
		cprof_run --profile="notes:output=$bad"
		assert_equal "$status" 125
		assert_equal "$output" ""
		[[ $stderr == *"notes: "* ]]
	done
}

@test "a module says a line, and its counters are shown" {
	cprof_run --profile=notes
	[[ $stderr == *'cprof: notes: 1 threads \x1b[1m'* ]]
	[[ $stderr == *Counters*notes*threads*1*notes*'never used'*0* ]]
	cprof_run -q --profile=notes
	[[ $stderr != *Counters* ]]
	# In a recording, and in what is merged of two.
	cprof_run --profile=notes -t called
	run "$CPROF" report
	assert_line --regexp '^ +notes +never used +0'
	assert_equal "$("$CPROF" report --json | jq -c .counters)" \
		'[{"profiler":"notes","counter":"threads","value":1},{"profiler":"notes","counter":"never used","value":0}]'
	mv cprof.data one
	cprof_run -q --profile=notes -t called
	"$CPROF" merge -o both one cprof.data
	assert_equal "$("$CPROF" report --json both | jq -c '[.counters[].value]')" '[2,0]'
}

# ---- modules that go wrong ----

# wrong HOW CALLBACK: by cprof run, its status in $status.
wrong() {
	ulimit -c 0
	cprof_run --profile=crash:"$1,$2"
}

@test "a module that crashes is named, with its callback" {
	[ -z "${SANITIZED-}" ] || skip 'sanitizers report crashes themselves'
	local how where says
	while read -r how where says; do
		wrong "$how" "$where"
		assert_equal "$status" 125
		[[ $stderr == *"the profiler crash crashed in its $says;"* ]] || fail "$how $where: $stderr"
		[[ $where != init || $stderr == *"; nothing was started" ]] || fail "$stderr"
	done <<-END
		segv init function init (SIGSEGV)
		segv filter callback call_instrumentation_filter (SIGSEGV)
		segv cover callback coverage_filter (SIGSEGV)
		segv start callback runtime_initialized (SIGSEGV)
		segv cleanup callback cleanup (SIGSEGV)
		abort call callback method_enter (SIGABRT)
		deep end callback runtime_shutdown_end (SIGSEGV)
	END
}

@test "a module that ends the process is named" {
	for where in init:init filter:call_instrumentation_filter call:method_enter; do
		wrong exit "${where%:*}"
		assert_equal "$status" 125
		[[ $stderr == *"the profiler crash ended cprof in its "*" ${where#*:}"* ]]
	done
}

@test "the program of a module that crashed runs on, clean" {
	[ -z "${SANITIZED-}" ] || skip 'sanitizers report crashes themselves'
	ulimit -c 0
	start "$MODULES/program" stop
	separately timeout 60 "$CPROF" attach --plugin-dir="$MODULES" --profile=crash:segv,call "$pid"
	assert_equal "$status" 1
	[[ $stderr == *'crash crashed in its callback method_enter'* ]]
	until_true left_alone "$pid"
	: >stop
	wait "$pid" || [ $? = 7 ]
	grep -q 'program: done' out
}

@test "cprof run ends when the program of a module that crashed does" {
	[ -z "${SANITIZED-}" ] || skip 'sanitizers report crashes themselves'
	ulimit -c 0
	start "$CPROF" run --plugin-dir="$MODULES" --profile=crash:segv,call -- "$MODULES/program" stop
	local running=$pid
	until_true grep -q 'crash crashed in its callback method_enter' err
	program=$(pgrep -P "$running" -x program)
	until_true left_alone "$program"
	kill -0 "$running"
	: >stop
	wait "$running" || code=$?
	assert_equal "$code" 125
	grep -q 'program: done' out
}

# It goes on as long as it works, and a minute; not when it sleeps.
@test "a module that does not return from its init is named, and nothing started" {
	separately "$CPROF" run --plugin-dir="$MODULES" --profile=crash:sleep,init -- touch started
	assert_equal "$status" 125
	assert_equal "$stderr" 'cprof: the profiler crash still has not returned from its function init: cprof ends without it'
	[ ! -e started ]
}

# It is the tracer that notices, after some seconds.
@test "a module that does not return is named, and its program let go" {
	local how says='crash does not return from its callback method_enter; the program was let go'
	for how in sleep ${CPROF_TEST_LONG:+loop}; do
		rm -f stop
		start "$MODULES/program" stop
		local program=$pid
		until_true mv out program.out
		start "$CPROF" attach --plugin-dir="$MODULES" --profile="crash:$how,call" "$program"
		until_true grep -q "$says" err
		until_true left_alone "$program"
		# It may take its time, and ends as anything does, or by itself at last.
		[ -n "${CPROF_TEST_LONG-}" ] || kill -TERM "$pid"
		wait "$pid" || code=$?
		assert_equal "$code" "$([ -n "${CPROF_TEST_LONG-}" ] && echo 1 || echo 143)"
		: >stop
		wait "$program" || [ $? = 7 ]
		grep -q 'program: done' program.out
	done
}

@test "what a module without a handle says of itself is told; help may mean something to it" {
	cat >odd.c <<'END'
#include <cprof/cprof.h>
#include <string.h>
CPROF_PROFILER_INIT(odd)
{
	cprof_profiler_handle handle = cprof_profiler_create(NULL);
	if (strstr(desc, "fail"))
		cprof_profiler_fail(NULL, "no luck: \033[1m\nand a second line");
	else
		cprof_profiler_printf(handle, "%s", desc);
}
END
	gcc -fPIC -shared -o libcprof-profiler-odd.so -I"$SOURCES/include" odd.c
	separately "$CPROF" run --plugin-dir=. --profile=odd:fail -- touch started
	assert_equal "$status" 125
	assert_equal "$stderr" $'cprof: no luck: \\x1b[1m\ncprof: and a second line'
	[ ! -e started ]
	separately "$CPROF" run --plugin-dir=. --profile=odd:x,help -- touch started
	assert_success
	[[ $stderr == *'odd: odd:x,help'* ]]
	[ -e started ]
}

# The tracer ends with the program, before it could notice.
@test "a module that does not return when the program has ended is named, and cprof ends" {
	echo 'int called(void) { return 7; } int main(void) { return called(); }' >short.c
	gcc -O0 -o short short.c
	separately "$CPROF" run --plugin-dir="$MODULES" --traps --profile=crash:sleep,call -- ./short
	assert_equal "$status" 125
	assert_equal "$stderr" 'cprof: the profiler crash still has not returned from its callback method_enter: cprof ends without it'
}

@test "what a module prints goes where it prints it" {
	cprof_run --profile=crash:noise,start
	assert_equal "$status" 7
	assert_line 'program: done'
	[[ $stderr != *nonsense* ]]
}

@test "a place that was named, and why it is of no use" {
	mkdir here
	ln -s /nonexistent here/libcprof-profiler-gone.so
	separately "$CPROF" run --plugin-dir=here --plugin-dir=nowhere --profile=gone -- true
	assert_equal "$status" 125
	[[ $stderr == *'here/libcprof-profiler-gone.so  (--plugin-dir): a link that leads nowhere'* ]]
	[[ $stderr == *'nowhere/libcprof-profiler-gone.so  (--plugin-dir): there is no such directory'* ]]
	[[ $stderr != *'(installed):'* ]]
}

@test "a recording that is named is made, whatever other profilers do" {
	separately "$CPROF" run -o named.data --profile=stacks:output=folded -- "$MODULES/program"
	assert_equal "$status" 7
	[ -e folded ]
	run "$CPROF" report named.data
	assert_success
	rm named.data
	separately "$CPROF" run --profile=stacks:output=folded -- "$MODULES/program"
	[ ! -e cprof.data ]
}

# ---- cprof modules ----

@test "modules: a list with name, place, version and what each does" {
	mkdir old
	ln -s "$MODULES/libcprof-profiler-hello.so" old/libcprof-profiler-hello.so
	cp "$SOURCES/tests/modules/hello.c" other.c
	$CC -fPIC -shared -DCPROF_PROFILER_API_VERSION=0 -I "$SOURCES/include" other.c \
		-o old/libcprof-profiler-other.so
	run "$CPROF" modules --plugin-dir=old --plugin-dir="$MODULES"
	assert_success
	assert_line --regexp '^ +log +built in +1 +the recorder'
	assert_line --regexp '^ +hello +old/libcprof-profiler-hello.so +1 +says what it was loaded with'
	assert_line --regexp '^ +other +old/.* 0 +.*version 0'
	assert_line --regexp '^ +crash '
	refute_output --partial constructor
	run "$CPROF" modules --plugin-dir=old --json
	assert_equal "$(jq -r '.[] | select(.name == "hello") | "\(.path) \(.api_version) \(.summary) \(.loads)"' <<<"$output")" \
		"old/libcprof-profiler-hello.so 1 says what it was loaded with true"
	assert_equal "$(jq -r '.[] | select(.name == "other") | .loads' <<<"$output")" false
	run "$CPROF" modules --plugin-dir=old hello
	assert_success
	assert_output --partial old/libcprof-profiler-hello.so
	run "$CPROF" modules nope
	assert_failure 1
	assert_output --partial libcprof-profiler-nope.so
}

@test "modules --check tells whether a file can be loaded, and why not" {
	run "$CPROF" modules --check "$MODULES/libcprof-profiler-hello.so"
	assert_success
	assert_output --partial 'can be loaded as hello'
	cp "$MODULES/libcprof-profiler-hello.so" .
	run "$CPROF" modules --check libcprof-profiler-hello.so
	assert_success
	module old hello -DCPROF_PROFILER_API_VERSION=0
	run "$CPROF" modules --check old/libcprof-profiler-hello.so
	assert_failure 1
	assert_output --partial 'version 0'
	refute_output --partial constructor
	cp old/libcprof-profiler-hello.so misnamed.so
	run "$CPROF" modules --check misnamed.so
	assert_failure 1
	cp "$MODULES/libcprof-profiler-hello.so" libcprof-profiler-bye.so
	run "$CPROF" modules --check libcprof-profiler-bye.so
	assert_failure 1
	assert_output --partial cprof_profiler_init_bye
	# A constructor that crashes, and one that ends the process.
	for what in '*(volatile char *)16 = 1' 'exit(0)' 'exit(3)'; do
		printf '#include <cprof/cprof.h>\n#include <stdlib.h>\n
			__attribute__((constructor)) static void c(void) { %s; }\n
			CPROF_PROFILER_INIT(bad) { }\n' "$what" >bad.c
		$CC -w -fPIC -shared -I "$SOURCES/include" -o libcprof-profiler-bad.so bad.c
		run "$CPROF" modules --check libcprof-profiler-bad.so
		assert_failure 1
		assert_output --partial 'loading it ends'
	done
	run "$CPROF" modules --json --check old/libcprof-profiler-hello.so
	assert_failure 1
	assert_equal "$(jq -r '.loads, .api_version' <<<"$output")" $'false\n0'
}

@test "modules --events tells the source of each event of the header" {
	grep -o '^	E([a-z_]*' "$SOURCES/include/cprof/events.h" | cut -c4- >declared
	"$CPROF" modules --events --json >events
	diff declared <(jq -r '.[].event' events)
	assert_equal "$(jq -r '.[] | select(.by == "") | .event' events)" ""
	assert_equal "$(jq -r '.[].source' events | grep -v -x -e raised -e emulated -e 'not raised' -e 'never raised')" ""
	run "$CPROF" modules --events
	assert_line --regexp '^ +iomap_report +never raised +native code'
	assert_line --regexp '^ +method_enter +raised +a breakpoint'
	# All of it is there, however narrow the terminal is.
	for columns in 80 200; do
		COLUMNS=$columns "$CPROF" modules --events >table
		(($(wc -L <table) <= columns)) || fail "wider than $columns"
		table=$(tr -s ' \n' '  ' <table)
		while read -r words; do
			[[ $table == *" $words "* ]] || complain "$columns: $words"
		done < <(jq -r '.[] | "\(.event) \(.source) \(.by)"' events)
	done
	no_complaints
	# What is said to be raised is, somewhere in the engine; and the other way round.
	diff <(jq -r '.[] | select(.source == "raised" or .source == "emulated") | .event' events | sort) \
		<(cat "$SOURCES"/src/engine/*/*.c | grep -o 'engine_raise0\?([^,]*, [a-z_]*' | sed 's/.*, //' | sort -u | grep -x -f declared)
}
