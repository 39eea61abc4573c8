#!/usr/bin/env bats
# The profilers that ship with cprof: calls, stacks, order, and log with Mono's
# options.

load helpers

# A program with a tail call, recursion, a longjmp, strings that mean harm.
small() {
	cat >small.c <<'END'
#include <setjmp.h>
#include <stdio.h>
struct point { int x, y; };
static jmp_buf back;
#define KEPT __attribute__((noinline, noclone))
KEPT int leaf(int n) { __asm__ volatile(""); return n + 1; }
KEPT int tail(int n) { return leaf(n * 2); }
KEPT void jump(int n) { if (n) longjmp(back, 1); }
KEPT int fact(int n)
{
	int below = n < 2 ? 1 : fact(n - 1);
	__asm__ volatile("" : "+r"(below));
	return n < 2 ? 1 : n * below;
}
KEPT const char *greet(const char *s, struct point p) { __asm__ volatile("" :: "r"(p.x)); return s + 1; }
int main(void)
{
	tail(3);
	if (!setjmp(back))
		jump(1);
	fact(3);
	greet("he\033llo\n", (struct point){ 1, 2 });
	puts("done");
	return 3;
}
END
	gcc -g -O2 -o small small.c
}

spec='main,leaf,tail,jump,fact,greet'

# What is the same in every run: no times, no thread's number.
plain() { sed -E 's/^ *[0-9.]+  //; s/  (<= )?[0-9.]+ [nµm]?s$//' "$@"; }

@test "calls: prints them as they happen, as replay does later" {
	small
	separately "$CPROF" run -q -a -r -t "$spec" --profile="calls:spec='$spec',args,result" -- ./small
	assert_equal "$status" 3
	assert_output 'done'
	echo "$stderr" >printed
	plain printed >text
	diff text - <<'END'
start: main() {
  tail(3) ⇒ leaf(6) = 7
  jump(1) ✗ unwound
  fact(3) {
    fact(2) {
      fact(1) = 1
    } = 2
  } = 6
  greet("he\x1bllo\n", {x=1, y=2}) = "e\x1bllo\n"
} = 3
END
	# The recording of the same run: the same lines, to the nanosecond.
	"$CPROF" replay >replayed
	diff <(sed 's/^ *//' printed) <(sed 's/^ *//' replayed)
}

@test "calls: json has the keys of replay --json" {
	small
	run "$CPROF" run -q -a -r -t "$spec" --profile="calls:spec='$spec',args,result,json,output=calls.json" -- ./small
	assert_equal "$status" 3
	"$CPROF" replay --json >replay.json
	only='{event, function, image, depth, tid, target, invoked_by, duration_ns, args: [.args[]? | {name, type, value, text}],
		result: (.result | if . then {type, value, text} else . end)}'
	diff <(jq -c "$only" calls.json) <(jq -c "$only" replay.json)
	assert_equal "$(jq -s 'map(select(.event == "tail_call" and .target == "leaf")) | length' calls.json)" 1
}

@test "calls: each thread is indented by itself" {
	cat >threads.c <<'END'
#include <pthread.h>
__attribute__((noinline, noclone)) int leaf(int n) { __asm__ volatile(""); return n + 1; }
void *work(void *n) { for (int i = 0; i < 100; i++) leaf((int)(long)n); return 0; }
int main(void)
{
	pthread_t t[4];
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
}
END
	gcc -g -O1 -pthread -o threads threads.c
	separately "$CPROF" run --profile="calls:spec='main,work,leaf',args" -- ./threads
	assert_equal "$status" 0
	# Without main, which may be alone: TIME NAME TID, then by thread.
	echo "$stderr" | grep -E 'leaf|work|}' | sed -E 's/^ *[0-9.]+  threads +([0-9]+)  /\1 /' >lines
	assert_equal "$(awk '{print $1}' <lines | sort -u | wc -l)" 5
	main=$(tail -n 1 lines | cut -d' ' -f1)
	while read -r tid; do
		grep "^$tid " lines | sed -E 's/^[0-9]+ //' >of_thread
		[[ $(head -n 1 of_thread) == 'thread: work('*') {' && $(tail -n 1 of_thread) == '}  '* ]]
		# Where a thread waited for long, the braces were opened.
		assert_equal "$(grep -c '^  leaf([0-3])\(  .*\| {\)$' of_thread)" 100
	done < <(awk '{print $1}' lines | sort -u | grep -v -x "$main")
	# Lines come in the order of time.
	echo "$stderr" | awk '{print $1}' | sort -c -n
}

