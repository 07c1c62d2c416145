"use strict";
// Sorts a table by the column whose header is pressed: numbers by the value of the cell, words alphabetically. Without the script,
// tables keep the order of the file.
for (const table of document.querySelectorAll("table.sorted")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down === 1 ? "ascending" : "descending");
      const key = (row) => {
        const text = row.cells[at].dataset.value ?? row.cells[at].textContent;
        return head.classList.contains("number") ? Number.parseFloat(text) : text;
      };
      const order = (a, b) =>
        typeof a === "string" ? a.localeCompare(b) : Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a - b;
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort((a, b) => down * order(a[0], b[0]));
      body.append(...rows.map(([, row]) => row));
    });
  });
}
