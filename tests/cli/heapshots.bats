#!/usr/bin/env bats
# Heapshots: what was live when somebody asked, against what the program says it had.

load helpers
load tracees

CC=${CC:-cc}

# stepper: does what lines on its standard input say, and after each says what it has:
# blocks and bytes of one function, of the other one.
stepper() {
	cat >stepper.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char *kept[2][1000];
static size_t sizes[2][1000];
__attribute__((noinline)) char *grow(size_t size)
{
	char *p = malloc(size);

	__asm__ volatile("" : "+r"(p));
	return p;
}
__attribute__((noinline)) char *other(size_t size)
{
	char *p = calloc(1, size);

	__asm__ volatile("" : "+r"(p));
	return p;
}
static void keep(int who, size_t size)
{
	int i = 0;

	while (kept[who][i])
		i++;
	kept[who][i] = who ? other(size) : grow(size);
	sizes[who][i] = size;
}
static void drop(int who, int n)
{
	int i;

	for (i = 0; i < 1000 && n; i++)
		if (kept[who][i]) {
			free(kept[who][i]);
			kept[who][i] = NULL;
			n--;
		}
}
int main(void)
{
	static char in[4096], line[100], out[100];
	long sums[2][2];
	int who, n, i, k;
	size_t size;

	setvbuf(stdin, in, _IOFBF, sizeof(in));
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "keep %d %d %zu", &who, &n, &size) == 3)
			while (n--)
				keep(who, size);
		if (sscanf(line, "drop %d %d", &who, &n) == 2)
			drop(who, n);
		memset(sums, 0, sizeof(sums));
		for (k = 0; k < 2; k++)
			for (i = 0; i < 1000; i++)
				if (kept[k][i]) {
					sums[k][0]++;
					sums[k][1] += (long)sizes[k][i];
				}
		n = snprintf(out, sizeof(out), "%ld %ld %ld %ld\n", sums[0][0], sums[0][1], sums[1][0],
			     sums[1][1]);
		if (write(1, out, (size_t)n) != n)
			return 1;
	}
	return 0;
}
END
	"$CC" -g -O1 -o stepper stepper.c
	mkdir -m 700 runtime
	export XDG_RUNTIME_DIR=$PWD/runtime
	mkfifo lines
	steps=0
}

lines_are() { [ "$(wc -l <said)" -eq "$1" ]; }

# step LINE: done when the program says so.
step() {
	echo "$1" >&7
	until_true lines_are $((++steps))
}

# shot: cprof is told to take one; what the program had then is in want.N.
shot() {
	"$CPROF" ctl "$program" heapshot >answered
	shots=$((shots + 1))
	tail -n 1 said >"want.$shots"
}