@test "calls: only its own functions, whatever others trace" {
	small
	separately "$CPROF" run -q -t fact --profile=calls:spec=leaf -- ./small
	assert_equal "$(plain <<<"$stderr")" 'leaf()'
}

# A library of aliases and a program that calls it through stubs, bound at the first call.
stubs() {
	cat >lib.c <<'END'
int first_name(int n) { __asm__ volatile(""); return n + 1; }
int second_name(int n) __attribute__((alias("first_name")));
END
	cat >stubs.c <<'END'
int second_name(int);
__attribute__((noinline)) int twice(int n) { return second_name(n) + second_name(n + 1); }
int main(void) { int i, s = 0; for (i = 0; i < 4; i++) s += twice(i); return s != 24; }
END
	gcc -O1 -fPIC -shared -o libaliases.so lib.c
	gcc -g -O1 -fcf-protection=none -Wl,-z,lazy -o stubs stubs.c -L. -laliases -Wl,-rpath,"$PWD"
}

# printed SPEC: how many calls the profiler calls prints of those.
printed() {
	"$CPROF" run --profile="calls:spec='$1',json,output=events" -- ./stubs
	jq -r 'select(.event == "enter" and (.function | test("^_|_clones$|^frame_") | not)).function' events | wc -l
}

@test "calls, order: stubs, source files, paths and aliases are what --trace takes for them" {
	stubs
	assert_equal "$(printed 'plt:second_name')" 8
	assert_equal "$(printed 'src:stubs.c')" 5 # main, 4 twice
	assert_equal "$(printed "lib:$PWD/libaliases.so")" 8
	assert_equal "$(printed first_name)" 8
	assert_equal "$(printed second_name)" 8
	run -0 "$CPROF" run --profile="order:spec='src:stubs.c,plt:second_name',output=-" -- ./stubs
	assert_output $'main\ntwice' # the linker makes stubs itself
}

@test "calls, replay: a stub that asks the dynamic linker first was not unwound" {
	stubs
	spec=plt:second_name,twice
	separately "$CPROF" run -q -t "$spec" --profile="calls:spec='$spec'" -- ./stubs
	assert_success
	plain <<<"$stderr" >text
	assert_equal "$(grep -c '^  second_name@plt()$' text)" 8 || cat text
	assert_equal "$(grep -c unwound text)" 0
	diff text <("$CPROF" replay | plain)
	assert_equal "$("$CPROF" replay --json | jq -r 'select(.function == "second_name@plt").event' |
		sort | uniq -c | tr -s ' ' '\n' | tr '\n' ' ')" ' 8 enter 8 leave '
}

@test "calls, replay: what is no longer traced did not last to the end" {
	cat >deep.c <<'END'
__attribute__((noinline)) int deep(int n)
{
	int below = n ? deep(n - 1) : 0;
	__asm__ volatile("" : "+r"(below));
	return below + 1;
}
int main(void) { return deep(150) != 151; }
END
	gcc -g -O1 -o deep deep.c
	separately "$CPROF" run -q -t deep --max-rate=100 --profile=calls:spec=deep,max-rate=100 -- ./deep
	assert_success
	echo "$stderr" >text
	grep -q '! deep is no longer traced: 101 calls in a second$' text
	entered=$("$CPROF" replay --json | grep -c '"enter"')
	assert_equal "$(grep -c 'its end was lost' text)" "$entered"
	assert_equal "$(grep -c 'not over' text)" 0
	"$CPROF" replay >replayed
	assert_equal "$(grep -c 'its end was lost' replayed)" "$entered"
	assert_equal "$(grep -c 'not over' replayed)" 0
}

