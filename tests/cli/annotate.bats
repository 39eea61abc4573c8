#!/usr/bin/env bats
# A function by lines and instructions, beside objdump and what report adds up.

load helpers
load recordings

sampled() { "$CPROF" run -q -s 499 "$@" >/dev/null; }

# A loop that takes most of the time, with code that is inlined from a header.
two_loops() {
	cat >square.h <<-'END'
		static inline unsigned square(unsigned x)
		{
			return x * x % 1013;
		}
	END
	cat >loops.c <<-'END'
		#include "square.h"
		#include <time.h>
		volatile unsigned seed = 3;
		static double now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
			return t.tv_sec + t.tv_nsec / 1e9;
		}
		__attribute__((noinline)) unsigned work(unsigned n)
		{
			unsigned sum = seed, i;

			for (i = 0; i < n; i++)
				sum += square(sum);
			return sum;
		}
		int main(void)
		{
			double end = now() + 0.4;
			while (now() < end)
				seed = work(100000);
			return 0;
		}
	END
	gcc -O2 -g -o loops loops.c
}

@test "annotate: instructions are objdump's, and add up to the function" {
	two_loops
	sampled ./loops
	"$CPROF" annotate --json work >work.json
	run python3 "$SOURCES/tests/cli/listing_judge.py" work.json loops
	assert_success
	report_ns=$("$CPROF" report --json | jq '.samples.functions[] | select(.function == "work") | .self_ns')
	assert_equal "$(jq .self_ns work.json)" "$report_ns"
	# With what is inlined, as report has it.
	assert_equal "$(jq '[.lines[] | .self_ns] | add' work.json)" "$(jq '[.instructions[] | .self_ns] | add' work.json)"
	# Nearly all is in the line that is inlined, and in the loop around it.
	run jq '([.lines[] | select(.function == "square" or (.line | IN(14, 15))) | .self_ns] | add)
		/ ([.lines[] | .self_ns] | add) > 0.95' work.json
	assert_output true
	run jq -r '.lines[] | select(.function == "square") | .source' work.json
	assert_output --partial 'return x * x % 1013;'
}

@test "annotate: the C library's functions, in both syntaxes" {
	cat >alloc.c <<-'END'
		#include <stdlib.h>
		int main(void)
		{
			for (int i = 0; i < 3000000; i++)
				free(calloc(1, 64 + (size_t)(i & 31) * 100));
			return 0;
		}
	END
	gcc -O1 -fno-builtin -o alloc alloc.c
	sampled ./alloc
	for function in calloc _int_free; do
		"$CPROF" annotate --json --code "$function" >code.json
		run python3 "$SOURCES/tests/cli/listing_judge.py" code.json "$(jq -r .path code.json)"
		assert_success
	done
	"$CPROF" annotate --all --code --syntax=intel calloc >intel
	"$CPROF" annotate --all --code calloc >att
	assert_file_contains att '%rsp'
	! grep '%rsp' intel || false
	assert_equal "$(wc -l <att)" "$(wc -l <intel)"
}

@test "annotate: what is shown fits, and says what it leaves out" {
	two_loops
	sampled ./loops
	for columns in 60 80 200; do
		COLUMNS=$columns "$CPROF" annotate work >out
		(($(wc -L <out) <= columns)) || fail "wider than $columns: $(cat out)"
		assert_file_contains out 'for (i = 0; i < n; i++)'
		# A heading is wrapped.
		[[ $(tr -s ' \n' ' ' <out) == *'inlined: square'* ]]
		assert_file_contains out '─►'
	done
	run "$CPROF" annotate --context=0 work
	assert_output --partial 'without time'
	run "$CPROF" annotate --all work
	refute_output --partial 'without time'
}

@test "annotate: another build is refused, a copy of the one that was recorded is not" {
	two_loops
	sampled ./loops
	cp loops kept
	gcc -O1 -g -DOTHER -o loops loops.c
	run "$CPROF" annotate work
	assert_failure 1
	assert_output --partial 'is not what was recorded: its build-id is'
	assert_output --partial '--binary=FILE'
	run "$CPROF" annotate --source work
	assert_success
	assert_output --partial 'for (i = 0; i < n; i++)'
	run "$CPROF" annotate --binary=kept --code work
	assert_success
	assert_output --partial 'ret'
	rm loops
	run "$CPROF" annotate work
	assert_failure 1
}

@test "annotate: stripped code, inlined functions, and what there is not" {
	two_loops
	strip loops
	sampled ./loops
	function=$("$CPROF" report --json | jq -r '.samples.functions | max_by(.self_ns) | .function')
	run "$CPROF" annotate "$function"
	assert_success
	assert_output --partial 'no source lines: no debug information'
	assert_output --partial 'Instructions'
	workshop | made made.data
	run "$CPROF" annotate made.data 'scan<char>'
	assert_success
	assert_output --partial 'inlined into parse'
	assert_output --partial 'no instructions: all of its code is inlined'
	run "$CPROF" annotate made.data nothing_of_that_name
	assert_failure 1
	desk | made calls.data
	run "$CPROF" annotate calls.data lookup
	assert_failure 1
	assert_output --partial 'has no samples'
	run "$CPROF" annotate
	assert_failure 2
}

@test "annotate: of coverage alone, it says what shows the lines" {
	two_loops
	"$CPROF" cover -q -o covered.data -- ./loops >/dev/null
	run "$CPROF" annotate covered.data main
	assert_failure 1
	assert_output --partial 'has no samples'
	assert_output --partial 'cprof export -f html -o DIR'
	"$CPROF" export -f html -o site covered.data
	grep -q '<li id=L[0-9]* class=c>' site/loops.c.html
}

