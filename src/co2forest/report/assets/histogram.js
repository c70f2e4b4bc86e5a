// SPDX-License-Identifier: BSD-3-Clause
// How the given rows lie beside a node's hyperplane, by class, with the row that is followed.
function histogramDrawing(node, distance) {
  const { width, zero, bins, series, means } = node.histogram;
  const box = { left: 44, right: 470, top: 24, bottom: 190 };
  const at = (bin) => box.left + (bin / bins) * (box.right - box.left);
  const heights = new Array(bins).fill(0);
  for (const [, first, counts] of series) counts.forEach((count, k) => { heights[first + k] += count; });
  const tallest = Math.max(1, ...heights);
  const up = (count) => box.bottom - (count / tallest) * (box.bottom - box.top);
  const parts = [
    drawn("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
    drawn("text", { class: "end", x: box.left - 6, y: box.top + 5 }, number(tallest)),
    drawn("text", { class: "end", x: box.left - 6, y: box.bottom + 4 }, "0"),
  ];
  const done = new Array(bins).fill(0);
  for (const [group, first, counts] of series) {
    counts.forEach((count, k) => {
      const bin = first + k;
      if (!count) return;
      const top = up(done[bin] + count);
      const fill = means && means[bin] !== null ? scaleColour(means[bin]) : classColour(group);
      parts.push(drawn("rect", { class: "share", x: at(bin) + 0.5, width: Math.max(0.5, at(1) - at(0) - 1), y: top, height: up(done[bin]) - top, fill }));
      done[bin] += count;
    });
  }
  const plane = at(zero);
  parts.push(drawn("line", { class: "plane-line", x1: plane, x2: plane, y1: box.top - 6, y2: box.bottom + 6 }));
  if (zero > 0) parts.push(drawn("text", { class: "middle", x: (box.left + plane) / 2, y: 13 }, "left"));
  if (zero < bins) parts.push(drawn("text", { class: "middle", x: (box.right + plane) / 2, y: 13 }, "right"));
  for (const bin of [0, bins]) {
    if (bin === zero) continue;
    parts.push(drawn("text", { class: bin ? "end" : null, x: at(bin), y: box.bottom + 20 }, number((bin - zero) * width, 3)));
  }
  parts.push(drawn("text", { class: "middle", x: Math.min(Math.max(plane, 90), 420), y: box.bottom + 20 }, "0"));
  if (distance !== null) {
    const x = Math.min(box.right, Math.max(box.left, at(zero + distance / width)));
    parts.push(
      drawn("line", { class: "row-line", x1: x, x2: x, y1: box.top, y2: box.bottom }),
      drawn("path", { class: "row-mark", d: `M${x} ${box.bottom}l-7 11h14z` }),
    );
  }
  return drawn("svg", { class: "chart", viewBox: "0 0 480 222", role: "img", "aria-label": histogramText(node) }, parts);
}

function sideCounts(node) {
  let [left, right] = [0, 0];
  for (const [, first, counts] of node.histogram.series) {
    counts.forEach((count, k) => {
      if (first + k < node.histogram.zero) left += count;
      else right += count;
    });
  }
  return [left, right];
}

function histogramText(node) {
  const [left, right] = sideCounts(node);
  return `Distances from the hyperplane: ${rowsText(left)} on the left, ${rowsText(right)} on the right`;
}

function histogramLegend(node) {
  if (task !== "classes") return null;
  const entries = node.histogram.series.map(([group, , counts]) => {
    const total = counts.reduce((a, b) => a + b, 0);
    const name = group < 0 ? "other classes" : report.names[group];
    return element("li", {}, swatch(classColour(group)), `${name}: ${number(total, 15)}`);
  });
  return element("ul", { class: "legend", "aria-label": "Rows by class" }, entries);
}
