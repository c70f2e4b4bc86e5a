// SPDX-License-Identifier: BSD-3-Clause
// The switch between light and dark, and the mark in the contents at the section in view.
function setUpTheme() {
  for (const input of document.querySelectorAll("input[name=theme]")) {
    input.addEventListener("change", () => {
      document.documentElement.dataset.theme = input.value;
    });
  }
}

function setUpContents() {
  const links = new Map();
  for (const link of document.querySelectorAll(".contents a")) links.set(link.hash.slice(1), link);
  const inView = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) inView.add(entry.target.id);
      else inView.delete(entry.target.id);
    }
    const current = [...links.keys()].find((id) => inView.has(id));
    for (const [id, link] of links) {
      if (id === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-10% 0px -55% 0px" });
  for (const id of links.keys()) observer.observe(document.getElementById(id));
}
