/* A page that was written before its next one existed links to the list, which knows the next one and leads on to it. */
const fileOf = address => address.split("/").pop().replace(/\.html$/, "");
for (const link of $$("a[data-listed]")) {
  link.href = link.getAttribute("href").replace(/#.*/, `#after=${encodeURIComponent(fileOf(location.pathname))}`);
}

const after = hash().get("after");
const listed = after ? $$("table.iters tbody tr, table.edits tbody tr") : []; // newest first
const followTo = rows => {
  const next = rows[rows.findIndex(row => fileOf($("a", row).getAttribute("href")) === after) - 1];
  location.replace(next ? $("a", next).href : `#${rows[0].closest("section").getAttribute("aria-labelledby")}`);
};
if (listed.length) {
  const box = listed[0].closest("[data-loadable]"), isListed = listed.some(row => fileOf($("a", row).getAttribute("href")) === after);
  // The older rows are loaded by the table, which is made after this.
  if (box && !isListed) Promise.resolve().then(() => box.filtered.load()).then(() => followTo($$("tbody tr", box)));
  else followTo(listed);
}
