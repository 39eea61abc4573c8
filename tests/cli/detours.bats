#!/usr/bin/env bats
# Calls without stops: detours see what breakpoints see.

load helpers

# of_both OPTION... -- CMD...: traps.json and fast.json, what either way recorded.
of_both() {
	"$CPROF" run -q -o traps.data --max-rate=0 --fast --traps "$@" >traps.out
	"$CPROF" run -q -o fast.data --max-rate=0 --fast "$@" >fast.out
	diff <(sed 's/^[0-9]* //' traps.out) <(sed 's/^[0-9]* //' fast.out)
	"$CPROF" replay --json traps.data >traps.json
	"$CPROF" replay --json fast.data >fast.json
}

# same OPTION... -- CMD...: both ways make the same trees, and the second one has records.
same() {
	echo "$@"
	of_both "$@"
	python3 "$SOURCES/tests/cli/trees_judge.py" traps.json fast.json
	[ "$("$CPROF" report --json fast.data | jq .overhead.records)" -gt 0 ]
	[ "$("$CPROF" report --json traps.data | jq .overhead.records)" = 0 ]
}

@test "trees of calls by detours are those by breakpoints" {
	same -t program -- "$TRACEES/counted" --depth=6
	same -t program -- "$TRACEES/exceptions" --rounds=3
	same -t program -- "$TRACEES/throws"
}

@test "stacks of coroutines, signal handlers and forked children" {
	same -t program -- "$TRACEES/siglongjmp" --rounds=1
	same -t program -- "$TRACEES/coroutines" --rounds=2
	same -t 'base,outer,middle,split,leaf,on_the_side' -- "$TRACEES/inherit" --mode=coroutine
	same -t 'base,outer,middle,split,leaf,in_thread' -- "$TRACEES/inherit" --mode=thread
}

@test "sqlite3 computes the same, in the same calls" {
	cat >x.sql <<-END
		create table t(a integer primary key, b text);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
			insert into t select i, hex(i) from n;
		select count(*), sum(a), max(b) from t where b like '%3%';
	END
	same -t 'lib:libsqlite3*' -- sh -c 'exec sqlite3 :memory: <x.sql'
}