@test "calls: a program that is killed, with calls open" {
	cat >killed.c <<'END'
#include <signal.h>
#include <unistd.h>
__attribute__((noinline)) void inner(void) { kill(getpid(), SIGKILL); pause(); }
int main(void) { inner(); return 0; }
END
	gcc -g -O0 -o killed killed.c
	separately "$CPROF" run --profile="calls:spec='main,inner'" -- ./killed
	assert_equal "$status" 137
	[[ $stderr == *'main() {'*'inner()'* ]]
}

busy() {
	cat >busy.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
static inline __attribute__((always_inline)) void inlined(volatile long *p) { for (long i = 0; i < 60000000; i++) *p = *p * 7 + i; }
__attribute__((noinline)) void a(volatile long *p) { inlined(p); *p = 0; }
__attribute__((noinline)) void b(volatile long *p) { for (long i = 0; i < 60000000; i++) *p = *p * 7 + i; a(p); *p = 0; }
int main(int argc, char **argv)
{
	volatile long x = 0;
	(void)argv;
	if (argc > 1 && !fork()) {
		a(&x);
		return 0;
	}
	a(&x);
	b(&x);
	while (wait(0) > 0)
		;
	return 0;
}
END
	gcc -g -O1 -o busy busy.c
}

# The same stacks; weights of recordings are rounded to 1 µs.
same_stacks() {
	diff <(sed 's/ [0-9]*$//' "$1" | sort) <(sed 's/ [0-9]*$//' "$2" | sort)
	join -t '|' <(sed 's/ \([0-9]*\)$/|\1/' "$1" | sort) <(sed 's/ \([0-9]*\)$/|\1/' "$2" | sort) |
		awk -F '|' '{ d = $2 - $3; if (d < -1000 || d > 1000) { print; bad = 1 } } END { exit bad || !NR }'
}

@test "stacks: what export -f folded shows of the same run" {
	busy
	run "$CPROF" run -q -s 499 --profile=stacks:inlines,output=live -- ./busy
	assert_success
	"$CPROF" export -f folded -o later
	same_stacks live later
	grep -q ';main;b ' live
	grep -q ';main;a;inlined ' live
	run "$CPROF" run -q -s 499 --profile=stacks:inlines,output=live -- ./busy and_a_child
	"$CPROF" export -f folded -o later
	same_stacks live later
	assert_equal "$(grep -o '^busy ([0-9]*)' live | sort -u | wc -l)" 2
}

@test "stacks: outer functions alone, and elapsed time" {
	busy
	run "$CPROF" run --profile=stacks:hz=499,output=live -- ./busy
	assert_success
	run ! grep inlined live
	grep -q ';main;a ' live
	run "$CPROF" run --profile=stacks:clock=wall,output=live -- sleep 0.2
	awk '{ n += $NF } END { exit !(n > 150e6) }' live
}

@test "stacks: beside the recorder, which tells what samples it has" {
	separately "$CPROF" run -q -s 50 --profile=stacks:clock=wall -- true
	assert_success
	assert_equal "$stderr" 'cprof: log: another profiler has the sampler: 99 samples a second of elapsed time'
	assert_equal "$("$CPROF" report --json | jq -c '[.hz, .clock]')" '[99,"wall"]'
	separately "$CPROF" run -q --profile=stacks --profile=log -- true
	assert_equal "$stderr" "" # nobody asked for others
}

# A program of many functions of which each says its name when it is first
# called: main, then f7, ...
many() {
	awk 'BEGIN {
		srand(5); n = 120
		print "#include <stdio.h>"
		for (i = 0; i < n; i++) printf "void f%d(int);\n", i
		for (i = 0; i < n; i++)
			printf "__attribute__((noinline)) void f%d(int d) { static int seen; if (!seen++) puts(\"f%d\"); if (d > 0) { f%d(d-1); f%d(d-1); } }\n", i, i, int(rand() * n), int(rand() * n)
		print "int main(void) { puts(\"main\"); f7(11); return 0; }"
	}' >many.c
	gcc -O1 -ffunction-sections -o many many.c
}

