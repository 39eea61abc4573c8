#!/usr/bin/env bats
# The contract of options and exit statuses.

load helpers

commands() { "$CPROF" --help | sed -n 's/^  \([a-z]*\) [^ ].*/\1/p' | grep -v -x cprof; }

@test "cprof without a command explains itself on standard error and ends with 2" {
	separately "$CPROF"
	assert_equal "$status" 2
	assert_output ""
	[[ $stderr == *"Usage: cprof COMMAND"* ]]
}

@test "cprof --help lists the commands on standard output" {
	separately "$CPROF" --help
	assert_success
	assert_equal "$stderr" ""
	assert_line --regexp '^  run \[options\]'
	assert_line --regexp '^  attach \[options\] PID'
	assert_line --regexp '^  top \[options\] PID'
}

@test "cprof --version says the version of the build" {
	run "$CPROF" --version
	assert_success
	assert_output "cprof $(sed -n "s/^  version: '\(.*\)',/\1/p" "$SOURCES/meson.build")"
}

@test "an unknown command ends with 2 and a suggestion" {
	run "$CPROF" atach
	assert_failure 2
	assert_line "cprof: did you mean 'cprof attach'?"
	run "$CPROF" --frobnicate
	assert_failure 2
}

@test "what other tools call it is told by its name here" {
	run "$CPROF" ./app -x
	assert_failure 2
	assert_line 'cprof: a program is profiled by: cprof run -- ./app'
	run "$CPROF" sqlite3
	assert_line 'cprof: a program is profiled by: cprof run -- sqlite3'
	run "$CPROF" record -- true
	assert_line "cprof: did you mean 'cprof run'?"
	run "$CPROF" no-such-thing-at-all
	assert_failure 2
	refute_output --partial 'cprof run --'
	for option in -p --pid -p1 --pid=1; do
		run "$CPROF" attach "$option" 1
		assert_failure 2
		assert_line 'cprof: a process is named without an option: cprof attach PID'
	done
	run "$CPROF" stack -p 1
	assert_line 'cprof: a process is named without an option: cprof stack PID'
}

@test "help names every value of an option" {
	for columns in 60 80 200; do
		run env COLUMNS=$columns "$CPROF" export --help
		for format in flamegraph lcov cobertura sonarqube sqlite; do
			assert_output --regexp "[=| ]$format(\||$)"
		done
		assert_equal "$(awk -v n=$columns 'length > n' <<<"${output%%Formats:*}" | grep '^  ')" ''
	done
}

@test "each command has --help, -h and a line in the overview" {
	for command in $(commands); do
		separately "$CPROF" "$command" --help
		assert_success
		assert_equal "$stderr" ""
		assert_line --index 0 --regexp "^Usage: cprof $command "
		long=$output
		run "$CPROF" "$command" -h
		assert_output "$long"
		run "$CPROF" help "$command"
		assert_output "$long"
	done
}

@test "an unknown option: 125 for run and cover, 2 for the others, nothing on standard output" {
	for command in $(commands); do
		want=2
		[[ $command == @(run|cover) ]] && want=125
		separately "$CPROF" "$command" --frobnicate
		assert_equal "$command $status" "$command $want"
		assert_output ""
		[[ $stderr == *"there is no option --frobnicate"* ]]
		separately "$CPROF" "$command" -Z
		assert_equal "$command $status" "$command $want"
	done
}

@test "a mistyped option is recognised" {
	run "$CPROF" run --smaple=5 true
	assert_failure 125
	assert_line "cprof: did you mean --sample?"
}

@test "an abbreviated option is unknown" {
	run "$CPROF" run --dur=5s true
	assert_failure 125
}

@test "options that need a value say so; those that take none refuse one" {
	run "$CPROF" attach --sample
	assert_failure 2
	assert_line "cprof: --sample needs a value: --sample=HZ"
	run "$CPROF" attach -d
	assert_failure 2
	run "$CPROF" attach --quiet=yes 1
	assert_failure 2
	assert_line "cprof: --quiet takes no value"
	run "$CPROF" run -o '' -- touch ran
	assert_failure 125
	assert_line "cprof: --output takes a file's name, not ''"
	assert_not_exist ran
}

@test "values are checked before anything runs" {
	for bad in -s0 -s10001 -sx -s-1 -s '--sample=' --clock=real --clock= -d0 -dx -d-1s \
		--duration=1y --unwinder=magic; do
		run "$CPROF" run "$bad" -- touch ran
		assert_failure 125
		assert_not_exist ran
	done
}

@test "what is given twice counts as given last; two conditions are refused" {
	run "$CPROF" run -q -o first.data -o second.data -- true
	assert_success
	[ -s second.data ]
	[ ! -e first.data ]
	for command in "run -t main" "cover -t main" "attach -t main"; do
		# shellcheck disable=SC2086 # words
		run "$CPROF" $command --when='x > 1' --when='x > 2' -- true
		assert_failure
		assert_output --partial "--when is given twice; join what has to hold by '&&'"
	done
}

@test "run without CMD, and run to standard output, are refused with 125" {
	run "$CPROF" run
	assert_failure 125
	run "$CPROF" run -s 99 --
	assert_failure 125
	run "$CPROF" run -o - -- touch ran
	assert_failure 125
	assert_not_exist ran
}

@test "attach and stack take exactly one PID" {
	for command in attach stack; do
		for operands in "" "1 2" "x" "-1" "0" "99999999999"; do
			# shellcheck disable=SC2086 # words
			run "$CPROF" $command -- $operands
			assert_failure 2
		done
	done
}

@test "help that can't be written is a failure" {
	run sh -c "'$CPROF' --help >/dev/full"
	assert_failure 1
	run sh -c "'$CPROF' --version >&-"
	assert_failure 1
	assert_output 'cprof: writing to standard output: Bad file descriptor'
}

