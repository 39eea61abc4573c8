#!/usr/bin/env bats
# Exports: each is judged by what reads it, and all add up to the same.

load helpers
load recordings

TOTAL=900000000

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	workshop | made cprof.data
	local format
	for format in flamegraph html folded chrome speedscope firefox pprof callgrind; do
		"$CPROF" export -f $format -o $format.out cprof.data
	done
}

exported() { cp "$BATS_FILE_TMPDIR/$1.out" .; }

@test "a format must be named, and one that there is" {
	run "$CPROF" export cprof.data
	assert_failure 2
	assert_output --partial "which format?"
	run "$CPROF" export -f flamegraf cprof.data
	assert_failure 2
	assert_output --partial "did you mean flamegraph"
}

@test "no link decides where something is written" {
	workshop | made cprof.data
	echo precious >target
	ln -s target link
	ln -s nothing dangling
	gcc -g -o p -x c - <<<'int main(void) { return 0; }'
	local at
	for at in link dangling; do
		run "$CPROF" export -f folded -o $at
		assert_failure 2
		assert_line "cprof: $at is a symbolic link: nothing is written to it"
		run "$CPROF" export -f sqlite -o $at
		assert_failure 2
		for option in lcov cobertura sonarqube json merge; do
			run "$CPROF" cover --$option=$at -- touch ran
			assert_failure 125
			assert_line --partial "cprof: $at is a symbolic link"
		done
		run "$CPROF" run -q --profile=stacks:output=$at -- touch ran
		assert_failure 125
		assert_line --partial "$at is a symbolic link"
		run "$CPROF" merge -o $at cprof.data
		assert_failure
	done
	assert_not_exist ran
	"$CPROF" cover -q -o p.data -- ./p
	run "$CPROF" export -f lcov -o link p.data
	assert_failure 2
	assert_equal "$(cat target)" precious
	assert_not_exist nothing
	# Directories on the way may be links, and an older file is written over.
	mkdir there
	ln -s there here
	for at in 1 2; do
		"$CPROF" export -f folded -o here/out
		"$CPROF" export -f folded | cmp - there/out
	done
}

@test "exports go to standard output unless told" {
	"$CPROF" export -f folded "$BATS_FILE_TMPDIR/cprof.data" >out
	cmp out "$BATS_FILE_TMPDIR/folded.out"
	"$CPROF" export -f folded -o - "$BATS_FILE_TMPDIR/cprof.data" >out
	cmp out "$BATS_FILE_TMPDIR/folded.out"
	run bash -c "'$CPROF' export -f folded '$BATS_FILE_TMPDIR/cprof.data' >/dev/full"
	assert_failure 1
	assert_output --partial "No space left"
}

@test "folded: one line a stack, nothing splits it" {
	exported folded
	run awk '{ sum += $NF } END { printf "%d", sum }' folded.out
	assert_output $TOTAL
	assert_equal "$(wc -l <folded.out)" 6
	grep -qxF 'main;parse(int);parse(int);scan<char> 100000000' folded.out
	grep -qF '[truncated];lost;a:b|</title>' folded.out
	grep -qF '\x1b]0:owned  100000000' folded.out
	"$CPROF" export -f folded --roots=thread "$BATS_FILE_TMPDIR/cprof.data" >threads
	grep -q '^workshop (100);main;' threads
}

@test "callgrind: callgrind_annotate reads it, totals agree" {
	needs callgrind_annotate
	exported callgrind
	callgrind_annotate --auto=no --threshold=100 callgrind.out >out 2>err
	assert_equal "$(cat err)" ""
	grep -qE '^900,000,000 \(100\.0%\) +PROGRAM TOTALS' out
	grep -qE '^200,000,000 \(22\.22%\) +malloc.c:malloc ' out
	callgrind_annotate --auto=no --threshold=100 --inclusive=yes callgrind.out >out
	grep -qE '^450,000,000 \(50\.00%\) +pthread.c:start_thread ' out
	grep -qE '^300,000,000 \(33\.33%\) +main.c:main ' out
}

