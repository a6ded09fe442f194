/* The theme button, and the views of a diff. */
const themeButton = $("[data-theme-toggle]");
if (themeButton) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const show = () => setPressed(themeButton, isDark());
  themeButton.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("theme", theme); } catch { /* private mode */ }
    show();
  });
  system.addEventListener("change", show);
  show();
}

/* The view of a diff that was chosen stays in the address. */
for (const view of $$("input[type=radio][name=v]")) {
  view.checked ||= hash().get("view") === view.id;
  view.addEventListener("change", () => keepInHash({ view: view.id }));
}
