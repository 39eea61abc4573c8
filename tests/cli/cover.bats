#!/usr/bin/env bats
# cprof cover: what it answers, what it refuses, what the program notices.
# The judge of lines and counts is gcov, on the same source.

load helpers

PROGRAM='#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int twice(int n)
{
	if (n > 3)
		return 6;
	return n * 2;
}
int never(void)
{
	return puts("never");
}
int main(int argc, char **argv)
{
	int i, sum = 0;
	for (i = 0; i < 10; i++)
		sum += twice(i);
	printf("sum %d\n", sum);
	if (argc > 1 && !strcmp(argv[1], "abort"))
		abort();
	if (argc > 1 && !strcmp(argv[1], "never"))
		never();
	return argc > 1 ? atoi(argv[1]) : 0;
}
'

# sources NAME [DIR]: NAME.c in DIR, built as ./NAME, with $FLAGS.
built() {
	mkdir -p "${2:-.}"
	printf '%s' "$PROGRAM" >"${2:-.}/$1.c"
	# shellcheck disable=SC2086 # words
	gcc ${FLAGS--g} -O0 -o "$1" "${2:-.}/$1.c"
}

cover() { separately "$CPROF" cover "$@"; }

# lines FILE: "LINE COUNT" of an lcov file.
lines() { sed -n 's/^DA:\([0-9]*\),\([0-9]*\)$/\1 \2/p' "$1"; }
reached() { lines "$1" | awk '$2 { print $1 }'; }

# gcov_lines NAME [ARG...]: "LINE COUNT", as gcov has it.
gcov_lines() (
	name=$1
	shift
	mkdir -p gcov && cd gcov || exit
	gcc --coverage -O0 -o "$name" "../$name.c"
	"./$name" "$@" >/dev/null || :
	gcov -t ./*.gcda | awk -F: '$2 + 0 && $1 !~ /-/ {
		sub(/[*]/, "", $1); print $2 + 0, $1 ~ /#/ ? 0 : $1 + 0 }'
)

# agrees FILE OTHER: of the lines that both know (braces and declarations are the
# one's or the other's alone), all have the same counts.
agrees() {
	join <(lines "$1" | sort) <(sort "$2") >both
	[ "$(wc -l <both)" -ge 12 ] && ! awk '$2 != $3' both | grep .
}

@test "cover: gcov's lines, reached or not" {
	built p
	cover --lcov=p.info -- ./p
	assert_success
	assert_output 'sum 48'
	agrees p.info <(gcov_lines p | awk '{ print $1, ($2 > 0) }')
}

@test "cover --count: gcov's counts" {
	built p
	cover --count --lcov=p.info -- ./p never
	assert_success
	agrees p.info <(gcov_lines p never)
}

@test "cover: standard output is CMD's, the table goes to standard error" {
	built p
	cover --html=html --lcov=a --cobertura=b --sonarqube=c --json=d -- ./p
	assert_success
	assert_output 'sum 48'
	[[ $stderr == *p.c* && $stderr != *$'\e'* ]]
	assert_exist html/index.html
	xmllint --noout b c
	cover -q -- ./p
	assert_success
	assert_output 'sum 48'
	assert_equal "$stderr" ''
	for option in --lcov=- --html=; do
		cover "$option" -- ./p
		assert_equal "$status" 125
	done
}

@test "cover --html: pages of sources that count no more go, others' files stay" {
	built p src
	cover --html=html -- ./p
	assert_exist html/src-p.c.html
	cp html/src-p.c.html html/older.html
	printf '<!DOCTYPE html>\n' >html/mine.html
	ln -s src-p.c.html html/link.html
	mv src there
	gcc -g -O0 -o p there/p.c
	cover --html=html -- ./p
	assert_success
	assert_equal "$(cd html && echo ./*.html)" './index.html ./link.html ./mine.html ./there-p.c.html'
}

@test "cover: the exit status is CMD's own" {
	built p
	cover --fail-under=99 -- ./p 7
	assert_equal "$status" 7
	[[ $stderr == *'--fail-under asks for 99 %'* ]]
	cover --lcov=p.info -- ./p abort
	assert_equal "$status" 134
	assert_equal "$(reached p.info | tail -n1)" 22 # and not the line after it
	run -127 "$CPROF" cover -- ./nothing
	cover -- ./p.c
	assert_equal "$status" 126
	cover --nothing -- ./p
	assert_equal "$status" 125
}

@test "cover: thresholds" {
	built p
	cover --lcov=x -- ./p
	read -r covered all < <(lines x | awk '{ all++; n += $2 > 0 } END { print n, all }')
	just=$(awk "BEGIN { print int($covered * 10000 / $all) / 100 }")
	over=$(awk "BEGIN { print $just + 0.01 }")
	cover --fail-under="$just" --fail-under-functions=66.6 --fail-under-branches=0 -- ./p
	assert_success
	cover --fail-under="$over" -- ./p
	assert_equal "$status" 3
	[[ $stderr == *"--fail-under asks for $over %: $covered of $all, 1 too few"* ]]
	cover --fail-under-functions=67% -- ./p
	assert_equal "$status" 3
	[[ $stderr == *"66.66 % of the functions"*"2 of 3, 1 too few"* ]]
	cover --fail-under-branches=100 -- ./p
	assert_equal "$status" 3
	for bad in 101 -1 x 1e1 '' 5%%; do
		cover --fail-under="$bad" -- ./p
		assert_equal "$status" 125
		[[ $stderr == *'takes a percentage'* ]]
		refute_output
	done
	cover --fail-under-diff=5 -- ./p
	assert_equal "$status" 125
	cover --fail-under-branches=5 --branches=none -- ./p
	assert_equal "$status" 125
}

@test "cover: which files count" {
	built p src
	cat >q.c <<-'END'
		int twice_more(int n)
		{
			return n + 1;
		}
	END
	gcc -g -shared -fPIC -o libq.so q.c
	printf 'int twice_more(int);\nint main(void) { return twice_more(-1); }\n' >main.c
	gcc -g -o main main.c -L. -lq -Wl,-rpath,"$PWD"
	cover --lcov=x -- sh -c './p && ./main'
	assert_success
	assert_equal "$(grep -c ^SF x)" 3
	cover --lcov=x --include='src/*' --include=q.c -- sh -c './p && ./main'
	assert_equal "$(grep ^SF x | sort)" "$(printf 'SF:%s\n' "$PWD/q.c" "$PWD/src/p.c")"
	cover --lcov=x --exclude=src/ --exclude='*/q.c' -- sh -c './p && ./main'
	assert_equal "$(grep ^SF x)" "SF:$PWD/main.c"
	cover --include=srx/ -- ./p
	assert_equal "$status" 125
	[[ $stderr == *'--include=srx/ matches no source file'*"$PWD/src/p.c"* ]]
	cover --exclude='*/none.c' -- ./p
	assert_equal "$status" 125
	cover --exclude=src/ -- ./p
	assert_equal "$status" 125
	[[ $stderr == *'no lines: none of the 1 source files counts'* ]]
}

