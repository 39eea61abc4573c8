#!/usr/bin/env bats
# cprof stack --args --locals: judged by gdb of the same stopped process, and by a
# program that knows its own variables.

load helpers
load tracees

# of FUNCTION FILTER: of the frames of that function, any thread.
of() {
	jq -r --arg f "$1" '.threads[].frames[] | select(.function // "" |
		startswith($f + "(") or . == $f) | '"$2" stack.json
}

# agree PROGRAM: every value that gdb has is ours, and the program is as it was.
agree() {
	begin "$1"
	"$SOURCES/scripts/judge-stack" "$tracee" >judged || complain "$1: $(cat judged)"
	same=$(awk '$2 == "same" { print $1 }' judged)
	[ "${same:-0}" -gt 40 ] || complain "$1: only $same compared: $(cat judged)"
	finish
	[ "$finished" = "status 0, variables: ok each variable is what it was" ] ||
		complain "$1: $finished"
}

@test "every variable of every frame is gdb's" {
	needs gdb python3
	agree variables
	agree variables_O0
	[ ! -e "$TRACEES/variables_clang" ] || agree variables_clang
	no_complaints
}

@test "gdb knows nothing of it that we do not" {
	needs gdb python3
	begin variables_O0
	"$SOURCES/scripts/judge-stack" --all "$tracee" >judged
	finish
	awk '$0 ~ /^ *[0-9]+  gdb alone$/ { exit $1 > 0 }' judged || { cat judged; return 1; }
}

@test "values as the program has them, of optimised code" {
	needs jq
	begin variables
	take --args --locals
	{
		of leaf '.args[] | "\(.name) \(.value | tojson)"'
		of leaf '.locals[] | select(.name == "local").text'
		of middle '.args[] | select(.name == "depth").value'
		of middle '.locals[] | select(.name == "heap").text'
	} >args
	diff args - <<-END
		what "a string on the heap"
		n $(of leaf '.args[] | select(.name == "n").value | tojson')
		c "BLUE"
		count "18446744073709551615"
		"a string on the heap!"
		0
		1
		2
		3
		"a string on the heap"
		"a string on the heap"
		"a string on the heap"
		"a string on the heap"
	END
	of leaf '.args[] | select(.name == "n").value | "\(.name) \(.weight) \(.tags | tojson)"' >n
	diff n - <<<"second 2.5 [5,6,7,8]"
	# A factor of doubles, which lives in a vector register.
	[ "$(of leaf '.locals[] | select(.name == "factor").value')" = 15 ]
	of square::area '.locals[] | select(.name == "label").text' >label
	diff label - <<<'"label of a square with a long name"'
	finish
}

@test "arrays that are pieces of one register, as gdb has them" {
	needs gdb jq
	cat >pieces.c <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		__attribute__((noinline)) int use(int n)
		{
			char c;

			puts("ready"), fflush(stdout);
			return n + (int)read(0, &c, 1);
		}
		__attribute__((noinline)) int shorts(unsigned long v)
		{
			short arr[4] = { (short)v, (short)(v >> 16), (short)(v >> 32), (short)(v >> 48) };
			int r = use(arr[2]);

			return r + arr[0] + arr[1] + arr[2] + arr[3];
		}
		__attribute__((noinline)) int ints(int n)
		{
			int arr[4] = { n, n + 1, n + 2, n + 3 };
			int r = shorts(0x0008000700060005ul);

			return r + arr[0] * arr[1] + arr[2] * arr[3] + n;
		}
		int main(int argc, char **argv) { return argv[0] && ints(argc) < 0; }
	END
	gcc -g -O2 -o pieces pieces.c
	mkfifo hold
	exec {hold}<>hold
	: >said
	./pieces <&"$hold" >said {hold}>&- 3>&- &
	pid=$!
	until_true grep -q ready said
	"$CPROF" stack --json --stop --locals "$pid" >stack.json
	gdb -batch -p "$pid" -ex 'bt full' >gdb 2>/dev/null || true
	echo >&"$hold"
	exec {hold}>&-
	wait "$pid"
	sed -n 's/^ *arr = //p' gdb >wanted
	[ "$(wc -l <wanted)" = 2 ]
	jq -r '.threads[].frames[].locals[]? | select(.name == "arr").text' stack.json | diff wanted -
}

