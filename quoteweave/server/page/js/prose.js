// @ts-check
/** Writes an answer's text with its marks and images in place, and updates it while the answer arrives. */
import { h } from "./dom.js";
import { SIGN, makeBlock, readBlocks, standIn } from "./markdown.js";
import { makeChip, pictureUrl } from "./marks.js";
import { hasPicture, unitsOf } from "./records.js";

/** @typedef {import("./records.js").Citation} Citation */
/** @typedef {{start: number, end: number, citations: {citation: Citation, place: number}[]}} Mark */

/**
 * The marks of a text with the citations of each.
 * @param {Citation[]} citations in the order of the text
 * @returns {Mark[]}
 */
function marksOf(citations) {
  /** @type {Mark[]} */
  const marks = [];
  citations.forEach((citation, place) => {
    const last = marks[marks.length - 1];
    if (last && last.start === citation.start) last.citations.push({ citation, place });
    else marks.push({ start: citation.start, end: citation.end, citations: [{ citation, place }] });
  });
  return marks;
}

/** The summary of an image that its mark gives. @param {Citation} citation */
const summaryOf = (citation) => /^!\[([\s\S]*)\]\(/.exec(citation.mark)?.[1].replace(/\s+/g, " ").trim() || `Image ${citation.number}`;

/** An element that shows a text with citations, and is updated with it. Unchanged parts, above all images, are kept. */
export class Prose {
  /**
   * @param {string} collection
   * @param {(place: number, chip: HTMLElement) => void} open called with the place of a citation whose image is pressed
   */
  constructor(collection, open) {
    this.element = h("div", { class: "prose" });
    this.collection = collection;
    this.open = open;
    /** @type {{source: string, elements: HTMLElement[]}[]} */
    this.written = [];
  }

  /**
   * Shows a text with its citations.
   * @param {string} text
   * @param {Citation[]} citations
   */
  write(text, citations) {
    const marks = marksOf(citations);
    const blocks = readBlocks(withStandIns(text, marks));
    const same = this.written.findIndex((block, place) => block.source !== blocks[place]?.source);
    const kept = same < 0 ? Math.min(this.written.length, blocks.length) : same;
    for (const block of this.written.splice(kept)) block.elements.forEach((element) => element.remove());
    for (const block of blocks.slice(kept)) {
      const elements = makeBlock(block, (place) => this.#make(marks[place]));
      this.element.append(...elements);
      this.written.push({ source: block.source, elements });
    }
  }

  /** @param {Mark | undefined} mark */
  #make(mark) {
    if (!mark) return { inline: null, after: null };
    const chips = mark.citations.map(({ citation, place }) => makeChip(citation, place));
    const { citation, place } = mark.citations[0];
    if (hasPicture(citation)) return { inline: null, after: this.#figure(citation, place, chips[0]) };
    return { inline: h("span", {}, ...chips), after: null };
  }

  /** @param {Citation} citation @param {number} place @param {HTMLElement} chip */
  #figure(citation, place, chip) {
    const summary = summaryOf(citation);
    const image = h("img", { src: pictureUrl(this.collection, citation), alt: summary });
    const frame = h("button", { type: "button", class: "frame", "aria-label": `Show on its page: ${summary}`, on: { click: () => this.open(place, chip) } }, image);
    image.addEventListener("error", () => {
      frame.classList.add("missing");
      frame.replaceChildren("The picture cannot be shown. Press to see its page.");
    });
    return h("figure", { class: "shown" }, frame, h("figcaption", { dir: "auto" }, chip, ` ${summary}`));
  }
}

/** Replaces each mark by characters that stand for it, for `readBlocks`. @param {string} text @param {Mark[]} marks */
function withStandIns(text, marks) {
  const unit = unitsOf(text);
  let at = 0;
  let result = "";
  marks.forEach((mark, place) => {
    const [start, end] = [unit(mark.start), unit(mark.end)];
    if (start < at || end > text.length) return;
    result += text.slice(at, start).replaceAll(SIGN, "\ufffd") + standIn(place);
    at = end;
  });
  return result + text.slice(at).replaceAll(SIGN, "\ufffd");
}
