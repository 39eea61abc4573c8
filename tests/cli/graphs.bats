#!/usr/bin/env bats
# Who calls whom, as graphs of Graphviz and Mermaid: read by graphviz itself and by
# mermaid's own parser; what is in them is counted again from the events.

load helpers
load recordings
load tracees

# graph_of FILE: what graphviz reads in it, one line a node, "NAME|COUNT", and one an edge,
# "NAME -> NAME|COUNT", sorted.
graph_of() {
	dot -Tdot_json "$1" | python3 -c '
import html, json, sys
g = json.load(sys.stdin)
def lines(label):
    return [html.unescape(l).replace("\\\\", "\\") for l in label.split("\\n")]
names = {o["_gvid"]: lines(o["label"])[0] for o in g["objects"]}
out = ["%s|%s" % (lines(o["label"])[0], lines(o["label"])[-1]) for o in g["objects"]]
out += ["%s -> %s|%s" % (names[e["tail"]], names[e["head"]], lines(e["label"])[-1]) for e in g.get("edges", [])]
print("\n".join(sorted(out)))'
}

# chart_of FILE: the same of a flowchart of Mermaid, strictly by its grammar.
chart_of() {
	python3 - "$1" <<-'END'
		import re, sys
		lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
		assert lines[0] == "---" and lines[1].startswith('title: "') and lines[2:4] == ["---", "flowchart TD"]
		assert lines[-1] == ""
		text = r'"((?:[\w .,:+=()\u0080-\uffff-]|#\d+;|<br/>)*)"'
		def plain(t):
		    return re.sub(r"#(\d+);", lambda m: chr(int(m[1])), t)
		names, out = {}, []
		for line in lines[4:-1]:
		    node = re.fullmatch(r"  (n\d+|left)\[" + text + r"\](:::(?:hot|warm|note))?", line)
		    edge = re.fullmatch(r"  (n\d+) (?:-->|==>)\|" + text + r"\| (n\d+)", line)
		    if node and node[1] != "left":
		        parts = node[2].split("<br/>")
		        names[node[1]] = plain(parts[0])
		        out.append(f"{names[node[1]]}|{plain(parts[-1])}")
		    elif edge:
		        out.append(f"{names[edge[1]]} -> {names[edge[3]]}|{plain(edge[2]).split(', ')[-1]}")
		    else:
		        assert node or re.fullmatch(r"  classDef \w+ [\w:#,]+", line), line
		print("\n".join(sorted(out)))
	END
}

# counted FILE: the same of the events of a replay.
counted() {
	python3 - "$1" <<-'END'
		import collections, json, sys
		stacks, counts = collections.defaultdict(list), collections.Counter()
		for e in map(json.loads, open(sys.argv[1])):
		    stack = stacks[e["tid"]]
		    if e["event"] == "enter":
		        counts[e["function"]] += 1
		        if stack:
		            counts[f'{stack[-1]} -> {e["function"]}'] += 1
		        stack.append(e["function"])
		    elif e["event"] in ("leave", "tail_call", "unwind"):
		        stack.pop()
		print("\n".join(sorted(f'{k}|{n:,} call{"s" if n != 1 else ""}' for k, n in counts.items())))
	END
}

@test "graphs of traced calls: nodes and edges are those of the events" {
	needs dot
	desk | made desk.data
	busy_desk 3000 | made busy.data
	"$CPROF" run -q -o counted.data -t 'program,-main' --max-rate=0 -- "$TRACEES/counted" --depth=30 >out
	for data in desk busy counted; do
		"$CPROF" replay --json $data.data >events
		counted events | sed 's/([^|]*|/|/g' >want
		"$CPROF" export -f dot --min=0 -o $data.dot $data.data
		graph_of $data.dot | sed 's/([^|]*|/|/g' | diff want -
		"$CPROF" export -f mermaid --min=0 -o $data.mmd $data.data
		chart_of $data.mmd | sed 's/([^|]*|/|/g' | diff want -
	done
	dot -Tsvg desk.dot | xmllint --noout -
}

