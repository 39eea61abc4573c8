/* SPDX-License-Identifier: MIT
 *
 * The call tree of what is chosen as a tree that opens by mouse and by keys, whose rows are
 * made when somebody opens them: what the flame graph shows, as text.
 */
"use strict";
(function () {
const c = window.cprof, table = document.querySelector("#calltree");
if (!c || !table) return;
const body = table.tBodies[0], MOST = 200; /* children at a time */
let s = null, current = null;
table.setAttribute("role", "treegrid");
body.setAttribute("data-keys", "1");

const amountOf = v => c.amounts[s.measure.unit](Math.max(v, 0));

function cell(kind, text) {
	const td = c.cell(kind, text);
	td.setAttribute("role", "gridcell");
	return td;
}

function childrenOf(node) {
	const below = [];
	for (let k = c.children.first[node]; k >= 0; k = c.children.next[k])
		if (s.total[k] > 0) below.push(k);
	return below.sort((x, y) => s.total[y] - s.total[x]);
}

function makeRow(node, level) {
	const row = document.createElement("tr"), below = childrenOf(node), label = c.data.labels[c.label[node]];
	row.node = node;
	row.setAttribute("role", "row");
	row.setAttribute("aria-level", level);
	row.tabIndex = -1;
	if (below.length) row.setAttribute("aria-expanded", "false");
	const name = cell("name", ""), text = document.createElement("span");
	name.style.paddingLeft = 10 + 14 * Math.min(level - 1, 60) + "px";
	text.textContent = label[5] || label[0];
	text.title = label[0];
	if (c.flags[node] & 1) text.className = "tree-inlined";
	name.append(text);
	row.append(cell("n", c.percent(s.total[node], s.total[0])), cell("n", amountOf(s.total[node])),
		cell("n", s.own[node] > 0 ? amountOf(s.own[node]) : ""), name);
	return row;
}

function open(row) {
	if (row.getAttribute("aria-expanded") !== "false") return;
	const level = Number(row.getAttribute("aria-level")) + 1, below = childrenOf(row.node);
	row.setAttribute("aria-expanded", "true");
	row.after(...below.slice(0, MOST).map(k => makeRow(k, level)));
}

function close(row) {
	const level = Number(row.getAttribute("aria-level"));
	if (row.getAttribute("aria-expanded") !== "true") return;
	row.setAttribute("aria-expanded", "false");
	while (row.nextSibling && Number(row.nextSibling.getAttribute("aria-level")) > level)
		row.nextSibling.remove();
}

function focus(row, quietly) {
	if (!row) return;
	if (current) current.tabIndex = -1;
	current = row;
	row.tabIndex = 0;
	if (!quietly) row.focus();
}

/* Opened as far as one path has most of it. */
function show() {
	s = c.chosen();
	let row = makeRow(0, 1);
	const top = row;
	body.replaceChildren(row);
	for (let depth = 0; depth < 40 && row.getAttribute("aria-expanded"); depth++) {
		open(row);
		row = row.nextSibling;
		if (!row || s.total[row.node] < 0.5 * s.total[0]) break;
	}
	current = null;
	focus(top, true);
}

function above(row) {
	const level = Number(row.getAttribute("aria-level"));
	let r = row.previousSibling;
	while (r && Number(r.getAttribute("aria-level")) >= level) r = r.previousSibling;
	return r;
}

body.addEventListener("click", event => {
	const row = event.target.closest("tr");
	if (!row) return;
	if (row.getAttribute("aria-expanded") === "true") close(row);
	else open(row);
	focus(row);
});
body.addEventListener("keydown", event => {
	const row = event.target.closest("tr"), keys = {
		ArrowDown: () => focus(row.nextSibling), ArrowUp: () => focus(row.previousSibling),
		ArrowRight: () => row.getAttribute("aria-expanded") === "true" ? focus(row.nextSibling) : open(row),
		ArrowLeft: () => row.getAttribute("aria-expanded") === "true" ? close(row) : focus(above(row)),
		Enter: () => row.getAttribute("aria-expanded") === "true" ? close(row) : open(row),
		Home: () => focus(body.firstChild), End: () => focus(body.lastChild),
	};
	if (!row || !keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
	keys[event.key]();
	event.preventDefault();
});

/* Made when it can be seen. */
let seen = false;
new IntersectionObserver(entries => {
	if (seen || !entries.some(e => e.isIntersecting)) return;
	seen = true;
	show();
}, { rootMargin: "400px" }).observe(table);
document.addEventListener("shown", () => { if (seen) show(); });
document.addEventListener("showtree", () => { seen = true; show(); });
})();
