/* SPDX-License-Identifier: MIT
 *
 * Tables that are sorted by a click on a heading.
 */
"use strict";
(function () {
function sortable() {
for (const table of document.querySelectorAll("table.list")) {
	const heads = [...table.tHead.rows[0].cells];
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
		const sort = down => {
			const rows = [...table.querySelectorAll("tbody tr:not(.group)")].sort((a, b) => {
				const x = key(a, k), y = key(b, k);
				return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
			});
			table.tBodies[0].append(...rows);
			table.dispatchEvent(new Event("sorted"));
		};
		button.addEventListener("click", () => {
			const number = head.classList.contains("n");
			const down = head.getAttribute("aria-sort") === "descending" ? false :
				head.getAttribute("aria-sort") === "ascending" ? true : number;
			for (const other of heads) other.removeAttribute("aria-sort");
			head.setAttribute("aria-sort", down ? "descending" : "ascending");
			sort(down);
		});
		/* For who puts other rows in. */
		table.addEventListener("resort", () => {
			if (head.hasAttribute("aria-sort")) sort(head.getAttribute("aria-sort") === "descending");
		});
	});
}
}
if (document.body) sortable();
else document.addEventListener("DOMContentLoaded", sortable); /* from the head */
})();
