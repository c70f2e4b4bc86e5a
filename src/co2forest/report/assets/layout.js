// SPDX-License-Identifier: BSD-3-Clause
// Which nodes of a tree are drawn, and where: parents above their children, which can be folded away.
const FIRST_DEPTH = 3; // to which a tree is unfolded at first
const BETWEEN = { nodes: 14, levels: 46 };

const isLeaf = (node) => node.bars === undefined;

// The nodes from the root to this one, by their places in the list.
function wayTo(tree, i) {
  const way = [];
  for (let at = i; at >= 0; at = tree.nodes[at].parent) way.unshift(at);
  return way;
}

function depths(tree) {
  const found = [];
  tree.nodes.forEach((node, i) => { found[i] = node.parent < 0 ? 0 : found[node.parent] + 1; });
  return found;
}

// How many nodes lie below each one, those that are not in the file among them.
function nodesBelow(tree) {
  const below = tree.nodes.map((node) => node.hidden ?? 0);
  for (let i = tree.nodes.length - 1; i > 0; i -= 1) below[tree.nodes[i].parent] += below[i] + 1;
  return below;
}

function unfoldedAtFirst(tree) {
  const depth = depths(tree);
  return new Set(tree.nodes.keys().filter((i) => tree.nodes[i].left >= 0 && depth[i] < FIRST_DEPTH));
}

// Places of the nodes that are visible, the outermost of them side by side.
function laidOut(tree, unfolded, glyph) {
  const places = new Map();
  const levels = [];
  let next = 0;
  const place = (i, depth) => {
    (levels[depth] ??= []).push(i);
    let x = next;
    if (unfolded.has(i)) {
      const { left } = tree.nodes[i];
      x = (place(left, depth + 1) + place(left + 1, depth + 1)) / 2;
    } else {
      next += glyph.width + BETWEEN.nodes;
    }
    places.set(i, { x, y: depth * (glyph.height + BETWEEN.levels), depth });
    return x;
  };
  place(0, 0);
  return {
    places,
    levels, // from left to right, because left children are placed first
    width: next - BETWEEN.nodes,
    height: levels.length * (glyph.height + BETWEEN.levels) - BETWEEN.levels,
  };
}
