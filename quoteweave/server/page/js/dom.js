// @ts-check
/** Makes elements. Text becomes text nodes, never markup: nothing from documents or models is parsed as HTML. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an element. `properties` are attributes, except for `class`, `text` and `on` (listeners by event). The value
 * true sets an attribute to "", and false, null and undefined leave it out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else if (name === "on") Object.entries(value).forEach(([event, listener]) => element.addEventListener(event, /** @type {any} */ (listener)));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false).map((child) => /** @type {Node | string} */ (child)));
  return element;
}

/**
 * Makes the name of a file as an element of its own text direction, which may break after `_`, `-`, `.` and `/`.
 * @param {string} name
 */
export function fileName(name) {
  const parts = name.split(/(?<=[_\-./])(?=.)/u);
  return h("bdi", {}, ...parts.flatMap((part, position) => (position ? [h("wbr"), part] : [part])));
}

/** Puts the shapes of icons.svg into the page, once, as each icon that referred to the file would request it again. */
export async function loadIcons() {
  const text = await (await fetch("/page/icons.svg")).text();
  const store = document.adoptNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement);
  store.setAttribute("class", "unseen");
  store.setAttribute("aria-hidden", "true");
  document.body.append(store);
}

/**
 * Makes an icon, hidden from screen readers; it is drawn once `loadIcons` has put its shape into the page.
 * @param {string} name
 * @param {string} [more] further classes
 */
export function icon(name, more = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `icon ${more}`.trim());
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("data-sign", name);
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/**
 * Makes a button that shows an icon, with a label for screen readers, or with visible words.
 * @param {string} sign
 * @param {string} label
 * @param {(event: MouseEvent) => void} act
 * @param {{words?: boolean, title?: string, class?: string}} [more]
 */
export function tool(sign, label, act, more = {}) {
  const shown = more.words ? { title: more.title } : { "aria-label": label, title: more.title ?? label };
  return h("button", { type: "button", class: more.class ?? "tool", ...shown, on: { click: act } }, icon(sign), more.words && h("span", { text: label }));
}

/**
 * Returns the element of an id, which index.html is known to have.
 * @param {string} id
 * @returns {any}
 */
export const byId = (id) => document.getElementById(id);

/** Says something to screen readers, once. @param {string} words */
export function say(words) {
  byId("spoken").textContent = words;
}

let toastEnds = 0;

/** Shows a short message for some seconds. @param {string} words */
export function toast(words) {
  document.querySelector(".toast")?.remove();
  document.body.append(h("p", { class: "toast", role: "status", text: words }));
  clearTimeout(toastEnds);
  toastEnds = window.setTimeout(() => document.querySelector(".toast")?.remove(), 3500);
}

/** How to scroll: without animation for people who prefer reduced motion. @returns {ScrollBehavior} */
export const motion = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");

const NARROW = matchMedia("(max-width: 59.99rem)");

/** Whether the screen is so narrow that the viewer is a sheet over the answer. */
export const narrow = () => NARROW.matches;

/** Calls `listener` when the viewer becomes a sheet, or a pane again. @param {() => void} listener */
export const onNarrow = (listener) => NARROW.addEventListener("change", listener);

/**
 * Offers a file that this page made for download.
 * @param {string} name
 * @param {string} content
 * @param {string} type
 */
export function offerFile(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
