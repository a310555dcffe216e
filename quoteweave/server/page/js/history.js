// @ts-check
/** Earlier conversations: open, save, delete. */
import { call } from "./api.js";
import { confirm, makeDialog } from "./dialogs.js";
import { h, toast, tool } from "./dom.js";
import { counted } from "./documents.js";

/** @typedef {{id: string, title: string, updated: string, questions: number}} Earlier */

const WHEN = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

/** @param {Earlier} one */
const about = (one) => `${WHEN.format(new Date(one.updated))} · ${counted(one.questions, "question")}`;

/**
 * Opens the list of conversations of a collection.
 * @param {{collection: string, current: string | null, open: (id: string) => void, gone: (id: string) => void}} around
 */
export async function openHistory({ collection, current, open, gone }) {
  const list = h("ul", { class: "earlier" });
  const note = h("p", { class: "small", role: "status", text: "Looking…" });
  const dialog = makeDialog("Earlier conversations", [note, list], { class: "drawer" });
  dialog.showModal();
  try {
    /** @type {Earlier[]} */
    const conversations = (await call(`/v1/conversations?${new URLSearchParams({ collection, limit: "200" })}`)).conversations;
    note.textContent = conversations.length ? "" : "There are none yet. Each question you ask begins one, or goes on with the one that is open.";
    note.hidden = conversations.length > 0;
    list.append(...conversations.map((one) => row(one)));
  } catch (error) {
    note.textContent = error instanceof Error && /** @type {any} */ (error).status === 404 ? "This server keeps no conversations." : /** @type {Error} */ (error).message;
  }

  /** @param {Earlier} one */
  function row(one) {
    const pick = h("button", { type: "button", class: "pick", "aria-current": one.id === current, on: { click: () => { dialog.close(); open(one.id); } } },
      h("span", { dir: "auto", text: one.title || "Without a title" }), h("small", { text: about(one) }));
    const save = h("a", { class: "tool", href: `/v1/conversations/${encodeURIComponent(one.id)}/export?format=docx`, download: "", "aria-label": "Save", title: "Save as a Word file" });
    save.append(tool("download", "", () => {}).firstElementChild ?? "");
    const remove = tool("trash", "Delete", async () => {
      if (!(await confirm("Delete this conversation?", "Its questions and answers are deleted from the server. The documents stay.", "Delete"))) return;
      try {
        await call(`/v1/conversations/${encodeURIComponent(one.id)}`, { method: "DELETE" });
        item.remove();
        gone(one.id);
      } catch (error) {
        toast(/** @type {Error} */ (error).message);
      }
    });
    const item = h("li", {}, pick, save, remove);
    return item;
  }
}
