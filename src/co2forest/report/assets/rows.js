// SPDX-License-Identifier: BSD-3-Clause
// The table of rows: filtered, sorted, in pages; a row can be sent to the explorer.
const PAGE = 12;
const rowTable = { filter: null, sort: null, descending: false, page: 0, followed: null, onFollow: null };

const isWrong = (i) => String(report.rows.truth[i]) !== String(report.rows.prediction[i]);

function largestError(i) {
  return Math.max(...report.rows.truth[i].map((truth, k) => Math.abs(truth - report.rows.prediction[i][k])));
}

function rowColumns() {
  const { rows } = report;
  const columns = [{ name: "Row", value: (i) => rows.number[i] }];
  if (rows.index) columns.push({ name: "Index", text: true, value: (i) => rows.index[i] });
  const answer = (name, values) => {
    const several = task !== "numbers" || report.names.length > 1;
    columns.push({
      name,
      text: several,
      value: (i) => (several ? answerText(values[i]) : values[i][0]),
      cell: (i) => (task === "classes" ? [swatch(classColour(values[i])), answerText(values[i])] : answerText(values[i])),
    });
  };
  answer("Truth", rows.truth);
  answer("Prediction", rows.prediction);
  if (task === "classes") {
    columns.push({ name: "Probability", value: (i) => rows.probability[i], cell: (i) => percent(rows.probability[i]) });
  }
  if (task === "numbers") {
    const name = report.names.length > 1 ? "Largest error" : "Error";
    columns.push({ name, value: largestError, cell: (i) => number(largestError(i)) });
  }
  if (rows.images) columns.push({ name: "Image", cell: (i) => rowPicture(i) });
  for (const { name, values } of rows.columns) {
    columns.push({ name, feature: true, value: (i) => values[i], cell: (i) => cellText(values[i]) });
  }
  return columns;
}

function cellText(value) {
  if (value === null) return "missing";
  return typeof value === "string" ? value : reading(value);
}

function rowPicture(i) {
  const src = pictureAddress(report.rows.images[i], greyOf);
  return element("img", { src, alt: `Image of row ${report.rows.number[i]}` });
}

function rowsToShow(columns) {
  const { filter, sort, descending } = rowTable;
  const shown = report.rows.number.map((_, i) => i).filter((i) => filter.test(i));
  if (sort === null) return shown;
  const value = columns[sort].value;
  const order = (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return (x === null) - (y === null); // missing ones last
    const words = typeof x === "string" || typeof y === "string";
    const before = words ? String(x).localeCompare(String(y), undefined, { numeric: true }) : x - y;
    return descending ? -before : before;
  };
  return shown.sort(order);
}

function columnHead(column, position) {
  const sorted = rowTable.sort === position;
  const attributes = { scope: "col", class: column.text ? "text" : column.feature ? "feature" : null };
  if (sorted) attributes["aria-sort"] = rowTable.descending ? "descending" : "ascending";
  if (!column.value) return element("th", attributes, column.name);
  const arrow = sorted ? (rowTable.descending ? " \u2193" : " \u2191") : "";
  const sort = () => {
    rowTable.descending = sorted && !rowTable.descending;
    rowTable.sort = position;
    showRows();
    document.querySelectorAll("#rows thead th")[position].querySelector("button").focus();
  };
  return element("th", attributes,
    element("button", { type: "button", onclick: sort, title: `Sort by ${column.name}` }, column.name,
      element("span", { "aria-hidden": "true" }, arrow)));
}

function rowLine(i, columns) {
  const cells = columns.map((column, position) => {
    const content = column.cell ? column.cell(i) : String(column.value(i));
    const attributes = { class: column.text ? "text" : null, title: column.text ? String(column.value(i)) : null };
    if (position > 0) return element("td", attributes, content);
    const label = `Follow row ${content} through the trees`;
    const follow = rowTable.onFollow && button("Follow", () => rowTable.onFollow(i), { "aria-label": label });
    return element("th", { scope: "row" }, `${content} `, follow);
  });
  return element("tr", { "aria-current": rowTable.followed === i ? "true" : null }, cells);
}

function showPages(count) {
  const pages = Math.max(1, Math.ceil(count / PAGE));
  const place = document.getElementById("rows-pages");
  place.classList.add("pages");
  place.replaceChildren();
  if (pages === 1) return;
  const turn = (by) => () => {
    rowTable.page += by;
    showRows();
    const [back, , on] = place.children;
    (by < 0 ? (back.disabled ? on : back) : (on.disabled ? back : on)).focus();
  };
  place.append(
    button("Previous rows", turn(-1), { disabled: rowTable.page === 0 }),
    element("span", {}, `Page ${rowTable.page + 1} of ${pages}`),
    button("Next rows", turn(1), { disabled: rowTable.page === pages - 1 }),
  );
}

function showRows() {
  const columns = rowColumns();
  const shown = rowsToShow(columns);
  rowTable.page = Math.min(rowTable.page, Math.max(0, Math.ceil(shown.length / PAGE) - 1));
  const first = rowTable.page * PAGE;
  const visible = shown.slice(first, first + PAGE);
  const { filter } = rowTable;
  const absent = filter.total === undefined || filter.total === shown.length
    ? "" : `, of ${rowsText(filter.total)} in the data`;
  const range = visible.length ? `, shown are ${first + 1} to ${first + visible.length}` : "";
  document.getElementById("rows-status").textContent
    = `${filter.name}: ${rowsText(shown.length)} in this file${absent}${range}.`;
  const head = element("tr", {}, columns.map(columnHead));
  const table = element("table", { class: "rows" },
    element("caption", { class: "unseen" }, filter.name),
    element("thead", {}, head),
    element("tbody", {}, visible.map((i) => rowLine(i, columns))));
  document.getElementById("rows").replaceChildren(
    element("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Table of rows" }, table));
  showPages(shown.length);
}

function filterRows(filter) {
  rowTable.filter = filter;
  rowTable.page = 0;
  for (const pressed of document.querySelectorAll("#mistakes button[aria-pressed=true]")) {
    pressed.setAttribute("aria-pressed", "false");
  }
  if (filter.button) filter.button.setAttribute("aria-pressed", "true");
  showRows();
}