@test "cover: which lines count" {
	built p
	sed -i 's/return 6;/return 6; \/\/ LCOV_EXCL_LINE/; s/^int never.*/& \/\/ LCOV_EXCL_START/
		s/^int main.*/& \/\/ LCOV_EXCL_STOP/' p.c
	gcc -g -O0 -o p p.c
	cover --lcov=x -- ./p
	lines x | awk '{ print $1 }' >with
	refute grep -qx -e 8 -e 13 with
	grep -qx 16 with
	cover --lcov=x --exclude-line='abort|printf' --exclude-region='argv.*never:^}' -- ./p
	refute grep -qx -e 22 -e 20 -e 23 -e 24 <(lines x | awk '{ print $1 }')
	cover --exclude-line=. -- ./p
	assert_equal "$status" 125
	[[ $stderr == *'all of the code is excluded'* ]]
	cover --exclude-line='(' -- ./p
	assert_equal "$status" 125
	refute_output
}

@test "cover: no quiet nothing" {
	FLAGS='' built p
	cover -- ./p
	assert_equal "$status" 125
	[[ $stderr == *"$PWD/p has no debug information"*'build it with -g'* ]]
	cover --image=p --fail-under-functions=10 -- ./p
	assert_success
	cover --image=p --fail-under=10 -- ./p
	assert_equal "$status" 125
	cover -- true
	assert_equal "$status" 125
	[[ $stderr == *'nothing that ran counts'*'--image=GLOB'* ]]
	cover -- false # whose status it is
	assert_equal "$status" 1
	built p
	cover --lcov=/nowhere/x -- ./p
	assert_equal "$status" 125
	[[ $stderr == */nowhere/x* ]]
}

@test "cover: sources newer than the program" {
	built p
	touch -d '1 hour' p.c
	cover -- ./p
	assert_equal "$status" 125
	[[ $stderr == *'p.c was written after the program was built'*'--stale=warn'* ]]
	cover --stale=warn -- ./p
	assert_success
	[[ $stderr == *'warning: p.c was written after'* ]]
}

