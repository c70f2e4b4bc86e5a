// SPDX-License-Identifier: BSD-3-Clause
// The document, ways to make elements, and numbers as text. Text is always set as text, never as HTML.
const report = JSON.parse(document.getElementById("report-data").textContent);
const task = report.model.task;

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function button(text, onclick, attributes = {}) {
  return element("button", { type: "button", class: "button", onclick, ...attributes }, text);
}

const asWritten = (text) => text.replace("-", "\u2212");

// With so many digits; zeros at their end only if all are wanted.
function number(value, digits = 4, all = false) {
  if (value === null || value === undefined) return "\u2013";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e9) return asWritten(String(Number(value.toPrecision(digits))));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  const fixed = Number(value.toPrecision(digits)).toFixed(Math.min(decimals, 20));
  const [whole, part] = (all ? fixed : String(Number(fixed))).split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return asWritten(part ? `${apart}.${part}` : apart);
}

// As a table of data has it: five digits, but never less than the whole part.
function reading(value) {
  const size = Math.abs(value ?? 0);
  return number(value, size >= 1e5 && size < 1e9 ? 1 + Math.floor(Math.log10(size)) : 5);
}

const percent = (share) => (share === null ? "\u2013" : `${(100 * share).toFixed(1)}\u00a0%`);
const rowsText = (count) => (count === 1 ? "1 row" : `${number(count, 15)} rows`);
const featureName = (feature) => report.features[feature];

const UNLISTED = "#9aa4b0"; // of all classes without a colour of their own
function classColour(code) {
  return code < 0 ? UNLISTED : report.colours[code % report.colours.length];
}

function swatch(colour) {
  const box = element("span", { class: "swatch", "aria-hidden": "true" });
  box.style.background = colour;
  return box;
}

// What is true or predicted of a row, as text.
function answerText(answer) {
  if (task === "classes") return report.names[answer];
  if (task === "numbers") return answer.map(reading).join(", ");
  return report.names.filter((_, k) => answer[k]).join(", ") || "none";
}
