// @ts-check
/** The state that the whole page shares: the collection, its documents, the chosen ones, and the reader's settings. */

const KEY = "quoteweave.settings";

const DEFAULTS = { theme: "system", size: "", gate: "", model: "", retriever: "", collection: "", keys: true };

/** @typedef {typeof DEFAULTS} Settings */

/** @returns {Settings} */
function stored() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { ...DEFAULTS };
  }
}

/** Settings of this reader, kept in this browser. */
export const settings = stored();

/** Changes settings and keeps them. @param {Partial<Settings>} changed */
export function change(changed) {
  Object.assign(settings, changed);
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // The browser may refuse to store settings; the page still works.
  }
  applyTheme();
}

/** Shows the page in the theme that is set; `system` follows the device. */
export function applyTheme() {
  if (settings.theme === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", settings.theme);
}

/** The collection that is open, and what is in it. */
export const open = {
  collection: "",
  /** @type {import("./records.js").DocumentRecord[]} */
  documents: [],
  /** Files that could not be read. @type {{name: string, reason: string}[]} */
  failures: [],
  /** Whether `documents` were read already. */
  listed: false,
  /** Identifies the contents of all documents; it changes when one is added, changed or removed. */
  contents: "",
  /** Names of the documents that questions are asked of; if empty, all of them. @type {Set<string>} */
  chosen: new Set(),
  /** Whether the current key may add and remove files. */
  writable: true,
  /** Whether the server keeps conversations. */
  keeps: true,
};

/** @type {Set<() => void>} */
const listeners = new Set();

/** Calls `listener` whenever the documents, or the choice among them, change. @param {() => void} listener */
export const onDocuments = (listener) => listeners.add(listener);

/** Calls all listeners after the documents, or the choice among them, have changed. */
export const documentsChanged = () => listeners.forEach((listener) => listener());

/** Forgets the documents; called when another collection is opened, whose documents are not known yet. */
export function forgetDocuments() {
  Object.assign(open, { documents: [], failures: [], listed: false });
  open.chosen.clear();
  documentsChanged();
}

/** The filter of questions: the chosen documents. @returns {{documents: string[]} | undefined} */
export const filters = () => (open.chosen.size ? { documents: [...open.chosen] } : undefined);
