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
