#!/usr/bin/env bats
# The page of `export -f html` as a person uses it: a range is chosen on the time line, by
# mouse, keys and fields, and all views follow. What they have to say is what `cprof report`
# says of that part of the recording, or the program itself.

load helpers
load recordings

# page RECORDING [HASH [SCRIPT [OPTION...]]]: the page after SCRIPT, which says things by
# say(KEY, VALUE); they are in ./said, a line of JSON each.
page() {
	local recording=$1 hash=${2-} script=${3-}
	shift $(($# > 3 ? 3 : $#))
	"$CPROF" export -f html -o page.html "$@" "$recording" 2>export.log
	sed -i '$d' page.html
	cat >>page.html <<END
<script>
const said = document.createElement("pre");
document.body.append(said);
const say = (key, value) => said.append("SAID " + JSON.stringify({ [key]: value }) + "\n");
addEventListener("error", e => say("error", e.message));
const now = () => document.dispatchEvent(new Event("showchosen"));
const press = (key, at, more) => (at || document).dispatchEvent(new KeyboardEvent("keydown",
	Object.assign({ key, bubbles: true }, more)));
const rows = () => [...document.querySelectorAll("#functions tbody tr")].filter(r => !r.hidden).map(r => ({
	name: r.querySelector("td.name").title, self: Number(r.cells[2].dataset.v),
	total: Number(r.cells[4].dataset.v), count: Number(r.cells[5].dataset.v) }));
const frames = () => [...document.querySelectorAll("g.frames > g:not([visibility])")].map(g => g.textContent);
const note = () => document.querySelector(".flame-note").textContent;
const choose = (id, value) => { const e = document.querySelector(id); e.value = value;
	e.dispatchEvent(new Event("change")); now(); };
const drag = (lane, from, to) => {
	const box = lane.getBoundingClientRect(), go = (kind, share) => lane.dispatchEvent(new PointerEvent(kind,
		{ bubbles: true, button: 0, pointerId: 1, clientX: box.left + share * box.width, clientY: box.top + 9 }));
	go("pointerdown", from); go("pointermove", (from + to) / 2); go("pointermove", to); go("pointerup", to);
	now();
};
$script
</script></body></html>
END
	chrome --window-size="${width-1400},900" --dump-dom "file://$PWD/page.html$hash" >dom
	grep -q 'data-ready="1"' dom
	sed -n 's/.*SAID \({.*\)/\1/p' dom | sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >said
	assert_equal "$(said error)" ''
}

said() { jq -cs "map(select(has(\"$1\")).$1)[]" said; }

# Two threads, a sample each 0.9 ms: the first half of the time in one(), then in two(); the
# second one does other(), and waits. 1.024 s, of which a bucket is a thousandth.
halves() {
	printf '%s\n' 'command ./halves' 'clock wall' 'hz 1111' 'length 1024000' 'process 7 halves /bin/halves' \
		'thread 7 7 halves' 'thread 7 8 helper'
	awk 'BEGIN { for (i = 0; i < 1100; i++) {
		print "s 7 900 1 main|halves;" (i < 550 ? "one|halves" : "two|halves;deep|halves")
		print (i % 3 ? "w" : "s") " 8 900 1 start|halves;" (i % 3 ? "sleeper|halves;poll|/lib/libc.so.6" : "other|halves") } }'
}

# reported OPTION...: rows of the table of functions, as rows() gives them.
reported() {
	"$CPROF" report --json "$@" | jq -c '[.samples.functions[] | {name: .function, self: .self_ns,
		total: .total_ns, count: .self}] | sort_by(.name)'
}
sorted() { jq -c 'sort_by(.name)'; }

