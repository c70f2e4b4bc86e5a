// SPDX-License-Identifier: BSD-3-Clause
// How a node looks, and how it is called.
const explored = report.explorer;
const hasShares = explored.kind === "classes"; // the values of nodes are classes with their shares,
const hasScores = explored.kind === "scores"; // or with scores, the highest first; else plain numbers

function glyphSize() {
  return { width: 58, height: explored.picture ? 74 : 34 };
}

// From the least to the greatest value of all nodes shown: numbers have a colour on this scale.
let valueRange = null;
function rangeOfValues() {
  if (valueRange) return valueRange;
  let [low, high] = [Infinity, -Infinity];
  for (const tree of explored.trees) {
    for (const { value } of tree.nodes) [low, high] = [Math.min(low, value[0]), Math.max(high, value[0])];
  }
  valueRange = [low, high];
  return valueRange;
}

// Dark blue to yellow, readable without seeing hues.
const SCALE = [[49, 54, 149], [49, 104, 142], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function scaleColour(value) {
  const [low, high] = rangeOfValues();
  const place = high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) * (SCALE.length - 1) : 0;
  const step = Math.min(SCALE.length - 2, Math.floor(place));
  const part = place - step;
  return `rgb(${SCALE[step].map((from, i) => Math.round(from + (SCALE[step + 1][i] - from) * part)).join(" ")})`;
}

function valueText(node) {
  const { value } = node;
  if (hasShares) return `${report.names[value[0][0]]}, ${percent(value[0][1])}`;
  if (explored.kind === "labels") {
    const present = report.names.slice(0, value.length).filter((_, k) => value[k] > 0.5);
    return present.join(", ") || "no label";
  }
  if (hasScores) return `${report.names[value[0][0]]} ${number(value[0][1], 3)}`;
  return number(value[0], 3);
}

const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);

function shortText(node) {
  if (hasShares && isLeaf(node)) return shortened(report.names[node.value[0][0]], 8);
  if (hasShares) return number(node.count, 3);
  return shortened(valueText(node), 9);
}

// The strip of colours: shares of classes, or one colour.
function strip(node, width, height, y) {
  const x = -width / 2;
  if (!hasShares) {
    const fill = hasScores ? classColour(node.value[0][0]) : scaleColour(node.value[0]);
    return [drawn("rect", { class: "share", x, y, width, height, fill })];
  }
  const parts = [];
  let done = 0;
  const add = (code, share) => {
    parts.push(drawn("rect", { class: "share", x: x + done * width, y, width: Math.max(0, share * width), height, fill: classColour(code) }));
    done += share;
  };
  for (const [code, share] of node.value) add(code, Math.min(share, 1 - done));
  if (done < 0.995) add(-1, 1 - done);
  return parts;
}

function nodeLabel(node, depth) {
  const kind = isLeaf(node) ? "Leaf" : "Node";
  const below = node.hidden ? `, ${node.hidden} nodes below are not in this file` : "";
  return `${kind} ${node.id}, depth ${depth}, ${rowsText(node.count)} in training, ${valueText(node)}${below}`;
}

// Of a node below which others are folded away, or not in the file: how many.
function foldedMark(count, y) {
  return [
    drawn("line", { class: "stem", x1: 0, x2: 0, y1: y, y2: y + 8 }),
    drawn("g", { class: "unfold" },
      drawn("rect", { x: -22, y: y + 8, width: 44, height: 18, rx: 9 }),
      drawn("text", { y: y + 21 }, `+${count}`)),
  ];
}

const addresses = new Map(); // of pictures, which are drawn anew whenever something is unfolded
function nodePicture(node) {
  if (!addresses.has(node)) addresses.set(node, pictureAddress(node.picture, weightColour));
  return addresses.get(node);
}

function nodeDrawing(node, i, place, { unfolded, below }) {
  const { width, height } = glyphSize();
  const picture = node.picture && drawn("image", {
    href: nodePicture(node), x: -24, y: 3, width: 48, height: 48, preserveAspectRatio: "xMidYMid meet",
  });
  const leafHeight = 34;
  const own = isLeaf(node) ? leafHeight : height;
  const frame = { x: -width / 2, y: 0, width, height: own, rx: isLeaf(node) ? 12 : 4 };
  const parts = [
    drawn("rect", { ...frame, class: "halo", x: frame.x - 4, y: -4, width: width + 8, height: own + 8, rx: frame.rx + 4 }),
    drawn("rect", { ...frame, class: "frame" }),
    ...strip(node, width - 12, 8, own - 28),
    drawn("text", { y: own - 7 }, shortText(node)),
  ];
  if (picture) parts.push(picture);
  if (below && !unfolded) parts.push(...foldedMark(below, own));
  return drawn("g", {
    class: "node",
    transform: `translate(${place.x} ${place.y})`,
    role: "treeitem",
    tabindex: "-1",
    "aria-level": place.depth + 1,
    "aria-selected": "false",
    "aria-expanded": node.left < 0 ? null : String(unfolded),
    "aria-label": nodeLabel(node, place.depth),
    "data-node": i,
  }, parts);
}

function edgeDrawing(node, from, to, rootCount) {
  const top = from.y + glyphSize().height;
  const middle = (top + to.y) / 2;
  return drawn("path", {
    class: "edge",
    d: `M${from.x} ${top}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`,
    "stroke-width": 1.5 + 9 * Math.sqrt(node.count / Math.max(rootCount, 1)),
  });
}