# live N [KEY]: what the report says the two functions had, as the program says it.
live() {
	"$CPROF" report --json --heapshot="$1" "${3-cprof.data}" | jq -r --arg key "${2-live}" '
		[.heapshot.functions[] | {(.function): .[$key]}] | add // {} | [.grow, .other] |
		map(. // {blocks: 0, bytes: 0}) | "\(.[0].blocks) \(.[0].bytes) \(.[1].blocks) \(.[1].bytes)"'
}

under_run() {
	shots=0
	"$CPROF" run -q "$@" -- ./stepper <lines >said 3>&- &
	program=$!
	started+=("$program")
	exec 7>lines
	until_true "$CPROF" ctl "$program" status >/dev/null 2>&1
}

ends() {
	exec 7>&-
	ended=0
	wait "$program" || ended=$?
	assert_equal "$ended" 0
}

@test "what was live at each, and what is new: as the program says it" {
	stepper
	for how in '' --traps; do
		: >said
		steps=0
		under_run --allocs $how
		step 'keep 0 10 100'
		shot
		assert_equal "$(cat answered)" 'heapshot 1: cprof report --heapshot=1'
		step 'keep 1 3 5000'
		step 'drop 0 4'
		shot
		step 'keep 0 20 30'
		step 'drop 1 3'
		shot
		step 'drop 0 1000'
		ends
		for n in 1 2 3; do
			assert_equal "$how$n $(live $n)" "$how$n $(cat want.$n)"
		done
		assert_equal "$(live 1..3 before)" '10 1000 0 0'
		assert_equal "$(live 1..3)" "$(cat want.3)"
		# Nobody has both of them: the differences of the program's own numbers.
		"$CPROF" report --json --heapshot=1..2 >difference
		assert_equal "$(jq -c '[.heapshot.functions[] | [.function, .live.bytes - .before.bytes, .live.blocks - .before.blocks]]' difference)" \
			'[["other",15000,3],["grow",-400,-4]]'
		assert_equal "$(jq -r '[.heapshot.stacks[].stack[1]] | map(.function // .) | join(" ")' difference)" 'other grow'
		assert_equal "$(jq -c '[.heapshots[].live | [.blocks, .bytes]]' difference)" \
			"$(awk '{ printf "%s[%d,%d]", NR == 1 ? "[" : ",", $1 + $3, $2 + $4 } END { print "]" }' want.1 want.2 want.3)"
		run -0 "$CPROF" report --csv --heapshot=1..2
		assert_output $'function,live_blocks,live_bytes,before_blocks,before_bytes\nother,3,15000,0,0\ngrow,6,600,10,1000'
		run -0 "$CPROF" report --csv --heapshot=list
		assert_equal "$(cut -d, -f1,3,4 <<<"${lines[2]}")" 2,9,15600
		run -0 "$CPROF" report --heapshot=list
		assert_line --regexp '^ +2 .* 15,600 +9 +\+14,600 +-1$'
		run -0 "$CPROF" report --heapshot=1..2
		assert_line --partial 'live 15,600 bytes in 9 blocks; since heapshot 1 at '
		assert_line --regexp '^ +\+15,000 +\+3 +15,000 +3  other$'
		assert_line --regexp '^ +-400 +-4 +600 +6  grow$'
		assert_line '  +15,000 bytes, +3 blocks, live 15,000 bytes in 3 blocks from'
		run -0 "$CPROF" report --allocs
		assert_line '  3 heapshots: cprof report --heapshot=list'
		"$CPROF" replay | grep -o 'heapshot [0-9]' >marks
		assert_equal "$(tr '\n' ' ' <marks)" 'heapshot 1 heapshot 2 heapshot 3 '
		# With the time of one, exports have it as well.
		at=$("$CPROF" report --json | jq '.heapshots[1].ts_ns')
		"$CPROF" export -f folded --of=live --time=-"${at}ns" -o folded
		assert_equal "$(sed -n 's/.*;other.* //p' folded) $(sed -n 's/.*;grow.* //p' folded)" '15000 600'
	done
}

@test "after rotate they count anew, and what is left of the old recording is not in them" {
	stepper
	: >said
	under_run --allocs
	step 'keep 0 10 100'
	shot
	"$CPROF" ctl "$program" rotate >/dev/null
	step 'keep 1 2 50'
	"$CPROF" ctl "$program" heapshot >answered
	assert_equal "$(cat answered)" 'heapshot 1: cprof report --heapshot=1'
	ends
	assert_equal "$(live 1 live cprof.data.1)" '10 1000 0 0'
	assert_equal "$(live 1)" '0 0 2 100'
}

@test "log:heapshot: on demand, at the end, and from time to time, which is the program's" {
	stepper
	: >said
	under_run --profile=log:heapshot=ondemand,heapshot-on-shutdown
	step 'keep 0 2 300'
	shot
	step 'keep 1 1 7'
	ends
	assert_equal "$(live 1)" "$(cat want.1)"
	assert_equal "$(live 2)" "$(tail -n 1 said)"
	run -1 "$CPROF" report --heapshot=3
	cat >slow.c <<'END'
#include <stdlib.h>
#include <time.h>
static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
void *kept[10];
int main(void)
{
	long last = now();
	int i;

	for (i = 0; i < 5; i++) {
		while (now() < last + 22)
			;
		kept[i] = malloc(1000);
		kept[9 - i] = malloc(1); /* too early for the next one */
		last = now();
	}
	return 0;
}
END
	"$CC" -g -O1 -o slow slow.c
	"$CPROF" run -q --profile=log:heapshot=20ms -- ./slow
	"$CPROF" report --json >report.json
	assert_equal "$(jq -c '[.heapshots[].live.bytes] | map(. - . % 1000)' report.json)" '[1000,2000,3000,4000,5000]'
}

# port_free: a number that nobody listens at now.
port_free() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# say PORT LINES: what the port answers, up to its end.
say() {
	python3 -c '
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(sys.argv[2].encode().decode("unicode_escape").encode())
s.settimeout(60)
f = s.makefile("rb")
head = f.readline().split()
print(head[0].decode(), f.read(int(head[1])).decode())
if head[0] == b"no":
    try: print("the end" if f.read() == b"" else "more")
    except ConnectionResetError: print("the end")' "$@"
}

@test "log:port= takes heapshot, from its user, and nothing else" {
	stepper
	port=$(port_free)
	: >said
	under_run --profile="log:heapshot=ondemand,port=$port"
	step 'keep 0 3 40'
	run -0 say "$port" 'heapshot\n'
	assert_output 'ok heapshot 1: cprof report --heapshot=1'
	tail -n 1 said >want.1
	step 'keep 0 1 1'
	# As a browser would: no line further down counts.
	run -0 say "$port" 'POST / HTTP/1.1\r\n\r\nheapshot\n'
	assert_output $'no this port takes no such command\nthe end'
	for wrong in stop status 'heapshot 1' 'mark x'; do
		run -0 say "$port" "$wrong\\n"
		assert_output $'no this port takes no such command\nthe end'
	done
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
		run -0 setpriv --reuid=nobody --clear-groups "$(command -v bash)" -c "$(declare -f say); say $port 'heapshot\n'"
		assert_output $'no the session is another user\'s\nthe end'
	fi
	# In use, it is no port for another session.
	run -125 "$CPROF" run --profile="log:port=$port" -- echo ran
	assert_line --partial "listening at port $port of 127.0.0.1: Address already in use"
	refute_line ran
	# Nowhere else: of this machine's other addresses none answers.
	[ "$(awk -v port="$(printf %04X "$port")" '$2 ~ ":" port "$" && $4 == "0A" { print $2 }' /proc/net/tcp /proc/net/tcp6)" = \
		"0100007F:$(printf %04X "$port")" ]
	ends
	assert_equal "$(live 1)" "$(cat want.1)"
	run -1 "$CPROF" report --heapshot=2
}

@test "what can't be is refused, and says why" {
	stepper
	: >said
	under_run -t grow
	run -1 "$CPROF" ctl "$program" heapshot
	assert_output 'cprof: allocations are not recorded: that begins with --allocs'
	run -2 "$CPROF" ctl "$program" heapshot now
	assert_line "cprof: 'heapshot' takes nothing behind it"
	ends
	: >said
	steps=0
	under_run --allocs
	step 'keep 0 1 1'
	ends
	run -1 "$CPROF" report --heapshot=1
	assert_line 'cprof: the recording has no heapshot 1'
	assert_line --partial 'cprof ctl PID heapshot'
	run -0 "$CPROF" report --heapshot=list
	assert_output --partial 'there are none'
	assert_equal "$("$CPROF" report --json | jq 'has("heapshots") or has("heapshot")')" false
	for wrong in 0 x 1.. ..2 1..0 -1 '' 1..2..3; do
		run -2 "$CPROF" report --heapshot="$wrong"
		assert_line --partial '--heapshot takes list, N or N..M'
	done
}
