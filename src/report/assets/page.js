/* SPDX-License-Identifier: MIT
 *
 * The tables of the page: sorted by a click on a heading, narrowed by the
 * graph's search; a click on a name searches for it.
 */
"use strict";
(function () {
for (const table of document.querySelectorAll("table.list")) {
	const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
	const key = (row, k) => {
		const value = row.cells[k].dataset.v;
		return value === undefined ? row.cells[k].textContent : Number(value);
	};
	heads.forEach((head, k) => {
		if (!head.textContent) return;
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = head.textContent;
		head.replaceChildren(button);
		button.addEventListener("click", () => {
			const number = head.classList.contains("n");
			const down = head.getAttribute("aria-sort") === "descending" ? false :
				head.getAttribute("aria-sort") === "ascending" ? true : number;
			for (const other of heads) other.removeAttribute("aria-sort");
			head.setAttribute("aria-sort", down ? "descending" : "ascending");
			const rows = [...body.rows].sort((a, b) => {
				const x = key(a, k), y = key(b, k);
				return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
			});
			body.append(...rows);
		});
	});
}

const functions = document.querySelector("#functions");
for (const cell of functions.querySelectorAll("td.name")) {
	const button = document.createElement("button");
	button.type = "button";
	button.title = "Search for it";
	button.textContent = cell.textContent;
	button.addEventListener("click", () => {
		const exact = cell.textContent.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
		document.dispatchEvent(new CustomEvent("flamefind", { detail: "^" + exact + "$" }));
		window.scrollTo({ top: 0, behavior: "smooth" });
	});
	cell.replaceChildren(button);
}

document.addEventListener("flamesearch", event => {
	const test = event.detail || (() => true);
	for (const row of functions.tBodies[0].rows)
		row.hidden = !test(row.querySelector("td.name").textContent, row.dataset.image);
});
})();
