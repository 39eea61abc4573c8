#!/usr/bin/env bats
# Allocations by stack in the formats of others: sums are those that the program
# says, that valgrind counts and that the report has.

load helpers

CC=${CC:-cc}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	# Says how much it allocated, how often, what it left; a thread frees what main has.
	cat >shelves.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static long bytes, count, left;
static void *keep[1000];
static void note(long size) { bytes += size, count++; }
__attribute__((noipa)) void *box(long size) { note(size); return malloc(size); }
__attribute__((noipa)) void *shelf(long size) { return box(size); }
static void *sweep(void *p)
{
	pthread_setname_np(pthread_self(), "sweeper");
	for (int i = 0; i < 1000; i += 2)
		free(keep[i]);
	box(5000); /* left */
	left += 5000;
	return p;
}
int main(void)
{
	char text[200];
	pthread_t t;

	for (int i = 0; i < 1000; i++)
		keep[i] = i % 10 ? box(24 + i) : shelf(3000);
	for (int i = 1; i < 1000; i += 2)
		left += 24 + i;
	for (int i = 1; i < 50; i += 2) {
		note(4000);
		keep[i] = realloc(keep[i], 4000);
		left += 4000 - (24 + i);
	}
	pthread_create(&t, NULL, sweep, NULL);
	pthread_join(t, NULL);
	write(1, text, snprintf(text, sizeof(text), "bytes %ld count %ld left %ld\n", bytes,
				count, left));
	_exit(0);
}
END
	$CC -O1 -g -fno-builtin -D_GNU_SOURCE -o shelves shelves.c -pthread
	"$CPROF" run -q --allocs -o a.data -- ./shelves >said
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# said NAME, sum_of OPTION: of what shelves itself allocated, and not libc for its thread.
said() { sed -n "s/.*\<$1 \([0-9]*\).*/\1/p" said; }
sum_of() {
	"$CPROF" export -f folded "--of=$1" "${2-a.data}" 2>/dev/null |
		awk '/;(box|main)(;[a-z]*alloc)? / { n += $NF } END { print n + 0 }'
}
total() { awk '{ n += $NF } END { print n + 0 }'; }
all_of() { "$CPROF" export -f folded "--of=$1" a.data | total; }

@test "folded: bytes, number and what is left are the program's own" {
	assert_equal "$(sum_of bytes) $(sum_of count) $(sum_of live)" \
		"$(said bytes) $(said count) $(said left)"
	"$CPROF" export -f folded --of=bytes a.data | grep -E '(^|;)main;shelf;box;malloc 300000$'
	# Without being told, a recording of allocations alone is of bytes, and that is said.
	run --separate-stderr "$CPROF" export -f folded a.data
	assert_output "$("$CPROF" export -f folded --of=bytes a.data)"
	assert_regex "$stderr" '^cprof: [0-9.]+ [KM]iB allocated in 1,[0-9]+ allocations \(--of=count\|live: '
	run --separate-stderr "$CPROF" export -f folded --of=live a.data
	assert_equal "$stderr" ''
}

@test "all sums are those of the report, and of valgrind" {
	"$CPROF" report --json --limit=0 a.data >report.json
	assert_equal "$(all_of bytes) $(all_of count) $(all_of live)" \
		"$(jq -r '.allocations.stacks | "\(map(.allocated.bytes) | add) \(map(.allocated.blocks) |
			add) \(map(.left.bytes) | add)"' report.json)"
	assert_equal "$(all_of live)" "$(jq .allocations.left.bytes report.json)"
	needs valgrind
	valgrind --run-libc-freeres=no --leak-check=no ./shelves 2>&1 >/dev/null | tr -d , >memcheck
	assert_equal "$(sed -n 's/.*in use at exit: \([0-9]*\) .*/\1/p' memcheck)" "$(all_of live)"
	assert_equal "$(sed -n 's/.* usage: \([0-9]*\) allocs.* frees \([0-9]*\) bytes.*/\2 \1/p' memcheck)" \
		"$(all_of bytes) $(all_of count)"
}

@test "callgrind, speedscope: the same sums, in their own words" {
	needs callgrind_annotate
	"$CPROF" export -f callgrind --of=bytes -o c.out a.data
	callgrind_annotate --auto=no --threshold=100 --inclusive=yes c.out | tr -d , >annotated
	grep -qE "^$(all_of bytes) \(100.0%\) +PROGRAM TOTALS" annotated
	grep -qE '^300000 .*:shelf ' annotated
	local of unit
	for of in bytes live count; do
		unit=bytes
		[ $of != count ] || unit=none
		"$CPROF" export -f speedscope --of=$of a.data >s.json
		assert_equal "$of $(jq -c '[([.profiles[].endValue] | add), ([.profiles[].weights[]] | add),
			(.profiles | map(.unit) | unique[]), ([.profiles[] | (.samples | length) ==
			(.weights | length)] | all)]' s.json)" \
			"$of [$(all_of $of),$(all_of $of),\"$unit\",true]"
	done
}

