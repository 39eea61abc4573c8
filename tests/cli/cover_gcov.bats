#!/usr/bin/env bats
# cprof cover beside gcov, line by line and branch by branch: all that both know
# agrees. scripts/judge-coverage does the same with programs of others.

load helpers

# both NAME SOURCE COMPILER: NAME-plain, NAME-gcov.
both() {
	"$3" -O0 -g -o "$1-plain" "$2"
	mkdir gcov
	(cd gcov && "$3" -O0 -g --coverage -o "../$1-gcov" "$2")
}

judge() {
	separately env "CPROF=$CPROF" "$SOURCES/scripts/judge-coverage" "$@" --only=cover_counts
	[ "$status" = 0 ]
}

# agreed LINES DIRECTIONS: at least so many, and all agree.
agreed() {
	local of='^lines of both: ([0-9]+), agree [0-9]+ = 100.000 %$'
	local directions='^directions: ([0-9]+), agree [0-9]+ = 100.000 %; unknown 0;'

	[[ ${lines[0]} =~ $of ]]
	[ "${BASH_REMATCH[1]}" -ge "$1" ]
	[[ ${lines[2]} =~ $directions ]]
	[ "${BASH_REMATCH[1]}" -ge "$2" ]
}

@test "lines, branches and exact counts of a C program are gcov's" {
	both p "$SOURCES/tests/cli/cover_counts.c" gcc
	judge --plain=p-plain --gcov=p-gcov
	agreed 40 36
	judge --plain=p-plain --gcov=p-gcov -- never
	agreed 40 36
	judge --count --plain=p-plain --gcov=p-gcov
	agreed 40 36
}

@test "lines and branches of a C++ program are gcov's: templates, exceptions, lambdas" {
	both p "$SOURCES/tests/cli/cover_counts.cpp" g++
	judge --plain=p-plain --gcov=p-gcov
	agreed 35 10
	judge --count --plain=p-plain --gcov=p-gcov
	agreed 35 10
}

# differ OUTPUT: the lines that a judgement names, without where.
differ() { sed -n 's/^ .*: cprof \([0-9]*\), gcov \([0-9]*\)   | /\1 \2 /p' <<<"$1"; }

# The 63 of 200 executions that an exception ends come by two destructors, 13 of them by three.
@test "exact counts of lines that throw, catch and destroy are gcov's" {
	both p "$SOURCES/tests/cli/cover_throws.cpp" g++
	separately env "CPROF=$CPROF" "$SOURCES/scripts/judge-coverage" --count \
		--plain=p-plain --gcov=p-gcov --only=cover_throws
	assert_equal "$status" 1
	assert_equal "$(differ "$output")" '200 276 } // closing'$'\n150 250 } // closing'
	[[ ${lines[0]} =~ ^lines\ of\ both:\ ([0-9]+),\ agree\ ([0-9]+)\  ]]
	assert_equal "${BASH_REMATCH[2]}" $((BASH_REMATCH[1] - 2))
	assert [ "${BASH_REMATCH[2]}" -ge 115 ]
}

@test "exact counts of lines that longjmp leaves are gcov's, and of loops and conditions on one" {
	both p "$SOURCES/tests/cli/cover_jumps.c" gcc
	separately env "CPROF=$CPROF" "$SOURCES/scripts/judge-coverage" --count \
		--plain=p-plain --gcov=p-gcov --only=cover_jumps
	assert_equal "$status" 0
	agreed 60 90
	separately env "CPROF=$CPROF" "$SOURCES/scripts/judge-coverage" \
		--plain=p-plain --gcov=p-gcov --only=cover_jumps
	assert_equal "$status" 0
}