@test "pprof: protoc decodes it, totals agree" {
	needs protoc
	exported pprof
	gunzip <pprof.out | protoc --decode=cprof.pprof.Profile -I "$SOURCES/src/report/export" pprof.proto >out
	run awk '/^sample {/ { n = 0; inside = 1 } inside && /^  value:/ && ++n == 2 { sum += $2 }
		/^}/ { inside = 0 } END { printf "%d", sum }' out
	assert_output $TOTAL
	assert_equal "$(grep -c '^sample {' out)" 6
	# The first string is "", by the format; inlined calls share a location.
	assert_equal "$(grep -m1 '^string_table:' out)" 'string_table: ""'
	run awk '/^location {/ { lines = 0 } /^  line {/ { if (++lines == 2) print "inlined" }' out
	assert_output inlined
}

@test "pprof: go tool pprof reads it" {
	needs go
	exported pprof
	go tool pprof -top pprof.out >out 2>&1 || skip "go tool pprof is not there"
	grep -q 'malloc' out
}

@test "a stack that does not reach the root says so in every format" {
	needs protoc
	exported firefox
	firefox_folded firefox.out ms >sums
	grep -q '^\[truncated\];lost;' sums
	exported speedscope
	run jq -r '.shared.frames as $f | [.profiles[].samples[] | map($f[.].name)] | unique[] |
		select(.[0] == "[truncated]") | .[1]' speedscope.out
	assert_output lost
	exported chrome
	run jq -r '[.traceEvents[] | select(.name == "[truncated]" or .name == "lost") | .name] |
		sort | join(" ")' chrome.out
	assert_output '[truncated] lost'
	exported pprof
	gunzip <pprof.out | protoc --decode=cprof.pprof.Profile -I "$SOURCES/src/report/export" pprof.proto >out
	assert_equal "$(grep -c '^string_table: "\[truncated\]"' out)" 1
	"$CPROF" export -f perfetto -o perfetto.out "$BATS_FILE_TMPDIR/cprof.data"
	protoc --decode=cprof.perfetto.Trace -I "$SOURCES/src/report/export" perfetto.proto <perfetto.out >out
	assert_file_contains out '"\[truncated\]"'
}

@test "speedscope: as its own schema has it, totals agree" {
	exported speedscope
	run jq -c '[([.profiles[].weights | add] | add), [.profiles[].name], ([.profiles[] |
		(.samples | length) == (.weights | length) and .endValue == (.weights | add)] | all),
		([.profiles[].samples[][]] | max) < (.shared.frames | length)]' speedscope.out
	assert_output "[$TOTAL,[\"workshop (100)\",\"worker-1 (101)\",\"evil\\u001b[31m\\n</text><script>alert(1)</script> (102)\"],true,true]"
	needs npm node
	timeout 60 npm install --no-audit --no-fund --ignore-scripts --silent speedscope ajv >/dev/null 2>&1 ||
		skip "the package registry of npm is not reachable"
	run node -e '
		const fs = require("fs"), Ajv = require("ajv").default;
		const schema = "node_modules/speedscope/dist/release/file-format-schema.json";
		const check = new Ajv({ strict: false }).compile(JSON.parse(fs.readFileSync(schema)));
		console.log(check(JSON.parse(fs.readFileSync("speedscope.out"))), check.errors || "");'
	assert_output "true "
}

# firefox_folded: stacks with their weights, as -f folded has them, from tables that have to
# be what the format's types say: columns as long as the table, indices of rows that are there,
# callers before callees.
firefox_folded() {
	python3 - "$@" <<'END'
import collections, json, sys

profile = json.load(open(sys.argv[1]))
unit = 1e6 if sys.argv[2] == "ms" else 1
meta = profile["meta"]
assert meta["preprocessedProfileVersion"] == 48 and meta["version"] > 20
assert [c["color"] for c in meta["categories"]].count("grey") == 1
sums = collections.Counter()
for t in profile["threads"]:
    for name in ("samples", "stackTable", "frameTable", "funcTable", "resourceTable", "markers", "nativeSymbols"):
        table = t[name]
        for column in table.values():
            assert not isinstance(column, list) or len(column) == table["length"], name
    stacks, frames, funcs = t["stackTable"], t["frameTable"], t["funcTable"]
    strings, resources = t["stringArray"], t["resourceTable"]
    assert isinstance(t["pid"], str) and isinstance(t["name"], str)
    assert all(p is None or 0 <= p < i for i, p in enumerate(stacks["prefix"]))
    assert all(0 <= f < frames["length"] for f in stacks["frame"])
    assert all(0 <= f < funcs["length"] for f in frames["func"])
    assert all(0 <= c < len(meta["categories"]) for c in frames["category"] + stacks["category"])
    assert all(0 <= r < resources["length"] for r in funcs["resource"])
    assert all(0 <= lib < len(profile["libs"]) for lib in resources["lib"])
    assert all(0 <= s < len(strings) for s in funcs["name"] + resources["name"])
    assert all(s is None or strings[s] for s in funcs["fileName"])
    assert t["samples"]["time"] == sorted(t["samples"]["time"])
    for stack, weight in zip(t["samples"]["stack"], t["samples"]["weight"]):
        names = []
        while stack is not None:
            names.append(strings[funcs["name"][frames["func"][stacks["frame"][stack]]]])
            stack = stacks["prefix"][stack]
        sums[";".join(reversed(names))] += weight
for stack, weight in sorted(sums.items()):
    print(stack.replace("\n", " "), round(weight * unit))
END
}