@test "inlined calls have their own" {
	needs jq
	begin variables
	take --args
	of work '[.inlined, (.args[] | select(.name == "of").value.shape.width),
		(.args[] | select(.name == "label").text)] | tojson' >got
	diff got - <<<'[true,2.5,"&\"label of a square with a long name\""]'
	finish
}

@test "who sleeps is not woken, and its variables are known" {
	needs jq
	begin variables_O0
	for round in 1 2 3 4 5; do
		take --args --locals
		of sleeps '[(.args[] | select(.name == "of").value | .name, .weight),
			(.locals[] | select(.name == "copy").value | .weight, .tags[2])] | tojson' >got
		diff got - <<<'["sleeper",21,42,33]'
	done
	jq -r '.threads[] | select(.name == "sleeps").state' stack.json | grep -x S
	finish
	[ "$finished" = "status 0, variables: ok each variable is what it was" ]
}

# One thread changes first and second one after the other; both see one moment.
@test "threads stand still while their values are read" {
	needs jq
	local round
	begin variables
	for round in $(seq "$(long_or 200 25)"); do
		take --args
		for f in changes looks; do
			of "$f" '.args[0].value | "\(.first) \(.second)"' >>"$f.saw"
		done
	done
	diff changes.saw looks.saw
	[ "$(wc -l <looks.saw)" = "$round" ]
	[ "$(sort -u looks.saw | wc -l)" -gt 1 ]
	awk '{ d = $1 - $2; if (d != 0 && d != 1) print "halves", $0 }' looks.saw >apart
	diff apart /dev/null
	finish
}

# gdb stops it at each instruction, and leaves it stopped there by a signal.
@test "arguments at each instruction at which a frame is set up, without optimisation" {
	needs jq gdb
	local compiler address each=1 count=0 between=0
	cat >prologue.c <<-'END'
		struct big { long a, b, c; };
		static volatile double sink;
		static double called(int n, const char *what, double d, struct big s, char c)
		{
			double x = n + d + s.a + c + what[0];
			return x;
		}
		int main(void)
		{
			struct big s = { 11, 22, 33 };
			for (;;)
				sink = called(7, "seven", 2.5, s, 'q');
		}
	END
	for compiler in gcc "gcc -fstack-protector-all" clang; do
		command -v "${compiler%% *}" >/dev/null || { echo "# no $compiler" >&3; continue; }
		$compiler -g -O0 -o prologue prologue.c
		start ./prologue
		for address in $(gdb -batch -ex 'disassemble called' prologue |
			sed -n 's/^ *0x[0-9a-f]* <+\([0-9]*\)>:.*/\1/p' | sed -n "1~${each}p;14q"); do
			gdb -nx -batch -p "$pid" -ex "tbreak *((char *)called + $address)" -ex continue \
				-ex 'queue-signal SIGSTOP' -ex detach >gdb.out 2>&1
			"$CPROF" stack --json --args --stop "$pid" >stack.json
			got=$(jq -c '.threads[0].frames[0] | select(.function == "called") |
				[.args[] | .error // .value]' stack.json)
			# On its way from one register to another gcc has one elsewhere for a while.
			case $got in
			'[7,"seven",2.5,{"a":11,"b":22,"c":33},113]') count=$((count + 1)) ;;
			'[7,"seven",2.5,{"a":11,"b":22,"c":33},"unavailable"]') between=$((between + 1)) ;;
			*) complain "$compiler +$address: $got" ;;
			esac
			kill -CONT "$pid"
		done
		kill -KILL "$pid"
		wait "$pid" || :
		each=$(long_or 1 2)
	done
	[ "$count" -ge "$(long_or 30 20)" ] && [ "$between" -le 6 ] || complain "$count known, $between unavailable"
	no_complaints
}

# again(100, 1) came back to itself by tail calls: then it was entered with 102.
@test "what its caller passed is not believed of who was entered otherwise" {
	needs jq
	begin variables
	take --args --stop
	of again '.args[0] | "\(.error) \(.value)"' >got
	finish
	diff got - <<<"optimized_out null"
}

