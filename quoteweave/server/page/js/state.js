// @ts-check
/** What the whole page shares: the collection, its documents, those that are asked, and the reader's settings. */

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
    // A browser that keeps nothing still shows the page.
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
  /** Whether `documents` are known by now. */
  listed: false,
  /** The contents of all documents: another value where one was added, changed or removed. */
  contents: "",
  /** Names of the documents that are asked; all where it is empty. @type {Set<string>} */
  chosen: new Set(),
  /** Whether files may be added and removed with the key that is used. */
  writable: true,
  /** Whether the server keeps conversations. */
  keeps: true,
};

/** @type {Set<() => void>} */
const listeners = new Set();

/** Calls `listener` whenever the documents, or the choice among them, change. @param {() => void} listener */
export const onDocuments = (listener) => listeners.add(listener);

/** Tells everybody that the documents, or the choice among them, changed. */
export const documentsChanged = () => listeners.forEach((listener) => listener());

/** Forgets the documents, as those of another collection are not known yet. */
export function forgetDocuments() {
  Object.assign(open, { documents: [], failures: [], listed: false });
  open.chosen.clear();
  documentsChanged();
}

/** The filter of questions: the chosen documents. @returns {{documents: string[]} | undefined} */
export const filters = () => (open.chosen.size ? { documents: [...open.chosen] } : undefined);
