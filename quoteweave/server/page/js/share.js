// @ts-check
/** What can be done with an answer: copy it, save it, share its link, ask again. */
import { h, icon, offerFile, toast, tool } from "./dom.js";
import { placeOf } from "./records.js";

/** @typedef {import("./turn.js").Turn} Turn */

/** The permanent address of a quote. @param {string} collection @param {string} id */
export const lasting = (collection, id) => `${location.origin}/c/${encodeURIComponent(collection)}/q/${encodeURIComponent(id).replaceAll("%3A", ":")}`;

/** An answer as Markdown, with its sources and their links. @param {Turn} turn */
export function asMarkdown(turn) {
  const { answer } = turn;
  if (!answer) return turn.text;
  const seen = new Map(answer.citations.map((citation) => [`${citation.kind} ${citation.number}`, citation]));
  const sources = [...seen.values()].map((citation) => {
    const mark = citation.kind === "image" ? `image${citation.number}` : `[${citation.number}]`;
    return `- ${mark} ${citation.document}, ${placeOf(citation)}: <${lasting(turn.around.collection, citation.quote_id)}>`;
  });
  return [`# ${turn.question}`, answer.text, ...(sources.length ? [`## Sources\n\n${sources.join("\n")}`] : [])].join("\n\n") + "\n";
}

/** @param {string} text @param {string} done */
async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    toast(done);
  } catch {
    toast("This browser does not let the page copy. Mark the text and copy it.");
  }
}

/** Copies the link of a quote. @param {string} collection @param {string} id */
export const copyLink = (collection, id) => copy(lasting(collection, id), "The link of this place is copied");

/** A file's name from a question. @param {string} question */
export const fileName = (question) => question.normalize("NFKC").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "answer";

/** @param {Turn} turn @returns {HTMLElement} */
export function makeActions(turn) {
  const link = () => `${location.origin}/?${new URLSearchParams({ collection: turn.around.collection, conversation: turn.conversation ?? "" })}`;
  return h("div", { class: "after", role: "group", "aria-label": "This answer" },
    tool("copy", "Copy", () => copy(asMarkdown(turn), "The answer is copied, as Markdown"), { words: true }),
    saveMenu(turn),
    turn.conversation && tool("link", "Copy link", () => copy(link(), "The link is copied"), { words: true }),
    tool("again", "Ask again", () => turn.around.again(turn), { words: true }));
}

/** @param {Turn} turn */
function saveMenu(turn) {
  const name = fileName(turn.question);
  const exported = turn.conversation && `/v1/conversations/${encodeURIComponent(turn.conversation)}/export`;
  const choices = h("div", { hidden: true },
    h("button", { type: "button", class: "tool", text: "Markdown", on: { click: () => offerFile(`${name}.md`, asMarkdown(turn), "text/markdown") } }),
    h("button", { type: "button", class: "tool", text: "JSON", on: { click: () => offerFile(`${name}.json`, JSON.stringify(turn.answer, null, 2), "application/json") } }),
    exported && h("a", { class: "tool", href: `${exported}?format=docx`, download: "", text: "Word, whole conversation" }));
  return disclosure("download", "Save", choices);
}

/** A button that shows and hides a list of choices. @param {string} sign @param {string} words @param {HTMLElement} choices */
export function disclosure(sign, words, choices) {
  const button = h("button", { type: "button", class: "tool", "aria-expanded": "false" }, icon(sign), h("span", { text: words }));
  const menu = h("div", { class: "menu" }, button, choices);
  const set = (/** @type {boolean} */ shown) => {
    choices.hidden = !shown;
    button.setAttribute("aria-expanded", String(shown));
  };
  button.addEventListener("click", () => set(choices.hidden));
  choices.addEventListener("click", () => set(false));
  menu.addEventListener("focusout", (event) => menu.contains(/** @type {Node} */ (event.relatedTarget)) || set(false));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || choices.hidden) return;
    event.stopPropagation();
    set(false);
    button.focus();
  });
  return menu;
}