# An inlined function is called as often as gcov counts its first line.
@test "functions are called as often as gcov says, those of the compiler are none" {
	needs jq gcov
	cat >inlined.cpp <<-'END'
		struct Made { int n = 1; };
		struct Derived : Made { Made m[3]; };
		inline __attribute__((always_inline)) int twice(int n)
		{
			return n * 2;
		}
		static int run(int (*f)(int)) { return f(1) + f(2) + f(3); }
		int main()
		{
			Derived d;
			return run([](int n) { return twice(n) + twice(n + 1); }) + d.m[2].n == 42;
		}
	END
	both p "$PWD/inlined.cpp" g++
	./p-gcov
	gcov -t --json-format ./*.gcda >gcov.json
	"$CPROF" cover -q --count --lcov=info -- ./p-plain
	jq -r '.files[] | select(.file | endswith("inlined.cpp")).functions[] |
		"FNDA:\(.execution_count),\(.name)"' gcov.json | sort >want
	jq -r '.files[] | select(.file | endswith("inlined.cpp")).lines[] |
		select(.line_number == 5) | "FNDA:\(.count),twice(int)"' gcov.json >>want
	grep ^FNDA info | sort >got
	diff <(sort want) got
}

# clang lays landing pads behind each other, where no jump leads.
@test "catch clauses in what clang built ran where gcov counted them" {
	needs clang++ g++ gcov
	local source="$SOURCES/tests/cli/cover_clauses.cpp"
	g++ -O0 -g --coverage -o counted "$source"
	./counted x
	gcov -t counted-cover_clauses.gcda |
		sed -n 's/^ *\([0-9#=*]*\): *\([0-9]*\):.*; \/\/ clause$/\2,\1/p' |
		sed 's/,[1-9].*/,1/; s/,[#=].*/,0/' >want
	grep -c ,1 want
	grep -c ,0 want
	clang++ -O0 -g -o plain "$source"
	separately "$CPROF" cover -q --lcov=info -- ./plain x
	assert_equal "$status" 0
	sed -n 's/^DA://p' info | grep -x -f <(sed 's/,.*/,./' want) | diff want -
}

# branch_lines: of gcov -b -t on standard input, each line with as many branches.
branch_lines() {
	awk -F: '/^branch/ { print line; next } { line = $2 + 0 }'
}

@test "conditions over several lines have their branches where gcov has them" {
	local compiler
	cat >m.c <<-'END'
		int f(int a, int b, int c)
		{
			if (a > 1 &&
			    b > 2 &&
			    c > 3)
				return 1;
			if ((a > 5
			     || b > 6)
			    && !(c > 7
				 || b == 9))
				return 2;
			int r = a > 8
				? b
				: c;
			while (r > 0
			       && r < 10
			       && c)
				r += 3;
			for (int i = 0;
			     i < r
			     && i != c;
			     i++)
				a++;
			do
				b--;
			while (b > 0
			       || c < 0);
			return (a > 1
				&& b > 1)
				|| c;
		}
		int main(void)
		{
			return f(2, 3, 4) + f(9, 1, 1) + f(0, 0, 1) == 1000;
		}
	END
	for compiler in "gcc -x c" "g++ -x c++"; do
		$compiler -O0 -g -o m m.c
		rm -rf gcov
		mkdir gcov
		(cd gcov && $compiler -O0 -g --coverage -c ../m.c && gcc --coverage -o m m.o && ./m &&
			gcov -b -t m.gcda) | branch_lines >want
		[ "$(wc -l <want)" -ge 30 ]
		"$CPROF" cover -q --branches=exact --lcov=info -- ./m
		diff want <(sed -n 's/^BRDA:\([0-9]*\),.*/\1/p' info)
	done
}

# scripts/judge-lines does the same with programs of others.
@test "optimised, no line is called reached, and certain, of which no statement ran" {
	needs valgrind llvm-dwarfdump
	local level
	for level in 1 2 3; do
		gcc -O$level -g -no-pie -o p "$SOURCES/tests/cli/cover_moved.c"
		separately env "CPROF=$CPROF" "$SOURCES/scripts/judge-lines" p
		assert_equal "$status" 0
		# It has something to judge, and code that was moved up.
		[[ ${lines[0]} =~ ^lines:\ ([0-9]+),\ reached\ ([0-9]+)\;\ uncertain\ ([0-9]+)$ ]]
		[ "${BASH_REMATCH[1]}" -ge 45 ] && [ "${BASH_REMATCH[2]}" -ge 25 ]
		[ $((BASH_REMATCH[1] - BASH_REMATCH[3])) -ge 25 ]
	done
}

# as_gcov LINES DIRECTIONS: of p.c both say the same, of at least so many.
as_gcov() {
	both p "$PWD/p.c" gcc
	separately env "CPROF=$CPROF" "$SOURCES/scripts/judge-coverage" --plain=p-plain --gcov=p-gcov \
		--only=p.c
	assert_equal "$status" 0
	agreed "$1" "$2"
}

# many COUNT BODY: so many functions, each of them called twelve times before anybody gets to where
# two conditions lead.
many() {
	local n
	echo '#include <stdlib.h>'
	for n in $(seq "$1"); do
		echo "static long f$n(long a, long b) {"
		printf '%s\n' 'if (a == -1 || b == -1)' "$2" 'if (a & 1)' 'b++;' \
			'if (b & 2)' 'a++;' 'return a + b;' '}'
	done
	echo 'static long (*const all[])(long, long) = {'
	for n in $(seq "$1"); do echo "f$n,"; done
	printf '%s\n' '};' 'int main(void) {' 'long sum = 0;' \
		"for (long n = 0; n < $1; n++)" 'for (long i = 0; i < 12; i++)' 'sum += all[n](i, n);' \
		"for (long n = 0; n < $1; n += 2)" 'for (long i = 0; i < 2; i++)' \
		'sum += all[n](-1, 1) + all[n](1, -1);' 'return sum == 42; }'
}

# unreached BODY STOPS: at least so many are saved by what is not waited for.
unreached() {
	many 250 "$1" >p.c
	as_gcov 1700 2000
	local stops=() way
	for way in exact budget; do
		"$CPROF" cover -q --branches="$way" -o data -- ./p-plain
		stops+=("$("$CPROF" report --json data | jq .overhead.stops)")
	done
	assert [ "$((stops[0] - stops[1]))" -gt "$2" ]
}

@test "ways to where nobody was are not waited for, and seen later" {
	needs jq gcov
	unreached 'return a;' 3500
}

@test "so are ways to a block that the ways out of it tell of" {
	needs jq gcov
	unreached $'if (b > 0)\nreturn a;' 3500
}

# joined COUNT: so many functions that are called once, and where a watched jump leads to
# what others lead to, too.
joined() {
	local n
	for n in $(seq "$1"); do
		echo "static long f$n(long a, long b) {"
		printf '%s\n' 'long sum = 0;' 'if (a == 1 || b == 2)' 'sum += 2;' 'if (a == 2 || b == 1)' \
			'sum++;' 'for (; b > 9; b--)' 'if (a & 1)' 'goto out;' 'sum = 7;' 'out:' \
			'return sum; }'
	done
	echo 'static long (*const all[])(long, long) = {'
	for n in $(seq "$1"); do echo "f$n,"; done
	printf '%s\n' '};' 'int main(void) {' 'long sum = 0;' \
		"for (long n = 0; n < $1; n++)" 'sum += all[n](n % 3, n % 11);' 'return sum == 42; }'
}

@test "where a jump is watched, the block behind it costs no stop, and is gcov's" {
	needs jq gcov
	joined 500 >p.c
	as_gcov 5500 6000
	"$CPROF" cover -q --branches=exact -o data -- ./p-plain
	assert [ "$("$CPROF" report --json data | jq .overhead.stops)" -lt 2900 ]
}