@test "graphs of samples: who stands on whom, and no name means anything else" {
	needs dot
	workshop | made cprof.data
	"$CPROF" export -f dot >out.dot
	dot -Tsvg out.dot >svg
	xmllint --noout svg
	not grep -q '<script' svg
	cat >want <<-'END'
		[no stack]|5 samples
		\x1b]0;owned\x0a|10 samples
		a;b|</title><script>alert(1)</script>&"']]>|10 samples
		a;b|</title><script>alert(1)</script>&"']]> -> \x1b]0;owned\x0a|10 samples
		libfast.so+0x1000|30 samples
		lost -> a;b|</title><script>alert(1)</script>&"']]>|10 samples
		lost|10 samples
		main -> parse(int)|30 samples
		main|30 samples
		malloc|20 samples
		parse(int) -> malloc|20 samples
		parse(int) -> parse(int)|10 samples
		parse(int) -> scan<char>|10 samples
		parse(int)|30 samples
		qsort -> libfast.so+0x1000|30 samples
		qsort|30 samples
		scan<char>|10 samples
		start_thread -> work|45 samples
		start_thread|45 samples
		work -> qsort|30 samples
		work|45 samples
	END
	graph_of out.dot | diff <(sort want) <(sort -)
	"$CPROF" export -f mermaid --title='a "title" </script>' >out.mmd
	chart_of out.mmd | diff <(sort want) <(sort -)
	# What is small is left out, and that is said.
	"$CPROF" export -f dot --min=20 >out.dot
	graph_of out.dot | diff <(grep -E '^[^>]*(30|45|20) samples$|> .*(30|45|20) samples$' want | sort) <(sort -)
	grep -q '5 functions and 4 edges are not shown: --min=0 has those smaller than 20%' out.dot
	"$CPROF" export -f mermaid --min=20 >out.mmd
	grep -q '5 functions and 4 edges are not shown' out.mmd
}

@test "graphs of sums of calls, and of allocations" {
	needs dot
	"$CPROF" run -q -o one.data -t 'worker,leaf,tail_*' --max-rate=0 -- "$TRACEES/counted" --depth=9 >out
	"$CPROF" run -q -o sums.data -t 'worker,leaf,tail_*' --max-rate=0 --summary -- "$TRACEES/counted" --depth=9 >out
	for data in one sums; do
		"$CPROF" export -f dot --min=0 $data.data >out.dot
		graph_of out.dot >$data
	done
	diff one sums
	cat >keeps.c <<-'END'
		#include <stdlib.h>
		void *kept[30];
		__attribute__((noinline)) void *keep(int n) { return malloc(1024 * (n + 1)); }
		int main(void)
		{
			for (int i = 0; i < 30; i++)
				kept[i] = keep(i);
			return 0;
		}
	END
	${CC:-cc} -g -O0 -o keeps keeps.c
	"$CPROF" run -q -o heap.data --allocs -- ./keeps
	"$CPROF" export -f dot --of=bytes heap.data >out.dot
	dot -Tsvg out.dot | xmllint --noout -
	grep -qF '"keep\nkeeps\n465 KiB' out.dot
	graph_of out.dot | grep -qx 'keep|30 allocations'
	graph_of out.dot | grep -qx 'main -> keep|30 allocations'
	run "$CPROF" export -f chrome --of=bytes heap.data
	assert_failure 2
}

@test "graphs of Mermaid, read by its own parser" {
	[ -n "${CPROF_TEST_LONG-}" ] || skip "fetched, 150 packages of them, for long tests alone"
	needs npm node
	workshop | made w.data
	busy_desk 3000 | made busy.data
	for data in w busy; do "$CPROF" export -f mermaid --min=0 -o $data.mmd $data.data; done
	timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent mermaid jsdom >/dev/null 2>&1 ||
		skip "the package registry of npm is not reachable"
	cat >read.mjs <<-'END'
		import { JSDOM } from "jsdom";
		import fs from "fs";
		globalThis.window = new JSDOM("<body></body>").window;
		globalThis.document = window.document;
		const mermaid = (await import("mermaid")).default;
		for (const file of process.argv.slice(2)) {
		    const text = fs.readFileSync(file, "utf8");
		    await mermaid.parse(text);
		    const d = await mermaid.mermaidAPI.getDiagramFromText(text);
		    console.log(d.db.getVertices().size, d.db.getEdges().length);
		}
	END
	run node read.mjs w.mmd busy.mmd
	assert_success
	assert_output "$(grep -c '\["' w.mmd) $(grep -c '[->=]>|' w.mmd)
$(grep -c '\["' busy.mmd) $(grep -c '[->=]>|' busy.mmd)"
}