@test "pprof: the four sample types of Go's heap profiles" {
	needs protoc
	"$CPROF" export -f pprof --of=live -o p.pb.gz a.data
	gunzip <p.pb.gz | protoc --decode=cprof.pprof.Profile -I "$SOURCES/src/report/export" pprof.proto >decoded
	python3 - "$(all_of count) $(all_of bytes)" "$(all_of live)" <<'END'
import re, sys
text = open("decoded").read()
strings = re.findall(r'^string_table: "(.*)"$', text, re.M)
number = lambda key, where: int(re.search(key + r": (\d+)", where).group(1))
types = [(strings[number("type", t)], strings[number("unit", t)])
	for t in re.findall(r"^sample_type {(.*?)^}", text, re.M | re.S)]
assert types == [("alloc_objects", "count"), ("alloc_space", "bytes"),
	("inuse_objects", "count"), ("inuse_space", "bytes")], types
samples = [list(map(int, re.findall(r"^  value: (\d+)", s, re.M)))
	for s in re.findall(r"^sample {(.*?)^}", text, re.M | re.S)]
sums = [sum(s[i] for s in samples) for i in range(4)]
assert f"{sums[0]} {sums[1]}" == sys.argv[1] and str(sums[3]) == sys.argv[2], sums
assert strings[number("default_sample_type", text)] == "inuse_space"
# What a reader leaves out: malloc, realloc, but nothing of the program's.
drop = strings[number("drop_frames", text)].split("|")
assert "malloc" in drop and not {"box", "shelf", "main"} & set(drop), drop
END
}

@test "pprof: go tool pprof reads it" {
	needs go
	"$CPROF" export -f pprof --of=live -o p.pb.gz a.data
	go tool pprof -sample_index=alloc_space -unit=B -top p.pb.gz >top 2>&1 ||
		skip "go tool pprof is not there"
	# malloc's are those of who called it.
	grep -qE "^ *$(($(said bytes) - 25 * 4000))B +[0-9.]+% +[0-9.]+% +[0-9]+B +[0-9.]+% +box$" top
	grep -qE "^ *0 +0% .* 300000B +[0-9.]+% +shelf$" top
	run grep -E ' (malloc|realloc)$' top
	assert_failure
}

@test "sqlite: each block, who asked for it, how long it lived" {
	"$CPROF" export -f sqlite -o a.sqlite a.data
	ask() { sqlite3 -separator ' ' a.sqlite "$1"; }
	assert_equal "$(ask 'PRAGMA integrity_check; PRAGMA foreign_key_check;')" ok
	assert_equal "$(ask 'SELECT sum(bytes), count(*), sum(CASE WHEN freed_ns IS NULL THEN bytes END)
		FROM allocations')" "$(all_of bytes) $(all_of count) $(all_of live)"
	assert_equal "$(ask "SELECT bytes, blocks, live_bytes, live_blocks FROM allocation_sums
		WHERE name = 'box'")" "$("$CPROF" report --json a.data | jq -r '.allocations.functions[] |
		select(.function == "box") | "\(.allocated.bytes) \(.allocated.blocks) \(.left.bytes) \(.left.blocks)"')"
	assert_equal "$(ask "SELECT count(*), min(freed_ns >= ts_ns), count(DISTINCT stack) FROM
		allocations WHERE moved_from IS NULL AND bytes = 3000")" '100 1 1'
	assert_equal "$(ask 'SELECT count(*) FROM allocations a JOIN allocations b ON
		a.moved_from = b.address AND a.ts_ns = b.freed_ns WHERE a.bytes = 4000')" 25
}

@test "filters choose who allocated; who frees it does not matter" {
	local main ns shelves sweeper # by number: a thread that ends at once is not always seen to be renamed
	read -r shelves sweeper < <("$CPROF" report --json a.data |
		jq -r '.pid as $pid | "\($pid) \(.threads[].tid | select(. != $pid))"')
	main=$("$CPROF" export -f folded --of=live "--thread=$shelves" a.data | grep -v ';_dl_' | total)
	# Of main's, the other thread freed the half.
	assert_equal "$("$CPROF" export -f folded --of=live "--thread=$shelves" a.data | total)" \
		"$("$CPROF" report --json "--thread=$shelves" a.data | jq .allocations.left.bytes)"
	assert_equal "$((main - $(sum_of live) + 5000))" \
		"$("$CPROF" export -f folded --of=live "--thread=$shelves" a.data | grep ';pthread_create' |
			grep -v ';_dl_' | total)"
	"$CPROF" export -f folded --of=count "--thread=$sweeper" a.data | grep -qE ';sweep;box;malloc 1$'
	run "$CPROF" export -f folded --of=bytes --image=nosuch a.data
	assert_failure 2
	assert_output --partial 'nothing was allocated that passes the filter'
	# What was allocated before the time that is asked for is left all the same.
	ns=$("$CPROF" replay --json a.data | jq -s 'map(select(.event == "move"))[0].ts_ns')
	assert_equal "$("$CPROF" export -f folded --of=count "--time=${ns}ns-" a.data | total)" \
		"$("$CPROF" replay --json "--time=${ns}ns-" a.data |
			jq -s 'map(select(.event | test("alloc|move|resize"))) | length')"
	assert_equal "$("$CPROF" export -f folded --of=live "--time=${ns}ns-" a.data | total)" "$(all_of live)"
}

