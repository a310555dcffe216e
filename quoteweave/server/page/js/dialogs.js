// @ts-check
/** Dialogs: a question before something is lost, signing in, settings, the list of shortcuts. */
import { Problem, call } from "./api.js";
import { h, tool } from "./dom.js";
import { change, settings } from "./state.js";

let made = 0;

/**
 * Makes a dialog. It is removed when it closes.
 * @param {string} title
 * @param {HTMLElement[]} content
 * @param {{class?: string, closable?: boolean}} [more]
 */
export function makeDialog(title, content, { class: kind = "", closable = true } = {}) {
  const id = `dialog-title-${(made += 1)}`;
  const heading = h("h2", { id, text: title });
  const close = closable && tool("close", "Close", () => dialog.close());
  const dialog = h("dialog", { class: kind, "aria-labelledby": id }, h("div", {}, h("header", {}, heading, close), h("div", { class: "body" }, ...content)));
  dialog.addEventListener("click", (event) => event.target === dialog && closable && dialog.close());
  dialog.addEventListener("cancel", (event) => closable || event.preventDefault());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  return dialog;
}

/**
 * Asks before something is lost; resolves to true if the user agrees.
 * @param {string} title
 * @param {string} words
 * @param {string} act
 * @returns {Promise<boolean>}
 */
export function confirm(title, words, act) {
  return new Promise((resolve) => {
    let agreed = false;
    const yes = h("button", { type: "button", class: "button grave", text: act, on: { click: () => { agreed = true; dialog.close(); } } });
    const no = h("button", { type: "button", class: "button", text: "Cancel", on: { click: () => dialog.close() } });
    const dialog = makeDialog(title, [h("p", { text: words }), h("div", { class: "choices" }, no, yes)]);
    dialog.addEventListener("close", () => resolve(agreed));
    dialog.showModal();
    no.focus();
  });
}

/** @type {Promise<void> | null} */
let signing = null;

/** Asks for a key until the server takes one. @returns {Promise<void>} */
export function signIn() {
  signing ??= new Promise((resolve) => {
    const input = h("input", { type: "password", id: "key", autocomplete: "current-password", required: true, placeholder: "qw_…", "aria-describedby": "key-said", spellcheck: "false" });
    const said = h("p", { class: "small", id: "key-said", role: "status", text: "Whoever runs this server gives it to you. This browser is signed in until the key ends or is taken back." });
    // A hidden user name, as password managers store a password with a name, and a key has none.
    const name = h("input", { type: "text", autocomplete: "username", value: "quoteweave", hidden: "", readonly: "", tabindex: "-1" });
    const form = h("form", {}, name, h("div", { class: "setting" }, h("label", { for: "key", text: "Key" }), input, said), h("p", { class: "choices" }, h("button", { type: "submit", class: "button first", text: "Sign in" })));
    const dialog = makeDialog("Sign in", [form], { closable: false });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        await call("/v1/session", { method: "POST", body: { key: input.value.trim() } });
        dialog.close();
        signing = null;
        resolve();
      } catch (error) {
        said.textContent = error instanceof Problem && [401, 403, 422].includes(error.status) ? "The server does not know this key, or it has ended." : String(/** @type {Error} */ (error).message);
        input.select();
      }
    });
    dialog.showModal();
    input.focus();
  });
  return signing;
}

/**
 * A setting of which one of some choices is set.
 * @param {string} name
 * @param {string} words
 * @param {[string, string][]} choices value and words
 * @param {string} [note]
 */
function parts(name, words, choices, note) {
  const current = String(/** @type {any} */ (settings)[name]);
  const set = (/** @type {string} */ value) => change({ [name]: value });
  const options = choices.map(([value, label]) => {
    const input = h("input", { type: "radio", name, value, on: { change: () => set(value) } });
    input.checked = value === current;
    return h("label", {}, input, label);
  });
  return h("fieldset", { class: "setting" }, h("legend", { text: words }), h("div", { class: "parts" }, ...options), note && h("p", { class: "small", text: note }));
}

/** Opens the settings. @param {{signOut: (() => void) | null}} more */
export function openSettings({ signOut }) {
  const keys = h("input", { type: "checkbox", on: { change: () => change({ keys: keys.checked }) } });
  keys.checked = settings.keys;
  const content = [
    parts("theme", "Appearance", [["system", "As the device"], ["light", "Light"], ["dark", "Dark"]]),
    parts("size", "Quotes read for an answer", [["", "Default"], ["15", "15"], ["20", "20"]], "15 are ten texts and five images, 20 are twelve and eight. More find more, and take longer. “Default” is as the server is set, here and below."),
    parts("gate", "Statements that are not confirmed", [["", "Default"], ["report", "Report"], ["drop", "Leave out"], ["refuse", "Withhold"], ["off", "Off"]], "Numbers, dates and quoted words are looked up in the quote that is cited. “Withhold” shows no answer with a doubtful statement; “Off” checks nothing."),
    h("div", { class: "setting" }, h("label", { class: "check" }, keys, "Single keys as shortcuts")),
    signOut && h("div", { class: "choices" }, h("button", { type: "button", class: "button", text: "Sign out", on: { click: signOut } })),
  ];
  makeDialog("Settings", /** @type {HTMLElement[]} */ (content.filter(Boolean))).showModal();
}

const KEYS = [
  ["Ask", ["Enter"]],
  ["New line in the question", ["Shift", "Enter"]],
  ["To the question", ["/"]],
  ["Next, previous citation", ["n", "p"]],
  ["Next, previous page (in the pages)", ["→", "←"]],
  ["Larger, smaller pages", ["+", "−"]],
  ["Search in the document", ["f"]],
  ["Documents", ["d"]],
  ["Earlier conversations", ["h"]],
  ["Back to the answer, close", ["Esc"]],
  ["These shortcuts", ["?"]],
];

/** Opens the list of shortcuts. */
export function openShortcuts() {
  const list = h("dl", { class: "keys" }, ...KEYS.flatMap(([words, keys]) => [h("dt", { text: /** @type {string} */ (words) }), h("dd", {}, .../** @type {string[]} */ (keys).flatMap((key, place) => (place ? [" ", h("kbd", { text: key })] : [h("kbd", { text: key })])))]));
  makeDialog("Keyboard shortcuts", [list, h("p", { class: "small", text: "Single keys can be turned off in the settings." })]).showModal();
}
