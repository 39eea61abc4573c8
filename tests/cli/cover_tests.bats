#!/usr/bin/env bats
# Which tests reached a line. gcov judges: a run of each test, alone.

load helpers

PROGRAM='#include <string.h>
static int parse(int n)
{
	int k = n + 1;
	return k * 2;
}
static int print(int n)
{
	if (n > 100)
		n -= 7;
	return n;
}
static int never(int n)
{
	return n;
}
int main(int argc, char **argv)
{
	int r = argc;
	if (!strcmp(argv[1], "parse"))
		r = parse(r);
	else if (!strcmp(argv[1], "print"))
		r = print(r);
	if (argc > 9)
		r = never(r);
	return r < 0;
}
'

built() {
	printf '%s' "$PROGRAM" >p.c
	gcc -O0 -g -o p p.c
	mkdir gcov
	(cd gcov && gcc -O0 -g --coverage -o judged ../p.c)
}

# Lines with statements: of braces and declarations gcov and line tables differ.
statements() { grep -Fx -f <(grep -nE ';$|if \(' p.c | cut -d: -f1); }

# judged ARG: the lines that gcov says a run with ARG reached.
judged() {
	(cd gcov && rm -f ./*.gcda && ./judged "$1" && gcov -t ./*.gcda 2>/dev/null) |
		sed -n 's/^ *[0-9]*\*\{0,1\}: *\([0-9]*\):.*/\1/p' | statements
}

# named FILE TEST: the lines of the page FILE whose tests have TEST among them.
named() {
	sed -n 's/^<li id=L\([0-9]*\) .*title="\(reached by [^"]*\)".*/\1 \2\&#10;/p' "$1" |
		grep -F "&#10;$2&#10;" | cut -d' ' -f1 | statements
}

# reached FILE TEST: the same of the JSON of reports; lines of code alone.
reached() {
	"$CPROF" report --coverage --json "$1" | python3 -c '
import json, sys
file, = json.load(sys.stdin)["coverage"]["files"]
for test in file["tests"]:
    if test["test"] == sys.argv[1]:
        for first, last in test["reached"]:
            print(*range(first, last + 1), sep="\n")' "$2" | statements
}

@test "cover --name: the tests that reached a line are those of gcov, from --merge" {
	built
	"$CPROF" cover -q --name=parsing --merge=all.data -- ./p parse
	"$CPROF" cover -q --name='print <&"' --merge=all.data --html=site -- ./p print
	diff <(judged parse) <(named site/p.c.html parsing)
	diff <(judged print) <(named site/p.c.html 'print &lt;&amp;&quot;')
	# One that both reached, and one that none did.
	grep -q '^<li id=L20 .*title="reached by 2 tests:&#10;parsing&#10;print &lt;&amp;&quot;">2<' site/p.c.html
	grep -q '^<li id=L15 class=x>	return n;' site/p.c.html
	grep -q '<td class="name">parsing</td><td class="n">11</td><td class="n">5</td>' site/p.c.html
	# Braces beside them: those of main, and those of parse.
	judged parse >parsed
	judged print >printed
	assert_equal "$(wc -l <parsed)" $((11 - 4))
	assert_equal "$(grep -cvxFf printed parsed)" $((5 - 2))
	# Of the JSON, too.
	diff <(judged parse) <(reached all.data parsing )
}

@test "cover --name: the same by cprof merge, in any order, with runs that have no name" {
	built
	"$CPROF" cover -q --name=a -o a.data -- ./p parse
	"$CPROF" run -q --coverage --name=b -o b.data -- ./p print
	"$CPROF" cover -q --name=b --count -o c.data -- ./p other
	"$CPROF" cover -q -o d.data -- ./p parse
	"$CPROF" merge -o 1.data a.data b.data c.data d.data
	"$CPROF" merge -o 2.data d.data c.data a.data
	"$CPROF" merge -o 3.data 2.data b.data a.data
	cmp 1.data 3.data
	"$CPROF" export -f html -o site 3.data
	diff <(judged parse) <(named site/p.c.html a)
	diff <({ judged print; judged other; } | sort -nu) <(named site/p.c.html b)
	# What has one name is one test; what has none adds to what was reached alone.
	assert_equal "$(grep -c '^<tr><td class="name">[ab]</td>' site/p.c.html)" 2
	"$CPROF" cover -q --merge=d.data --html=bare -- ./p print
	run ! grep -E 'class=t |id="tests"|tested' bare/p.c.html
}

@test "cover --name: what --merge holds is asked again, and without a name is not" {
	local first
	stops() {
		"$CPROF" cover -vv -q "$@" -- ./p parse >out 2>err
		sed -n 's/.*: \([0-9]*\) breakpoints of coverage in .*/\1/p' err
	}
	built
	first=$(stops --name=a --merge=all.data)
	assert [ "$first" -gt 10 ]
	assert_equal "$(stops --name=b --merge=all.data)" "$first"
	assert [ "$(stops --merge=all.data)" -lt "$first" ]
	diff <(reached all.data a) <(reached all.data b)
}

@test "--name: what makes no sense is refused" {
	run -2 --separate-stderr "$CPROF" merge --name=x -o y z
	run -125 "$CPROF" cover --name= -- true
	assert_output --partial '--name needs the name of a test'
	run -125 "$CPROF" run --name=x -- true
	assert_output --partial '--name is about coverage: say --coverage'
}
