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

complain() {
	echo "$1" >&2
	return 1
}
