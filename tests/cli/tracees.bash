# For the tests that run the stress programs under cprof. Those verify
# themselves and end with one line, "NAME: ok ..." and status 0; what they say
# natively, they must say under every mode of cprof.
# shellcheck disable=SC2034 # the tests use what is set here

# The stress programs; with "few", and under the sanitizers (the plain build
# does them all), those that go wrong most easily.
stress_programs() {
	if [[ ${1-} = few || -n ${SANITIZED-} ]] && [ -z "${CPROF_TEST_LONG-}" ]; then
		all_stress_programs "$@" | grep -x -e 'eintr' -e 'exceptions' -e 'exec_chain' -e 'fork_storm' \
			-e 'signal_storm' -e 'thread_storm' \
			-e 'vfork_storm' -e 'zombie_leader'
	else
		all_stress_programs "$@"
	fi
}

# Under breakpoints, all but self_check, which compares its text with the file.
breakable_programs() {
	stress_programs few | grep -v -x -e self_check
}

# Each program once, with the arguments that keep it short. Every one of them
# can also go on until it is told to stop.
all_stress_programs() {
	cat <<-END
		clone_variants
		coroutines
		deep
		deep --depth=200 --rounds=200
		dlopen_loop
		echo_server
		eintr
		exceptions
		exec_chain
		exit_storm
		fork_storm
		gdbjit
		hostile_names
		jit
		job_control
		known_stack
		many_threads
		many_threads --mode=spin --threads=8
		odd_entry
		tails --mode=faults
		pdeathsig
		pipes
		rlimit_as
		sample_cpp
		seccomp
		self_check
		self_profiler
		siglongjmp
		signal_storm
		sigtrap
		spawn_storm
		thread_storm
		undumpable
		vfork_storm
		zombie_leader
	END
	# While it is traced no ignored signal may show. In the moment of leaving
	# (microseconds) one may: the kernel has woken the thread, and nobody is
	# left to mend it. So that is not asked of a storm.
	[ "${1-}" = attached ] || echo ignored_signals
	# A thread that is traced can't be traced by its parent: only where
	# children are let go (see "nested" in hazards_run.bats).
	[ "${1-}" != nested ] || echo nested_ptrace
	[ ! -x "$TRACEES/sample_rust" ] || echo sample_rust
	[ ! -x "$TRACEES/known_stack_musl" ] || echo known_stack_musl
}

# not CMD...: "!" alone fails no test but in its last line.
not() { ! "$@"; }

# Failures are collected, so that one program does not hide the others.
complain() { echo "$*" >>"$BATS_TEST_TMPDIR/complaints"; }

no_complaints() {
	[ ! -s "$BATS_TEST_TMPDIR/complaints" ] || {
		cat "$BATS_TEST_TMPDIR/complaints"
		return 1
	}
}

# The last line of a program's output, numbers that differ from run to run
# aside.
verdict() { tail -n 1 "$1" | sed 's/[0-9][0-9.]*/N/g'; }

# native NAME ARG...: what it says alone, in $native.
native() {
	local status=0
	"$TRACEES/$1" "${@:2}" >native.out 2>native.err </dev/null || status=$?
	native="status $status, $(verdict native.out)"
}

# under OPTION... -- NAME ARG...: what it says under cprof run.
under() {
	local options=() status=0
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	timeout -k 5 90 "$CPROF" run -q -o run.data "${options[@]}" -- "$TRACEES/$1" "${@:2}" \
		>run.out 2>run.err </dev/null || status=$?
	under="status $status, $(verdict run.out)"
}

# everywhere_run OPTION...: every program under cprof run with these options.
everywhere_run() {
	local line name programs=stress_programs
	[ "${which-}" != breakable ] || programs=breakable_programs
	while read -r line; do
		read -r -a name <<<"$line"
		native "${name[@]}"
		under "$@" -- "${name[@]}"
		[ "$under" = "$native" ] ||
			complain "$line: $under; alone: $native; cprof: $(head -c 500 run.err)"
		[ -s run.data ] || complain "$line: no recording"
		rm -f run.data*
	done < <("$programs" "${which-}")
	no_complaints
}

# begin NAME ARG...: starts it so that it goes on until finish; returns when it
# is ready, its pid (the main one, if there are several) in $tracee.
begin() {
	rm -f ready stop
	mkfifo ready
	exec {ready_fd}<>ready
	start "$TRACEES/$1" --ready=ready --until=stop --limit="$(long_or 1800 240)" "${@:2}"
	is_ready "$1"
}