@test "help fits the terminal" {
	for columns in 60 80 200; do
		for command in $(commands); do
			widest=$(COLUMNS=$columns "$CPROF" "$command" --help | grep -E '^ {20}' |
				awk '{ if (length > most) most = length } END { print most + 0 }')
			assert [ "$widest" -le "$columns" ]
		done
	done
}

@test "the bash completion completes" {
	"$CPROF" completion bash >cprof.bash
	bash -n cprof.bash
	complete_words() {
		local line=$*
		bash --norc -c '. ./cprof.bash; COMP_LINE=$1 COMP_POINT=${#1}; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
			_cprof; printf "%s\n" "${COMPREPLY[@]}"' bash "$line" "$@" 2>complaints | sort -u
		[ ! -s complaints ]
	}
	assert_equal "$(complete_words cprof at)" attach
	assert_equal "$(complete_words cprof run --no-f)" --no-follow
	assert_equal "$(complete_words cprof run --clock = w)" wall
	assert_equal "$(complete_words cprof attach --unwinder = lib)" libunwind
	assert_equal "$(complete_words cprof stack --unwinder = libunwind-)" libunwind-ptrace
	assert_equal "$(complete_words cprof run -s 99 --clock = wall mkfif)" mkfifo
	touch here
	assert_equal "$(complete_words cprof run -s 99 ls --clock he)" here
	assert_equal "$(complete_words cprof stack $$ | grep -x $$)" $$
}

# A recording, what is none, a directory, and a program with functions and types.
to_be_listed() {
	workshop | made calls.data
	cp calls.data 'other name'
	echo text >calls.text
	mkdir calls.d
	cat >p.cpp <<-'END'
		namespace geo {
		struct point { int x; };
		struct pointer { point *p; };
		int move(point p) { return p.x; }
		int mover(int n) { return n; }
		}
		int main() { geo::pointer p = {}; return geo::move({ 0 }) + geo::mover(0) + !!p.p; }
	END
	g++ -g -o p p.cpp
}

@test "recordings, functions, types and profilers are completed by what there is" {
	load recordings
	to_be_listed
	PATH=$(dirname "$CPROF"):$PATH
	"$CPROF" completion bash >cprof.bash
	complete_words() {
		local line=$*
		bash --norc -c '. ./cprof.bash; COMP_LINE=$1 COMP_POINT=${#1}; shift; COMP_WORDS=("$@")
			COMP_CWORD=$(($# - 1)); _cprof; printf "%s\n" "${COMPREPLY[@]}"' bash "$line" "$@" 2>&1 |
			sort -u | paste -sd' '
	}
	for command in report replay merge diff; do
		assert_equal "$(complete_words cprof $command ca)" 'calls.d calls.data'
	done
	assert_equal "$(complete_words cprof export -f folded --diff = o)" 'other name'
	assert_equal "$(complete_words cprof report calls.t)" calls.text # files, where there is none
	assert_equal "$(complete_words cprof functions ./p geo::mov)" 'geo::move geo::mover'
	assert_equal "$(complete_words cprof functions ./p mai)" main
	assert_equal "$(complete_words cprof functions ./)" "$(echo ./*)"
	assert_equal "$(complete_words cprof layout ./p geo::poi)" 'geo::point geo::pointer'
	assert_equal "$(complete_words cprof modules cov)" coverage
	assert_equal "$(complete_words cprof run --profile = cov)" coverage
	# Words that readline splits at colons.
	line='cprof functions ./p geo::mover'
	run bash --norc -c '. ./cprof.bash; COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=(cprof functions ./p geo :: mover)
		COMP_CWORD=5; _cprof; echo "${COMPREPLY[@]}"' bash "$line"
	assert_output mover
	assert_equal "$("$CPROF" completion --list=functions -- $$ | grep -c '^main$')" 1
	run "$CPROF" completion --list=functions nothing
	assert_failure 1
}

@test "the zsh completion is zsh" {
	needs zsh
	"$CPROF" completion zsh >_cprof
	zsh -n _cprof
	load recordings
	to_be_listed
	PATH=$(dirname "$CPROF"):$PATH
	# What would be added, of the list that the script asks for.
	# shellcheck disable=SC2016 # for zsh
	separately zsh -f -c 'autoload -U compinit; . ./_cprof 2>/dev/null
		compadd() { print -l -- ${(P)2} }; words=(functions -q ./p g) PREFIX=calls.
		_cprof_list functions; _cprof_list recordings'
	assert_equal "$stderr" ''
	assert_line geo::move
	assert_line calls.data
	refute_line calls.text
}

@test "the fish completion completes" {
	needs fish
	"$CPROF" completion fish >cprof.fish
	fish -n cprof.fish
	completions() {
		separately fish --no-config -c "source cprof.fish; complete -C '$1'"
		assert_equal "$stderr" ''
	}
	completions 'cprof run --no-f'
	assert_line --partial -- --no-follow
	touch cprof.data
	completions 'cprof export --output cp'
	assert_line --regexp '^cprof.data'
	completions 'cprof run --clock '
	assert_line --regexp '^wall'
	load recordings
	to_be_listed
	PATH=$(dirname "$CPROF"):$PATH
	completions 'cprof report ca'
	assert_line --regexp '^calls.data'
	refute_line --regexp '^calls.text'
	completions 'cprof functions ./p geo::mov'
	assert_line --regexp '^geo::mover'
	completions 'cprof functions ./'
	assert_line --regexp '^./p.cpp'
}

@test "the completion of an unknown shell is bad usage" {
	run "$CPROF" completion tcsh
	assert_failure 2
}