@test "firefox: tables as its types have them, the stacks and sums of folded" {
	exported firefox
	firefox_folded firefox.out ms >sums
	"$CPROF" export -f folded --roots=none "$BATS_FILE_TMPDIR/cprof.data" | LC_ALL=C sort >folded
	# A character that is not for a terminal is another in each.
	assert_equal "$(sed 's/.* //' sums | sort -n)" "$(sed 's/.* //' folded | sort -n)"
	assert_equal "$(awk '{ sum += $NF } END { print sum }' sums)" "$TOTAL"
	gcc -O2 -g -o inlines -x c - <<'END'
#include <time.h>
static volatile long x;
static inline void inner(void) { for (int i = 0; i < 1000; i++) x++; }
__attribute__((noinline)) void outer(void) { for (int i = 0; i < 100000; i++) inner(); }
int main(void) { outer(); return 0; }
END
	"$CPROF" run -q -s 997 -o r.data -- ./inlines
	"$CPROF" export -f firefox r.data >r.json
	firefox_folded r.json ms | LC_ALL=C sort >sums
	"$CPROF" export -f folded --roots=none r.data | LC_ALL=C sort >folded
	assert_equal "$(sed 's/ [0-9]*$//' sums)" "$(sed 's/ [0-9]*$//' folded)"
	grep -q 'main;outer;inner' sums
	jq -e '[.threads[].frameTable | [.inlineDepth, .address] | transpose[] | select(.[0] == 1)] |
		length > 0' r.json
	# Its own build id, with the first three numbers the other way round.
	id=$(readelf -n inlines | sed -n 's/.*Build ID: //p')
	assert_equal "$(jq -r '.libs[] | select(.name == "inlines").codeId' r.json)" "$id"
	jq -r '.libs[] | select(.name == "inlines").breakpadId' r.json |
		grep -qix "${id:6:2}${id:4:2}${id:2:2}${id:0:2}${id:10:2}${id:8:2}${id:14:2}${id:12:2}${id:16:16}0"
	# shellcheck disable=SC2016 # sh expands it
	"$CPROF" run -q --allocs -o a.data -- sh -c 'echo $(seq 100)' >/dev/null
	"$CPROF" export -f firefox --of=bytes a.data >a.json
	jq -e '.threads | map(.samples.weightType) | unique == ["bytes"]' a.json
	assert_equal "$(firefox_folded a.json bytes | awk '{ sum += $NF } END { print sum }')" \
		"$("$CPROF" export -f folded --of=bytes a.data | awk '{ sum += $NF } END { print sum }')"
}

@test "chrome: slices nest, and the outermost add up to the total" {
	exported chrome
	run jq '[.traceEvents[] | select(.ph == "X" and .args.depth == 0).args.weight_ns] | add' chrome.out
	assert_output $TOTAL
	run python3 - <<'END'
import json
open_ = {}
events = json.load(open("chrome.out"))["traceEvents"]
names = {(e["tid"], e["args"]["name"]) for e in events if e["name"] == "thread_name"}
assert (100, "workshop") in names and (101, "worker-1") in names
slices = [e for e in events if e["ph"] == "X"]
for e in sorted(slices, key=lambda e: (e["tid"], e["ts"], e["args"]["depth"])):
    stack = open_.setdefault(e["tid"], [])
    while len(stack) > e["args"]["depth"]:
        stack.pop()
    assert len(stack) == e["args"]["depth"], e
    if stack:
        assert stack[-1]["ts"] <= e["ts"], e
        assert stack[-1]["ts"] + stack[-1]["dur"] >= e["ts"] + e["dur"] - 0.001, e
    stack.append(e)
work = [e for e in slices if e["name"] == "work"]
assert len(work) == 1 and work[0]["dur"] == 450000.0, work
print(len(slices))
END
	assert_success
}

