#!/usr/bin/env bats
# The live view on a terminal, which is tmux's: what is on the screen, what keys do, and how the
# terminal is left.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# shellcheck disable=SC2034 # by helpers.bash
	started=()
	servers=0
	needs tmux
	# ncurses keeps its memory.
	[ -z "${SANITIZED-}" ] || export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"
}

teardown() {
	tmux_do kill-server 2>/dev/null
	end_started
}

# A server for each terminal: one that goes still has its socket for a while.
tmux_do() { tmux -f /dev/null -S "$BATS_TEST_TMPDIR/socket$servers" "$@" 3>&-; }

# terminal COLUMNS ROWS COMMAND: a terminal in which that runs, and then says how it was left.
terminal() {
	cat >run-there <<-END
		stty -g >before
		$3
		status=\$?
		stty -g >after
		echo "ended with \$status"
		exec cat
	END
	servers=$((servers + 1))
	tmux_do new-session -d -s t -x "$1" -y "$2" "$BASH" run-there
}

screen() { tmux_do capture-pane -p -t t; }
press() { tmux_do send-keys -t t "$@"; }
# shows TEXT...: is each of these, extended regular expressions, on the screen?
shows() {
	local text
	screen >now
	for text; do grep -qE -e "$text" now || return 1; done
}
shows_no() { ! shows "$@"; }

# left_well: the terminal is as it was before.
left_well() {
	until_true shows '^ended with'
	assert_files_equal before after
	assert_equal "$(tmux_do display-message -p -t t '#{alternate_on} #{cursor_flag}')" '0 1'
}

until_told() {
	start "$TRACEES/$1" --until=stop --ready=ready "${@:2}"
	until_true test -s ready
}

@test "a screen shows functions and threads, and q leaves the program alone" {
	until_told shares
	terminal 80 24 "$CPROF top $pid"
	until_true shows "^shares \\($pid\\), .* 2 threads" 'profiling: CPU' '[1-9][0-9.]+% .* shares +three_quarters$'
	press t
	until_true shows "$pid +(runnable|sleeping) +shares" 'sleeping +idler'
	press q
	left_well
	shows 'ended with 0'
	kill -0 "$pid"
	touch stop
	wait "$pid"
}

@test "callers, callees and source lines of a function" {
	until_told shares
	terminal 100 30 "$CPROF top $pid"
	until_true shows 'three_quarters'
	press / three Enter
	until_true shows 'filter: three' 'three_quarters'
	shows_no a_quarter
	press Enter
	until_true shows 'callers' 'callees' 'source lines, shares.c' ' shares +main$' ' shares +spend$' \
		'spend\(3000000, &used'
	# From there to its callee, whose callers are both; and all the way back.
	press Down Enter
	until_true shows ' shares +three_quarters$' ' shares +a_quarter$'
	press Escape
	until_true shows 'spend\(3000000'
	press Escape
	until_true shows 'three_quarters' 'a_quarter'
}

@test "at 80 columns each title has values below it, and what is left behind fits" {
	cat >names.cpp <<'END'
#include <cstdio>
#include <map>
#include <string>
#include <vector>
template <class T> struct of_a_long_name { __attribute__((noinline)) long with_a_member_of_one(const T &t) { __asm__ volatile("" : : "r"(&t)); return t.size(); } };
int main()
{
	std::map<std::string, std::vector<std::map<int, std::string>>> m;
	of_a_long_name<decltype(m)> o;
	long n = 0;
	puts("on");
	fflush(stdout);
	for (;;)
		n += o.with_a_member_of_one(m);
}
END
	"${CXX:-c++}" -O1 -g -o names.of.a.program.that.is.long names.cpp
	start ./names.of.a.program.that.is.long
	until_true grep -q on out
	terminal 80 24 "$CPROF top -s 99 -t 'of_a_long_name*' $pid"
	until_true shows '1 Functions'
	press 3
	until_true shows '\[3 Calls\]' '^ +[0-9,]+ +[0-9.]+ .?s +[0-9,]+ .*of_a_long_name'
	assert_equal "$(screen | grep -E 'calls/s' | sed 's/ file .*//' | xargs)" 'calls/s average calls'
	press q
	left_well
	# Lines that the terminal broke are whole here.
	tmux_do capture-pane -p -J -t t | sed '/warning:/d; s/ *$//' >now
	grep -q '^  *[0-9].*  names.*long$' now
	[ "$(wc -L <now)" -le 80 ]
}

@test "one thread, another order, standing still" {
	until_told shares
	terminal 100 30 "$CPROF top $pid"
	until_true shows 'three_quarters'
	press t / idler Enter
	until_true shows 'idler'
	press Enter
	until_true shows "thread idler" 'nothing so far'
	press a
	until_true shows 'three_quarters'
	press N
	until_true shows 'by name'
	# In the order of names a_quarter comes first, then main.
	assert_equal "$(screen | grep -oE ' (a_quarter|main|three_quarters)$' | tr -d '\n')" ' a_quarter main three_quarters'
	press p
	until_true shows '^paused'
	press p
	until_true shows '^shares'
}

