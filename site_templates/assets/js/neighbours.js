/* A page that was written before its next one existed links to the list, which knows the next one and leads on to it, or back
   to what the address of this page kept if there is none. */
const fileOf = address => address.split("/").pop().replace(/\.html$/, "");
for (const link of $$("a[data-listed]")) {
  const lead = () => { link.hash = new URLSearchParams({ after: fileOf(location.pathname), from: location.hash.slice(1) }); };
  if (location.hash.startsWith("#newest")) {
    say(`This is the newest ${link.dataset.listed}`);
    link.removeAttribute("rel");
    link.textContent = `All ${link.dataset.listed}s`;
    setHash(location.hash.slice(8));
  } else {
    lead();
    link.addEventListener("click", lead);
  }
}

const after = hash().get("after"); // empty: the page of older rows asks for what comes after them
const listed = after === null ? [] : $$("table.iters tbody tr, table.edits tbody tr, table.log tbody tr:not(.item)"); // newest first
const placeIn = rows => rows.findIndex(row => fileOf($("a", row).getAttribute("href")) === after);
const followTo = rows => {
  const at = after ? placeIn(rows) : rows.length, next = rows[at - 1];
  const page = at > 0 ? null : $(`.head a[rel=${at ? "next" : "prev"}]`); // of a list of several pages, the older or the newer one
  if (next) location.replace($("a", next).href);
  else if (page) location.replace(page.href + (at ? location.hash : "#after="));
  else location.replace(at ? `#${rows[0].closest("section").getAttribute("aria-labelledby")}` : `${$("a", rows[0]).href}#newest&${hash().get("from") ?? ""}`);
};
if (listed.length) {
  const box = listed[0].closest("[data-loadable]");
  // The older rows are loaded by the table, which is made after this.
  if (box && placeIn(listed) < 0) Promise.resolve().then(() => box.filtered.load()).then(() => followTo($$("tbody tr", box)));
  else followTo(listed);
}
