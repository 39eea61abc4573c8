# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For tests of `cprof inspect`: programs that hold things, up to when they say "ready".

# begin PROGRAM: starts it, up to where it says that it is ready; $pid.
begin() {
	rm -f hold
	mkfifo hold
	exec {hold}<>hold
	: >said
	"./$1" <&"$hold" >said {hold}>&- 3>&- &
	pid=$!
	started+=("$pid")
	until_true grep -q ready said
}

# finish: ends it.
finish() {
	kill -KILL "$pid"
	wait "$pid" || true
	exec {hold}>&-
}

# inspect OPTION... EXPR...: as JSON, into ./json
inspect() {
	"$CPROF" inspect --json "$pid" "$@" >json
}

# called PROGRAM FUNCTION CONDITION: how many calls it holds for; none is left out
called() {
	separately "$CPROF" run -q -t "$2" -a --when="$3" -o rec -- "./$1" < <(echo)
	assert_equal "$stderr" ""
	"$CPROF" report --json rec | jq '.calls.total // ([.calls.functions[].calls] | add // 0)'
}

complain() {
	echo "$1" >&2
	return 1
}
