// SPDX-License-Identifier: BSD-3-Clause
// What chooses rows of the table: buttons above it, cells of the confusion matrix, counts of labels.
function setUpFilters() {
  const place = document.getElementById("rows-filter");
  place.classList.add("filters");
  const choices = task === "numbers"
    ? [{ name: "Rows with the largest errors first", short: "All rows", test: () => true }]
    : [
      { name: task === "labels" ? "Rows with a wrong label" : "Misclassified rows", short: "Wrong", test: isWrong },
      { name: "Rows that are right", short: "Right", test: (i) => !isWrong(i) },
      { name: "All rows", short: "All", test: () => true },
    ];
  for (const choice of choices) {
    choice.button = element("button", { type: "button", "aria-pressed": "false", onclick: () => filterRows(choice) }, choice.short);
    if (choices.length > 1) place.append(choice.button);
  }
  if (task === "classes") setUpConfusion();
  if (task === "labels") setUpLabels();
  filterRows(choices[0]);
}

function confusionFilter(cell) {
  const { truth, prediction, count } = cell.dataset;
  const { names, place } = report.confusion;
  return {
    name: `True class ${names[truth]}, predicted ${names[prediction]}`,
    total: Number(count),
    button: cell.querySelector("button"),
    test: (i) => place[report.rows.truth[i]] === Number(truth) && place[report.rows.prediction[i]] === Number(prediction),
  };
}

// Cells become buttons, one of which is reached by the tab key and the others by arrows.
function setUpConfusion() {
  const matrix = document.getElementById("confusion");
  const grid = [...matrix.tBodies[0].rows].map((row) => [...row.querySelectorAll("td[data-count]")]);
  const focus = (row, column) => {
    const target = grid[row]?.[column]?.querySelector("button");
    if (!target) return;
    for (const other of matrix.querySelectorAll("button[tabindex='0']")) other.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  };
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  grid.forEach((cells, row) => cells.forEach((cell, column) => {
    const { names } = report.confusion;
    const count = Number(cell.dataset.count);
    const label = `True class ${names[row]}, predicted ${names[column]}: ${rowsText(count)}`;
    const inside = element("button", {
      type: "button",
      "aria-pressed": "false",
      "aria-label": label,
      tabindex: row === 0 && column === 0 ? "0" : "-1",
      onclick: () => filterRows(confusionFilter(cell)),
      onkeydown: (event) => {
        if (!(event.key in steps)) return;
        event.preventDefault();
        focus(row + steps[event.key][0], column + steps[event.key][1]);
      },
    });
    inside.append(...cell.childNodes);
    cell.append(inside);
  }));
}

function setUpLabels() {
  const kinds = { missed: "is missed", invented: "is wrongly given" };
  for (const count of document.querySelectorAll("#label-counts [data-kind]")) {
    const { label, kind } = count.dataset;
    const wanted = kind === "missed" ? 1 : 0;
    const filter = {
      name: `Rows where ${report.names[label]} ${kinds[kind]}`,
      total: Number(count.textContent.replace(/\D/g, "")),
      test: (i) => report.rows.truth[i][label] === wanted && report.rows.prediction[i][label] !== wanted,
    };
    filter.button = element("button", {
      type: "button", "aria-pressed": "false", "aria-label": `${filter.name}: ${rowsText(filter.total)}`, onclick: () => filterRows(filter),
    }, count.textContent);
    count.replaceChildren(filter.button);
  }
}
