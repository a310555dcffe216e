// @ts-check
/** A document without pages of its own: its quotes as text, the cited one marked. */
import { call, pageUrl, quoteUrl } from "./api.js";
import { h, motion } from "./dom.js";
import { markedWords } from "./marks.js";
import { wordsOf } from "./records.js";

/** @typedef {import("./records.js").Quote} Quote */
/** @typedef {import("./records.js").Place} Place */

export class WrittenView {
  /** @param {string} collection @param {string} document @param {number} count parts */
  constructor(collection, document, count) {
    this.collection = collection;
    this.document = document;
    this.count = count;
    this.current = 0;
    this.text = h("div", { class: "written" });
    this.element = h("div", { class: "pages", tabindex: "0", role: "region", "aria-label": `Text of ${document}` }, this.text);
    /** @type {Map<string, {quote: Quote, element: HTMLElement}>} */
    this.quotes = new Map();
    /** @type {Promise<void> | null} */
    this.loaded = null;
  }

  watch() {}
  rest() {}
  /** @param {string} _zoom */
  setZoom(_zoom) {}

  /** Reads every part, once. */
  load() {
    this.loaded ??= this.#read();
    return this.loaded;
  }

  async #read() {
    for (let part = 0; part < this.count; part += 1) {
      const { quotes } = await call(pageUrl(this.collection, this.document, part));
      for (const quote of quotes) this.#add(quote);
    }
  }

  /** @param {Quote} quote */
  #add(quote) {
    const words = wordsOf(quote);
    if (!words && !quote.image) return;
    const picture = quote.image && h("img", { src: `${quoteUrl(this.collection, quote.id)}/image`, alt: quote.caption ?? "", loading: "lazy" });
    const element = h("div", { class: `layout-${quote.layout}`, dir: "auto" }, picture, h("div", { class: "words" }));
    this.quotes.set(quote.id, { quote, element });
    write(quote, element, [words]);
    this.text.append(element);
  }

  /** Removes the mark. */
  clear() {
    for (const { quote, element } of this.quotes.values()) {
      if (!element.classList.contains("cited-quote")) continue;
      element.classList.remove("cited-quote");
      write(quote, element, [wordsOf(quote)]);
    }
  }

  /** Marks the quote of a place, and the words in it that support the claim. @param {Place} place */
  async show(place) {
    await this.load();
    this.clear();
    const found = this.quotes.get(place.quote_id ?? "");
    if (!found) return;
    found.element.classList.add("cited-quote");
    // Spans count characters of `quoted`, which may be shorter than the text that is shown of the quote.
    if (place.quoted) write(found.quote, found.element, markedWords(place.quoted, place.spans ?? []));
    found.element.scrollIntoView({ block: "center", behavior: motion() });
  }

  /** @param {number} page */
  goTo(page) {
    const first = [...this.quotes.values()].find(({ quote }) => quote.page >= page);
    first?.element.scrollIntoView({ block: "start", behavior: motion() });
  }
}

/** Writes the words of a quote, of which some may be marked. @param {Quote} quote @param {HTMLElement} element @param {(Node | string)[]} words */
function write(quote, element, words) {
  element.querySelector(".words")?.replaceChildren(...(quote.layout === "table" ? [tableOf(words)] : words));
}

/**
 * Makes a table of words that have a line for each row and bars between the cells.
 * @param {(Node | string)[]} words
 */
function tableOf(words) {
  let cell = h("td");
  let row = h("tr", {}, cell);
  const table = h("table", {}, row);
  for (const part of words) {
    const isMarked = typeof part !== "string";
    const lines = (isMarked ? part.textContent ?? "" : part).split("\n");
    lines.forEach((line, nth) => {
      if (nth) table.append((row = h("tr", {}, (cell = h("td")))));
      line.split(/ \|(?: |$)/).forEach((text, at) => {
        if (at) row.append((cell = h("td")));
        if (text) cell.append(isMarked ? h("mark", { class: "cited", text }) : text);
      });
    });
  }
  const columns = Math.max(...[...table.rows].map((each) => each.cells.length));
  for (const each of table.rows) if (each.cells.length === 1) each.cells[0].colSpan = columns; // such as a caption
  return h("div", { class: "table" }, table);
}