# ---- the flame graph ----

# dom URL-HASH [SCRIPT]: what the graph looks like in a browser after SCRIPT.
dom() {
	sed '$d' "$BATS_FILE_TMPDIR/flamegraph.out" >page.svg
	printf '<script><![CDATA[\n%s\n]]></script></svg>\n' "${2-}" >>page.svg
	chrome --dump-dom "file://$PWD/page.svg$1" >dom
	grep -q 'data-ready="1"' dom
}

drawn() { xmllint --html --xpath "count(//g[@class='frames' or @class='frames searching']/g[not(@visibility)])" dom 2>/dev/null; }

@test "flamegraph: well-formed, nothing loaded from outside, no name escapes" {
	exported flamegraph
	xmllint --noout flamegraph.out
	run grep -oE '(src|href|url|@import|https?:)[^ >]*' flamegraph.out
	assert_equal "$(printf '%s\n' "${lines[@]}" | grep -vE 'http://www\.w3\.org/(2000/svg|1999/xhtml)"' )" ""
	# Scripts are ours alone: the data and the program.
	assert_equal "$(xmllint --xpath 'count(//*[local-name()="script"])' flamegraph.out)" 2
	assert_equal "$(xmllint --xpath 'count(//*[local-name()="g" and contains(@class, "inlined")])' flamegraph.out)" 1
	assert_equal "$(xmllint --xpath 'count(//*[local-name()="g" and contains(@class, "guessed")])' flamegraph.out)" 1
	xmllint --xpath '//*[local-name()="title"]/text()' flamegraph.out | grep -qF 'a;b|&lt;/title&gt;&lt;script&gt;'
	# What the script draws from is all of it.
	xmllint --xpath '//*[@id="flame-data"]/text()' flamegraph.out | python3 -c '
import html, json, sys
data = json.loads(html.unescape(sys.stdin.read()))
nodes = [data["nodes"][i:i + 6] for i in range(0, len(data["nodes"]), 6)]
assert nodes[0][2] == data["total"] == sum(n[3] for n in nodes) == 900000000'
}

@test "flamegraph: well-formed where times are bounds" {
	printf '%s\n' 'command ./desk' 'length 200' 'process 200 desk /usr/bin/desk' 'thread 200 200 desk' \
		'c 200 0 main|desk|main.c|1' 'c 200 10 fact|desk|f.c|1' 'r 200 20 12~8' 'r 200 10 5' | made bound.data
	"$CPROF" export -f flamegraph bound.data >flamegraph.out
	assert_equal "$(xmllint --xpath '//*[local-name()="title"]/text()' flamegraph.out | grep -c '&lt;= 8.00 µs')" 1
}

@test "flamegraph: frames narrower than a pixel are left out of the picture" {
	{
		echo "process 1 p /p"
		echo "thread 1 1 p"
		echo "s 1 100000000 1 main;wide"
		echo "s 1 10000 1 main;narrow"
	} | made narrow.data
	"$CPROF" export -f flamegraph -o narrow.svg narrow.data
	xmllint --xpath '//*[local-name()="title"]/text()' narrow.svg >titles
	grep -q wide titles
	run grep narrow titles
	assert_failure
}

@test "flamegraph: searching tells how much matches, and keeps it in the address" {
	dom '#s=parse%7Cqsort'
	grep -q 'data-matched="66.7%, 600 ms, in 2 functions"' dom
	assert_equal "$(grep -o '<g [^>]*class="hit "' dom | wc -l)" 3
	dom '#s=%5B'
	grep -q 'data-matched="16.7%, 150 ms, in 2 functions"' dom # no expression: plain text
	grep -q 'class="bad"' dom
	dom '' 'document.dispatchEvent(new KeyboardEvent("keydown", { key: "/" }));
		const box = document.querySelector("input"); box.value = "image:libc.so.6";
		box.dispatchEvent(new Event("input"));
		document.querySelector("svg").setAttribute("data-hash", location.hash);'
	grep -q 'data-matched="72.2%, 650 ms, in 3 functions"' dom
	grep -q 'data-hash="#s=image%3Alibc.so.6"' dom
}