@test "order: functions by their first call, one stop each" {
	many
	run "$CPROF" run -q -s1 --profile=order:output=order -- ./many
	assert_success
	grep -x -e main -e 'f[0-9]*' order >named
	diff named <(printf '%s\n' "${lines[@]}")
	assert_equal "$(sort order | uniq -d)" ""
	# As many stops as functions, though there were 4,095 calls.
	stops=$("$CPROF" report --json | jq .overhead.call_stops)
	[ "$stops" -le "$(wc -l <order)" ] || fail "$stops stops"
}

# linked NAME: its functions, by address.
linked() { nm -n "$1" | awk '$2 ~ /[tT]/ { print $3 }' | grep -x -e main -e 'f[0-9]*'; }

@test "order: Mono's name; lld and gold take the file and follow it" {
	many
	run "$CPROF" run --profile=aot:output=o -- ./many
	assert_success
	printf '%s\n' "${lines[@]}" >called
	gcc -ffunction-sections -O1 -fuse-ld=lld -Wl,--symbol-ordering-file=o,--fatal-warnings -o by_lld many.c
	diff called <(linked by_lld | head -n "$(wc -l <called)")
	run "$CPROF" run --profile=order:format=gold,output=o -- ./many
	gcc -ffunction-sections -O1 -fuse-ld=gold -Wl,--section-ordering-file=o -o by_gold many.c
	diff called <(linked by_gold | tail -n "$(wc -l <called)")
}

@test "order: beside a tracer of the same functions, all calls are there, too" {
	many
	run "$CPROF" run -q -t f7,main --max-rate=0 --profile=order:output=order -- ./many
	assert_success
	assert_equal "$(head -n 2 <(grep -x -e main -e 'f[0-9]*' order) | tr '\n' ' ')" 'main f7 '
	sed 's/.*/&/' order | sort | uniq -d >twice
	[ ! -s twice ]
	calls=$("$CPROF" replay --json | jq -r 'select(.event == "leave") | .function' | sort -u | tr '\n' ' ')
	assert_equal "$calls" 'f7 main '
}

@test "order: what has no name for a linker is left out, and counted" {
	many
	strip many
	separately "$CPROF" run --profile=order:output=order -- ./many
	assert_success
	assert_equal "$(grep -c fn_ order)" 0
	[[ $stderr == 'cprof: order: left out: '*' without a symbol that ran; the program is stripped'* ]]
}

@test "order: its other name is no second profiler" {
	small
	separately "$CPROF" run --profile=order:output=o1 --profile=aot:output=o2 -- ./small
	[[ $stderr == *'warning: the profiler aot is loaded already'* ]]
	grep -q -x main o1
	[ ! -e o2 ]
}

@test "outputs: a failure is told as the kernel has it, of each profiler" {
	small
	for m in calls: 'calls:json,' order: 'stacks:hz=999,' coverage:; do
		separately "$CPROF" run --profile="${m}output=/dev/full" -- ./small
		assert_equal "$m: $status" "$m: 3"
		[ -z "$stderr" ] || assert_equal "$stderr" 'cprof: writing /dev/full: No space left on device'
	done
	separately "$CPROF" run --profile='calls:output=|exec true' -- ./small
	assert_equal "$stderr" 'cprof: writing |exec true: Broken pipe'
	separately "$CPROF" run --profile=log:calls,output=+nowhere/x --profile=calls:output=+nowhere/y -- ./small
	assert_equal "$status" 3
	[[ $stderr == *'cannot record: making nowhere/x.'*': No such file or directory'* ]]
	[[ $stderr == *'making nowhere/y.'*': No such file or directory'* ]]
	# What can be known before is said before; a hint is a line of cprof's, too.
	for m in calls: log:; do
		separately "$CPROF" run --profile="${m}output=+" -- ./small
		assert_equal "$m: $status" "$m: 125"
		[[ $stderr == 'cprof: output=+: it takes '* ]]
	done
	separately "$CPROF" run --profile=log:output=nowhere/x -- ./small
	assert_equal "$(grep -v -c '^cprof: ' <<<"$stderr")" 0
}