@test "cover: sources that went elsewhere" {
	built p src
	mv src there
	cover --lcov=x -- ./p
	assert_success
	[[ $stderr == *"1 source file can't be read"*--path-map* ]]
	cover --path-map="$PWD/src=there" --lcov=x --include=there/p.c -- ./p
	assert_success
	assert_equal "$(grep ^SF x)" "SF:$PWD/there/p.c"
	[[ $stderr != *"can't be read"* ]]
	cover --path-map=src -- ./p
	assert_equal "$status" 125
}

@test "cover: trees of processes" {
	built p
	printf 'all: a b c\na:\n\t./p 0\nb:\n\tsh -c "./p never" & wait\nc:\n\t./p abort || :\n' >Makefile
	cover --lcov=x -- make -s -j3
	assert_success
	assert_equal "$(lines x | awk '!$2')" '' # each process reached another part
	cover --no-follow -- sh -c './p; :'
	assert_equal "$status" 125
}

@test "cover --diff: the lines that changed" {
	needs git
	export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
	built p
	git init -q -b main
	git add p.c
	git commit -qm first
	cover --diff=main --fail-under-diff=100 -- ./p
	assert_success
	[[ $stderr == *'--fail-under-diff holds'* ]]
	sed -i 's/return puts("never");/int r = puts("never");\n\treturn r;/; s/sum += twice/sum += 1 * twice/' p.c
	gcc -g -O0 -o p p.c
	cover --diff=main --fail-under-diff=30 -- ./p
	assert_success
	cover --diff=main --fail-under-diff=50 -- ./p
	assert_equal "$status" 3
	[[ $stderr == *'33.33 % of the changed lines'*'1 of 3, 1 too few'* ]]
	cover --diff=other -- ./p
	assert_equal "$status" 125
	refute_output
}

@test "cover: hostile names of sources" {
	dir=$'a b\e[31m"<&>\'\n,=;:\u202e'
	built p "$dir"
	cover --html=html --lcov=a --cobertura=b.xml --sonarqube=c.xml --json=d -- ./p
	assert_success
	[[ $stderr != *$'\e'* ]]
	xmllint --noout b.xml c.xml
	jq -e '.files | length == 1' d
	cover --include="$dir/" -- ./p
	assert_success
}

@test "cover: what the program sees of it" {
	built p
	# shellcheck disable=SC2016 # of the inner shell
	look='./p >&2; echo "[$LD_PRELOAD]"; cat /proc/self/personality; grep _allowed_list /proc/self/status
		ls -l /proc/self/fd | sed "s/.* //; s/\[.*//; /^.proc/d"'
	native=$(sh -c "$look" </dev/null 2>/dev/null)
	run sh -c '"$0" cover -- sh -c "$1" </dev/null 2>/dev/null' "$CPROF" "$look"
	assert_success
	assert_output "$native"
}

@test "coverage profiler: statements, the filter's + beats its -" {
	built p
	run "$CPROF" run --profile=coverage -- ./p
	assert_success
	assert_output 'sum 48'
	assert_not_exist cprof.data
	xpath() { xmllint --xpath "$1" coverage.xml; }
	assert_equal "$(xpath 'string(/coverage/@version)')" 0.3
	assert_equal "$(xpath 'string(/coverage/assembly/@name)')" p
	assert_equal "$(xpath 'string(/coverage/assembly/@method-count)')" 3
	assert_equal "$(xpath 'string(/coverage/assembly/@full)')" 1
	assert_equal "$(xpath 'string(/coverage/assembly/@partial)')" 1
	assert_equal "$(xpath 'string(//method[@name="twice"]/statement[@line=9]/@counter)')" 4
	assert_equal "$(xpath 'count(//method[@name="never"]/statement[@counter!=0])')" 0
	for order in '-[p]\n+[p]tw\n' '+[p]tw\n-[p]\n' '+[?]twice\n' '+twice\n-[q*]\n'; do
		# shellcheck disable=SC2059 # the text is the format
		printf -- "$order" >filter
		run "$CPROF" run --profile=coverage:covfilter-file=filter,output=coverage.xml -- ./p
		assert_equal "$(xpath '//method/@name')" ' name="twice"'
	done
	printf -- '-[p]never\n' >filter
	run "$CPROF" run --profile=coverage:covfilter-file=filter -- ./p
	assert_equal "$(xpath 'count(//method)')" 2
	printf 'never\n' >filter
	run "$CPROF" run --profile=coverage:covfilter-file=filter -- ./p
	assert_equal "$status" 125
	assert_output --partial 'filter:1: a filter is +[IMAGE]PREFIX'
	run "$CPROF" run --profile=coverage:help -- ./p
	assert_success
	assert_output --partial covfilter-file
	refute_output --partial 'sum 48'
}