@test "flamegraph: a click zooms, Escape shows all again" {
	dom ''
	all=$(drawn)
	find='const frame = name => [...document.querySelectorAll("g.frames > g")].find(g =>
		!g.hasAttribute("visibility") && g.textContent === name);
	const width = name => frame(name) ? Math.round(100 * frame(name).firstChild.getBBox().width /
		document.documentElement.clientWidth) : 0;
	window.matchMedia = () => ({ matches: true });
	const say = (k, v) => document.documentElement.setAttribute("data-" + k, v);'
	dom '' "$find
		say('before', width('work'));
		frame('work').dispatchEvent(new MouseEvent('click', { bubbles: true }));
		say('after', width('work')); say('gone', width('main')); say('hash', location.hash);"
	grep -q 'data-before="49"' dom
	grep -q 'data-after="98"' dom
	grep -q 'data-gone="0"' dom
	grep -q 'data-hash="#z=' dom
	(($(drawn) < all))
	dom '' "$find
		frame('work').dispatchEvent(new MouseEvent('click', { bubbles: true }));
		document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
		say('after', width('work')); say('hash', location.hash);"
	grep -q 'data-after="49"' dom
	grep -q 'data-hash=""' dom
	assert_equal "$(drawn)" "$all"
}

@test "flamegraph: bottom up, callers stand below what they call" {
	rows='const rows = {};
		for (const g of document.querySelectorAll("g.frames > g:not([visibility])")) {
			const row = (g.transform.baseVal[0].matrix.f - 92) / 20;
			rows[row] = (rows[row] || []).concat(g.textContent);
		}
		document.documentElement.setAttribute("data-rows", [1, 2, 3].map(r => rows[r]).join("|"));'
	dom '#b=1' "$rows"
	first='libfast.so\+0x1[0-9a-f]*,malloc,work,.x1b]0;ow[^,]*,scan&lt;char&gt;,.no[^|]*'
	grep -q -E "data-rows=\"$first\|qsort,parse\(int\),start_thread,a;b[^,]*,parse\(int\)\|work,main,lost,parse\(int\)\"" dom ||
		fail "$(grep -o 'data-rows="[^"]*"' dom)"
	dom '' "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'b' }));
		document.dispatchEvent(new KeyboardEvent('keydown', { key: 'b' })); $rows"
	grep -q -E 'data-rows="start_thread,main,' dom
}

@test "flamegraph: keys go from frame to frame, and no order of them fails" {
	dom '' 'window.matchMedia = () => ({ matches: true });
		const say = (k, v) => document.documentElement.setAttribute("data-" + k, v);
		addEventListener("error", e => say("error", e.message));
		const press = key => document.dispatchEvent(new KeyboardEvent("keydown", { key }));
		const here = () => { const g = document.querySelector("g.frames > g.at");
			return g ? g.textContent : "nowhere"; };
		const path = ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft",
			"ArrowUp", "ArrowRight"].map(key => { press(key); return here(); });
		say("path", path.join(","));
		press("Enter"); say("zoomed", location.hash); press("Backspace"); say("out", location.hash);
		press("Escape"); press("Escape"); say("end", location.hash);
		const keys = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Enter", "Backspace",
			"n", "N", "i", "b", "?", "/", "Escape", "Home"];
		let seed = 7;
		for (let i = 0; i < 3000; i++) {
			seed = (seed * 1103515245 + 12345) % 2147483648;
			press(keys[Math.floor(seed / 65536) % keys.length]);
			if (i % 500 === 0) { const box = document.querySelector("input");
				box.value = i % 1000 ? "a|o" : ""; box.dispatchEvent(new Event("input")); }
		}
		say("done", 1);'
	grep -q 'data-done="1"' dom
	run grep -o 'data-error="[^"]*"' dom
	assert_output ""
	grep -o 'data-path="[^"]*"' dom | grep -qF 'all,start_thread,work,'
	grep -q 'data-zoomed="#z=' dom
	grep -q 'data-end=""' dom
}

