// SPDX-License-Identifier: BSD-3-Clause
document.documentElement.classList.add("scripted");
setUpTheme();
setUpContents();
setUpExplorer();
setUpFilters();
