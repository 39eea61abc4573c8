#!/usr/bin/env bats
# scripts/judge-detours: programs with detours, an instruction at a time, beside
# themselves without.

load helpers

# judged STEPS PROGRAM...: they find what they would have found.
judged() {
	local steps=$1
	shift
	JUDGE_DETOURS=$BUILD/tests/unit/judge_detours run "$SOURCES/scripts/judge-detours" \
		--steps="$steps" "$@" </dev/null
	echo "$output"
	assert_success
	assert_line --regexp '^[0-9]+ instructions, [0-9]+ of them moved, [0-9]+ detours entered, [0-9]+ records, 0 differences$'
	[ "$(sed -n 's/.* \([0-9]*\) detours entered.*/\1/p' <<<"$output")" -gt $((steps / 200)) ]
}

@test "sqlite3 and lua find the registers that they find without detours" {
	needs sqlite3 lua5.4
	judged "$(long_or 300000 3000)" sqlite3 :memory: 'create table t(a, b); insert into t values(1, 2); select * from t'
	judged "$(long_or 100000 3000)" lua5.4 -e 'print(pcall(error, "x"), string.format("%5.2f", 3.5))'
}

@test "a C++ program that throws, and one of Rust" {
	judged "$(long_or 100000 3000)" "$TRACEES/exceptions" --rounds=3
	needs rustc
	judged "$(long_or 100000 3000)" "$TRACEES/sample_rust"
}

# The analysis can't know of it: the judge does.
@test "a jump into the middle of a window is found" {
	needs gcc
	cat >jumps.S <<-'END'
		.globl main, victim
		.type main, @function
		main:	push %rbx
			mov $2, %ebx
		1:	lea main(%rip), %rax
			add $(.Linner - main), %rax
			call *%rax
			dec %ebx
			jnz 1b
			xor %eax, %eax
			pop %rbx
			ret
		.size main, . - main
		.p2align 4
		.type victim, @function
		victim:	xor %edx, %edx
		.Linner: xor %ecx, %ecx
			mov $7, %eax
			ret
		.size victim, . - victim
		.section .note.GNU-stack, "", @progbits
	END
	gcc -o jumps jumps.S
	JUDGE_DETOURS=$BUILD/tests/unit/judge_detours run "$SOURCES/scripts/judge-detours" ./jumps
	assert_failure 1
	assert_line --partial ' at victim+0x'
	assert_line --regexp ', 1 difference'
}

@test "a register that is wrong behind a detour is found" {
	run "$BUILD/tests/unit/judge_detours" --spoil=5 true
	assert_failure 1
	assert_line --regexp '^after [0-9]+ instructions registers differ at '
	assert_line --regexp '^  r11: [0-9a-f]+ natively, [0-9a-f]+ detoured'
	assert_line --regexp '^its code at [0-9a-f]+:'
}
