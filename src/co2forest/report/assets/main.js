document.documentElement.classList.add("scripted");
setUpTheme();
setUpContents();
setUpExplorer();
setUpFilters();
