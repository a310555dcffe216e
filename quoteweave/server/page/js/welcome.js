// @ts-check
/** What is shown before the first question: what this page does, and questions to begin with. */
import { call, pageUrl } from "./api.js";
import { h, icon } from "./dom.js";
import { onDocuments, open } from "./state.js";

const MOST = 4;
const DOCUMENTS = 6;

/** Makes what is shown before the first question. @param {(question: string) => void} ask */
export function makeWelcome(ask) {
  const title = h("h2", {}, "Ask, and see ", h("mark", { text: "where it says so" }));
  const words = h("p");
  const heading = h("h3", { id: "to-begin", text: "Questions to begin with", hidden: true });
  const list = h("ul", { class: "examples", "aria-labelledby": "to-begin", hidden: true });
  const element = h("section", { class: "welcome", "aria-label": "Welcome" }, title, words, heading, list);
  let drawn = "";

  const draw = async () => {
    words.textContent = open.documents.length
      ? "Answers are made from these documents alone. Each statement carries a number: press it, and the page opens at the very words."
      : "Add documents first: drop files anywhere on this page. They are read page by page, and can be asked as soon as they are ready.";
    const key = [open.collection, ...open.documents.map((document) => document.name).slice(0, DOCUMENTS)].join("\n");
    if (drawn === key || !element.isConnected) return;
    drawn = key;
    const questions = await examples();
    if (drawn !== key) return;
    heading.hidden = list.hidden = !questions.length;
    list.replaceChildren(...questions.map((question) => h("li", {}, h("button", { type: "button", on: { click: () => ask(question) } }, h("bdi", { text: question }), icon("next")))));
  };
  onDocuments(draw);
  return { element, draw };
}

/** Questions made of headings of the first documents, one of each in turn. @returns {Promise<string[]>} */
async function examples() {
  const names = open.documents.slice(0, DOCUMENTS).map((document) => document.name);
  const found = await Promise.all(names.map((name) => headings(name).catch(() => [])));
  const questions = [];
  for (let round = 0; round < 3 && questions.length < MOST; round += 1) {
    for (const titles of found) {
      const title = titles[round];
      if (title && questions.length < MOST) questions.push(`What is said about “${title}”?`);
    }
  }
  return [...new Set(questions)];
}

/** Headings that a question can be made of. @param {string} document @returns {Promise<string[]>} */
async function headings(document) {
  const { quotes } = await call(pageUrl(open.collection, document, 0));
  return quotes
    .filter((/** @type {any} */ quote) => quote.layout === "title")
    .map((/** @type {any} */ quote) => quote.text.replace(/\s+/g, " ").replace(/^(\d+(\.\d+)*\.?|[A-Z]\.|[IVX]+\.)\s+/, "").replace(/[.:]$/, "").trim())
    .filter((/** @type {string} */ title) => title.length >= 8 && title.length <= 70 && /\p{Ll}/u.test(title))
    .filter((/** @type {string} */ title) => !/^(abstract|introduction|contents|references|summary)$/i.test(title));
}
