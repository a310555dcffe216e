// @ts-check
/** Keyboard shortcuts of the whole page; those for a document's pages are in the viewer. */
import { byId } from "./dom.js";
import { settings } from "./state.js";

/**
 * Listens for shortcuts.
 * @param {{conversation: import("./conversation.js").Conversation, viewer: import("./viewer.js").Viewer,
 *   showDocuments: () => void, showHistory: () => void, openShortcuts: () => void}} around
 */
export function listenForKeys({ conversation, viewer, showDocuments, showHistory, openShortcuts }) {
  /** @type {Record<string, () => void>} */
  const acts = {
    "/": () => byId("question").focus(),
    "?": openShortcuts,
    n: () => conversation.step(1),
    p: () => conversation.step(-1),
    d: showDocuments,
    h: showHistory,
    f: () => viewer.toggleFind(),
    "+": () => viewer.zoomBy(1),
    "=": () => viewer.zoomBy(1),
    "-": () => viewer.zoomBy(-1),
  };

  const escape = () => {
    if (conversation.card.hide()) return;
    if (viewer.close()) return;
    if (conversation.shown && viewer.root.contains(document.activeElement)) conversation.back();
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") return escape();
    const target = /** @type {HTMLElement} */ (event.target);
    if (!settings.keys || target.matches("input:not([type=checkbox]), textarea, select")) return;
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
