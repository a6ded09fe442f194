/* The previous and the next iteration of a report, edit of a file, or page of commits: by `[` and `]`, or `k` and `j`.
   A page that was written before its next one existed links to the list, which knows the next one and leads on to it. */
addEventListener("keydown", event => {
  const rel = { "[": "prev", k: "prev", "]": "next", j: "next" }[event.key];
  if (!rel || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || $("dialog[open]")) return;
  $(`.head a[rel=${rel}]`)?.click();
});

const fileOf = address => address.split("/").pop().replace(/\.html$/, "");
for (const link of $$("a[data-listed]")) {
  link.href = link.getAttribute("href").replace(/#.*/, `#after=${encodeURIComponent(fileOf(location.pathname))}`);
}

const after = new URLSearchParams(location.hash.slice(1)).get("after");
const listed = after ? $$("table.iters tbody tr, table.edits tbody tr") : []; // newest first
if (listed.length) {
  const next = listed[listed.findIndex(row => fileOf($("a", row).getAttribute("href")) === after) - 1];
  location.replace(next ? $("a", next).href : `#${listed[0].closest("section").getAttribute("aria-labelledby")}`);
}
