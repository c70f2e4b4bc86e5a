// SPDX-License-Identifier: BSD-3-Clause
// What is said of the open node, all of it in words and tables, too.
function nodePanel(tree, i, depth, go, followed) {
  const node = tree.nodes[i];
  const heading = element("h3", {}, `${isLeaf(node) ? "Leaf" : "Node"} ${node.id} `,
    element("small", {}, `tree ${tree.number}, depth ${depth}`));
  const parts = [heading, followed && followedText(tree, i, followed), relatives(tree, i, go), facts(node)];
  if (!isLeaf(node)) parts.push(planePart(node), histogramPart(node, followed));
  parts.push(valuePart(node));
  return parts.filter(Boolean);
}

function relatives(tree, i, go) {
  const node = tree.nodes[i];
  const entry = (name, k) => element("li", {},
    button(`${name}: ${isLeaf(tree.nodes[k]) ? "leaf" : "node"} ${tree.nodes[k].id}`, () => go(k, { fromPanel: true })));
  const entries = [];
  if (node.parent >= 0) entries.push(entry("Parent", node.parent));
  if (node.left >= 0) entries.push(entry("Left", node.left), entry("Right", node.left + 1));
  if (!entries.length) return null;
  return element("ul", { class: "relatives", "aria-label": "Nodes above and below" }, entries);
}

function fact(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value));
}

function facts(node) {
  const name = explored.impurity;
  const unit = name === "entropy" ? " bits" : "";
  const before = `${number(node.impurity)}${unit}`;
  const entries = [fact("Training rows", number(node.count, 15) + (node.weight === undefined ? "" : `, weight ${number(node.weight)}`))];
  const given = explored.n_rows < report.data.n_rows ? "Rows of the sample" : "Given rows";
  entries.push(fact(given, number(node.given, 15)));
  if (isLeaf(node)) entries.push(fact(`Loss (${name})`, before));
  else {
    const decrease = node.impurity > 0 ? ` (${percent((node.impurity - node.after) / node.impurity)} less)` : "";
    entries.push(fact(`Loss (${name})`, `${before} before the split, ${number(node.after)}${unit} after it${decrease}`));
  }
  if (node.hidden) entries.push(fact("Not in this file", `${number(node.hidden, 15)} nodes below`));
  return element("dl", { class: "facts" }, entries);
}

// A bar from the middle, to the right for what is positive.
function signedBar(part) {
  const width = Math.abs(part) * 50;
  return drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    drawn("rect", { class: part < 0 ? "negative" : "positive", x: part < 0 ? 50 - width : 50, width, y: 1, height: 8 }),
    drawn("line", { class: "centre", x1: 50, x2: 50, y1: 0, y2: 10 }));
}

function plainBar(part, colour) {
  return drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    drawn("rect", { class: "plain", width: 100 * part, y: 1, height: 8, fill: colour }));
}

function barTable(caption, head, lines) {
  const rows = lines.map(([name, bar, value]) => element("tr", {},
    element("th", { scope: "row" }, name), element("td", { class: "meter" }, bar), element("td", { class: "value" }, value)));
  const names = element("tr", {}, head.map((name) => element(name ? "th" : "td", { scope: name ? "col" : null }, name)));
  return element("table", {}, element("caption", {}, caption), element("thead", {}, names), element("tbody", {}, rows));
}

function planePart(node) {
  const largest = Math.max(...node.bars.map(([, weight]) => Math.abs(weight)), 1e-300);
  const lines = node.bars.map(([feature, weight]) => [featureName(feature), signedBar(weight / largest), number(weight, 3, true)]);
  const listed = node.bars.length < node.used ? `The strongest ${node.bars.length} of ${number(node.used, 15)} weights` : "All weights";
  const content = [];
  if (node.picture) {
    const src = pictureAddress(node.picture, weightColour);
    content.push(element("div", {}, element("img", { src, alt: `Weights of node ${node.id} as an image` }),
      element("div", { class: "scale" },
        element("span", {}, swatch(`rgb(${NEGATIVE.join(" ")})`), "pulls left"),
        element("span", {}, swatch(`rgb(${POSITIVE.join(" ")})`), "pulls right"))));
  }
  content.push(barTable(listed, ["Feature", "", "Weight"], lines));
  return element("div", {}, element("h4", {}, "Hyperplane"),
    element("div", { class: "plane" }, content),
    element("p", { class: "figure-note" }, "Weights of standardised features; the vector has length 1. Positive weights pull to the right."));
}

function histogramPart(node, followed) {
  const distance = followed ? followed.distance : null;
  const [left, right] = sideCounts(node);
  const colours = node.histogram.means ? ` Colours are the mean of ${report.names[0]}.` : "";
  return element("div", { class: "histogram" },
    element("h4", {}, "The given rows on its two sides"),
    histogramDrawing(node, distance),
    histogramLegend(node),
    element("p", { class: "figure-note" }, `${rowsText(left)} go left, ${rowsText(right)} go right. Distances from the hyperplane are in standard deviations; the outermost bins hold what lies beyond.${colours}`));
}

function valuePart(node) {
  const { value } = node;
  let lines;
  if (hasShares) {
    lines = value.map(([code, share]) => [[swatch(classColour(code)), report.names[code]], plainBar(share, classColour(code)), percent(share)]);
  } else if (hasScores) {
    const largest = Math.max(...value.map(([, score]) => Math.abs(score)), 1e-300);
    lines = value.map(([code, score]) => [[swatch(classColour(code)), report.names[code]], signedBar(score / largest), number(score)]);
  } else {
    const largest = Math.max(...value.map(Math.abs), 1e-300);
    const known = report.names.slice(0, value.length);
    const shown = explored.kind === "labels" ? percent : (v) => number(v);
    const bar = (v) => (explored.kind === "labels" ? plainBar(v, "var(--accent)") : signedBar(v / largest));
    lines = known.map((name, k) => [name, bar(value[k]), shown(value[k])]);
  }
  const meaning = {
    classes: "Classes of its training rows", labels: "Probability of each label", numbers: "Mean of y", scores: "What its leaves add to the scores", logarithms: "What its leaves add to the logarithm",
  }[explored.kind];
  const heads = { classes: ["Class", "", "Share"], labels: ["Label", "", "Probability"], scores: ["Class", "", "Score"] };
  return element("div", {}, element("h4", {}, isLeaf(node) ? "Its answer" : "What lies below"),
    barTable(meaning, heads[explored.kind] ?? ["Output", "", "Value"], lines));
}

function followedText(tree, i, followed) {
  const { rows } = report;
  const { row } = followed;
  const node = tree.nodes[i];
  const answer = `Row ${rows.number[row]}: the truth is ${answerText(rows.truth[row])}, the forest says ${answerText(rows.prediction[row])}.`;
  const image = rows.images && element("img", { src: pictureAddress(rows.images[row], greyOf), alt: `Image of row ${rows.number[row]}` });
  let step = "It does not come past this node.";
  if (followed.step >= 0) {
    step = `Step ${followed.step + 1} of ${followed.way.length}. `;
    if (isLeaf(node)) step += `It ends in this leaf, which says ${valueText(node)}.`;
    else {
      const side = followed.distance < 0 ? "left" : "right"; // a row on the plane that goes left has a tiny negative one
      step += `It lies ${number(Math.abs(followed.distance), 3)} from the hyperplane, on its ${side} side.`;
      if (node.hidden) step += ` Its way to leaf ${tree.leaf[row]} is not in this file.`;
    }
  }
  return element("div", { class: "followed" }, image, element("p", {}, answer), element("p", {}, step));
}
