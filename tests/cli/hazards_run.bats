#!/usr/bin/env bats
# Every stress program under every mode of cprof run: the same verdict and the
# same exit status as alone.

load helpers
load tracees

@test "the stress programs under run -s 99 say what they say alone" {
	everywhere_run --capture=ptrace -s 99
}

@test "the stress programs under run -s 1000 --clock=wall say what they say alone" {
	which=few everywhere_run --capture=ptrace -s 1000 --clock=wall
}

@test "the stress programs under run --no-follow say what they say alone" {
	which=nested everywhere_run --capture=ptrace -s 999 --no-follow
}

@test "the stress programs go on when run -d ends before them" {
	which=few everywhere_run --capture=ptrace -s 999 -d 20ms
}

@test "a tracer under a profiler that follows is told EPERM, and runs on" {
	under -- nested_ptrace
	assert_equal "$under" "status 1, nested_ptrace: FAILED PTRACE_TRACEME: EPERM"
	under -- nested_ptrace --mode=self
	assert_equal "$under" "status 0, nested_ptrace: ok traced"
}

@test "no EINTR in any blocking call at 1000 Hz of elapsed time" {
	under --capture=ptrace -s 1000 --clock=wall -- eintr --ms="$(long_or 10000 1000)"
	assert_equal "$under" "status 0, eintr: ok no EINTR in N blocking calls"
	under --capture=ptrace -s 100 -- eintr --ms="$(long_or 10000 500)"
	assert_equal "$under" "status 0, eintr: ok no EINTR in N blocking calls"
}

@test "thousands of threads, idle and spinning" {
	local clock
	for clock in cpu wall; do
		under --clock="$clock" -- many_threads --threads="$(long_or 16000 2000)"
		assert_equal "$under" "status 0, many_threads: ok N idle threads"
		under --clock="$clock" -- many_threads --mode=spin --threads="$(long_or 2000 50)"
		assert_equal "$under" "status 0, many_threads: ok N spin threads"
	done
}

@test "the gdb that attaches shows in the program that looks for EINTR" {
	needs gdb
	begin eintr
	gdb -nx -batch -p "$tracee" -ex detach >gdb.out 2>&1
	finish
	[[ $finished == "status 1, eintr: FAILED EINTR from nowhere:"*epoll_wait* ]]
}
