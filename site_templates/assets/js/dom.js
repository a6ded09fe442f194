/* The few helpers that the other scripts share. All of them run in one scope (see the ordered list in
   sitegen/render/environment.py); every page is complete without them, they only add to the markup that is there. */
const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
const element = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text != null) made.textContent = text;
  return made;
};
const svgElement = (tag, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  if (text != null) made.textContent = text;
  return made;
};
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const setHash = text => history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
