#!/usr/bin/env bats
# The pages of coverage in a browser: what their script does. What stands in
# them is judged by tests/unit/coverage_pages_judge.py.
load helpers

# made: pages of three files, in ./site.
made() {
	seq -f 'line %.0f;' 450 >a.c
	"$BUILD/tests/unit/coverage_pages" site <<-END
		command ./tests
		file src/a.c $PWD/a.c
		f 2 1 2 1 0 first
		f 300 0 2 0 0 second
		l 2 1 2 1 0
		l 3 0 1 0 0
		l 5 0 1 0 0
		l 6 1 1 1 0
		b 1 0 0
		l 300 0 1 0 0
		l 301 1 1 1 2
		file src/b.c $PWD/a.c
		l 1 1 1 1 0
		l 2 1 1 1 0
		file lib/c.c $PWD/a.c
		l 1 0 1 0 0
	END
}

# browsed PAGE SCRIPT: the page's DOM after SCRIPT, in ./dom; say(TEXT) says
# something to ./said. The pages allow no script but their own, so it is one of them.
browsed() {
	rm -rf tried && cp -r site tried
	cat >>tried/cprof-coverage.js <<-END
		document.addEventListener("DOMContentLoaded", () => {
			const said = [], say = (...words) => said.push(words.join(" "));
			const key = key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
			$2
			document.documentElement.dataset.said = said.join("|");
		});
	END
	chrome --dump-dom "file://$PWD/tried/$1" >dom
	sed -n 's/.* data-said="\([^"]*\)".*/\1/p' dom | tr '|' '\n' >said
	refute grep CONSOLE chrome.log # an error of a script, something that the policy forbids
}

@test "coverage pages: files are sorted, searched, and grouped by directory" {
	made
	browsed index.html '
		const shown = () => [...document.querySelectorAll("#files tbody tr:not([hidden]) .name")]
			.map(cell => cell.textContent).join(" ");
		const sort = text => [...document.querySelectorAll("#files thead button")]
			.find(button => button.textContent === text).click();
		const [search, group, hide] = document.querySelectorAll(".tools input");
		say(shown());
		sort("Missed"); say(shown());
		sort("Missed"); say(shown());
		search.value = "SRC b"; search.dispatchEvent(new Event("input")); say(shown());
		search.value = ""; search.dispatchEvent(new Event("input"));
		hide.click(); say(shown()); hide.click();
		group.click(); say(shown());
		document.querySelector(".group button").click(); say(shown());
		say(document.querySelectorAll(".group")[0].textContent);
		group.click(); say(shown());
		say(document.querySelectorAll(".map a").length);
		document.querySelector("header button").click();
		say(document.documentElement.dataset.theme, getComputedStyle(document.documentElement).colorScheme);
	'
	run cat said
	assert_output "$(cat <<-'END'
		lib/c.c src/a.c src/b.c
		src/a.c lib/c.c src/b.c
		src/b.c lib/c.c src/a.c
		src/b.c
		lib/c.c src/a.c
		src/2 files src/b.c src/a.c lib/1 file lib/c.c
		src/2 files lib/1 file lib/c.c
		src/2 files62.5% 5/8350.0% 1/250.0% 1/225.0% 1/4
		src/b.c lib/c.c src/a.c
		3
		dark dark
	END
	)"
}

@test "coverage pages: n and p lead through what is not covered, marks are chosen" {
	made
	browsed src-a.c.html '
		const at = () => location.hash + " " + document.querySelector("#tools output").textContent;
		key("n"); say(at());
		key("n"); say(at());
		key("n"); say(at());
		key("n"); say(at());
		key("p"); say(at());
		document.querySelector(".legend li.u button").click(); say(at());
		document.querySelector("#code .b").click();
		say(document.querySelector("#words").textContent);
		key("Escape"); say(document.querySelector("#words").hidden);
		key("w"); say(document.body.className);
		say(document.querySelectorAll("#strip path").length, document.querySelectorAll("#strip rect").length);
	'
	run cat said
	assert_output "$(cat <<-'END'
		#L3 first · 1 of 3
		#L6 first · 2 of 3
		#L300 second · 3 of 3
		#L3 first · 1 of 3
		#L300 second · 3 of 3
		#L301 second · 1 of 1
		Line 6branch 1 of 1: jumped: yes, went on: never
		true
		file nowrap
		3 1
	END
	)"
}

# The pages' lines by number, "ran" or "missed", and totals; and the JSON's.
COMPARE='
import html.parser, json, sys
totals, pages = {}, {}
class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag == "li" and a.get("id", "").startswith("total-"):
            totals.setdefault(self.name, {})[a["id"][6:]] = [int(a["data-covered"]), int(a["data-of"])]
        elif tag == "li" and a.get("id", "").startswith("L") and a.get("class", "e")[0] in "cpx":
            pages.setdefault(self.name, {})[int(a["id"][1:])] = a["class"][0] != "x"
