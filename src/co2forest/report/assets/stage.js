// SPDX-License-Identifier: BSD-3-Clause
// The drawing of a tree that can be moved and scaled by mouse, touch and keyboard.
class Stage {
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.view = { x: 0, y: 0, scale: 1 };
    this.way = new Set();
    this.selected = 0;
    this.pointers = new Map();
    this.content = drawn("g", { role: "none" });
    this.svg = drawn("svg", { role: "tree", "aria-label": "Tree", "aria-describedby": "explorer-keys" }, this.content);
    this.box = element("div", { class: "stage" }, this.svg, this.buttons());
    this.listen();
  }

  buttons() {
    return element("div", { class: "stage-buttons" },
      button("+", () => this.zoom(1.4), { "aria-label": "Zoom in" }),
      button("\u2212", () => this.zoom(1 / 1.4), { "aria-label": "Zoom out" }),
      button("Fit", () => this.fit(), { "aria-label": "Fit the drawing into its frame" }),
      button("Unfold all", () => this.foldAll(true)),
      button("Fold", () => this.foldAll(false), { "aria-label": "Fold to the first levels" }));
  }

  show(tree) {
    this.tree = tree;
    this.below = nodesBelow(tree);
    this.unfolded = unfoldedAtFirst(tree);
    this.svg.setAttribute("aria-label", `Tree ${tree.number}`);
    this.draw();
    this.start();
  }

  draw() {
    const { tree, unfolded } = this;
    this.layout = laidOut(tree, unfolded, glyphSize());
    const { places } = this.layout;
    this.nodes = new Map();
    this.edges = new Map();
    for (const [i, place] of [...places].sort(([a], [b]) => a - b)) {
      const node = tree.nodes[i];
      const state = { unfolded: unfolded.has(i), below: this.below[i] };
      this.nodes.set(i, nodeDrawing(node, i, place, state));
      if (node.parent >= 0) this.edges.set(i, edgeDrawing(node, places.get(node.parent), place, tree.nodes[0].count));
    }
    const edges = drawn("g", { "aria-hidden": "true" }, [...this.edges.values()]);
    this.content.replaceChildren(edges, ...this.nodes.values());
    this.mark();
  }

  // Unfolds or folds nodes; one of them stays where it is.
  fold(changed, open, fixed) {
    const before = this.layout.places.get(fixed) ?? this.layout.places.get(0);
    for (const i of changed) {
      if (open && this.tree.nodes[i].left >= 0) this.unfolded.add(i);
      else this.unfolded.delete(i);
    }
    this.draw();
    const after = this.layout.places.get(fixed);
    this.move((before.x - after.x) * this.view.scale, (before.y - after.y) * this.view.scale);
  }

  toggle(i) {
    this.fold([i], !this.unfolded.has(i), i);
    this.nodes.get(i).focus({ preventScroll: true });
  }

  foldAll(open) {
    this.unfolded = open ? new Set() : unfoldedAtFirst(this.tree);
    this.fold(open ? this.tree.nodes.keys() : [], open, 0);
    this.fit();
  }

  select(i, { focus = false } = {}) {
    this.selected = i;
    const folded = wayTo(this.tree, i).slice(0, -1).filter((k) => !this.unfolded.has(k));
    if (folded.length) this.fold(folded, true, folded[0]);
    this.mark();
    this.reveal(i);
    if (focus) this.nodes.get(i).focus({ preventScroll: true });
  }

  follow(way) {
    this.way = new Set(way);
    const folded = way.slice(0, -1).filter((k) => !this.unfolded.has(k));
    if (folded.length) this.fold(folded, true, folded[0]);
    this.mark();
  }

  // Shows which node is selected and which are on the way of a row.
  mark() {
    const { way, selected } = this;
    this.svg.classList.toggle("following", way.size > 0);
    const current = this.nodes.has(selected) ? selected : 0;
    for (const [i, node] of this.nodes) {
      node.classList.toggle("on-way", way.has(i));
      node.setAttribute("aria-selected", String(i === selected));
      node.setAttribute("tabindex", i === current ? "0" : "-1");
    }
    for (const [i, edge] of this.edges) edge.classList.toggle("on-way", way.has(i));
  }

  get size() {
    return { width: this.box.clientWidth || 600, height: this.box.clientHeight || 400 };
  }

  // All that is unfolded; at first not smaller than can be read.
  start() {
    this.fit(0.6);
  }

  fit(least = 0) {
    const { width, height } = this.size;
    const glyph = glyphSize();
    const whole = { width: this.layout.width + 40, height: this.layout.height + 60 };
    const scale = Math.max(least, Math.min(1.3, width / whole.width, (height - 90) / whole.height));
    const middle = scale * whole.width > width ? this.layout.places.get(0).x : (this.layout.width - glyph.width) / 2;
    this.set({ scale, x: width / 2 - middle * scale, y: 54 });
  }

  set(view) {
    Object.assign(this.view, view);
    const { x, y, scale } = this.view;
    this.content.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  }

  move(dx, dy) {
    this.set({ x: this.view.x + dx, y: this.view.y + dy });
  }

  zoom(factor, at = { x: this.size.width / 2, y: this.size.height / 2 }) {
    const scale = Math.min(6, Math.max(0.04, this.view.scale * factor));
    const ratio = scale / this.view.scale;
    this.set({ scale, x: at.x - (at.x - this.view.x) * ratio, y: at.y - (at.y - this.view.y) * ratio });
  }

  // Moves the drawing just so far that a node is in it, with room around.
  reveal(i) {
    const { x, y, scale } = this.view;
    const place = this.layout.places.get(i);
    const half = (glyphSize().width / 2) * scale + 24;
    const left = x + place.x * scale - half;
    const right = x + place.x * scale + half;
    const top = y + place.y * scale - 50;
    const bottom = y + (place.y + glyphSize().height) * scale + 60;
    const { width, height } = this.size;
    const dx = left < 0 ? -left : Math.min(0, width - right);
    const dy = top < 0 ? -top : Math.min(0, height - bottom);
    if (dx || dy) this.move(dx, dy);
  }

  local(event) {
    const box = this.svg.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  listen() {
    this.svg.addEventListener("click", (event) => {
      const node = event.target.closest(".node");
      if (!node || this.dragged) return;
      this.onSelect(Number(node.dataset.node), { focus: true });
      if (event.target.closest(".unfold")) this.toggle(Number(node.dataset.node));
    });
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"]) {
      this.svg.addEventListener(end, (event) => this.release(event));
    }
    this.svg.addEventListener("wheel", (event) => {
      // Without a focus inside, the wheel goes on to scroll the page.
      if (!event.ctrlKey && !event.metaKey && !this.box.contains(document.activeElement)) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), this.local(event));
    }, { passive: false });
  }

  press(event) {
    this.pointers.set(event.pointerId, this.local(event));
    this.dragged = false;
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.local(event);
    if (!this.dragged && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
    if (!this.dragged) this.svg.setPointerCapture(event.pointerId);
    this.dragged = true;
    this.svg.classList.add("dragging");
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const distance = (p) => Math.max(1, Math.hypot(p.x - other.x, p.y - other.y));
      this.zoom(distance(now) / distance(before), other);
    } else {
      this.move(now.x - before.x, now.y - before.y);
    }
    this.pointers.set(event.pointerId, now);
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    this.svg.classList.remove("dragging");
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const pan = { ArrowUp: [0, 60], ArrowDown: [0, -60], ArrowLeft: [60, 0], ArrowRight: [-60, 0] };
    const act = {
      "+": () => this.zoom(1.25), "=": () => this.zoom(1.25), "-": () => this.zoom(0.8), 0: () => this.fit(),
      Enter: () => this.toggle(this.current()), " ": () => this.toggle(this.current()),
    };
    if (event.shiftKey && event.key in pan) this.move(...pan[event.key]);
    else if (event.key in act) act[event.key]();
    else {
      const target = this.neighbour(event.key);
      if (target === null) return;
      if (target !== undefined) this.onSelect(target, { focus: true });
    }
    event.preventDefault();
  }

  // The node that a key leads to; undefined at an end, null for other keys.
  neighbour(key) {
    const i = this.current();
    const node = this.tree.nodes[i];
    const level = this.layout.levels[this.layout.places.get(i).depth];
    const at = level.indexOf(i);
    switch (key) {
      case "ArrowUp": return node.parent >= 0 ? node.parent : undefined;
      case "ArrowDown": return node.left >= 0 ? node.left : undefined;
      case "ArrowLeft": return level[at - 1];
      case "ArrowRight": return level[at + 1];
      case "Home": return 0;
      default: return null;
    }
  }

  current() {
    return Number(document.activeElement.closest(".node")?.dataset.node ?? this.selected);
  }
}
