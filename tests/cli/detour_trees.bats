#!/usr/bin/env bats
# The calls of every program whose calls are the same each time are the same by detours
# as by breakpoints (trees_judge.py), with arguments, results and stacks.

load helpers

# same OPTION... -- NAME ARGUMENT...
same() {
	local options=() way
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	[ -x "$TRACEES/$1" ] || return 0 # of another architecture, or without its compiler
	for way in --traps ''; do
		# shellcheck disable=SC2086
		"$CPROF" run -q $way -o "x$way.data" --max-rate=0 -t program "${options[@]}" -- \
			"$TRACEES/$1" "${@:2}" >"x$way.out" 2>"x$way.err" </dev/null || return
		"$CPROF" replay --json "x$way.data" >"x$way.json"
	done
	python3 "$SOURCES/tests/cli/trees_judge.py" x--traps.json x.json >said || {
		echo "${options[*]} $*: $(cat said)"
		return 1
	}
	[ "$("$CPROF" report --json x.data | jq .overhead.records)" -gt 0 ] || {
		echo "${options[*]} $*: no record"
		return 1
	}
}

# all_same OPTION...: of what stands on standard input.
all_same() {
	local line words bad=0
	while read -r line; do
		read -r -a words <<<"$line"
		same "$@" -- "${words[@]}" || bad=1
	done
	[ "$bad" = 0 ]
}

# Two of them are not: one looks at its own code, of the other there is no stack any more
# when a stop brings it (it executes another program).
short_ones() {
	cat <<-END
		by_return
		clone_variants --rounds=1
		counted --depth=3 --rounds=1
		deep --depth=50 --rounds=2
		dlopen_loop --rounds=2
		embedded --mode=generate
		gdbjit --rounds=1
		inherit --mode=clone
		inherit --mode=coroutine
		inherit --mode=fork
		inherit --mode=thread
		inherit --mode=vfork
		jit --rounds=1
		known_stack --rounds=1
		many_threads --threads=8 --ms=50
		out
		pipes --rounds=1
		spawn_storm --rounds=1 --threads=1
		tails --rounds=3
		thread_storm --rounds=1
		throws
		vfork_storm --rounds=1 --threads=1
		zombie_leader --rounds=1
	END
}

long_ones() {
	cat <<-END
		coroutines --rounds=1
		embedded --mode=jump
		exceptions --rounds=2
		heap
		inherit --mode=exec
		known_stack_fp --rounds=1
		known_stack_nocfi --rounds=1
		odd_entry --rounds=2
		siglongjmp --rounds=1
		variables
	END
}

@test "with arguments, results and stacks" {
	short_ones | all_same -a -r --stack
}

@test "calls and times" {
	if [ -n "$(long_or yes '')" ]; then
		{ short_ones && long_ones; } | all_same
		short_ones | all_same -a -r
		short_ones | all_same --stack
		short_ones | all_same --cpu-time
	else
		long_ones | grep -e known_stack -e heap -e inherit -e variables | all_same
	fi
}