@test "page: dragging over the time line chooses a range, and table, graph and tree follow" {
	halves | made halves.data
	page halves.data '' 'say("all", rows());
		drag(document.querySelectorAll(".tl-lane")[1], 0.1955, 0.5855);
		say("hash", location.hash); say("rows", rows()); say("note", note()); say("frames", frames());
		document.dispatchEvent(new Event("showtree"));
		say("tree", [...document.querySelectorAll("#calltree tbody tr")].map(r => r.textContent));'
	assert_equal "$(said hash)" '"#r=200000000-600000000"'
	assert_equal "$(said all | sorted)" "$(reported halves.data)"
	assert_equal "$(said rows | sorted)" "$(reported --time=200ms-600ms halves.data)"
	assert_equal "$(said note)" "\"$(reported --time=200ms-600ms halves.data |
		jq -r '"\([.[].self] | add / 1e6 | round) ms of elapsed time  ·  0.200 s to 0.600 s, 400 ms  ·  \([.[].count] | add) samples"')\""
	said frames | jq -e 'index("two") and index("poll") and index("one")'
	said tree | jq -e 'any(test("one$")) and any(test("^ *100.0%"))'
}

@test "page: a range of keys and of fields; threads; what the address says is shown again" {
	halves | made halves.data
	page halves.data '' 'const to = document.querySelector(".tl-to"), from = document.querySelector(".tl-from");
		to.focus(); press("Home", to); press("PageUp", to); press("PageUp", to); press("ArrowRight", to);
		say("keys", location.hash); say("text", to.getAttribute("aria-valuetext"));
		press("Escape", to); say("escaped", location.hash);
		choose("#tl-from", "0.2"); choose("#tl-to", "0.6");
		[...document.querySelectorAll("button.tl-name")].find(b => b.textContent.startsWith("helper")).click(); now();
		say("hash", location.hash); say("rows", rows());
		press("]"); now(); say("moved", location.hash);'
	assert_equal "$(said keys)" '"#r=0-130000000"'
	assert_equal "$(said text)" '"0.130 seconds"'
	assert_equal "$(said escaped)" '""'
	assert_equal "$(said hash)" '"#r=200000000-600000000&t=1"'
	assert_equal "$(said rows | sorted)" "$(reported --time=200ms-600ms --thread=8 halves.data)"
	assert_equal "$(said moved)" '"#r=600000000-1000000000&t=1"'
	page halves.data '#r=200000000-600000000&t=1&s=poll' 'now(); say("rows", rows());
		say("pressed", [...document.querySelectorAll("button.tl-name[aria-pressed=true]")].map(b => b.title.split(":")[0]));
		say("field", document.querySelector("#tl-to").value); say("hash", location.hash);'
	assert_equal "$(said rows | jq -c 'map(.name)')" '["poll"]'
	assert_equal "$(said pressed)" '["helper (8)"]'
	assert_equal "$(said field)" '"0.600"'
	assert_equal "$(said hash)" '"#r=200000000-600000000&t=1&s=poll"'
}

@test "page: back leads to what was shown before" {
	halves | made halves.data
	page halves.data '' 'window.matchMedia = () => ({ matches: true });
		choose("#tl-from", "0.6"); say("one", frames().includes("one"));
		const two = [...document.querySelectorAll("g.frames > g")].find(g => g.textContent === "two");
		two.dispatchEvent(new MouseEvent("click", { bubbles: true })); say("zoomed", frames().includes("start"));
		const steps = [() => { say("out", [frames().includes("start"), frames().includes("one"), location.hash]);
			history.back(); }, () => say("whole", [frames().includes("one"), location.hash])];
		addEventListener("hashchange", () => { now(); steps.shift()(); });
		history.back();'
	assert_equal "$(said one)" false
	assert_equal "$(said zoomed)" false
	assert_equal "$(said out)" '[true,false,"#r=600000000-1024000000"]'
	assert_equal "$(said whole)" '[true,""]'
}

