// @ts-check
/** The list of quotes that an answer was made from, each with a button that opens its page. */
import { quoteUrl } from "./api.js";
import { h, icon } from "./dom.js";
import { placeOf, wordsOf } from "./records.js";

/** @param {import("./turn.js").Turn} turn @returns {HTMLElement | null} */
export function makeSources(turn) {
  const { context, answer } = turn;
  if (!context || !answer) return null;
  const hits = [...context.texts.map((hit, at) => ({ hit, number: at + 1 })), ...context.images.map((hit, at) => ({ hit, number: at + 1 }))];
  if (!hits.length) return null;
  const cited = new Set(answer.citations.map((citation) => citation.quote_id));
  hits.sort((a, b) => Number(cited.has(b.hit.quote.id)) - Number(cited.has(a.hit.quote.id)));
  const title = answer.status === "abstained" ? "Quotes that were considered" : "Sources";
  const list = h("ol");
  const details = h("details", { class: "sources" }, h("summary", {}, `${title} `, h("span", { class: "count", text: String(hits.length) })), list);
  // The list is filled when it is first opened, so that its images are not requested before.
  details.addEventListener("toggle", () => list.childElementCount || list.append(...hits.map((each) => entry(turn, each, cited))));
  return details;
}

/** Opens the sources of all answers, as paper shows none that are closed. */
export function openSources() {
  for (const details of document.querySelectorAll(".turn:not(.abstained) .sources")) {
    details.setAttribute("open", "");
    details.dispatchEvent(new Event("toggle")); // the browser's own comes after the page is printed
  }
}

/** @param {import("./turn.js").Turn} turn @param {{hit: import("./records.js").Hit, number: number}} each @param {Set<string>} cited */
function entry(turn, { hit, number }, cited) {
  const { quote } = hit;
  const used = cited.has(quote.id);
  const open = () => turn.around.showHit({ collection: turn.around.collection, ...quote, quote_id: quote.id, regions: [] });
  const image = quote.kind === "image" && (quote.image || quote.has_pages) && h("img", { src: `${quoteUrl(turn.around.collection, quote.id)}/image`, alt: quote.caption ?? "", loading: "lazy" });
  return h("li", { class: used ? "source" : "source uncited" },
    h("span", { class: "chip number" }, quote.kind === "image" && icon("image"), String(number)),
    h("div", {},
      h("button", { type: "button", class: "where", on: { click: open } }, h("bdi", { class: "document", text: quote.document }), " ", h("span", { class: "page", text: placeOf(quote) })),
      !used && h("span", { class: "label", text: " · not cited" }),
      image,
      h("p", { class: "says", dir: "auto", text: wordsOf(quote) || "No words were read here." })));
}
