// @ts-check
/** Earlier conversations: open, save, delete. */
import { call } from "./api.js";
import { confirm, makeDialog } from "./dialogs.js";
import { h, toast, tool } from "./dom.js";

/** @typedef {{id: string, title?: string, question?: string, updated?: string | number, updated_at?: string | number, turns?: unknown}} Earlier */

const WHEN = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

/** @param {Earlier} one */
function when(one) {
  const value = one.updated ?? one.updated_at;
  if (value === undefined) return "";
  const date = typeof value === "number" ? new Date(value * 1000) : new Date(value);
  return Number.isNaN(date.getTime()) ? "" : WHEN.format(date);
}

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
    const found = await call(`/v1/conversations?${new URLSearchParams({ collection })}`);
    /** @type {Earlier[]} */
    const conversations = Array.isArray(found) ? found : (found.conversations ?? found.data ?? []);
    note.textContent = conversations.length ? "" : "There are none yet. Each question you ask begins one, or goes on with the one that is open.";
    note.hidden = conversations.length > 0;
    list.append(...conversations.map((one) => row(one)));
  } catch (error) {
    note.textContent = error instanceof Error && /** @type {any} */ (error).status === 404 ? "This server keeps no conversations." : /** @type {Error} */ (error).message;
  }

  /** @param {Earlier} one */
  function row(one) {
    const pick = h("button", { type: "button", class: "pick", "aria-current": one.id === current, on: { click: () => { dialog.close(); open(one.id); } } },
      h("span", { dir: "auto", text: one.title || one.question || "Without a title" }), h("small", { text: when(one) }));
    const save = h("a", { class: "tool", href: `/v1/conversations/${encodeURIComponent(one.id)}/export?format=markdown`, download: "", "aria-label": "Save as Markdown", title: "Save as Markdown" });
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
