// @ts-check
/** One page of a document: its picture, requested when the page comes near, and the regions marked on it. */
import { call, pageUrl } from "./api.js";
import { h } from "./dom.js";
import { wordsOf } from "./records.js";

/** @typedef {import("./records.js").Region} Region */

const A4 = /** @type {[number, number]} */ ([595, 842]);

export class Sheet {
  /** @param {string} collection @param {string} document @param {number} number from 0 */
  constructor(collection, document, number) {
    this.url = pageUrl(collection, document, number);
    this.number = number;
    this.size = A4;
    this.known = false;
    /** @type {Promise<boolean> | null} */
    this.rendered = null;
    this.marking = 0;
    this.label = h("span", { text: String(number + 1) });
    this.paper = h("div", { class: "paper" });
    this.element = h("article", { class: "sheet", "aria-label": `Page ${number + 1}` }, h("p", { class: "number", "aria-hidden": "true" }, this.label), this.paper);
  }

  /** @param {[number, number]} size of the page in points @param {boolean} [known] whether it is this page's own size */
  setSize(size, known = true) {
    if (this.known && !known) return;
    this.size = size;
    this.known ||= known;
    this.paper.style.aspectRatio = `${size[0]} / ${size[1]}`;
  }

  /** Requests the page's picture, once. Resolves to true when it is drawn, to false if it cannot be. @returns {Promise<boolean>} */
  load() {
    this.rendered ??= this.#draw();
    return this.rendered;
  }

  async #draw() {
    const image = h("img", { alt: `Picture of page ${this.number + 1}`, draggable: "false" });
    image.src = `${this.url}/image`;
    try {
      await image.decode();
    } catch {
      await this.#showText();
      return false;
    }
    // No citation gave the size of this page, so that its picture's size is taken.
    if (!this.known) this.setSize([image.naturalWidth, image.naturalHeight]);
    this.paper.prepend(image);
    image.classList.add("rendered");
    return true;
  }

  /** Shows the text of a page that cannot be drawn. */
  async #showText() {
    const failed = h("div", { class: "failed", tabindex: "0" }, h("p", { class: "small", text: "The picture of this page cannot be shown. This is the text that was read of it:" }));
    try {
      const { quotes } = await call(this.url);
      failed.append(...quotes.map((/** @type {import("./records.js").Quote} */ quote) => h("p", { dir: "auto", text: wordsOf(quote) })));
    } catch (error) {
      failed.firstElementChild?.replaceChildren(`This page cannot be shown: ${error instanceof Error ? error.message : error}`);
    }
    this.paper.prepend(failed);
  }

  /** Removes all marks. */
  clear() {
    this.marking += 1;
    this.paper.querySelectorAll(".region, .word").forEach((mark) => mark.remove());
  }

  /**
   * Marks a region once the page's picture is drawn: its element lightly, and its words, if they are known, darker.
   * Positions are percentages of the picture, whatever its size.
   * @param {Region} region
   * @param {"text" | "image"} kind
   */
  async mark(region, kind) {
    this.setSize(region.page_size);
    const marking = this.marking;
    const drawn = await this.load();
    if (!drawn || marking !== this.marking) return;
    // Images get a frame, as a fill would change the colours by which they are read. If the image reaches an edge of
    // the page, the frame is drawn inside it.
    const [left, top, right, bottom] = region.bbox_fraction;
    const frame = Math.min(left, top, 1 - right, 1 - bottom) < 0.01 ? "image inside" : "image";
    const look = kind === "image" ? frame : region.words_fraction.length ? "" : "alone";
    const element = h("div", { class: `region arrived ${look}`.trim() });
    const words = region.words_fraction.map((box) => placed(h("div", { class: "word" }), box));
    this.paper.append(placed(element, region.bbox_fraction), ...words);
  }
}

/** Sets an element's position by a box in fractions of the page. @param {HTMLElement} element @param {import("./records.js").Box} box */
export function placed(element, [left, top, right, bottom]) {
  element.style.left = `${left * 100}%`;
  element.style.top = `${top * 100}%`;
  element.style.width = `${(right - left) * 100}%`;
  element.style.height = `${(bottom - top) * 100}%`;
  return element;
}