@test "flamegraph: the mouse shows what a frame is; hostile names stay text" {
	dom '' "const g = [...document.querySelectorAll('g.frames > g')].find(g =>
			g.textContent.startsWith('a;b'));
		g.dispatchEvent(new MouseEvent('mousemove', { bubbles: true, clientX: 50, clientY: 150 }));"
	grep -q '<h1[^>]*>a;b|&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;' dom
	assert_equal "$(grep -c '<script' dom)" 3
}

@test "html: graph and tables; the search narrows both, headings sort" {
	page() {
		sed '$d' "$BATS_FILE_TMPDIR/html.out" >page.html
		printf '<script>\n%s\n</script></body></html>\n' "${2-}" >>page.html
		chrome --dump-dom "file://$PWD/page.html$1" >dom
		grep -q 'data-ready="1"' dom
	}
	names() { sed 's/<tr/\n<tr/g' dom | grep -o '^<tr data-image[^>]*>.*' | grep -v 'hidden=""' |
		sed 's/.*<td class="name" title="\([^"]*\)".*/\1/'; }
	page '#s=malloc|qsort'
	assert_equal "$(names)" $'malloc\nqsort'
	page '' 'document.querySelectorAll("#functions th button")[2].click();'
	assert_equal "$(names | head -2)" $'work\nstart_thread'
	page '' '[...document.querySelectorAll("td.name button")].find(b => b.textContent ===
		"parse(int)").click();'
	grep -q 'data-matched="33.3%, 300 ms, in 1 function"' dom
	assert_equal "$(names)" 'parse(int)'
	run grep -oE '(src=|href=|@import|url\(|https?:)[^ >]*' "$BATS_FILE_TMPDIR/html.out"
	assert_equal "$(printf '%s\n' "${lines[@]}" | grep -vE 'http://www\.w3\.org/(2000/svg|1999/xhtml)"')" ""
	assert_equal "$(grep -c '<script>alert' dom)" 0
}

@test "flamegraph --diff: what became hotter is red, what cooler blue" {
	head='process 1 p /p
thread 1 1 p'
	printf '%s\ns 1 600000 600 main;slow\ns 1 390000 390 main;gone\ns 1 10000 10 main;same\n' "$head" | made old.data
	printf '%s\ns 1 100000 200 main;slow\ns 1 98000 196 main;new\ns 1 2000 4 main;same\n' "$head" | made new.data
	"$CPROF" export -f flamegraph --diff=old.data -o diff.svg new.data
	xmllint --xpath '//*[local-name()="g"][*[local-name()="title" and starts-with(., "new")]]' diff.svg |
		grep -q 'class="d6"'
	xmllint --xpath '//*[local-name()="g"][*[local-name()="title" and starts-with(., "slow")]]' diff.svg |
		grep -q 'class="d-2"'
	xmllint --xpath '//*[local-name()="g"][*[local-name()="title" and starts-with(., "same")]]' diff.svg |
		grep -q 'class="d0"' # 1 % to 1 %
}

# ---- calls ----

@test "chrome: calls are slices that nest, with arguments, results and how they ended" {
	desk | made desk.data
	"$CPROF" export -f chrome -o chrome.out desk.data
	run python3 - <<'END'
import json
events = json.load(open("chrome.out"))["traceEvents"]
assert {(e["pid"], e["tid"], e["args"]["name"]) for e in events if e["name"] == "thread_name"} == \
    {(200, 200, "desk"), (200, 201, "helper")}
slices = [e for e in events if e["ph"] == "X"]
assert len(slices) == 14
for tid in (200, 201):
    open_ = []
    for e in sorted((e for e in slices if e["tid"] == tid), key=lambda e: (e["ts"], -e["dur"])):
        while open_ and open_[-1] <= e["ts"]:
            open_.pop()
        assert not open_ or e["ts"] + e["dur"] <= open_[-1] + 1e-6, e
        open_.append(e["ts"] + e["dur"])
by_name = {e["name"]: e for e in slices}
lookup = by_name["lookup(char const*,int)"]
assert lookup["args"] == {"net_ns": 20000, "self_ns": 20000, "arguments": {"host": "db;1\n", "n": 4},
                          "result": "10.0.0.7"}, lookup
assert (lookup["ts"], lookup["dur"]) == (20, 30)
assert by_name["a"]["args"]["end"] == "tail_called" and by_name["a"]["args"]["target"] == "b"
assert by_name["thrower"]["args"]["end"] == "unwound"
assert by_name["main"]["args"]["end"] == "open" and by_name["main"]["dur"] == 2990
END
	assert_success
}

