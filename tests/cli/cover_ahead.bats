#!/usr/bin/env bats
# cprof cover of many processes: those after the first one have breakpoints only where
# they can leave what is known, and find all the same. The judges are the program, which
# writes the numbers of the lines marked RAN that it gets to, and runs of one process
# each, in which everything is placed.

load helpers

HOWS=(plain exits 'exits 3' longjmps 'throws 0' 'throws 1' 'throws 2' 'throws 1'
	'computed 0' 'computed 120' 'computed 3230' 'computed 13110' 'switches 0' 'switches 4'
	'switches 2' 'switches 3' 'switches 6' 'switches 9' 'switches 1' 'signals 0' 'signals 1'
	threads threads forks forks 'many 0' 'many 1' 'many 2' 'many 5' longjmps plain)

# commands HOW...: a script that runs ./p so, one after the other.
commands() { printf './p %s\n' "$@"; }

# Lines marked RAN; those of them that an lcov file has as reached.
marked() { grep -n '\<RAN\>' "$program" | grep -v define | cut -d: -f1 | sort; }
reached() { sed -n '/cover_ahead/,/^end/s/^DA:\([0-9]*\),[1-9].*/\1/p' "$1" | sort; }

# facts FILE: what is reached, without how often.
facts() {
	grep -E '^(SF|DA|BRDA|FNDA):' "$1" |
		sed -E 's/^(DA:[0-9]+),[1-9].*/\1,1/; s/^(BRDA:.*),[1-9][0-9]*$/\1,1/; s/^FNDA:[1-9][0-9]*/FNDA:1/'
}

# placed: how many breakpoints each process had.
placed() { sed -n 's/.*\/p: \([0-9]*\) breakpoints of coverage in .*/\1/p' err; }

built() {
	program=$SOURCES/tests/cli/cover_ahead.cpp
	g++ -O0 -g "$@" -o p "$program" -pthread
}

# together, apart HOW...: x is what one run of all found, y what runs of each found.
together() {
	commands "$@" >script
	"$CPROF" cover -vv -q --branches=exact --lcov=x -- sh script >said 2>err || :
}
apart() {
	local how
	rm -f y.data
	for how; do
		# shellcheck disable=SC2086 # words
		"$CPROF" cover -q --branches=exact --again --merge=y.data --lcov=y -- \
			./p $how >/dev/null || :
	done
}

@test "cover: processes that know what others reached find all that is new" {
	built
	together "${HOWS[@]}"
	diff <(sort -u said) <(comm -12 <(marked) <(reached x))
	apart "${HOWS[@]}"
	diff <(facts x) <(facts y)
	# Most of it was not even placed.
	assert [ "$(placed | sed -n 2p)" -lt "$(($(placed | sed -n 1p) / 2))" ]
	[ "$(grep -c 'more breakpoints of coverage' err)" -gt 20 ]
}

@test "cover: of a process that comes only what is new is read in /proc" {
	local last
	needs strace
	built
	commands plain plain plain >script
	strace -o calls -e trace=openat "$CPROF" cover -q -o data -- sh script >said
	# Who is told in the second process of a file: its number in its own namespace, by the
	# tracer, and that it has no code of its own making.
	last=$(sed -n 's|.*"/proc/\([0-9]*\)/auxv".*|\1|p' calls | tail -n 1)
	[ "$(grep -c "\"/proc/$last/maps\"" calls)" -gt 1 ]
	run grep -E "\"/proc/$last/(root|status|task/$last/status)\"" calls
	[ "$status" -eq 1 ]
}

@test "cover: the same of optimised code, and of a program that is linked in other ways" {
	local flags hows=("${HOWS[@]}")
	[ -n "${CPROF_TEST_LONG-}" ] || hows=("${HOWS[@]:0:26}")
	for flags in -O2 '-no-pie -fno-pie' '-static -O1'; do
		# shellcheck disable=SC2086 # words
		built $flags
		together "${hows[@]}"
		apart "${hows[@]}"
		diff <(facts x) <(facts y)
		# Linking changes addresses, and little else.
		[ -n "${CPROF_TEST_LONG-}" ] || hows=("${HOWS[@]:0:12}")
	done
}

