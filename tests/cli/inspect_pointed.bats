#!/usr/bin/env bats
# cprof inspect --who-points-at: judged by what the program says, and by gdb, which looks
# through the same memory.

load helpers
load inspected

# gdb_finds ADDRESS: where else in the process's own memory that is, in order. Not in what
# was hardly touched, which gdb would fill.
gdb_finds() {
	cat >find.py <<-'END'
		import gdb, os, struct
		word = struct.pack("<Q", int(os.environ["WANTED"], 16))
		found = []
		for line in open(f"/proc/{gdb.selected_inferior().pid}/maps"):
		    where, how = line.split()[:2]
		    low, high = (int(x, 16) for x in where.split("-"))
		    if how[:2] != "rw" or "[v" in line or high - low > 1 << 32:
		        continue
		    data = bytes(gdb.selected_inferior().read_memory(low, high - low))
		    at = data.find(word)
		    while at >= 0:
		        if at % 8 == 0:
		            found.append(low + at)
		        at = data.find(word, at + 1)
		open("gdbs", "w").write("".join(f"{x:#x}\n" for x in sorted(found)))
	END
	WANTED=$1 gdb -q -nx -batch -iex 'set debuginfod enabled off' -p "$pid" -x find.py >log 2>&1 </dev/null || cat log >&2
}

@test "all words that lead to something, and what they are in" {
	needs gcc gdb jq
	gcc -g -O0 -pthread -o pointed "$SOURCES/tests/cli/inspect_pointed.c"
	begin pointed
	read -r _ target _ heap other page <said
	keeper=$(grep -lx keeper /proc/"$pid"/task/*/comm | cut -d / -f 5)
	for how in '' --stop; do
		"$CPROF" inspect $how --json --who-points-at=server.queue.tail "$pid" >json
		[ "$(jq -r '.[0].target' json)" = "$target" ]
		jq -r --arg pid "$pid" --arg keeper "$keeper" '.[0].found[] | select(.kind != "thread" and .variable != null) |
			[.variable, .kind, .offset, ((.tid // 0) as $t | if $t == ($pid | tonumber) then "first" elif $t == ($keeper | tonumber) then "keeper" else $t end), .function] | @tsv' json |
			sort >got
		sort >wanted <<-END
			server.queue.tail	static	0	0	
			server.table[2]	static	0	0	
			middle	static	20	0	
			mine	thread_local	0	keeper	
			argument	stack	0	keeper	keep
			kept	stack	0	keeper	keep
			list[1]	stack	0	keeper	keep
			local.inside	stack	0	first	main
			target	stack	0	first	main
		END
		diff wanted got
		jq -r '.[0].found[] | select(.kind == "heap") | .address' json | sort | diff - <(printf '%s\n' "$heap" "$other" "$page" | sort)
		# gdb finds these, and those below stack pointers.
		gdb_finds "$target"
		jq -r --arg page "$page" '.[0].found[] | select(.offset == 0 and .address != $page) | .address' json | sort >ours
		sort gdbs | comm -13 - ours | diff /dev/null -
		[ "$(sort gdbs | comm -23 - ours | wc -l)" -le "$(jq '.[0].unused' json)" ]
	done
	"$CPROF" inspect --who-points-at="$target" --who-points-at=alone --frame=main "$pid" number 2>/dev/null >text || true
	grep -x "    $(printf '%#014x' $((heap)))  heap" text
	grep -x "alone at $other is pointed at by" text
	grep -x '    0x[0-9a-f]*  local.inside in #[0-9]* main, thread [0-9]* "pointed"' text
	# Names are those of the frame.
	"$CPROF" inspect --json --who-points-at=other --who-points-at=local --frame=main "$pid" >json
	jq -e --arg other "$other" '.[0].target == $other and (.[0].found | any(.variable == "alone")) and .[1].words == 0' json
	"$CPROF" inspect --json --limit=2 --who-points-at="$target" "$pid" >json
	jq -e '(.[0].found | length) == 2 and .[0].words > 10' json
	separately "$CPROF" inspect --who-points-at=server.queue.head "$pid"
	assert_failure 2
	[ "$stderr" = "cprof: server.queue.head: it is NULL" ]
	separately "$CPROF" inspect --who-points-at=server ./pointed
	assert_failure 2
	finish
}

@test "a core file has them, too" {
	needs gcc gdb jq
	sed 's/1l << 36/1l << 22/' "$SOURCES/tests/cli/inspect_pointed.c" >small.c
	gcc -g -O0 -pthread -o pointed small.c
	begin pointed
	"$CPROF" inspect --stop --json --who-points-at=server.queue.tail "$pid" >json
	gdb -q -nx -batch -iex 'set debuginfod enabled off' -p "$pid" -ex 'generate-core-file core' >log 2>&1 </dev/null
	finish
	"$CPROF" inspect --json --who-points-at=server.queue.tail core >others
	diff <(jq '.[0].found | map(del(.mapping))' json) <(jq '.[0].found | map(del(.mapping))' others)
}