@test "annotate: from the recording alone, where source and code were kept" {
	two_loops
	"$CPROF" run -q -s 499 --keep-source --keep-code -- ./loops >/dev/null
	"$CPROF" run -q -s 499 -o plain.data -- ./loops >/dev/null
	"$CPROF" annotate --json work >there.json
	"$CPROF" annotate --all --syntax=intel --binary=loops work >there.file
	"$CPROF" annotate --all --syntax=intel work >there
	diff there there.file
	mkdir elsewhere
	mv loops loops.c square.h elsewhere
	"$CPROF" annotate --json work >gone.json
	diff there.json gone.json
	"$CPROF" annotate --all --syntax=intel work | diff there -
	# objdump says the same of the file that is gone.
	run python3 "$SOURCES/tests/cli/listing_judge.py" gone.json elsewhere/loops
	assert_success
	assert_file_contains there 'return x \* x % 1013;'
	# Without it both are missing.
	run "$CPROF" annotate plain.data work
	assert_failure 1
	run "$CPROF" annotate --source plain.data work
	refute_output --partial 'return x * x % 1013;'
}

@test "annotate: what was kept is merged, in any order, and rotated" {
	two_loops
	for n in 1 2; do
		"$CPROF" run -q -s 499 --keep-source --keep-code -o $n.data -- ./loops >/dev/null
	done
	rm loops loops.c square.h
	"$CPROF" merge -o one.data 1.data 2.data
	"$CPROF" merge -o other.data 2.data 1.data
	"$CPROF" merge -o again.data one.data 1.data
	cmp one.data other.data
	cmp one.data again.data
	run "$CPROF" annotate one.data work
	assert_output --partial 'return x * x % 1013;'
	assert_output --partial 'imull'
	assert_equal "$("$CPROF" report --json one.data | jq .kept.sources)" 2
	run "$CPROF" report one.data
	assert_output --partial 'with 2 source files'
}

@test "annotate: a source that is too large is left out, and said to be" {
	two_loops
	head -c 5000000 /dev/zero | tr '\0' '\n' >>square.h
	"$CPROF" run -q -s 499 --keep-source -- ./loops >/dev/null
	run "$CPROF" report
	assert_output --partial 'with 1 source file, too large 1'
	assert_equal "$("$CPROF" report --json | jq -c '.kept | [.sources, .sources_left_out, .functions]')" '[1,1,0]'
}

@test "annotate: report --lines leads there, by what can be typed" {
	two_loops
	sampled ./loops
	mv cprof.data 'a b.data'
	"$CPROF" report --lines 'a b.data' | sed -n 's/^  \(cprof annotate \)/\1/p' >commands
	assert_file_contains commands "^cprof annotate 'a b.data' square$"
	sed -i "s,^cprof,$CPROF," commands
	run sh -e commands
	assert_success
	assert_output --partial 'return x * x % 1013;'
	mv 'a b.data' cprof.data
	run "$CPROF" report --lines
	assert_output --partial 'cprof annotate square'
}

@test "annotate: says what an address of a sample is, by how it was taken" {
	two_loops
	sampled --capture=ptrace -- ./loops
	assert_equal "$("$CPROF" annotate --json work | jq -r .pc)" stop
	run "$CPROF" annotate --code work
	assert_output --partial 'samples were taken by stopping the thread'
	workshop | made made.data
	run "$CPROF" annotate --json --source made.data 'parse(int)'
	assert_equal "$(jq -r .pc <<<"$output")" unknown
	"$CPROF" run -q -s 499 --capture=perf -o perf.data -- ./loops >/dev/null || skip "samples without stops are not permitted here"
	run "$CPROF" annotate --json perf.data work
	assert_equal "$(jq -r '.pc' <<<"$output")" "$("$CPROF" report --json perf.data | jq -r 'if .overhead.perf_samples < .samples.total then "both" else "interrupt" end')"
}

@test "annotate: which lines were reached, how often, where the recording has coverage" {
	cat >turns.c <<-'END'
		#include <time.h>
		volatile unsigned long spent, rounds = 3000;
		__attribute__((noinline)) void turn(int n)
		{
			if (n < 0)
				spent = 1;
			for (unsigned long i = 0; i < rounds; i++)
				spent += i;
		}
		int main(int argc, char **argv)
		{
			rounds *= argc > 1 ? 10000 : 1;
			for (int n = 0; n < 7; n++)
				turn(n);
			return 0;
		}
	END
	gcc -O0 -g -o turns turns.c
	# By breakpoints it takes long enough for samples.
	"$CPROF" run -q -s 499 --coverage --count --traps -- ./turns >/dev/null
	"$CPROF" annotate --json turn >turn.json
	# Line 5 as often as turn() was called, line 6 never.
	assert_equal "$(jq -c '[.lines[] | select(.line == 5) | .reached, .count]' turn.json)" '[true,7]'
	assert_equal "$(jq -c '[.lines[] | select(.line == 6) | .reached, .count]' turn.json)" '[false,0]'
	run "$CPROF" annotate --source --all turn
	assert_output --regexp ' 7 +5 +if \(n < 0\)'
	assert_output --regexp ' 0 +6 +spent = 1;'
	"$CPROF" run -q -s 499 -o plain.data -- ./turns longer >/dev/null
	assert_equal "$("$CPROF" annotate --json plain.data turn | jq -c '[.lines[].reached] | unique')" '[null]'
	run "$CPROF" annotate --source plain.data turn
	refute_output --partial reached
}