@test "outputs: +FILE, %p, #FD, |CMD, -; what makes no sense is refused" {
	small
	run "$CPROF" run --profile='calls:spec=leaf,output=+x' -- ./small
	assert_equal "$(ls x.*)" "$(ls x.[0-9]*)"
	run "$CPROF" run --profile='calls:spec=leaf,output=y-%p-%%' -- ./small
	assert_file_not_empty y-[0-9]*-%
	"$CPROF" run --profile='calls:spec=leaf,output=#5' -- ./small 5>five || :
	grep -q 'leaf()' five
	"$CPROF" run --profile='calls:spec=leaf,output=|tr a-z A-Z >upper' -- ./small || :
	grep -q 'LEAF()' upper
	run "$CPROF" run --profile=order:output=- -- ./small
	assert_line main
	for bad in output=#x output= output=nowhere/x output=#77 spec=a,,b nonsense hz=9; do
		separately "$CPROF" run --profile="calls:$bad" -- ./small
		assert_equal "$bad: $status" "$bad: 125"
		[ -n "$stderr" ]
	done
	# Of coverage, too, and before the program starts.
	"$CPROF" run --profile='coverage:output=|grep -c statement >count' -- ./small >/dev/null || :
	run "$CPROF" run --profile='coverage:output=+cov' -- ./small
	assert_equal "$(grep -h -c '<statement' cov.[0-9]*)" "$(cat count)"
	separately "$CPROF" run --profile=coverage:output=nowhere/x -- ./small
	assert_equal "$status" 125
	refute_output 'done'
	# A command that fails is said.
	separately "$CPROF" run --profile='order:output=|exit 7' -- ./small
	[[ $stderr == *'exit 7'* ]]
}

@test "NAME:help tells the options" {
	for name in calls stacks order aot coverage log; do
		separately "$CPROF" run --profile=$name:help -- true
		assert_equal "$name: $status" "$name: 0"
		[[ $output == *'output=FILE'* ]]
	done
	# Among other options, too: nothing is started, nothing recorded.
	for desc in calls:args,help log:sample=50,help 'stacks:output=x,help,hz=9'; do
		separately "$CPROF" run --profile="$desc" -- touch started
		assert_equal "$desc: $status" "$desc: 0"
		[[ $output == *'output=FILE'* ]]
	done
	assert_equal "$(find . -name started -o -name x -o -name 'cprof.*')" ""
}

@test "log: outputs are those of Mono's profiler; the recording is the same" {
	small
	run "$CPROF" run --profile='log:calls,output=|cat >piped' -- ./small
	"$CPROF" run --profile='log:calls,output=#7' -- ./small 7>seven || :
	run "$CPROF" run --profile=log:calls,output=+plus -- ./small
	run "$CPROF" run --profile=log:calls,output=at-%t-%p -- ./small
	"$CPROF" run --profile=log:calls,output=- -- true | cat >dash
	for file in piped seven plus.[0-9]* at-20[0-9]*-[0-9]* dash; do
		"$CPROF" report "$file" >/dev/null || fail "$file"
	done
	[ "$("$CPROF" replay --json piped | jq -s length)" -gt 10 ]
	assert_not_exist cprof.data
	# Row by row of the same: as many bytes as the command says.
	separately "$CPROF" run --profile='log:output=|wc -c' -- true
	assert_success
	[ "$output" -gt 100 ]
	# -o is the name of a file, whatever is in it.
	run "$CPROF" run -q -o '|touch made-%p' -- true
	assert_exist '|touch made-%p'
	assert_not_exist made-*
}

@test "log: default is log:report, which prints the report" {
	small
	for profile in --profile=default --profile --profile=log:report; do
		separately "$CPROF" run $profile -- ./small
		assert_equal "$status" 3
		assert_line --index 0 'done'
		[[ $output == *'Cost of profiling'* ]]
	done
}