@test "page: weights, as the report has them: calls, allocations, what is left, locks, exceptions" {
	cat >all.cpp <<-'END'
		#include <pthread.h>
		#include <stdexcept>
		#include <unistd.h>
		static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
		static int inside[2];
		__attribute__((noinline)) void enter(void)
		{
			pthread_mutex_lock(&door);
			pthread_mutex_unlock(&door);
		}
		__attribute__((noinline)) int f(int n)
		{
			if (n == 3)
				throw std::runtime_error("three");
			return n;
		}
		static void *waiter(void *)
		{
			write(inside[1], "x", 1);
			enter();
			return 0;
		}
		int main()
		{
			pthread_t t;
			char c;
			pipe(inside);
			pthread_mutex_lock(&door);
			pthread_create(&t, 0, waiter, 0);
			read(inside[0], &c, 1);
			usleep(50000); // the waiter is at the door by then
			pthread_mutex_unlock(&door);
			pthread_join(t, 0);
			char *volatile left = new char[1000], *volatile gone = new char[500];
			delete[] gone;
			for (int i = 0; i < 5; i++)
				try {
					f(i);
				} catch (std::exception &) {
				}
		}
	END
	g++ -O1 -g -fno-builtin -o all all.cpp -lpthread
	"$CPROF" run -q -t 'f(int)' --exceptions --locks --allocs -o all.data -- ./all
	"$CPROF" report --json all.data >report.json
	page all.data '' 'const keys = [...document.querySelectorAll("#tl-measure option")].map(o => o.value);
		say("keys", keys);
		for (const key of keys) { choose("#tl-measure", key); say(key, rows()); say(key + "_note", note()); }'
	assert_equal "$(said keys)" '["calltime","calls","bytes","allocs","live","locks","thrown"]'
	assert_equal "$(said calls | jq -c '[.[] | select(.name == "f(int)").self]')" '[5]'
	assert_equal "$(said calls_note)" "\"5 calls  ·  0.$(said calls_note | sed 's/^.*·  0\.//')"
	for pair in bytes:.allocated.bytes allocs:.allocated.blocks live:.left.bytes; do
		assert_equal "$(said ${pair%:*} | jq '[.[].self] | add')" "$(jq ".allocations${pair#*:}" report.json)"
	done
	assert_equal "$(said live | jq -c '[.[] | select(.name == "main").self]')" \
		"$(jq -c '[.allocations.functions[] | select(.function == "main").left.bytes]' report.json)"
	assert_equal "$(said locks | jq -c '[.[] | select(.name == "door") | .self, .count]')" \
		"$(jq -c '[.locks[] | .total_ns, .waits]' report.json)"
	assert_equal "$(said locks | jq -c '[.[] | select(.name == "enter()").total]')" "$(jq -c '[.locks[].total_ns]' report.json)"
	assert_equal "$(said thrown | jq -c '[.[] | select(.name == "std::runtime_error").self]')" '[1]'
}

@test "page: how long calls took, in all and in a range, as the report has it to 6 %" {
	busy_desk 4000 | sed 's,^length .*,length 240000,' | made busy.data
	page busy.data '' 'const durations = () => [...document.querySelectorAll("#durations tbody tr")].map(r => ({
			name: r.querySelector(".name button").title, values: [...r.cells].slice(1, 7).map(c => Number(c.dataset.v)),
			label: r.querySelector("svg").getAttribute("aria-label") }));
		say("all", durations());
		choose("#tl-to", document.querySelector("#tl-to").value / 2); say("hash", location.hash); say("half", durations());'
	half=$(said hash | sed 's/.*-\(.*\)"/\1/')
	"$CPROF" report --json busy.data >all.json
	"$CPROF" report --json --time="-${half}ns" busy.data >half.json
	run python3 - <<'END'
import json
said = {}
for line in open("said"):
    said.update(json.loads(line))
for what in ("all", "half"):
    want = {f["function"]: f for f in json.load(open(what + ".json"))["calls"]["functions"]}
    assert len(want) == len(said[what]) == 5, said[what]
    for row in said[what]:
        f = want[row["name"]]
        calls, p50, p90, p99, p999, most = row["values"]
        # Those that were open then are over in the page.
        assert f["calls"] - 3 <= calls <= f["calls"] + 3, (row, f)
        if what == "all":
            for got, key in ((p50, "median_ns"), (p90, "p90_ns"), (p99, "p99_ns"), (p999, "p999_ns"), (most, "max_ns")):
                assert abs(got - f[key]) <= 0.0626 * f[key], (key, row, f)
assert said["half"] != said["all"]
END
	assert_success
}

