// @ts-check
/** The bar below the pages: which citation is open, what the gate found, and buttons to the next and previous one. */
import { fileName, h, tool } from "./dom.js";
import { dressChip, excerpt, verdictLine } from "./marks.js";
import { hasPicture, placeOf } from "./records.js";
import { copyLink } from "./share.js";

/** @typedef {import("./records.js").Place} Place */
/**
 * @typedef {{citation: import("./records.js").Citation, index: number, count: number, isPlace: boolean, back: () => void}} Claim
 * `isPlace`: the answer states nothing by it, and only shows it as a place to look at.
 */

export class EvidenceBar {
  /** @param {(by: number) => void} step @param {() => void} close */
  constructor(step, close) {
    this.element = h("div", { class: "evidence", role: "region", "aria-label": "Open citation", hidden: true });
    this.step = step;
    this.close = close;
  }

  /** Shows what is open: a citation, or only a quote; null for both hides the bar. @param {Claim | null} claim @param {Place | null} [place] */
  show(claim, place = null) {
    this.element.hidden = !claim && !place?.quote_id;
    if (claim) this.#showClaim(claim, place);
    else if (place?.quote_id) this.#showQuote(place);
    else this.element.replaceChildren();
  }

  /** @param {Place} place */
  #showQuote(place) {
    const where = h("p", {}, fileName(place.document), `, ${placeOf(place)}`);
    const section = place.has_pages && place.section ? h("p", { class: "note" }, h("bdi", { text: place.section })) : null;
    this.element.replaceChildren(h("div", { class: "told" }, where, ...(section ? [section] : [])), h("div", { class: "steps" }, linkTo(place), tool("close", "Take the mark away", () => this.close())));
  }

  /** @param {Claim} claim @param {Place | null} place */
  #showClaim(claim, place) {
    const { citation, index, count } = claim;
    const chip = dressChip(h("button", { type: "button", class: "chip", "aria-current": "true", title: "Back to the answer", on: { click: () => claim.back() } }), citation);
    // The quoted words, shown by the style sheet if the page is too small to be read.
    const says = citation.quoted && !hasPicture(citation) && h("p", { class: "says", dir: "auto" }, ...excerpt(citation));
    const told = h("div", { class: "told" }, h("p", {}, chip, " ", fileName(citation.document), `, ${placeOf(citation)}`), verdictLine(citation), says, h("p", { class: "note", text: noteOn(claim) }));
    const steps = h("div", { class: "steps" }, tool("previous", "Previous citation", () => this.step(-1), { title: "Previous citation (p)" }), h("span", { text: `${index + 1} of ${count}` }), tool("next", "Next citation", () => this.step(1), { title: "Next citation (n)" }), place && linkTo(place));
    this.element.replaceChildren(told, steps);
  }
}

/** @param {Place} place */
const linkTo = (place) => tool("link", "Copy the link of this place", () => copyLink(place.collection, place.quote_id ?? ""));

/** A note on how precisely the evidence is located. @param {Claim} claim */
function noteOn({ citation, isPlace }) {
  const [own, ...others] = citation.regions;
  const elsewhere = others.some((region) => region.page !== own?.page) ? "on another page" : "in another column";
  const pages = others.length > 0 ? ` A part of it stands ${elsewhere}, and is marked there.` : "";
  if (citation.evidence === "words") {
    const estimated = citation.regions.some((region) => region.estimated) ? " OCR placed them, to about a letter." : "";
    return `${isPlace ? "The words that the answer shows of it" : "The words that support the claim"} are marked.${estimated}${pages}`;
  }
  if (citation.quoted === "") return ""; // an answer that counts something quotes no words of the page
  if (citation.kind === "image") return `The whole ${hasPicture(citation) ? "image" : "table"} is marked.${pages}`;
  if (citation.evidence === "element") return `${isPlace ? "The" : "Which of its words support the claim is not sure: the"} whole passage is marked.${pages}`;
  return pages.trim();
}