@test "log: calls, callspec, calldepth, maxframes, maxsamples, nodefaults" {
	small
	busy
	run "$CPROF" run --profile=log:calls,calldepth=3 -- ./small
	assert_equal "$("$CPROF" replay --json | jq .depth | sort -n | tail -n 1)" 2
	run "$CPROF" run --profile="log:callspec='fact,tail'" -- ./small
	assert_equal "$("$CPROF" replay --json | jq -r .function | sort -u | tr '\n' ' ')" 'fact tail '
	run "$CPROF" run --profile=log:nodefaults,callspec=none -- ./small
	assert_equal "$("$CPROF" report --json | jq -c '[.calls.events // 0, .samples.total]')" '[0,0]'
	run "$CPROF" run --profile=log:sample=999,maxsamples=20,maxframes=2 -- ./busy
	assert_equal "$("$CPROF" report --json | jq .samples.total)" 20
	# The program's very beginning is no deeper than that.
	"$CPROF" export -f folded -o folded
	assert_equal "$(grep -v '^\[truncated\];' folded | grep -v '^_start[; ]')" ""
	assert_file_contains folded '^\[truncated\];'
}

@test "log: what has no source is refused, not swallowed" {
	for option in gcroot class gc legacy heapshot heapshot=3gc heapshot=often port=0 port=70000; do
		separately "$CPROF" run --profile=log:$option -- echo ran
		assert_equal "$option: $status $output" "$option: 125 "
		[[ $stderr == *"${option%=*}"* ]]
	done
	separately "$CPROF" run --profile=log:sample,nodefaults -- echo ran
	assert_equal "$status" 125
	for option in noalloc alloc gcmove nogc nomonitor thread,nojit zip nodefaults,sample; do
		separately "$CPROF" run -q --profile=log:$option -- echo ran
		assert_equal "$option: $status $output" "$option: 0 ran"
	done
	separately "$CPROF" run --profile=log:help -- echo ran
	assert_success
	refute_line ran
	[[ $output == *'maxsamples=N'* ]]
}

@test "log: verbose says what is loaded" {
	small
	separately "$CPROF" run -q --profile=log:verbose,calls -- ./small
	assert_equal "$status" 3
	grep "log: image_loaded $PWD/small\$" <<<"$stderr"
	grep 'log: image_loaded .*/libc.so.6$' <<<"$stderr"
	grep 'log: domain_loaded [0-9]*$' <<<"$stderr"
	grep 'log: thread_exited [0-9]*$' <<<"$stderr"
}

# installed: cprof as `meson install` puts it into ./root; $prefix.
installed() {
	needs pkg-config
	meson install -C "$BUILD" --no-rebuild --quiet --destdir "$PWD/root" >install.log 2>&1 ||
		fail "$(tail -n 5 install.log)"
	prefix=$(dirname "$(dirname "$(find "$PWD/root" -path '*/bin/cprof')")")
	PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name cprof.pc)")
	export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$PWD/root
}

@test "a module stops counting because of the rate: said; --max-rate goes for modules, too" {
	gcc -I"$SOURCES/include" -fPIC -shared -o libcprof-profiler-top.so "$SOURCES/examples/top.c"
	cat >p.c <<-'END'
		__attribute__((noinline)) int tick(int n) { __asm__ volatile("" ::: "memory"); return n + 1; }
		__attribute__((noinline)) int tock(int n) { __asm__ volatile("" ::: "memory"); return n + 2; }
		int main(void)
		{
			int i, n = 0;

			for (i = 0; i < 2000; i++)
				n = tock(tick(n));
			return n != 6000;
		}
	END
	gcc -g -O1 -o p p.c
	# No second is that short.
	separately "$CPROF" run --plugin-dir=. --profile=top --max-rate=50 -- ./p
	assert_equal "$status" 0
	[ "$(grep -cE 'warning: (tick|tock) was called 51 times within a second: .*\(--max-rate\)' <<<"$stderr")" = 1 ]
	[[ $stderr == *' 51  tick'* && $stderr == *' 51  tock'* ]]
	separately "$CPROF" run --plugin-dir=. --profile=top --max-rate=0 -- ./p
	assert_equal "$status" 0
	[[ $stderr == *' 2000  tick'* && $stderr == *' 2000  tock'* && $stderr != *warning* ]]
	# What asks for it is told by its callback, and says so itself.
	separately "$CPROF" run --plugin-dir=. --profile=calls:spec=tick --max-rate=50 -- ./p
	[[ $stderr != *'within a second'* ]]
	separately "$CPROF" run --max-rate=0 -- ./p
	assert_equal "$status" 125
	[[ $stderr == *'say which with --trace'* ]]
}

