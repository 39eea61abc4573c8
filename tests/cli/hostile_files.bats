#!/usr/bin/env bats
# Files that other readers of ELF and DWARF make too much of: cprof has an answer,
# and what the other one does is shown beside it.

load helpers

# nested.s: a function that waits, in a unit with blocks nested 200,000 deep, each
# of which covers all of it.
write_nested() {
	cat >nested.s <<-'END'
		.text
		.globl _start
		_start:	call waits
		.type waits, @function
		waits:	mov $34, %eax
			syscall
			jmp waits
		.Lend:	.size waits, .-waits
		.section .debug_abbrev,"",@progbits
			.byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0
			.byte 2, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 7, 0, 0
			.byte 3, 0x0b, 1, 0x11, 1, 0x12, 7, 0, 0
			.byte 0
		.section .debug_info,"",@progbits
			.long .Linfo_end - .Linfo
		.Linfo:	.short 4
			.long 0
			.byte 8
			.byte 1
			.quad _start, .Lend - _start
			.byte 2
			.asciz "waits"
			.quad waits, .Lend - waits
			.rept 200000
			.byte 3
			.quad waits, .Lend - waits
			.endr
			.zero 200002
		.Linfo_end:
		.section .debug_aranges,"",@progbits
			.long .Laranges_end - .Laranges
		.Laranges:
			.short 2
			.long 0
			.byte 8, 0
			.long 0
			.quad _start, .Lend - _start, 0, 0
		.Laranges_end:
	END
}

waits() { grep -q '^34 ' "/proc/$pid/syscall"; }

@test "blocks nested deeper than a stack: libdw 0.188 crashes, cprof names the function" {
	needs gcc eu-addr2line nm
	write_nested
	gcc -nostdlib -static -o nested nested.s
	start ./nested
	until_true waits
	run "$CPROF" stack "$pid"
	assert_success
	assert_line --regexp '#0 .* waits\+0x7 in nested$'
	address=$(nm nested | sed -n 's/ . waits$//p')
	run bash -c "ulimit -s 8192; exec eu-addr2line -f -i -e nested 0x$address"
	eu-addr2line --version >version
	if grep -q '(elfutils) 0.188$' version; then
		assert_equal "$status" 139
	else
		echo "# $(head -n 1 version) ends with $status" >&3
	fi
}

@test "nothing of a program's file is mapped, whatever is asked of it" {
	needs strace jq
	cp "$TRACEES/sample_cpp" program
	# A sanitizer that looks for leaks at the end wants to trace, too.
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
		strace -f -y -e trace=mmap,pread64 -o calls "$CPROF" functions --json program >functions.json
	jq -e 'length > 10' functions.json
	grep -q 'pread64([0-9]*</.*/program>' calls
	run grep 'mmap(.*/program>' calls
	assert_output ""
}