def read(name):
    page = Page()
    page.name = name
    page.feed(open("site/" + name, encoding="utf-8").read())
data = json.load(open("c.json"))
read("index.html")
lines, ways = [], []
for file in data["files"]:
    read(file["file"].replace("/", "-") + ".html")
    counted = {l["line_number"]: l["count"] > 0 for l in file["lines"] if not l.get("gcovr/excluded")}
    assert pages[file["file"].replace("/", "-") + ".html"] == counted, file["file"]
    lines += counted.values()
    ways += [b["count"] > 0 for l in file["lines"] if not l.get("gcovr/excluded") for b in l["branches"]]
assert totals["index.html"]["lines"] == [sum(lines), len(lines)], (totals, lines)
assert totals["index.html"]["branches"] == [sum(ways), len(ways)], (totals, ways)
print(len(data["files"]), "files,", sum(lines), "of", len(lines), "lines")
'

@test "coverage pages: of a program that ran, what its JSON says" {
	mkdir src
	cat >src/main.c <<-'END'
		int twice(int);
		static int never(int n)
		{
			return n ? n - 1 : 7;
		}
		int main(int argc, char **argv)
		{
			if (argc > 5)
				return never(argc);
			return twice(argc) == 2 ? 0 : 1; /* LCOV_EXCL_BR_LINE */
		}
	END
	printf 'int twice(int n)\n{\n\tif (n > 9)\n\t\treturn 0; /* LCOV_EXCL_LINE */\n\treturn n * 2;\n}\n' >src/twice.c
	gcc -g -O0 -o program src/main.c src/twice.c
	"$CPROF" cover -q --html=site --json=c.json -- ./program
	run python3 -c "$COMPARE"
	assert_success
	assert_output "2 files, 8 of 12 lines"
	# Excluded, and the same pages from the recording.
	grep -q '^<li id=L4 class=e>.*LCOV_EXCL_LINE' site/src-twice.c.html
	grep -q 'cprof</dt><dd>[0-9]' site/index.html
	cp -r site earlier
	"$CPROF" export -f html -o site
	diff -r earlier site
}

@test "coverage pages: source is in colors, and the same text" {
	for language in c rs; do
		cat >a.$language <<-'END'
			/* One comment, /* or two
			 * "no string" */ int x; // if
			*/ let text = r#"for " \ // while"#; char c = 'x', d = '\'';
			#include <stdio.h>
			fn f<'a>(a: &'a str) { return 0x2a + 1.5e3f; }
			const char *raw = R"(( " int )" "\"for";
		END
		for ((n = 0; n < 250; n++)); do
			echo '	while (1);'
		done >>a.$language
		rm -rf site
		printf '%s\n' 'command ./tests' "file a.$language $PWD/a.$language" 'l 2 1 1 1 0' |
			"$BUILD/tests/unit/coverage_pages" site
		browsed "$(find site -name "*.html" ! -name "index*" -printf "%f\n")" '
			const lines = () => [...document.querySelectorAll("#code li")].map(li => li.textContent);
			const before = lines();
			dispatchEvent(new Event("beforeprint"));
			say(JSON.stringify(lines()) === JSON.stringify(before), before.length);
			for (const n of [1, 2, 3, 4, 5, 6, 256])
				say(n + ":", ...[...document.querySelectorAll("#L" + n + " [class^=sy-]")].map(e =>
					e.className.slice(3) + "(" + e.textContent.replace(/[|"&<>]/g, "~") + ")"));'
		cp said said.$language
	done
	# By the rules of each language: comments of Rust stand within each other.
	run cat said.c
	assert_output "$(cat <<-'END'
		true 256
		1: comment(/* One comment, /* or two)
		2: comment( * ~no string~ */) type(int) comment(// if)
		3: string(~for ~) comment(// while~#; char c = 'x', d = '\'';)
		4: word(#include) string( ~stdio.h~)
		5: word(return) number(0x2a) number(1.5e3f)
		6: word(const) type(char) string(R~(( ~ int )~) string(~\~for~)
		256: word(while) number(1)
	END
	)"
	run cat said.rs
	assert_output "$(cat <<-'END'
		true 256
		1: comment(/* One comment, /* or two)
		2: comment( * ~no string~ */ int x; // if)
		3: comment(*/) word(let) string(r#~for ~ \ // while~#) type(char) string('x') string('\'')
		4:
		5: word(fn) type('a) type('a) type(str) word(return) number(0x2a) number(1.5e3f)
		6: word(const) type(char) string(~(( ~) string(~ ~) string(~for~)
		256: word(while) number(1)
	END
	)"
}
