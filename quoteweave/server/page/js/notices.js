// @ts-check
/** Says what went wrong in plain words, and what can be done. */
import { h, icon } from "./dom.js";

/** @type {Record<string, string>} */
const ADVICE = {
  "question-too-long": "Shorten the question, or ask its parts one after the other.",
  "model-unavailable": "The documents can still be asked without the model.",
  "index-missing": "This retriever has no index here. Choose another one below the question.",
  "index-of-other-settings": "Choose another retriever below the question.",
  "no-such-conversation": "It may have been deleted. Begin a new one above, and ask again.",
  "no-such-collection": "It may have been removed. Choose another collection above.",
  "collection-locked": "Another program is writing to the collection. Try again in a moment.",
  "budget-spent": "The limit that was set for spending is reached.",
  busy: "Wait a moment, then ask again.",
  "shutting-down": "It may be started again at once. Wait a moment, then ask again.",
  "too-slow": "Ask again, or ask a shorter question.",
};

/** @param {import("./api.js").Problem} problem */
function adviceFor(problem) {
  if (problem.status === 0) return "Check that the server runs, then ask again. Nothing that you wrote is lost.";
  if (problem.status === 429) return "Too many questions at once. Wait a moment, then ask again.";
  if (problem.status === 403) return "The key that you signed in with does not allow this.";
  if (problem.status === 413) return ADVICE["question-too-long"];
  return ADVICE[problem.kind] ?? "";
}

/**
 * Makes the notice of a problem, with a button to ask again, and one to answer without a model if that may help.
 * @param {import("./api.js").Problem} problem
 * @param {(model?: string) => void} again
 */
export function problemNotice(problem, again) {
  const advice = adviceFor(problem);
  const choices = [
    problem.fallback && h("button", { type: "button", class: "button first", text: "Answer from the documents’ own sentences", on: { click: () => again(problem.fallback) } }),
    h("button", { type: "button", class: "button", text: "Ask again", on: { click: () => again() } }),
  ];
  return h("div", { class: "notice error", role: "alert" },
    h("h3", {}, icon("alert"), problem.title),
    problem.detail && h("p", { dir: "auto", text: problem.detail }),
    advice && h("p", { text: advice }),
    h("div", { class: "choices" }, ...choices),
    problem.request && h("p", { class: "small", text: `Request ${problem.request}, as the server’s log names it.` }));
}