@test "flame graph and page name the unit: in titles, tables, search, tooltips" {
	"$CPROF" export -f flamegraph -o f.svg a.data 2>/dev/null
	xmllint --noout f.svg
	xmllint --xpath '/*/*[local-name()="title"]/text()' f.svg |
		grep -E '^\./shelves: [0-9.]+ [KM]iB allocated in 1,[0-9]+ allocations$'
	xmllint --xpath '//*[local-name()="title"]/text()' f.svg >titles
	grep -qE '^[0-9.]+%, 293 KiB; self 0.0%' titles
	"$CPROF" export -f html --of=live -o h.html a.data
	grep -q '<th class="n">bytes</th>' h.html
	run grep -E '>time<| (ms|µs)</td>' h.html
	assert_failure
	for what in f.svg h.html; do
		chrome --dump-dom "file://$PWD/$what#s=main" >dom
		grep -qE 'data-matched="[0-9.]+%, [0-9.]+ [KM]iB, in ' dom
	done
	sed '$d' f.svg >tip.svg
	cat >>tip.svg <<'END'
<script><![CDATA[const g = [...document.querySelectorAll("g.frames > g")].find(g =>
	g.textContent === "shelf"); g.dispatchEvent(new MouseEvent("mousemove", { bubbles: true,
	clientX: 50, clientY: 150 }));]]></script></svg>
END
	chrome --dump-dom "file://$PWD/tip.svg" >dom
	grep -qE '<td[^>]*>[0-9.]+%  ·  293 KiB</td>' dom
	grep -qE '<td[^>]*>allocations</td><td[^>]*>100</td>' dom
}

@test "what there is no weight of is refused, with what to do" {
	echo "n=\${1-50000}; while [ \$n -gt 0 ]; do n=\$((n - 1)); done" >busy.sh
	"$CPROF" run -q -s 999 -o s.data -- sh busy.sh
	run "$CPROF" export -f flamegraph --of=bytes s.data
	assert_failure 2
	assert_line 'cprof: --of=bytes is of allocations, and s.data holds none'
	assert_line --partial 'cprof run --allocs'
	for format in sqlite chrome lcov; do
		run "$CPROF" export -f $format --of=live -o no a.data
		assert_failure 2
		assert_line --partial -- '--of is of flamegraph, html, folded, speedscope, firefox, pprof, callgrind'
	done
	run "$CPROF" export -f html --of=time -o no a.data
	assert_failure 2
	assert_line --partial -- '--of=bytes|count|live'
	assert_not_exist no
	# Where there are samples, too, these are what is exported unless told.
	"$CPROF" run -q -s 499 --allocs -o both.data -- sh -c './shelves; . ./busy.sh' sh 5000 >/dev/null
	assert_equal "$("$CPROF" export -f folded both.data | total)" \
		"$("$CPROF" report --json both.data | jq .samples.total_ns)"
	assert_equal "$(sum_of bytes both.data)" "$(said bytes)"
}

@test "watched in pieces of the time: every title says so, and what is left is not known" {
	cat >churn.c <<'END'
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 3000000; i++)
		free(malloc(64));
}
END
	$CC -O1 -fno-builtin -o churn churn.c
	"$CPROF" run -q --allocs -o c.data -- ./churn
	watched='in pieces of the time, (nearly all|[0-9.]+ %) of it'
	for format in flamegraph html speedscope callgrind; do
		"$CPROF" export -f $format --of=count c.data 2>err >out
		grep -qE "$watched" err
		grep -qE "$watched" out
	done
	"$CPROF" export -f pprof --of=count c.data 2>/dev/null | gunzip | grep -aqE "$watched"
	"$CPROF" export -f pprof c.data 2>/dev/null | gunzip >raw
	run grep -a inuse raw
	assert_failure
	run "$CPROF" export -f folded --of=live c.data
	assert_failure 2
	assert_line --partial 'what is left is not known'
	assert_line --partial -- '--max-rate=0'
}