@test "chrome: samples stand beside calls" {
	{ workshop; echo 'c 100 5 traced|workshop|t.c|1'; echo 'r 100 20 0'; } | made both.data
	"$CPROF" export -f chrome -o chrome.out both.data
	run jq -c '[([.traceEvents[] | select(.ph == "X" and .args.depth == 0).args.weight_ns] | add),
		[.traceEvents[] | select(.name == "traced") | [.tid, .dur]],
		[.traceEvents[] | select(.name == "thread_name" and .args.name == "workshop (samples)").tid]]' chrome.out
	assert_output "[$TOTAL,[[100,20]],[1073741924]]"
}

@test "perfetto: protoc decodes it; slices begin and end in turn, annotated" {
	needs protoc
	desk | made desk.data
	"$CPROF" export -f perfetto -o out.pftrace desk.data
	protoc --decode=cprof.perfetto.Trace -I "$SOURCES/src/report/export" perfetto.proto <out.pftrace >out
	refute grep -q -E '^ *[0-9]+:' out # no unknown field
	assert_equal "$(grep -c TYPE_SLICE_BEGIN out)" 14
	assert_equal "$(grep -c TYPE_SLICE_END out)" 14
	grep -q 'thread_name: "helper"' out
	grep -qF 'string_value: "\"10.0.0.7\""' out
	grep -qF 'string_value: "{x=3, y=4}"' out
	grep -qF 'string_value: "tail_called"' out
	grep -qF 'double_value: 1.5' out
	run awk '/timestamp:/ { at = $2 } /TYPE_SLICE_BEGIN/ { type = 1 } /TYPE_SLICE_END/ { type = -1 }
		/track_uuid/ { open[$2] += type; if (open[$2] < 0 || at < last[$2]) print "bad"; last[$2] = at }
		END { print open[1], open[2] }' out
	assert_output '0 0'
	# Every name that is referred to was given before.
	run awk '/event_names/ { kind = "event" } /event_categories/ { kind = "category" }
		/debug_annotation_names/ { kind = "annotation" } / iid:/ { known[kind, $2] = 1 }
		/debug_annotations/ { in_annotation = 1 } /}/ { in_annotation = 0 }
		/category_iids:/ { if (!known["category", $2]) print "category", $2 }
		/name_iid:/ { what = in_annotation ? "annotation" : "event"; if (!known[what, $2]) print what, $2 }' out
	assert_output ''
	"$CPROF" export -f perfetto -o out.pftrace "$BATS_FILE_TMPDIR/cprof.data"
	protoc --decode=cprof.perfetto.Trace -I "$SOURCES/src/report/export" perfetto.proto <out.pftrace >out
	assert_equal "$(grep -c 'perf_sample {' out)" 6
	grep -qF 'str: "scan<char>"' out
}

@test "html: calls, exceptions, locks and allocations as the report has them" {
	cat >all.cpp <<-'END'
		#include <stdexcept>
		__attribute__((noinline)) int f(int n)
		{
			if (n == 1)
				throw std::runtime_error("one");
			return n;
		}
		int main(int argc, char **)
		{
			int *left = new int[argc * 100];
			try {
				left[0] = f(argc);
			} catch (std::exception &) {
			}
			return 0;
		}
	END
	g++ -O2 -g -fno-builtin -o all all.cpp
	"$CPROF" run -q -t 'f(int)' --exceptions --locks --allocs -o all.data -- ./all
	"$CPROF" export -f html -o all.html all.data
	COLUMNS=500 "$CPROF" report all.data >report
	for title in Calls Exceptions Locks Allocations; do
		grep -q "^$title  " report
		grep -q "<h2>$title <small>" all.html
	done
	# A row of each is there as it is in the report.
	for title in Calls Exceptions Allocations; do
		row=$(grep -A20 "^$title  " report | grep -E -m1 '[ (](int|std::runtime_error|main)')
		sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' all.html | grep -qF "$row"
	done
	# What is unlikely in a function is the function.
	grep -A2 '^Exceptions' report | grep -q 'f(int)  *all.cpp:5  *main$'
	# What takes no time is not as long as anything.
	"$CPROF" replay all.data | grep -q '↯ throw'
	assert_equal "$("$CPROF" replay --min-duration=1h all.data)" 'Nothing passes the filter.'
	assert_equal "$("$CPROF" replay --json --min-duration=1h all.data)" ''
}