@test "cover --merge: a run that knows what runs before it reached finds all that is new" {
	local how
	built
	for how in "${HOWS[@]}"; do
		# shellcheck disable=SC2086 # words
		"$CPROF" cover -q --branches=exact --merge=x.data --lcov=x -- ./p $how >/dev/null || :
	done
	apart "${HOWS[@]}"
	diff <(facts x) <(facts y)
}

# runs N BRANCHES: stops of a script that runs ./p so often.
runs() {
	for _ in $(seq "$1"); do echo ./p; done >script
	"$CPROF" cover -q --branches="$2" -o "$2.data" -- sh script
	"$CPROF" report --json "$2.data" | jq .overhead.stops
}

@test "cover: what always goes one way is soon given up where processes follow each other" {
	needs jq
	printf '%s\n' 'int main(int argc, char **argv) {' '(void)argv; int n = 0;' \
		'for (int i = 0; i < 4; i++)' 'if (argc)' 'n++;' 'return n != 4; }' >p.c
	gcc -O0 -g -o p p.c
	# Four times in each of twelve; or until it was eight times, and once in two more.
	local exact budget
	exact=$(runs 12 exact)
	budget=$(runs 12 budget)
	assert [ "$((exact - budget))" -ge 32 ]
	[ "$("$CPROF" report --json exact.data | jq .coverage.branches.unknown)" = 0 ]
	[ "$("$CPROF" report --json budget.data | jq .coverage.branches.unknown)" = 1 ]
	# All hits of one process are well below what is given to one.
	assert_equal "$(runs 1 budget)" "$(runs 1 exact)"
}

# Two ways to what is an error, which blocks can't tell from each other.
@test "cover: a way to where nobody was yet is hardly waited for, and seen once somebody is there" {
	needs jq
	printf '%s\n' 'int main(int argc, char **argv) {' 'int n = argv[0][0] == 46;' \
		'if (argc == 3 || argc == 4)' 'n = 2;' 'return n - n; }' >p.c
	gcc -O0 -g -o p p.c
	local exact budget
	exact=$(runs 6 exact)
	budget=$(runs 6 budget)
	assert [ "$((exact - budget))" -ge 12 ]
	[ "$("$CPROF" report --json budget.data | jq .coverage.branches.unknown)" = 0 ]
	printf '%s\n' ./p ./p ./p ./p './p a b' './p a b c' './p a b' './p a b c' >script
	"$CPROF" cover -q --lcov=x -- sh script
	"$CPROF" cover -q --branches=exact --lcov=y -- sh script
	diff <(facts x) <(facts y)
	[ "$(grep -c '^BRDA:3,.*,[1-9]' x)" = 4 ]
}

# Each is stops of the program's, and a way to cprof and back.
@test "cover: what the last process needed is mapped at once, and only news of the linker are told" {
	printf '%s\n' 'int main(int argc, char **argv) {' 'if (argc > 2) return argv[1][0];' \
		'return 0; }' >p.c
	gcc -O0 -g -o p p.c
	printf '%s\n' ./p ./p ./p ./p ./p >script
	"$CPROF" cover -vv -q -- sh script 2>err
	local pids pid n=0
	pids=$(sed -n 's/.*\/p: [0-9]* breakpoints of coverage in \([0-9]*\)$/\1/p' err)
	assert_equal "$(wc -w <<<"$pids")" 5
	for pid in $pids; do
		assert_equal "$(grep -c "the dynamic linker of $pid calls" err)" 1
		n=$((n + 1))
		[ $n -gt 1 ] || grep -q "an area in $pid for .*/p$" err
		[ $n -gt 3 ] || continue # those after the second need more, where all is new
		grep -q "[0-9] areas at once in $pid$" err
		! grep "an area in $pid for" err || return 1
	done
}