@test "page: all of it by keys and in words: the time line as a table, the call tree by arrows" {
	halves | made halves.data
	page halves.data '' 'document.querySelector(".tl-details").open = true;
		document.dispatchEvent(new Event("showtree"));
		const pieces = () => [...document.querySelectorAll("#timeline-table tbody tr")].map(r => [...r.cells].map(c => c.textContent));
		setTimeout(() => {
			say("pieces", pieces());
			document.querySelectorAll("#timeline-table tbody button")[15].click(); now();
			say("hash", location.hash);
			const here = () => document.activeElement.textContent.replace(/.*(ms|s)/, "") + " " +
				["aria-level", "aria-expanded"].map(a => document.activeElement.getAttribute(a));
			document.querySelector("#calltree [tabindex=\"0\"]").focus();
			const path = [here()];
			for (const key of ["ArrowDown", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowLeft", "ArrowLeft"]) {
				press(key, document.activeElement);
				path.push(here());
			}
			say("path", path);
			say("role", document.querySelector("#calltree").getAttribute("role"));
			say("unnamed", [...document.querySelectorAll("button, input, select, [role=slider], [role=img], table")].filter(e =>
				!e.textContent && !e.getAttribute("aria-label") && !e.title).map(e => e.outerHTML));
		}, 100);'
	at() { # FROM-TO OPTION...: what the report says of that time
		"$CPROF" report --json --time="$1" "${@:2}" halves.data | jq '.samples.total_ns / 1e5 | round / 10'
	}
	assert_equal "$(said pieces | jq -c 'length, .[0], .[19]')" "20
[\"0.000 to 0.051 s\",\"$(at 0ms-51ms | jq round) ms\",\"$(at 0ms-51ms --state=running) ms\",\"$(at 0ms-51ms --state=waiting) ms\",\"one\"]
[\"0.972 to 1.024 s\",\"$(at 972ms-1024ms) ms\",\"$(at 972ms-1024ms --state=running) ms\",\"$(at 972ms-1024ms --state=waiting) ms\",\"deep\"]"
	assert_equal "$(said hash)" '"#r=768000000-819000000"'
	assert_equal "$(said path)" '["all 1,true","main 2,true","two 3,true","deep 4,","two 3,true","two 3,false","main 2,true"]'
	assert_equal "$(said role)" '"treegrid"'
	assert_equal "$(said unnamed)" '[]'
}

@test "page: the time line shows when what is searched for was there" {
	halves | made halves.data
	page halves.data '#s=two|poll' 'const hits = () => [...document.querySelectorAll(".tl-row")].filter(r => r.dataset.thread).map(r =>
			Number((r.querySelector(".tl-hit").getAttribute("d") || "M-1").slice(1).split(" ")[0]));
		say("first", hits()); press("Escape"); now(); say("none", hits());'
	# 550 samples of 0.9 ms come before two(), one before the first poll().
	assert_equal "$(said first)" '[495,1]'
	assert_equal "$(said none)" '[-1,-1]'
}

@test "page: in a narrow window nothing stands beyond the edge" {
	halves | made halves.data
	width=400
	page halves.data '' 'document.querySelector(".tl-details").open = true; now();
		say("wide", document.documentElement.scrollWidth <= document.documentElement.clientWidth);
		say("cut", [...document.querySelectorAll(".flame-bar button, .flame-bar input, .tl-bar *")].filter(e =>
			e.getBoundingClientRect().right > innerWidth).map(e => e.textContent));'
	assert_equal "$(said wide)" true
	assert_equal "$(said cut)" '[]'
}

@test "page: OLD NEW shows what changed, laid out by either, as cprof diff has it" {
	head='process 1 p /p
thread 1 1 p'
	printf '%s\ns 1 600000 600 main;slow\ns 1 390000 390 main;gone\ns 1 10000 10 main;same\n' "$head" | made old.data
	printf '%s\ns 1 100000 200 main;slow\ns 1 98000 196 main;new\ns 1 2000 4 main;same\n' "$head" | made new.data
	# page passes on what stands before the recording.
	page new.data '' 'const look = () => Object.fromEntries([...document.querySelectorAll("g.frames > g:not([visibility])")].map(g =>
			[g.textContent, g.querySelector("rect").getAttribute("class")]));
		say("new", look());
		say("changes", [...document.querySelectorAll("#changes tbody tr")].map(r => [r.querySelector(".name").title,
			...[...r.cells].slice(0, 6).map(c => Number(c.dataset.v))]));
		document.querySelector("#side-old").click(); say("old", look()); say("hash", location.hash);
		const gone = [...document.querySelectorAll("g.frames > g")].find(g => g.textContent === "gone");
		gone.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: 50, clientY: 150 }));
		say("tip", document.querySelector(".flame-tip").textContent);
		addEventListener("hashchange", () => say("back", look()));
		history.back();' old.data
	assert_equal "$(said new)" '{"all":"d0","main":"d0","slow":"d-2","new":"d6","":"d0"}'
	assert_equal "$(said old)" '{"all":"d0","main":"d0","slow":"d-2","gone":"d-6","":"d0"}'
	assert_equal "$(said hash)" '"#o=1"'
	assert_equal "$(said back)" "$(said new)"
	said tip | grep -q '^"gone.*39.0%.*390 ms.*after0.0%  (−39.00 points)'
	assert_equal "$(said changes)" "$("$CPROF" diff --json old.data new.data | jq -c '[.functions[] | [.function, .self_points,
		.old_self_ns, .new_self_ns, .total_points, .old_total_ns, .new_total_ns]]')"
	run "$CPROF" export -f folded old.data new.data
	assert_failure 2
	assert_output --partial 'folded is of one recording: OLD NEW are compared by flamegraph and html'
	run "$CPROF" export -f html --diff=old.data old.data new.data
	assert_failure 2
	"$CPROF" export -f flamegraph old.data new.data >two.svg
	"$CPROF" export -f flamegraph --diff=old.data new.data >diff.svg
	cmp two.svg diff.svg
}

