#!/usr/bin/env bats
# What a person sees who sits at a terminal, and what a pipe gets.

load helpers
load recordings

# on_terminal COMMAND: its output on a terminal, without the carriage returns.
on_terminal() { script -qec "$1" /dev/null </dev/null | tr -d '\r'; }

@test "long tables go through the pager on a terminal, and through none in a pipe" {
	needs script
	workshop | made cprof.data
	export CPROF_PAGER='sed s/^/paged:/'
	run on_terminal "$CPROF report"
	assert_line --regexp '^paged:.*workshop'
	refute_line --regexp '^[^p]'
	run "$CPROF" report
	refute_output --partial paged:
}

@test "CPROF_PAGER comes before PAGER; an empty one is none" {
	needs script
	workshop | made cprof.data
	PAGER='sed s/^/other:/' run on_terminal "$CPROF report"
	assert_output --partial other:
	PAGER='sed s/^/other:/' CPROF_PAGER='sed s/^/paged:/' run on_terminal "$CPROF report"
	assert_output --partial paged:
	refute_output --partial other:
	PAGER='sed s/^/other:/' CPROF_PAGER='' run on_terminal "$CPROF report"
	refute_output --partial other:
}

@test "a pager that is left early is no failure" {
	needs script
	workshop | made cprof.data
	for pager in 'head -n 1' 'true'; do
		CPROF_PAGER=$pager run script -qec "$CPROF report" /dev/null
		assert_success
	done
}

@test "without the pager, the table itself" {
	needs script
	workshop | made cprof.data
	for pager in /nonexistent/pager 'no-such-pager -x'; do
		CPROF_PAGER=$pager run on_terminal "$CPROF report"
		assert_line --regexp 'workshop'
		refute_output --partial 'not found'
	done
	PATH_WITHOUT_LESS=$(mktemp -d)
	run on_terminal "env -u PAGER -u CPROF_PAGER PATH=$PATH_WITHOUT_LESS $CPROF report"
	assert_line --regexp 'workshop'
}

@test "a descriptor that the caller closed is not taken for a file of ours" {
	workshop | made cprof.data
	"$CPROF" export -f folded -o out.folded <&- 2>&-
	"$CPROF" export -f folded >again.folded
	assert_files_equal out.folded again.folded
	# What is lost is said to be, and nothing of the recording is what it was written to.
	cp cprof.data before.data
	run sh -c "'$CPROF' report >&-"
	assert_failure 1
	assert_output 'cprof: writing to standard output: Bad file descriptor'
	assert_files_equal cprof.data before.data
}

@test "attach says on a terminal how it ends, and is quiet where it is to be" {
	needs script
	sleep 1000 &
	started+=($!)
	on_terminal "$CPROF attach -d 10ms -o x.data $!" >out
	grep -qx "cprof: attached to $!; Ctrl-C ends the recording early" out
	on_terminal "$CPROF attach -q -d 10ms -o x.data $!" >out
	run grep 'Ctrl-C' out
	assert_failure
}