@test "cover: a recording is reported later, too" {
	built p
	cover --lcov=now -o r.data -- ./p
	"$CPROF" export -f lcov -o later r.data
	diff now later
	"$CPROF" export -f lcov --exclude-line='puts|printf' -o later r.data
	assert_equal "$(diff <(lines now) <(lines later) | grep -c '^<')" 2
	separately "$CPROF" report --coverage --exclude='*.c' r.data
	assert_success
	refute_output --partial p.c
	separately "$CPROF" report --coverage --exclude='*.cc' r.data
	assert_equal "$status" 2
	[[ $stderr == *'--exclude=*.cc matches no source'* ]]
}

@test "run --coverage records what cover would" {
	built p
	cover --lcov=1 -o 1.data -- ./p
	"$CPROF" run -q -c -o 2.data -- ./p
	diff 1 <("$CPROF" export -f lcov 2.data)
	run "$CPROF" run --count -- ./p
	assert_equal "$status" 125
	assert_output --partial 'say --coverage'
}

@test "cover --merge: adds to a recording" {
	built p
	cover --merge=all.data --lcov=1 -- ./p
	assert_success
	assert_not_exist cprof.data
	assert_equal "$(reached 1 | grep -cx -e 13 -e 22)" 0
	cover --merge=all.data --lcov=2 -- ./p never
	cover --merge=all.data --lcov=3 -o one.data -- ./p abort
	assert_equal "$status" 134
	assert_exist one.data
	diff <(reached 3) <(lines 3 | awk '{ print $1 }')
	assert_equal "$(stat -c %a all.data)" 600
	assert_equal "$(find . -name '.cprof*')" ''

	echo text >text.data
	cover --merge=text.data -- ./p
	assert_equal "$status" 125
	refute_output # nothing ran for nothing
}

# stops ARG...: covers ./p with these options; how often it was stopped for that.
stops() {
	"$CPROF" cover -vv -q "$@" -- ./p >out 2>err
	sed -n 's/.*: \([0-9]*\) breakpoints of coverage in .*/\1/p' err
}

@test "cover --merge: what the recording holds is not asked again" {
	local first again
	built p
	first=$(stops --merge=all.data --lcov=1)
	assert [ "$first" -gt 10 ]
	# All that ran is known; what has not run yet is looked for.
	again=$(stops --merge=all.data --lcov=2)
	assert [ "$again" -le "$((first - 10))" ]
	cmp 1 2
	assert_equal "$(stops --again --merge=all.data --lcov=3)" "$first"
	cmp 1 3
	assert_equal "$(stops --merge=all.data -o one.data)" "$first"
	"$CPROF" export -f lcov -o 4 one.data
	diff <(lines 1) <(lines 4)
	"$CPROF" cover -q --merge=all.data --lcov=5 -- ./p never >/dev/null
	assert_equal "$(reached 5 | grep -cx -e 13 -e 24)" 2
	# Of a program that was built anew, nothing is known.
	sed -i 's/n \* 2/n * 3/' p.c
	gcc -g -O0 -o p p.c
	assert_equal "$(stops --merge=all.data)" "$first"
	run "$CPROF" cover --again -- ./p
	assert_equal "$status" 125
	assert_output --partial '--merge=FILE'
}

@test "cover --merge: several at a time" {
	built p
	printf '%s\n' 0 never abort 0 | xargs -P4 -I{} "$CPROF" cover -q --merge=all.data -- ./p {} || :
	"$CPROF" export -f lcov -o x all.data
	assert_equal "$(lines x | awk '!$2')" ''
	assert_equal "$(find . -name '.cprof*')" ''
}


# As generators and macros make them: of a few lines, far apart.
@test "lines of any number count, each by itself" {
	cat >far.c <<-'END'
		int main(int argc, char **argv)
		{
		#line 5000000
			if (argc > 1)
		#line 2000000000
				return 1;
		#line 5000000
			argv[0] = 0;
		#line 4194303
			argc++;
			argc++;
			return 0;
		}
	END
	gcc -O0 -g -o far far.c
	separately "$CPROF" cover -q --lcov=info -- ./far
	assert_equal "$status" 0
	assert_equal "$(grep ^DA: info | tr '\n' ' ')" \
		"DA:2,1 DA:4194303,1 DA:4194304,1 DA:4194305,1 DA:4194306,1 DA:5000000,1 DA:2000000000,0 "
	separately "$CPROF" cover -q --lcov=info -- ./far 2
	assert_equal "$(grep -c '^DA:.*,1$' info)" 4
}

