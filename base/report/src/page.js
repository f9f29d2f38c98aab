// Sorts and filters tables, and reads charts out. Without a script the page shows the same, in the order of the report.
"use strict";

/** What a cell is sorted by: the number that it begins with, or its words; nothing for a cell that says nothing. */
function keyOf(cell) {
  const text = cell ? cell.textContent.trim() : "";
  if (text === "" || text === "-") return null;
  const number = cell.classList.contains("number") ? Number.parseFloat(text) : Number.NaN;
  return Number.isNaN(number) ? text : number;
}

/** Rows by the column `at`; those that say nothing there stay last, whatever the direction. */
function sort(table, at, direction) {
  const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row.cells[at]), row]);
  rows.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return order * direction;
  });
  table.tBodies[0].append(...rows.map((it) => it[1]));
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const isUp = head.ariaSort === "ascending";
      for (const it of heads) it.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isUp ? "descending" : "ascending");
      sort(table, at, isUp ? -1 : 1);
    });
  });
}

/** A field above a long table: rows stay that have each of its words. */
function makeFilter(figure, table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 8) return;
  const line = document.createElement("p");
  const field = document.createElement("input");
  const count = document.createElement("output");
  line.className = "filter";
  field.type = "search";
  field.placeholder = "filter rows";
  field.ariaLabel = `filter the rows of ${figure.querySelector("figcaption").firstChild.textContent.trim()}`;
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) row.hidden = !words.every((it) => row.textContent.toLowerCase().includes(it));
    count.textContent = field.value.trim() ? `${rows.filter((it) => !it.hidden).length} of ${rows.length} rows` : "";
  });
  line.append(field, count);
  figure.querySelector(".scroll").before(line);
}

/** The pointer and the arrow keys say what the marks of a chart are; + and - enlarge it around the mark, 0 shows all of it. Of the two
 * drawings of a figure, for windows and for phones, one is seen; both say it in the same line. */
function makeReadable(figure) {
  if (!figure.querySelector(".mark")) return;
  const says = document.createElement("output");
  says.className = "readout";
  says.textContent = hint;
  figure.append(says);
  for (const chart of figure.querySelectorAll("svg")) readOut(chart, says);
}

const hint = "point at a mark, or press the arrow keys; + and - enlarge, 0 shows all";

function readOut(chart, says) {
  const marks = [...chart.querySelectorAll(".mark")];
  const whole = chart.viewBox.baseVal;
  const all = [whole.x, whole.y, whole.width, whole.height];
  chart.setAttribute("tabindex", "0");
  let at = -1;
  const choose = (idx) => {
    marks[at]?.classList.remove("chosen");
    at = idx;
    marks[at]?.classList.add("chosen");
    says.textContent = marks[at] ? marks[at].querySelector("title").textContent : hint;
  };
  const enlarge = (by) => {
    const box = marks[Math.max(at, 0)].getBBox();
    const size = [Math.min(all[2], whole.width / by), Math.min(all[3], whole.height / by)];
    const from = [box.x + box.width / 2 - size[0] / 2, box.y + box.height / 2 - size[1] / 2];
    const within = from.map((it, axis) => Math.max(all[axis], Math.min(it, all[axis] + all[axis + 2] - size[axis])));
    chart.setAttribute("viewBox", [...within, ...size].join(" "));
  };
  const keys = {
    ArrowRight: () => choose((at + 1) % marks.length),
    ArrowLeft: () => choose((at + marks.length - 1 + (at < 0)) % marks.length),
    Home: () => choose(0),
    End: () => choose(marks.length - 1),
    "+": () => enlarge(1.5),
    "-": () => enlarge(1 / 1.5),
    0: () => chart.setAttribute("viewBox", all.join(" ")),
  };
  chart.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  // How far the pointer is from a mark: nothing inside of it.
  const distance = (box, x, y) => Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
  chart.addEventListener("pointermove", (event) => {
    const far = marks.map((it) => distance(it.getBoundingClientRect(), event.clientX, event.clientY));
    const nearest = far.indexOf(Math.min(...far));
    choose(far[nearest] <= 12 ? nearest : -1);
  });
  chart.addEventListener("pointerleave", () => choose(-1));
}

for (const figure of document.querySelectorAll("figure.table")) {
  const table = figure.querySelector("table");
  makeSortable(table);
  makeFilter(figure, table);
}
for (const figure of document.querySelectorAll("figure.chart")) makeReadable(figure);
