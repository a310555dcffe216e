// @ts-check
/** The text shown before the first question: what this page does, and questions to begin with. */
import { base, call } from "./api.js";
import { h, icon } from "./dom.js";
import { onDocuments, open } from "./state.js";

/** Makes the element that is shown before the first question. @param {(question: string) => void} ask */
export function makeWelcome(ask) {
  const title = h("h2", {}, "Ask, and see ", h("mark", { text: "where it says so" }));
  const words = h("p");
  const heading = h("h3", { id: "to-begin", text: "Questions to begin with", hidden: true });
  const list = h("ul", { class: "examples", "aria-labelledby": "to-begin", hidden: true });
  const element = h("section", { class: "welcome", "aria-label": "Welcome" }, title, words, heading, list);
  let drawn = "";

  const draw = async () => {
    words.textContent = open.documents.length || !open.listed
      ? "Answers are made from these documents alone. Each statement carries a number: press it, and the page opens at the very words."
      : "Add documents first: drop files anywhere on this page. They are read page by page, and can be asked as soon as they are ready.";
    const key = [open.collection, ...open.documents.map((document) => document.name)].join("\n");
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

/** Questions that the documents answer. @returns {Promise<string[]>} */
async function examples() {
  if (!open.documents.length) return [];
  try {
    return (await call(`${base(open.collection)}/questions`)).questions;
  } catch {
    return []; // the page can be used without them
  }
}