@test "cover: no direction was taken that leads to where nobody came" {
	printf '%s\n' 'static int check(int a, int b) {' 'if (a < 0)' 'goto fail;' 'if (b < 0)' \
		'goto fail;' 'if (a + b > 5000)' 'goto fail;' 'return 0;' 'fail: return 1; }' \
		'int main(void) { int n = 0;' 'for (int i = 0; i < 1000; i++)' 'n += check(i, i);' \
		'return n; }' >p.c
	gcc -O0 -g -o p p.c
	mkdir judge
	(cd judge && gcc -O0 -g --coverage -c ../p.c && gcc --coverage -o p p.o && ./p && gcov -b p.gcda) >gcov.txt
	read -r share all < <(sed -n 's/^Taken at least once:\([0-9.]*\)% of \([0-9]*\)/\1 \2/p' gcov.txt)
	taken=$(awk "BEGIN { printf \"%.0f\", $share * $all / 100 }")
	"$CPROF" cover -q -- ./p
	[ "$("$CPROF" report --json | jq -c .coverage.branches)" = \
		"{\"covered\":$taken,\"total\":$all,\"unknown\":0,\"all\":$all}" ]
}

@test "cover: what is unknown of branches makes no percentage better, and is said" {
	printf '%s\n' 'int main(int argc, char **argv) {' '(void)argv; int n = 0;' \
		'for (int i = 0; i < 1000; i++)' 'if (argc)' 'n++;' 'if (argc > 1)' 'n--;' \
		'return n == 0; }' >p.c
	gcc -O0 -g -o p p.c
	mkdir judge
	(cd judge && gcc -O0 -g --coverage -c ../p.c && gcc --coverage -o p p.o && ./p && gcov -b p.gcda) >gcov.txt
	read -r share all < <(sed -n 's/^Taken at least once:\([0-9.]*\)% of \([0-9]*\)/\1 \2/p' gcov.txt)
	separately "$CPROF" cover --branches=exact -- ./p
	[ "$("$CPROF" report --json | jq -c .coverage.branches)" = \
		"{\"covered\":4,\"total\":$all,\"unknown\":0,\"all\":$all}" ]
	[ "$share" = "$(awk "BEGIN { printf \"%.2f\", 4 * 100 / $all }")" ]
	separately "$CPROF" cover --html=h --lcov=x --fail-under-branches=80 -- ./p
	[ "$status" = 3 ]
	read -r covered total unknown same < <("$CPROF" report --json |
		jq -r '.coverage.branches | "\(.covered) \(.total) \(.unknown) \(.all)"')
	[ "$covered $same" = "4 $all" ]
	[ "$unknown" -gt 0 ]
	[ $((total + unknown)) = "$all" ]
	percent=$(awk "BEGIN { printf \"%.1f\", 4 * 100 / $all }")
	grep -qE "^ .* $percent% +4/$all +$unknown .* total$" <<<"$stderr"
	grep -qE "^cprof: .* 4 of $all, [0-9]+ too few; of $unknown it is unknown" <<<"$stderr"
	grep -q "$percent%</strong>.*<small>4 of $all, $unknown unknown</small>" h/index.html
	grep -qx "BRF:$total" x
}

@test "--count says where code is optimised: its counts are not those of lines" {
	needs jq
	cat >sums.c <<-'END'
		#include <stdio.h>
		static int square(int n) { return n * n; }
		int main(int argc, char **argv)
		{
			int i, t = 0;
			for (i = 0; i < argc + 9; i++)
				t += square(i);
			printf("%d\n", t);
			return !argv;
		}
	END
	local level
	for level in 0 2; do
		gcc -g -O$level -o sums sums.c
		"$CPROF" cover --count -o d$level -- ./sums >out$level 2>err$level
		"$CPROF" report --json d$level | jq -c '.. | .counts_of_optimised? // empty' >json$level
	done
	[ ! -s json0 ]
	! grep -q 'code is optimised' out0 err0 || return 1
	[ "$(cat json2)" = true ]
	cat out2 err2 | grep -q 'code is optimised: it was run as often as said'
}

# gcc inlines the functions of std::atomic whatever is asked for.
@test "--count: what libraries have inlined always is no optimised code" {
	needs g++
	cat >atomic.cpp <<-'END'
		#include <atomic>
		std::atomic<int> n{3};
		int main() { return n.load() != 3; }
	END
	g++ -g -O0 -o atomic atomic.cpp
	readelf --debug-dump=info atomic | grep -q DW_TAG_inlined_subroutine
	"$CPROF" cover --count -o d -- ./atomic >out 2>&1
	! grep -q 'code is optimised' out || { cat out; return 1; }
}
