/* SPDX-License-Identifier: MIT
 *
 * Source lines and instructions of a function, with their shares of what is chosen on the
 * time line. The file holds, for cells of thread and time, which set of rows they add to.
 */
"use strict";
(function () {
const c = window.cprof, at = document.getElementById("listing-data");
if (!c || !at) return;
const data = JSON.parse(at.textContent), functions = data.functions;
const section = document.getElementById("listing"), select = document.getElementById("li-function");
const said = section.querySelector(".li-said");
const panes = { source: section.querySelector(".li-source"), code: section.querySelector(".li-code") };
if (!functions.length) return;

/* ---- sums ---- */

const sets = [];
for (let k = 0; k < data.sets.length; k += 1 + data.sets[k])
	sets.push(data.sets.slice(k + 1, k + 1 + data.sets[k]));
data.sets = null;
/* The parts of a weight that is of samples; null: it is of something else. */
const PARTS = { time: ["rows_running", "rows_waiting"], run: ["rows_running"], wait: ["rows_waiting"] };

/* By spot: of its own, and with what it calls. */
function addUp(parts) {
	const own = new Float64Array(data.spots), total = new Float64Array(data.spots);
	const weights = new Float64Array(sets.length);
	for (const name of parts) {
		const s = c.series[name];
		if (s) c.eachCell(s, null, c.state.from, c.state.to, k => { weights[s.node[k]] += s.weight[k]; });
	}
	sets.forEach((codes, n) => {
		if (!weights[n]) return;
		for (const code of codes) {
			total[code >> 1] += weights[n];
			if (code & 1) own[code >> 1] += weights[n];
		}
	});
	return { own, total };
}

/* ---- rows ---- */

function make(tag, className, text) {
	const e = document.createElement(tag);
	if (className) e.className = className;
	if (text !== undefined) e.textContent = text;
	return e;
}

const SVG = "http://www.w3.org/2000/svg";
/* A bar as a picture, since a policy may forbid styles of elements. */
function bar() {
	const svg = document.createElementNS(SVG, "svg"), rect = document.createElementNS(SVG, "rect");
	svg.setAttribute("class", "li-bar-of");
	svg.setAttribute("aria-hidden", "true");
	rect.setAttribute("height", "100%");
	svg.append(rect);
	return svg;
}

let shown = -1, rows = []; /* of the function that is shown: { spot, self, total, rect, tr } */

/* Rows of the same line, of both sides, are lit together. */
function light(key) {
	for (const e of section.querySelectorAll(".li-lit")) e.classList.remove("li-lit");
	if (key === undefined) return;
	for (const e of section.querySelectorAll("tr[data-line]"))
		if (e.dataset.line === key) e.classList.add("li-lit");
}

function addRow(body, spot, key, ...cells) {
	const tr = make("tr"), self = make("td", "n"), total = make("td", "n"), b = make("td", "li-b");
	const picture = bar();
	b.append(picture);
	tr.append(self, total, b, ...cells);
	if (key) tr.dataset.line = key;
	body.append(tr);
	if (spot >= 0) rows.push({ spot, self, total, rect: picture.firstChild, tr });
	return tr;
}

function gap(body, columns, count, what) {
	const tr = make("tr", "li-gap"), td = make("td", "", "… " + count.toLocaleString("en") + " " +
		(count === 1 ? what : what + "s") + " without time");
	td.colSpan = columns;
	tr.append(td);
	body.append(tr);
}

function table(pane, caption, note, heads, wide) {
	const t = make("table", "li-table" + (wide ? " " + wide : "")), head = make("tr");
	const cap = make("caption", "", caption);
	if (note) cap.append(" ", make("small", "", note));
	for (const [name, kind] of heads) {
		const th = make("th", kind, name);
		th.scope = "col";
		head.append(th);
	}
	const thead = make("thead");
	thead.append(head);
	t.append(cap, thead, make("tbody"));
	pane.append(t);
	return t.tBodies[0];
}

function showFile(f, number) {
	const body = table(panes.source, f.file, f.inlined ? "inlined: " + f.inlined : "",
		[["self", "n"], ["total", "n"], ["", ""], ["line", "n"], ["source", ""]]);
	const colored = window.cprofSyntax.colored(f.file);
	for (let k = 0; k < f.lines.length; k += 3) {
		const [line, text, spot] = f.lines.slice(k, k + 3);
		if (!line) {
			gap(body, 5, spot, "line");
			colored.forget();
			continue;
		}
		const code = make("td", "li-text");
		if (text === null) code.append(make("span", "li-missing", "(the file is not here)"));
		else code.append(...colored(text));
		addRow(body, spot, number + ":" + line, make("td", "n li-number", line), code);
	}
}

function showInsns(f) {
	const p = f.insns;
	if (!p.length) {
		const why = make("p", "li-why", "No instructions: " + (f.why || "none are known") +
			(f.hosts.length ? ", into " : ""));
		f.hosts.forEach((host, n) => {
			const go = make("button", "li-go", functions[host].brief || functions[host].name);
			go.type = "button";
			go.addEventListener("click", () => show(host));
			why.append(n ? ", " : "", go);
		});
		panes.code.append(why);
		return;
	}
	const body = table(panes.code, "Instructions", "self: what would have run next when it was sampled",
		[["self", "n"], ["total", "n"], ["", ""], ["address", "n"], ["instruction", ""], ["line", ""]]);
	const made = [];
	for (let k = 0; k < p.length; k += 6) {
		const [address, text, file, line, spot, target] = p.slice(k, k + 6);
		if (!address) {
			gap(body, 6, line, "instruction");
			made.push(body.lastChild);
			continue;
		}
		const code = make("td", "li-text"), m = text.match(/^(\S+)(\s*)(.*?)(\s+#.*)?$/);
		if (m) {
			code.append(make("span", "sy-word", m[1]), m[2], m[3]);
			if (m[4]) code.append(make("span", "sy-comment", m[4]));
		} else code.append(text);
		if (target >= 0) {
			const go = make("button", "li-go", "→");
			go.type = "button";
			go.title = "Go to where it jumps";
			go.addEventListener("click", () => {
				const to = body.rows[target];
				if (!to) return;
				to.scrollIntoView({ block: "nearest" });
				to.classList.add("li-lit");
				setTimeout(() => to.classList.remove("li-lit"), 1200);
			});
			code.append(" ", go);
		}
		made.push(addRow(body, spot, file >= 0 && line ? file + ":" + line : "",
			make("td", "n li-number", address), code,
			make("td", "soft", file >= 0 && line ? (file ? f.files[file].inlined.split("(")[0] + ":" : "") +
				line : "")));
	}
}

function fill() {
	const f = functions[shown];
	rows = [];
	panes.source.replaceChildren();
	panes.code.replaceChildren();
	f.files.forEach(showFile);
	if (!f.files.length) panes.source.append(make("p", "li-why",
		"No source lines: no debug information tells them."));
	showInsns(f);
	section.querySelector(".li-body").classList.toggle("li-single", !f.insns.length || !f.files.length);
}

function weigh() {
	const parts = PARTS[c.state.measure.key], f = functions[shown];
	section.classList.toggle("li-blank", !parts);
	if (!parts) {
		said.textContent = "lines are known of samples: choose a weight that is time";
		for (const r of rows) r.self.textContent = r.total.textContent = "";
		return;
	}
	const sums = addUp(parts), whole = f.label >= 0 ? c.chosen().all[f.label] : 0;
	let most = 0;
	for (const r of rows) most = Math.max(most, sums.own[r.spot]);
	for (const r of rows) {
		const own = sums.own[r.spot], total = sums.total[r.spot];
		r.self.textContent = own > 0 ? c.percent(own, whole) : "";
		r.total.textContent = total > 0 ? c.percent(total, whole) : "";
		r.self.dataset.v = Math.round(own);
		r.total.dataset.v = Math.round(total);
		r.self.title = own > 0 ? c.time(own) : "";
		r.total.title = total > 0 ? c.time(total) : "";
		r.rect.setAttribute("width", (most ? 100 * own / most : 0).toFixed(1) + "%");
		r.tr.classList.toggle("li-hot", own >= 0.1 * whole && own > 0);
	}
	said.textContent = c.time(whole) + " with what it calls" + (f.label >= 0 ? ", " +
		c.time(c.chosen().self[f.label]) + " in itself" : "") +
		(c.isWhole() ? "" : ", " + c.rangeWords()) + (c.state.threads ? ", " + c.threadWords() : "") +
		(data.left_out ? " · " + data.left_out.toLocaleString("en") + " functions with less time are not " +
			"in this file: cprof annotate NAME" : "");
}

/* ---- which function ---- */

const words = () => location.hash.slice(1).split("&").filter(Boolean);
function wanted() {
	const word = words().find(w => w.startsWith("f="));
	try {
		return word ? functions.findIndex(f => f.name === decodeURIComponent(word.slice(2))) : -1;
	} catch (e) {
		return -1;
	}
}

function show(n, quietly) {
	if (n < 0 || n >= functions.length) n = 0;
	if (n !== shown) {
		shown = n;
		select.value = String(n);
		fill();
	}
	weigh();
	if (quietly) return;
	const hash = "#" + words().filter(w => !w.startsWith("f="))
		.concat("f=" + encodeURIComponent(functions[n].name)).join("&");
	try {
		if (hash !== location.hash) history.pushState(null, "", hash);
	} catch (e) {
		/* not everywhere allowed */
	}
}

functions.forEach((f, n) => {
	const option = make("option", "", f.brief || f.name);
	option.value = n;
	option.title = f.name;
	select.append(option);
});
select.addEventListener("change", () => show(Number(select.value)));
section.addEventListener("mouseover", event => {
	const tr = event.target.closest("tr[data-line]");
	light(tr ? tr.dataset.line : undefined);
});
section.addEventListener("mouseleave", () => light());
addEventListener("hashchange", () => show(wanted() < 0 ? Math.max(shown, 0) : wanted(), true));
document.addEventListener("shown", () => weigh());
/* From the table of functions and the graph. */
document.addEventListener("flamepick", event => {
	const n = functions.findIndex(f => f.name === event.detail);
	if (n >= 0) show(n, true);
});
const byName = new Map(functions.map((f, n) => [f.name, n]));
window.cprof.listed = {
	has: name => byName.has(name),
	open(name) {
		show(byName.get(name));
		section.scrollIntoView({ behavior: "smooth" });
		select.focus({ preventScroll: true });
	},
};
section.hidden = false;
show(wanted(), true);
document.dispatchEvent(new CustomEvent("listed"));
})();