# What the page shows of a function's rows: [line, self ns, total ns, text], those with weight.
lined='const lined = () => [...document.querySelectorAll(".li-source tbody tr[data-line]")].filter(r => r.cells[1].textContent)
	.map(r => [Number(r.cells[3].textContent), Number(r.cells[0].dataset.v), Number(r.cells[1].dataset.v), r.cells[4].textContent]);
	const coded = () => [...document.querySelectorAll(".li-code tbody tr")].filter(r => r.cells[1] && r.cells[1].textContent)
	.map(r => [r.cells[3].textContent, Number(r.cells[0].dataset.v), Number(r.cells[1].dataset.v), r.cells[4].textContent.replace(/ →$/, "")]);
	const listed = () => document.querySelector("#li-function").selectedOptions[0].title;'

# annotated LISTING OPTION...: the same of cprof annotate.
annotated() {
	local key=address
	[[ $1 == lines ]] && key=line
	"$CPROF" annotate --json "${@:2}" | jq -c "[.$1[] | select(.total_ns > 0) |
		[(.$key | if type == \"string\" then ltrimstr(\"0x\") else . end), .self_ns, .total_ns, (.source // .text)]] | sort"
}

@test "page: source lines follow the range and the threads, as annotate has them" {
	printf 'int work(int n)\n{\n\tint a = first(n);\n\tint b = "<script>"[n];\n\treturn a + b;\n}\n' >work.c
	{
		printf '%s\n' 'command ./lines' 'clock cpu' 'hz 1111' 'length 1024000' 'process 7 lines /bin/lines' \
			'thread 7 7 lines' 'thread 7 8 helper'
		awk -v file="$PWD/work.c" 'BEGIN { for (i = 0; i < 1100; i++) {
			print "s 7 900 1 main|lines|/no/main.c|9;work|lines|" file "|" (i < 550 ? "3;first|lines|/no/f.h|1" : "4")
			print "s 8 900 1 main|lines|/no/main.c|9;work|lines|" file "|5" } }'
	} | made lines.data
	page lines.data '#f=work' "$lined"' say("name", listed()); say("all", lined());
		choose("#tl-from", "0.2"); choose("#tl-to", "0.8");
		say("hash", location.hash); say("range", lined()); say("said", document.querySelector(".li-said").textContent);
		[...document.querySelectorAll("button.tl-name")].find(b => b.textContent.startsWith("helper")).click(); now();
		say("thread", lined());
		const to = document.querySelector("#li-function"); to.value = [...to.options].find(o => o.title === "main").value;
		to.dispatchEvent(new Event("change")); say("main", lined()); say("mainhash", location.hash);
		say("why", document.querySelector(".li-why").textContent);
		addEventListener("hashchange", () => say("back", listed())); history.back();'
	assert_equal "$(said name)" '"work"'
	assert_equal "$(said all | sorted_rows)" "$(annotated lines --source lines.data work)"
	assert_equal "$(said hash)" '"#f=work&r=200000000-800000000"'
	assert_equal "$(said range | sorted_rows)" "$(annotated lines --source --time=200ms-800ms lines.data work)"
	assert_equal "$(said said)" "\"$("$CPROF" annotate --json --source --time=200ms-800ms lines.data work |
		jq -r '"1.20 s with what it calls, \(.self_ns / 1e6 | round) ms in itself"'), 0.200 s to 0.800 s, 600 ms\""
	assert_equal "$(said thread | sorted_rows)" "$(annotated lines --source --time=200ms-800ms --thread=8 lines.data work)"
	# Its file is nowhere.
	assert_equal "$(said main | jq -c 'map([.[0], .[3]])')" '[[9,"(the file is not here)"]]'
	assert_equal "$(said mainhash)" '"#r=200000000-800000000&t=1&f=main"'
	said why | grep -q '^"No instructions: '
	assert_equal "$(said back)" '"work"'
	# Who asks the table for a function wants to see it.
	page lines.data '' "$lined"' say("first", listed());
		[...document.querySelectorAll("#functions td.name")].find(c => c.title === "main").querySelector("button").click();
		say("picked", listed());'
	assert_equal "$(said first) $(said picked)" '"work" "main"'
}

