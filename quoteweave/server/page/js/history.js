// @ts-check
/** Earlier conversations: find, open, rename, save, delete. */
import { call } from "./api.js";
import { confirm, makeDialog } from "./dialogs.js";
import { h, toast, tool } from "./dom.js";
import { counted } from "./documents.js";

/** @typedef {{id: string, title: string, updated: string, questions: number}} Earlier */

const WHEN = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const MAX_CONVERSATIONS = 200;
/** Milliseconds without typing after which conversations are searched. */
const PAUSE = 200;

/** @param {Earlier} one */
const about = (one) => `${WHEN.format(new Date(one.updated))} · ${counted(one.questions, "question")}`;

/** @param {string} id */
const address = (id) => `/v1/conversations/${encodeURIComponent(id)}`;

/**
 * Opens the list of conversations of a collection.
 * @param {{collection: string, current: string | null, open: (id: string) => void, gone: (id: string) => void}} around
 */
export async function openHistory({ collection, current, open, gone }) {
  const list = h("ul", { class: "earlier" });
  const note = h("p", { class: "small", role: "status", text: "Looking…" });
  const words = h("input", { type: "search", "aria-label": "Find conversations", placeholder: "Words of a title or question", dir: "auto", maxlength: "500" });
  const field = h("div", { class: "setting", hidden: true }, words);
  const dialog = makeDialog("Earlier conversations", [field, note, list], { class: "drawer" });
  let asking = 0;
  let waiting = 0;
  words.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(look, PAUSE);
  });
  dialog.showModal();
  await look();

  async function look() {
    const turn = (asking += 1);
    try {
      const asked = new URLSearchParams({ collection, words: words.value.trim(), limit: String(MAX_CONVERSATIONS) });
      /** @type {Earlier[]} */
      const found = (await call(`/v1/conversations?${asked}`)).conversations;
      if (turn !== asking) return;
      field.hidden &&= !found.length;
      note.textContent = words.value.trim() ? (found.length ? `${counted(found.length, "conversation")} with these words.` : "No conversation has these words.")
        : found.length ? "" : "There are none yet. Each question you ask begins one, or goes on with the one that is open.";
      list.replaceChildren(...found.map((one) => row(one)));
    } catch (error) {
      if (turn !== asking) return;
      note.textContent = error instanceof Error && /** @type {any} */ (error).status === 404 ? "This server keeps no conversations." : /** @type {Error} */ (error).message;
    }
    note.hidden = !note.textContent;
  }

  /** @param {Earlier} one */
  function row(one) {
    const title = h("span", { dir: "auto", text: one.title || "Without a title" });
    const pick = h("button", { type: "button", class: "pick", "aria-current": one.id === current, on: { click: () => { dialog.close(); open(one.id); } } },
      title, h("small", { text: about(one) }));
    const rename = tool("rename", "Rename", () => edit(one, item));
    const save = h("a", { class: "tool", href: `${address(one.id)}/export?format=docx`, download: "", "aria-label": "Save", title: "Save as a Word file" });
    save.append(tool("download", "", () => {}).firstElementChild ?? "");
    const remove = tool("trash", "Delete", async () => {
      if (!(await confirm("Delete this conversation?", "Its questions and answers are deleted from the server. The documents stay.", "Delete"))) return;
      try {
        await call(address(one.id), { method: "DELETE" });
        item.remove();
        gone(one.id);
      } catch (error) {
        toast(/** @type {Error} */ (error).message);
      }
    });
    const item = h("li", {}, pick, rename, save, remove);
    return item;
  }

  /**
   * Replaces a row by a field for another title: Enter keeps the new title, Escape the old one.
   * @param {Earlier} one
   * @param {HTMLElement} item
   */
  function edit(one, item) {
    const input = h("input", { type: "text", "aria-label": "Title of the conversation", dir: "auto", maxlength: "200", required: true });
    input.value = one.title;
    const back = (/** @type {Earlier} */ shown) => {
      const again = row(shown);
      form.replaceWith(again);
      /** @type {HTMLElement} */ (again.querySelector(".pick")).focus();
    };
    const form = h("li", { class: "renaming" }, h("form", {}, input, h("button", { type: "submit", class: "button", text: "Rename" })));
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault(); // the default action would close the list
      event.stopPropagation();
      back(one);
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        back(await call(address(one.id), { method: "PATCH", body: { title: input.value } }));
      } catch (error) {
        toast(/** @type {Error} */ (error).message);
      }
    });
    item.replaceWith(form);
    input.select();
  }
}