@test "examples: installed, built as a stranger would, and run" {
	installed
	cp -r "$prefix/share/doc/cprof/examples" mine
	cd mine || return
	for name in slow top ends threads big iostacks slowsql connects bytype watched; do
		make -s "libcprof-profiler-$name.so" CFLAGS='-Wall -Werror'
		[ "$(wc -l <$name.c)" -lt 40 ] || fail "$name.c is long"
	done
	assert_equal "$(wc -l <Makefile)" 1
	cat >p.c <<'END'
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) void serve(const char *who, int n)
{
	struct timespec t = { 0, 1000 * n };
	__asm__ volatile("" :: "r"(who));
	nanosleep(&t, 0);
}
__attribute__((noinline)) static void give_up(void) { exit(4); }
int main(void)
{
	for (int i = 0; i < 30; i++)
		serve("quick", 1);
	serve("slow\033 one", 600000);
	free(malloc(1 << 20));
	void *volatile kept = malloc(100);
	(void)kept;
	give_up();
}
END
	gcc -g -O1 -fno-builtin -o p p.c
	export CPROF_PLUGIN_PATH=$PWD
	separately "$prefix/bin/cprof" run --profile=slow:ms=500 -- ./p
	assert_equal "$status" 4
	[[ $stderr == *' ms  serve "slow\x1b one",600000'* ]]
	[[ $stderr != *quick* ]]
	separately "$prefix/bin/cprof" run --profile=top -- ./p
	[[ ${stderr_lines[0]} == *' 31  serve' ]]
	separately "$prefix/bin/cprof" run --profile=ends -- ./p
	[[ $stderr == *'exit is called:'*'  give_up '*p.c:9*'  main '*p.c:18* ]]
	separately "$prefix/bin/cprof" run --profile=big:1000 -- ./p
	[[ $stderr == *'1048576 bytes:'*'  main'* && $stderr != *'100 bytes'* ]]
	printf '%s\n' '#include <vector>' 'struct pair { char c; long l; };' \
		'int main() { std::vector<pair> v; v.reserve(10); return (int)v.size(); }' >typed.cpp
	g++ -g -o typed typed.cpp
	separately "$prefix/bin/cprof" run --profile=bytype -- ./typed
	[[ $stderr == *'1 blocks, 160 bytes: pair, 7 of 16 padding' ]]
	printf '%s\n' 'int total = 2; struct item { const char *name; int n; } one = { "one", 3 };' \
		'__attribute__((noinline)) void add(struct item *i) { __asm__ volatile("" :: "r"(i) : "memory"); total += i->n; }' \
		'int main(void) { add(&one); add(&one); return 0; }' >adds.c
	gcc -g -O1 -o adds adds.c
	separately "$prefix/bin/cprof" run --profile='watched:add=i->name,total * 2,nonsense' -- ./adds
	[[ $stderr == *'add: i->name = "one"'*'add: total * 2 = 4'*'add: nonsense = not found'*'add: total * 2 = 10'* ]]
	printf '%s\n' '#include <unistd.h>' '__attribute__((noinline)) long save(void) { return write(1, "12345\n", 6) + 1; }' \
		'int main(void) { return save() != 7; }' >saves.c
	gcc -O1 -o saves saves.c
	run "$prefix/bin/cprof" run -q --profile=iostacks -- ./saves
	assert_line --regexp '^.*;main;save;(__)?write;\[written\] 6$'
	# shellcheck disable=SC2016 # sh expands it
	separately "$prefix/bin/cprof" run --profile=threads -- sh -c 'i=0; while [ $i -lt 1500000 ]; do i=$((i + 1)); done'
	[[ $stderr == *'% sh'* ]]
	cat >slow.py <<'END'