@test "traced calls and allocations" {
	until_told shares
	terminal 80 24 "$CPROF top -t three_quarters,main --allocs $pid"
	until_true shows '\[3 Calls\]' '[1-9][0-9]* +[0-9.]+ ms +[1-9][0-9,]*  shares +three_quarters$'
	press Enter
	# main was entered before.
	until_true shows 'Calls.*  three_quarters'
	press 4
	until_true shows '\[4 Memory\]' '[KM]iB  shares +three_quarters$' '[KM]iB  shares +a_quarter$'
	press / three Enter Enter
	until_true shows 'callers' ' shares +main$' 'source lines' 'malloc\(3000\)'
}

@test "any size will do" {
	until_told shares
	terminal 200 50 "$CPROF top $pid"
	until_true shows three_quarters
	for size in '80 24' '50 12' '40 10' '20 5' '3 2' '1 1' '80 24'; do
		tmux_do resize-window -t t -x "${size% *}" -y "${size#* }"
		press h h
	done
	until_true shows three_quarters
	press q
	left_well
}

@test "no colours where none are wanted, no lines drawn where they can't be" {
	until_told shares
	terminal 80 24 "NO_COLOR=1 $CPROF top $pid"
	until_true shows three_quarters █
	run tmux_do capture-pane -e -p -t t
	refute_output --regexp $'\e\\[[0-9;]*3[0-7]'
	tmux_do kill-server
	terminal 80 24 "LC_ALL=C $CPROF top $pid"
	until_true shows three_quarters '##'
	LC_ALL=C run ! grep -q '[^ -~]' now
}

@test "lines where the terminal can't be drawn on" {
	until_told shares
	for term in dumb no-such-terminal ''; do
		terminal 80 24 "TERM=$term $CPROF top $pid"
		until_true shows three_quarters
		shows_no 'q quit'
		assert_equal "$(tmux_do display-message -p -t t '#{alternate_on}')" 0
		tmux_do kill-server
	done
}

@test "what CMD writes is kept from the screen, and nothing of it is lost" {
	terminal 80 24 "$CPROF top -- $BASH -c 'echo said; echo complained >&2; until [ -e stop ]; do read -t 0.01 x </dev/zero; done; tty; echo at the end; exit 9'"
	until_true shows 'q quit' '^bash'
	shows_no said
	press o
	until_true shows '^said' '^complained'
	touch stop
	left_well
	shows '^said' '^complained' '^not a tty' '^at the end' 'ended with 9'
	# In their order, and once.
	assert_equal "$(screen | grep -xE 'said|complained|at the end' | tr '\n' ' ')" 'said complained at the end '
}

@test "q goes from the view to what CMD writes, which goes on to its end" {
	terminal 80 24 "$CPROF top -q -- $BASH -c 'echo said; until [ -e go ]; do read -t 0.01 x </dev/zero; done; echo more; until [ -e stop ]; do read -t 0.01 x </dev/zero; done; echo last; exit 9'"
	until_true shows 'q quit'
	press q
	until_true shows_no 'q quit'
	until_true shows '^said'
	touch go
	until_true shows '^more'
	touch stop
	left_well
	shows '^last' 'ended with 9'
}

@test "Ctrl-C: the process goes on, CMD gets it" {
	until_told shares
	terminal 80 24 "$CPROF top $pid"
	until_true shows 'q quit'
	press C-c
	left_well
	kill -0 "$pid"
	tmux_do kill-server
	terminal 80 24 "$CPROF top -- $BASH -c 'trap \"exit 5\" INT; touch there; while :; do read -t 0.01 x </dev/zero; done'"
	until_true shows 'q quit'
	until_true test -e there
	press C-c
	left_well
	shows 'ended with 5'
}

@test "the terminal is given back when the program ends, and when cprof is told to" {
	until_told shares
	terminal 80 24 "$CPROF top -q $pid"
	until_true shows 'q quit'
	touch stop
	wait "$pid"
	left_well
	tmux_do kill-server
	for signal in TERM HUP; do
		rm -f stop ready
		until_told shares
		terminal 80 24 "echo \$\$ >shell; $CPROF top -q $pid"
		until_true shows 'q quit'
		kill -"$signal" "$(pgrep -P "$(cat shell)")"
		left_well
		kill -0 "$pid"
		touch stop
		wait "$pid"
		tmux_do kill-server
	done
}

@test "the terminal is given back where a module crashes" {
	[ -z "${SANITIZED-}" ] || skip 'sanitizers report crashes themselves'
	cc -D_GNU_SOURCE -I"$SOURCES/include" -shared -fPIC -o libcprof-profiler-crash.so \
		"$SOURCES/tests/modules/crash.c"
	until_told shares
	terminal 80 24 "$CPROF top --plugin-dir=. --profile=crash:segv,sample,20 $pid"
	until_true shows '^ended with'
	left_well
	shows 'crashed in its callback'
	kill -0 "$pid"
}
