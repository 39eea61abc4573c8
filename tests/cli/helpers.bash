# Shared by the command-line tests. The build tells where things are:
#   CPROF     the program          TRACEES  the directory of the test programs
#   SOURCES   this repository      BUILD    the build directory
# Each test runs in an empty directory of its own.

bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert
bats_load_library bats-file

: "${CPROF:?set by the build}" "${TRACEES:?}" "${SOURCES:?}" "${BUILD:?}"
export LC_ALL=C.UTF-8 TERM=xterm
unset NO_COLOR COLUMNS PAGER CPROF_PAGER DEBUGINFOD_URLS
# script(1) runs its command with it; shells differ in what they do on Ctrl-C.
export SHELL=$BASH
# One test that hangs is given up and named, not the whole file.
[ -n "${CPROF_TEST_LONG-}" ] || export BATS_TEST_TIMEOUT=300

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
	started=()
}

# Only what a test started is ended, by pid; and only while it is still our
# child: the storms use pids up, and one that was waited for is soon another's.
end_started() {
	local pid
	for pid in "${started[@]}"; do
		grep -q "^PPid:[[:space:]]*$BASHPID\$" "/proc/$pid/status" 2>/dev/null || continue
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	return 0
}

teardown() { end_started; }

# start CMD...: runs CMD in the background, its output in ./out and ./err;
# $pid is its pid. It is killed when the test ends.
start() {
	"$@" >out 2>err 3>&- </dev/null &
	pid=$!
	started+=("$pid")
}

# until_true CMD...: tries CMD again and again until it succeeds. No test waits
# for a time to pass; a minute without success is a failure, not a verdict.
until_true() {
	local ends=$((SECONDS + 60))
	until "$@"; do
		((SECONDS < ends)) || { echo "never true: $*" >&2; return 1; }
		sleep 0.05
	done
}

# handles PID SIGNAL: it has a handler of its own for it. Only builtins: whoever looks over and
# over again sees it at once.
handles() {
	local key mask
	while read -r key mask; do
		[ "$key" = SigCgt: ] || continue
		((0x$mask >> ($(kill -l "$2") - 1) & 1))
		return
	done <"/proc/$1/status"
	return 1
}

# separately CMD...: like run, with standard error in $stderr.
separately() {
	run --separate-stderr "$@"
}

# some N: of the lines on standard input the first N, in long tests all of them. Those that
# differ most stand first.
some() {
	if [ -n "${CPROF_TEST_LONG-}" ]; then cat; else head -n "$1"; fi
}

# long_or N_LONG N_SHORT: the number of rounds for this run of the tests.
long_or() {
	if [ -n "${CPROF_TEST_LONG-}" ]; then echo "$1"; else echo "$2"; fi
}

# needs PROGRAM...: skips where one is missing, which is a failure unless
# tests/allowed-skips lists it.
needs() {
	local program
	for program; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
}

# chrome OPTION... URL: headless; what scripts complain of is in ./chrome.log.
chrome() {
	needs chromium
	mkdir -p profile
	timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$PWD/profile" --virtual-time-budget=5000 --enable-logging=stderr "$@" 2>chrome.log
}
