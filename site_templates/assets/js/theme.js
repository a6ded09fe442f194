/* Runs before the first paint: marks that scripts work, and applies the stored theme. */
(function () {
  var html = document.documentElement;
  html.classList.add("js");
  try {
    var theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") html.dataset.theme = theme;
  } catch (error) { /* storage may be off */ }
})();