@test "sqlite: answers as report and replay do" {
	needs sqlite3
	for recording in desk 'busy_desk 3000'; do
		$recording | made calls.data
		"$CPROF" export -f sqlite -o calls.db calls.data
		assert_equal "$(sqlite3 calls.db 'PRAGMA integrity_check; PRAGMA foreign_key_check')" ok
		"$CPROF" report --json calls.data |
			jq -r '.calls.functions[] | [.function, .calls, .total_ns, .self_ns] | join("|")' | sort >want
		sqlite3 calls.db 'SELECT name, calls, total_ns, self_ns FROM function_calls' | sort >got
		diff want got
		"$CPROF" replay --json calls.data |
			jq -r 'select(.args) | [.function, (.args | map(.text) | join(", "))] | join("|")' >want
		sqlite3 calls.db 'SELECT function, arguments FROM call_list WHERE arguments IS NOT NULL' >got
		diff want got
	done
	desk | made calls.data
	"$CPROF" export -f sqlite calls.data >calls.db
	assert_equal "$(sqlite3 calls.db "SELECT c.how, f.name FROM calls c JOIN functions f ON f.id = c.target")" \
		$'tail_called|b\ntail_called|gone'
	assert_equal "$(sqlite3 calls.db "SELECT value, typeof(value) FROM arguments WHERE role = 'result' LIMIT 3")" \
		$'10.0.0.7|text\n0|integer\n{"x":3,"y":5}|text'
	assert_equal "$(sqlite3 calls.db "SELECT caller, calls FROM callers WHERE callee = 'fact' ORDER BY caller")" \
		$'fact|2\nmain|1'
	"$CPROF" export -f sqlite -o samples.db "$BATS_FILE_TMPDIR/cprof.data"
	assert_equal "$(sqlite3 samples.db 'SELECT sum(weight_ns) FROM samples')" $TOTAL
	assert_equal "$(sqlite3 samples.db "SELECT self_ns FROM function_self WHERE name = 'malloc'")" 200000000
	assert_equal "$(sqlite3 samples.db "SELECT total_ns FROM function_total WHERE name = 'main'")" 300000000
	run env TMPDIR=/nowhere "$CPROF" export -f sqlite -o x.db calls.data
	assert_failure 1
	assert_output --partial TMPDIR
	# Without the library there is a reason, and no database.
	: >libsqlite3.so.0
	run env LD_LIBRARY_PATH="$PWD" "$CPROF" export -f sqlite -o none.db calls.data
	assert_failure 1
	assert_output --partial 'loading SQLite: '
	assert_not_exist none.db
}

@test "calls alone: callgrind, folded, speedscope and flamegraph add up to the time in them" {
	desk | made desk.data
	total=$("$CPROF" report --json desk.data | jq .calls.total_ns)
	"$CPROF" export -f folded desk.data >folded
	assert_equal "$(awk '{ sum += $NF } END { printf "%d", sum }' folded)" "$total"
	grep -qx 'main;geo::move(point,dir);clamp 12000' folded
	"$CPROF" export -f speedscope desk.data >speedscope
	assert_equal "$(jq '[.profiles[].weights | add] | add' speedscope)" "$total"
	"$CPROF" export -f flamegraph desk.data | grep -q '14 calls'
	"$CPROF" export -f callgrind desk.data >callgrind
	needs callgrind_annotate
	callgrind_annotate --auto=no --threshold=100 --inclusive=yes callgrind >out
	grep -qE '^2,971,000 \(100\.0%\) +PROGRAM TOTALS' out
	# Inclusive costs are the totals of the report.
	"$CPROF" report --json desk.data | jq -r '.calls.functions[] | [.total_ns, .function] | join(" ")' |
		while read -r ns name; do
			grep -qF "$(LC_ALL=en_US.UTF-8 printf '%s' "$(sed ':a;s/\B[0-9]\{3\}\>/,&/;ta' <<<"$ns")") (" <(grep -F ":$name [" out) ||
				fail "$name: $ns is not what callgrind_annotate says"
		done
	grep -A1 -F 'calls=' callgrind >calls
	assert_equal "$(grep -c '^calls=1 ' calls)" 9
}
