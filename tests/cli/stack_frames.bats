#!/usr/bin/env bats
# cprof stack: what is said of single frames, judged by gdb.

load helpers
load tracees

@test "runs: frames without a symbol are one entry, none is lost" {
	needs jq
	begin known_stack_stripped
	take
	# Runs of neighbours that have no name, or one made of an address.
	jq -c '.threads[] | [.tid, (.frames | map(select(.inlined | not)) | reduce .[] as $f ([];
		if $f.function == null or ($f.function | startswith("fn_")) then
			if length > 0 and .[-1][0] == null then .[-1][1] += 1 else . + [[null, 1]] end
		else . + [[$f.function, 1]] end))]' stack.json >want
	take --runs --no-inlines
	jq -c '.threads[] | [.tid, (.frames | map([.function, .run]))]' stack.json >got
	"$CPROF" stack --runs "$tracee" >text
	finish
	# Threads that spin are elsewhere.
	spinning=$(awk '$1 == "stack" && $3 ~ /spin/ { print $2 }' "$tracee_output" | tr '\n' '|')
	diff <(grep -v -E "^\[(${spinning}x)," want) <(grep -v -E "^\[(${spinning}x)," got)
	jq -e -s 'map(.[1][] | select(.[0] == null and .[1] > 3)) | length > 0' got
	grep -q '?? in known_stack_stripped ([0-9]* frames)' text
}

# Every register of every frame as gdb has it: "TID FRAME NAME VALUE" a line.
preserved="rbx rbp rsp r12 r13 r14 r15 rip"
leafs="eflags cs ss ds es fs gs fs_base gs_base"
gdb_registers() {
	cat >registers.py <<-END
		import gdb
		for thread in gdb.selected_inferior().threads():
		    thread.switch()
		    frame, n = gdb.newest_frame(), 0
		    while frame:
		        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
		            for name in "$preserved $leafs".split():
		                try:
		                    value = int(frame.read_register(name)) & 0xffffffffffffffff
		                    print("reg", thread.ptid[1], n, name, "0x%x" % value)
		                except gdb.error:
		                    pass
		            n += 1
		        frame = frame.older()
	END
	gdb -nx -batch -p "$tracee" -ex 'set backtrace past-main on' -ex 'source registers.py' \
		2>gdb.err | sed -n 's/^reg //p' | sort >gdb.registers
	[ -s gdb.registers ] || { cat gdb.err; return 1; }
}

@test "registers of every frame are gdb's; what nobody can know is not claimed" {
	needs jq gdb
	begin known_stack
	take --stop --registers
	gdb_registers
	spinning=$(awk '$1 == "stack" && $3 ~ /spin/ { print $2 }' "$tracee_output" | tr '\n' '|')
	finish
	known="$preserved $leafs"
	jq -r --arg known "${known// /|}" '.threads[] | .tid as $tid | .frames |
		map(select(.inlined | not)) | to_entries[] | .key as $n | .value.registers | to_entries[] | select(.value != null) |
		select(.key | test("^(\($known))$")) |
		"\($tid) \($n) \(.key) \(.value)"' stack.json | sort >registers
	[ "$(wc -l <registers)" -gt 100 ]
	comm -23 registers gdb.registers | grep -v -E "^(${spinning}x) " >differ || true
	assert_equal "$(cat differ)" ""
	# The leaf has all of them, nobody else has those that only it can have.
	jq -e --arg leafs "$leafs" '($leafs | split(" ")) as $leafs | .threads[].frames |
		map(select(.inlined | not).registers) |
		all($leafs[] as $name | .[0][$name]; . != null) and
		all(.[1:][] | keys[]; . as $key | $leafs | index($key) | not)' stack.json
	# Above the leaf, and above signal frames: what a call does not preserve.
	jq -e '[.threads[].frames | map(select(.inlined | not)) |
		if any(.signal) then empty else .[1:][] end |
		.registers | .rax, .rcx, .rdx, .rsi, .rdi, .r8, .r9, .r10, .r11] |
		length > 100 and all(. == null)' stack.json
}

@test "inlined calls are gdb's, and --no-inlines leaves them out" {
	needs jq gdb
	cat >inlined.c <<-END
		#include <unistd.h>
		#define INLINE static inline __attribute__((always_inline))
		INLINE int inner(int n) { char c; return (int)read(n, &c, 1) + n; }
		INLINE int middle(int n) { return inner(n) * 2; }
		__attribute__((noinline)) int outer(int n) { return middle(n) + 1; }
		int main(void) { int p[2]; if (pipe(p)) return 1; return outer(p[0]) + (int)write(1, p, 0); }
	END
	${CC:-cc} -g -O2 -o inlined inlined.c
	start ./inlined
	tracee=$pid
	until_true grep -q '^0 ' "/proc/$pid/syscall"
	take
	jq -r '.threads[].frames[].function' stack.json | grep -x -E 'inner|middle|outer|main' >got
	take --no-inlines
	jq -r '.threads[].frames[].function' stack.json | grep -x -E 'inner|middle|outer|main' >without
	gdb -nx -batch -p "$pid" -ex bt 2>gdb.err | sed -n 's/^#[0-9]* .*\b\(inner\|middle\|outer\|main\) (.*/\1/p' >want
	diff got want
	assert_equal "$(tr '\n' ' ' <got)" "inner middle outer main "
	assert_equal "$(tr '\n' ' ' <without)" "outer main "
}

@test "--fp walks by frame pointers alone" {
	needs jq
	begin known_stack_fp
	take --stop --fp
	"$CPROF" stack --stop --fp "$tracee" >stopped
	"$CPROF" stack --fp "$tracee" >slept
	finish
	grep -q 'not known while it sleeps: --stop' slept
	not grep -q 'not known while it sleeps' stopped
	# The chain of a thread that was built for it; libc in between has none.
	while read -r _ tid kind frames; do
		[[ "$kind $frames" == spin*run_spin ]] || continue
		got=$(jq -r --argjson tid "$tid" '.threads[] | select(.tid == $tid) | .frames[] |
			.function // "?"' stack.json | grep -x -F -f <(tr ' ' '\n' <<<"$frames") |
			tr '\n' ' ')
		assert_equal "${got% }" "$frames"
		any=yes
	done < <(grep '^stack ' "$tracee_output")
	assert_equal "$any" yes
}
