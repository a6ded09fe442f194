/* Buttons that copy: the command before them, or a link to the page as it is filtered (tables.js). What a button says where the
   clipboard is closed (a page from a plain http address) is up to its caller. */
async function copyBy(button, text, otherwise) {
  const name = button.dataset.name ??= button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = otherwise();
  }
  setTimeout(() => { button.textContent = name; }, 2000);
}

const selected = node => { getSelection().selectAllChildren(node); return "Selected"; };
for (const button of $$("[data-copy]")) {
  const code = button.previousElementSibling;
  button.addEventListener("click", () => copyBy(button, code.textContent, () => selected(code)));
}

/* The lines of a note are about the error whose number, the value whose name, or the answer whose link was clicked last. */
for (const link of $$("[data-variant]")) link.addEventListener("click", () => {
  const lines = $("[data-note]"), [about, , ...rest] = partsOf(lines);
  const stated = [...Object.entries(link.dataset), ["iteration", $(".case a", link.closest("li")).textContent]];
  lines.textContent = `${about.split("\n")[0]}\n  ${linesOf(stated)}${rest.join("")}`;
  lines.closest("details").open = true;
});
addEventListener("hashchange", () => {
  const row = rowInHash() && $("[data-note]") && document.getElementById(rowInHash());
  if (row) noteOn(row);
});
function partsOf(lines) {
  return lines.textContent.split(/(?=\n {2}(?:iteration|verdict)(?=:))/);
}
function linesOf(stated) {
  return stated.filter(([, value]) => value).map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join("\n  ");
}
function noteOn(row) {
  const lines = $("[data-note]"), [, ...rest] = partsOf(lines);
  const place = row.matches(".cellname") ? $("code", row).textContent : pathOf(row);
  lines.textContent = `- ${linesOf([["case", $(".c-document, .doc", row)?.textContent.trim()], ["field", place]])}${rest.join("")}`;
}