sorted_rows() { jq -c sort; }

@test "page: instructions are in the file, the program need not be; the table leads there" {
	cat >loops.c <<-'END'
		#include <time.h>
		volatile unsigned seed = 3;
		static double now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
			return t.tv_sec + t.tv_nsec / 1e9;
		}
		__attribute__((noinline)) unsigned work(unsigned n)
		{
			unsigned sum = seed, i;
			for (i = 0; i < n; i++)
				sum += sum * sum % 1013;
			return sum;
		}
		int main(void)
		{
			double end = now() + 0.4;
			while (now() < end)
				seed = work(100000);
			return 0;
		}
	END
	gcc -O2 -g -o loops loops.c
	"$CPROF" run -q -s 499 --keep-source --keep-code -o loops.data -- ./loops
	rm loops loops.c
	width=500
	page loops.data '' "$lined"' const row = [...document.querySelectorAll("#functions tbody tr")].find(r =>
			r.querySelector(".name").title === "work");
		row.querySelector("button.li-open").click(); now();
		say("name", listed()); say("lines", lined()); say("code", coded());
		say("jumps", document.querySelectorAll(".li-code .li-go").length > 0);
		say("colored", [...document.querySelectorAll(".li-source .sy-word")].map(e => e.textContent).includes("for"));
		say("wide", document.documentElement.scrollWidth <= document.documentElement.clientWidth);'
	assert_equal "$(said name)" '"work"'
	assert_equal "$(said lines | sorted_rows)" "$(annotated lines loops.data work)"
	assert_equal "$(said code | sorted_rows)" "$(annotated instructions loops.data work)"
	assert_equal "$(said code | jq 'length > 1')" true
	assert_equal "$(said jumps)" true
	assert_equal "$(said colored)" true
	assert_equal "$(said wide)" true
	page loops.data '' 'say("sections", document.querySelectorAll("#listing").length);' --no-source
	assert_equal "$(said sections)" 0
	! grep -q 'sum \* sum' page.html || false
}