# passes() ends in leaf() and nothing else; twice() in one of two ways, around() by way of another.
@test "what was passed by a function that ended by jumping is known where there is one way" {
	needs gcc gdb jq
	local how
	cat >jumps.c <<-'END'
		#include <unistd.h>
		#define OWN __attribute__((noipa)) long
		volatile int at;
		static __attribute__((noinline)) long hold(void) { char c; return read(0, &c, 1); }
		OWN leaf(long a, long b, long c) { at++; return hold() + at; }
		OWN passes(long b, long a) { return leaf(a, b, 42); }
		OWN twice(long a, long b) { return at > 99 ? leaf(a, b, 1) : leaf(b, a, 2); }
		OWN also(long a, long b) { return leaf(b, a, 3); }
		OWN around(long a, long b) { return at > 99 ? leaf(a, b, 4) : also(a, b); }
		OWN calls(int how)
		{
			return how == 1 ? passes(5, 6) + 1 : how == 2 ? twice(7, 8) + 1 : around(9, 10) + 1;
		}
		int main(int argc, char **argv) { return (int)calls(argv[1][0] - '0'); }
	END
	gcc -g -O2 -o jumps jumps.c
	mkfifo open
	exec {open}<>open
	for how in 1 2 3; do
		./jumps $how <open {open}>&- 3>&- &
		pid=$!
		started+=("$pid")
		until_true grep -q '^0 0x0 ' "/proc/$pid/syscall"
		"$CPROF" stack --json --args --stop "$pid" |
			jq -c '.threads[].frames[] | select(.function == "leaf") | [.args[] | .error // .value]' >>ours
		"$CPROF" inspect --json --stop --frame=leaf "$pid" a b c | jq -c '[.[] | .error // .value]' >>theirs
		[ $how != 1 ] || gdb -nx -batch -p "$pid" -ex 'frame function leaf' -ex 'printf "[%ld,%ld,%ld]\n", a, b, c' \
			2>/dev/null | grep '^\[[0-9]' >said
		kill -KILL "$pid"
		wait "$pid" || :
	done
	exec {open}>&-
	diff ours - <<-'END'
		[6,5,42]
		["optimized_out","optimized_out","optimized_out"]
		["optimized_out","optimized_out","optimized_out"]
	END
	diff ours theirs
	head -n 1 ours | diff - said
}

@test "on a terminal values are cut to its width; in a pipe they are whole" {
	begin variables_O0
	"$CPROF" stack --args --locals "$tracee" >pipe
	grep -F -x '           local="a string on the heap!"' pipe
	grep -q '#[0-9]* .* leaf+0x[0-9a-f]* (what="a string on the heap", n={.*}, c=BLUE, count=18446744073709551615) at .*variables.cpp:' pipe
	COLUMNS=60 script -qec "NO_COLOR=1 PAGER=cat '$CPROF' stack --locals $tracee" /dev/null |
		tr -d '\r' | grep '^           ' >narrow
	COLUMNS=60 script -qec "NO_COLOR=1 PAGER=cat '$CPROF' stack --args $tracee" /dev/null |
		tr -d '\r' >below
	# The place has a line of its own, too.
	grep -A 4 -E '^  #[0-9]+ .* leaf\+0x[0-9a-f]+$' below | sed -n '3p;5p' | diff - <(
		printf '           (%s\n            %s\n' 'what="a string on the heap",' 'c=BLUE,')
	[ -s narrow ]
	[ "$(LC_ALL=C.UTF-8 wc -L <narrow)" -le 60 ]
	finish
}

@test "killed in the middle, the program goes on" {
	begin variables
	for round in $(seq "$(long_or 300 30)"); do
		"$CPROF" stack --args --locals "$tracee" >/dev/null 2>&1 &
		taker=$!
		until [ -e /proc/$taker/task/$taker/children ] && grep -q . /proc/$taker/task/$taker/children 2>/dev/null ||
			! kill -0 $taker 2>/dev/null; do :; done
		for ((i = 0; i < RANDOM % 2000; i++)); do :; done
		kill -KILL $taker 2>/dev/null || :
		wait $taker || :
	done
	soon_left_alone "$tracee" variables
	finish
	[ "$finished" = "status 0, variables: ok each variable is what it was" ]
	no_complaints
}