import sqlite3
c = sqlite3.connect(":memory:")
c.execute("create table t(a)")
c.executemany("insert into t values(?)", ((i,) for i in range(1000)))
c.execute("select count(*) from t x, t y, t z where x.a = 7 and y.a + z.a % 7 = 3").fetchall()
END
	separately "$prefix/bin/cprof" run --profile=slowsql:ms=20 -- /usr/bin/python3 slow.py
	assert_equal "$status" 0
	assert_equal "$(grep -c ' ms  select count' <<<"$stderr")" 1
	[[ $stderr != *insert* ]]
	cat >connects.py <<'END'
import socket, threading
for family, to in (socket.AF_INET, ("127.0.0.1", 9)), (socket.AF_INET6, ("::1", 7)), (socket.AF_UNIX, "nowhere"):
    try:
        socket.socket(family).connect(to)
    except OSError:
        pass
END
	separately "$prefix/bin/cprof" run --profile=connects -- /usr/bin/python3 connects.py
	assert_equal "$(grep -o 'to .*' <<<"$stderr")" "to 127.0.0.1 port 9
to ::1 port 7
to nowhere port 0"
}

@test "the manual page's own example is a module" {
	installed
	MANWIDTH=120 man -E UTF-8 -l "$prefix/share/man/man3/cprof-profiler.3" | col -bx |
		sed -n '/^EXAMPLES/,/^SEE ALSO/p' | sed -n '/#include/,/A description/p' | sed '/\$ cprof/,$d' >hello.c
	# shellcheck disable=SC2046 # words
	gcc -Wall -Wextra -Werror -fPIC -shared -o libcprof-profiler-hello.so hello.c $(pkg-config --cflags cprof)
	small
	separately "$prefix/bin/cprof" run --plugin-dir=. --profile=hello:leaf -- ./small
	assert_equal "$status" 3
	[[ $stderr == *'call 1: leaf' ]]
}

@test "the README's own example is a module" {
	installed
	sed -n '/^## A profiler of your own/,$p' "$SOURCES/README.md" >section
	# shellcheck disable=SC2016 # who runs the commands expands it
	sed -n '/^```c$/,/^```$/p' section | sed '1d;/^```$/,$d' >signals.c
	# shellcheck disable=SC2016
	sed -n 's/^\$ gcc/gcc -Wall -Werror/p;s/^\$ cprof/"$prefix"\/bin\/cprof/p' section >commands
	assert_equal "$(wc -l <commands)" 2
	# shellcheck source=/dev/null
	run . ./commands
	assert_output "$(sed -n 's/^cprof: signals/&/p' section)"
	[ -n "$output" ]
}

@test "report: the reader's options of Mono's: --reports, --traces, --time, --thread" {
	load recordings
	workshop | made w.data
	run "$CPROF" report --reports=header,thread,sample --traces w.data
	assert_success
	assert_equal "$(grep -n -o -E '^(./workshop|Threads|Functions|Traces)' <<<"$output" | cut -d: -f2 | tr '\n' ' ')" \
		'./workshop Threads Functions Traces '
	# malloc has 200 ms, of parse, of main.
	assert_equal "$(grep -A 4 '^  malloc$' <<<"$output" | sed 's/^ *//' | tr '\n' '|')" \
		'malloc|200 ms  22.2% from|parse(int)|main|work|'
	run "$CPROF" report --reports=sample --thread=101 w.data
	[[ $output == *qsort* && $output != *malloc* && $output != *'./workshop'* ]]
	run "$CPROF" report --reports=sample --time=0-0.1 w.data
	[[ $output != *qsort* && $output == *scan* ]]
	for list in gc jit,sample nonsense ''; do
		run "$CPROF" report --reports=$list w.data
		assert_equal "$list: $status" "$list: 2"
	done
}