# asleep NAME ARG...: the same, but who waits is in one read, not in nap after nap:
# for those who look at its frames twice.
asleep() {
	rm -f ready hold
	mkfifo ready hold
	exec {ready_fd}<>ready
	# shellcheck disable=SC2016 # the inner one expands
	start bash -c 'exec "$@" <hold' - \
		"$TRACEES/$1" --ready=ready --until=- --limit="$(long_or 1800 240)" "${@:2}"
	exec {hold_fd}>hold
	is_ready "$1"
	until_true grep -q '^0 0x0 ' "/proc/$tracee/syscall"
}

# is_ready NAME: waits for it; its pid is in $tracee, what it prints in $tracee_output.
is_ready() {
	read -r -t 60 -u "$ready_fd" tracee _ || {
		exec {ready_fd}>&-
		echo "$1 is not ready: $(cat out)" >&2
		return 1
	}
	exec {ready_fd}>&-
	tracee_output="$PWD/out.$pid"
	mv out "$tracee_output"
}

# take OPTION...: its stacks, into stack.json.
take() {
	"$CPROF" stack --json "$@" "$tracee" >stack.json 2>stack.err || {
		cat stack.err
		return 1
	}
}

# finish: tells it to stop and waits; what it said in $finished.
finish() {
	local status=0
	: >stop
	[ -z "${hold_fd-}" ] || exec {hold_fd}>&-
	hold_fd=
	wait "$pid" || status=$?
	finished="status $status, $(verdict "$tracee_output")"
}

# tasks_of PID: its tasks and those of its descendants, as /proc directories, in
# $tasks. Only builtins: a busy machine takes long to start a command.
tasks_of() {
	local pids=("$1") task children
	tasks=()
	while [ ${#pids[@]} -gt 0 ]; do
		for task in /proc/"${pids[0]}"/task/*; do
			tasks+=("$task")
			children=
			{ read -r children <"$task/children"; } 2>/dev/null || :
			# shellcheck disable=SC2206
			pids+=($children)
		done
		pids=("${pids[@]:1}")
	done
}

# task_state TASK: $tracer_of and $state of a task; false when it is gone. The
# file is read in one piece: it is made anew for each read, and a state that
# changes in between shifts what follows.
task_state() {
	local status=
	tracer_of='' state=''
	IFS= read -r -N 512 status 2>/dev/null <"$1/status"
	[[ $status =~ State:[[:space:]]+(.) ]] && state=${BASH_REMATCH[1]}
	[[ $status =~ TracerPid:[[:space:]]+([0-9]+) ]] && tracer_of=${BASH_REMATCH[1]}
	[ -n "$tracer_of" ]
} 2>/dev/null

# traced PID: the thread that leads is traced.
traced() { task_state "/proc/$1" && [ "$tracer_of" != 0 ]; }

# any_traced PID: a thread of it or of a descendant is; $tracer_of says by whom.
any_traced() {
	local task
	tasks_of "$1"
	for task in "${tasks[@]}"; do
		! task_state "$task" || [ "$tracer_of" = 0 ] || return 0
	done
	return 1
}

# left_alone PID: nobody traces it or a descendant, no thread is stopped.
left_alone() {
	local task
	tasks_of "$1"
	for task in "${tasks[@]}"; do
		task_state "$task" || continue
		[[ $tracer_of == 0 && $state != [tT] ]] || {
			left_alone_why="$task: state $state, traced by $tracer_of"
			return 1
		}
	done
}

# soon_left_alone PID WHAT: within a minute; where somebody stays, WHAT is named.
soon_left_alone() {
	local ends=$((SECONDS + 60))
	# A program that stops its children by itself is stopped now and then.
	until left_alone "$1"; do
		((SECONDS < ends)) || {
			complain "$2: still traced or stopped: $left_alone_why"
			return 0
		}
		sleep 0.02
	done
}

# signal_state PID: masks, dispositions and pending signals of every thread.
signal_state() { grep -E '^(Sig(Blk|Ign|Cgt|Pnd)|ShdPnd)' /proc/"$1"/task/*/status; }

# attach OPTION...: cprof attach to $tracee in the background, its pid in
# $controller; returns when the program is traced (or cprof has ended).
attach() {
	# A shell without job control has its background commands ignore SIGINT.
	env --default-signal=INT,QUIT "$CPROF" attach -q -o attach.data "$@" "$tracee" >attach.out 2>attach.err </dev/null 3>&- &
	controller=$!
	started+=("$controller")
	until any_traced "$tracee"; do
		kill -0 "$controller" 2>/dev/null || return 0
		sleep 0.01
	done
}

# cprof's pids: the controller and who holds ptrace.
cprof_pids() {
	echo "$controller"
	! any_traced "$tracee" || echo "$tracer_of"
}

# ended PID [STATUS]: waits for a started cprof; its status in $ended.
ended() {
	ended=0
	wait "$1" || ended=$?
}
