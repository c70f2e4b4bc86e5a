// SPDX-License-Identifier: BSD-3-Clause
// The explorer as a whole: which tree, which node is open, which row is followed.
const explorer = { tree: null, open: 0, row: null };

function setUpExplorer() {
  const app = document.getElementById("explorer-app");
  if (!app) return;
  explorer.stage = new Stage(openNode);
  explorer.panel = element("div", { class: "panel", id: "node-panel", role: "region", "aria-label": "The open node", tabindex: "-1" });
  explorer.status = element("p", { class: "unseen", role: "status", "aria-live": "polite" });
  app.append(toolbar(), element("div", { class: "explorer-grid" },
    element("div", { class: "stage-column" }, explorer.stage.box, keysHelp()), explorer.panel), explorer.status);
  explorer.stage.box.append(stageLegend());
  rowTable.onFollow = (i) => {
    followRow(i);
    document.getElementById("explorer").scrollIntoView();
    explorer.stage.nodes.get(explorer.open).focus({ preventScroll: true });
  };
  showTree(0);
}

function toolbar() {
  const options = explored.trees.map((tree, k) => element("option", { value: k }, `Tree ${tree.number} (${tree.n_nodes} ${tree.n_nodes === 1 ? "node" : "nodes"}, depth ${tree.depth})`));
  explorer.choice = element("select", { id: "tree-choice", onchange: () => showTree(Number(explorer.choice.value)) }, options);
  explorer.input = element("input", {
    id: "row-choice", type: "number", min: "0", step: "1", inputmode: "numeric", "aria-describedby": "row-problem",
    onkeydown: (event) => { if (event.key === "Enter") followNumber(); },
  });
  explorer.problem = element("p", { class: "problem", id: "row-problem", role: "alert" });
  explorer.back = button("Previous node", () => stepAlong(-1));
  explorer.on = button("Next node", () => stepAlong(1));
  explorer.stop = button("Stop", () => followRow(null), { "aria-label": "Stop following the row" });
  return element("div", { class: "toolbar" },
    element("div", { class: "toolbar-group" }, element("label", { for: "tree-choice" }, "Tree", explorer.choice)),
    element("div", { class: "toolbar-group", role: "group", "aria-label": "Follow a row" },
      element("label", { for: "row-choice" }, "Row number", explorer.input),
      button("Follow", followNumber), explorer.back, explorer.on, explorer.stop, explorer.problem));
}

function keysHelp() {
  const key = (name) => element("kbd", {}, name);
  return element("p", { class: "keys", id: "explorer-keys" },
    key("\u2191"), " parent, ", key("\u2193"), " left child, ", key("\u2190"), " ", key("\u2192"), " neighbours, ",
    key("Home"), " root, ", key("Enter"), " folds or unfolds, ", key("+"), " ", key("\u2212"), " zoom, ", key("0"), " all, ", key("Shift"), " with arrows moves. "
    + "Drag to move; the wheel zooms once the drawing was clicked.");
}

function stageLegend() {
  if (hasShares || hasScores) {
    const most = 12;
    const names = report.names.slice(0, Math.min(most, report.model.n_outputs));
    const entries = names.map((name, code) => element("span", {}, swatch(classColour(code)), shortened(name, 18)));
    if (report.model.n_outputs > most) entries.push(element("span", {}, `and ${report.model.n_outputs - most} more`));
    return element("div", { class: "stage-legend", "aria-hidden": "true" }, entries);
  }
  const [low, high] = rangeOfValues();
  const entries = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const value = low + (high - low) * part;
    return element("span", {}, swatch(scaleColour(value)), number(value, 3));
  });
  return element("div", { class: "stage-legend", "aria-hidden": "true" }, `${report.names[0]}: `, entries);
}

function showTree(k) {
  explorer.tree = explored.trees[k];
  explorer.choice.value = String(k);
  explorer.stage.show(explorer.tree);
  showWay();
  openNode(0);
}

function openNode(i, { focus = false, fromPanel = false } = {}) {
  explorer.open = i;
  explorer.stage.select(i, { focus });
  const { depth } = explorer.stage.layout.places.get(i);
  explorer.panel.replaceChildren(...nodePanel(explorer.tree, i, depth, openNode, followedAt(i)));
  if (fromPanel) explorer.panel.focus({ preventScroll: true });
  explorer.status.textContent = nodeLabel(explorer.tree.nodes[i], depth);
  const step = explorer.row === null ? -1 : wayOfRow().indexOf(i);
  explorer.back.disabled = explorer.row === null || step === 0;
  explorer.on.disabled = explorer.row === null || step === wayOfRow().length - 1;
  explorer.stop.disabled = explorer.row === null;
}

const wayOfRow = () => wayTo(explorer.tree, explorer.tree.last[explorer.row]);

// Where the followed row is at a node.
function followedAt(i) {
  if (explorer.row === null) return null;
  const way = wayOfRow();
  const step = way.indexOf(i);
  const distances = explorer.tree.distances[explorer.row];
  const distance = step >= 0 && step < distances.length ? distances[step] : null;
  return { row: explorer.row, way, step, distance };
}

function showWay() {
  explorer.stage.follow(explorer.row === null ? [] : wayOfRow());
}

function followRow(i) {
  explorer.row = i;
  rowTable.followed = i;
  explorer.problem.textContent = "";
  explorer.input.value = i === null ? "" : String(report.rows.number[i]);
  showWay();
  showRows();
  openNode(i === null ? explorer.open : 0);
}

function followNumber() {
  const wanted = explorer.input.value.trim();
  const i = report.rows.number.indexOf(Number(wanted));
  if (wanted !== "" && i >= 0) {
    followRow(i);
    return;
  }
  const numbers = report.rows.number;
  if (wanted === "" || !numbers.length) {
    explorer.problem.textContent = numbers.length ? "Give the number of a row." : "No rows are in this file.";
    return;
  }
  const nearest = numbers.reduce((a, b) => (Math.abs(b - wanted) < Math.abs(a - wanted) ? b : a));
  explorer.problem.textContent = Number(wanted) < report.data.n_rows && Number(wanted) >= 0
    ? `Row ${wanted} is not in this file; the nearest one that is has number ${nearest}.`
    : `There is no row ${wanted}: rows have numbers from 0 to ${report.data.n_rows - 1}.`;
}

function stepAlong(by) {
  const way = wayOfRow();
  const at = way.indexOf(explorer.open);
  const next = at < 0 ? 0 : Math.min(way.length - 1, Math.max(0, at + by));
  openNode(way[next]);
  const [pressed, other] = by < 0 ? [explorer.back, explorer.on] : [explorer.on, explorer.back];
  (pressed.disabled ? other : pressed).focus();
}
