// @ts-check
/** Search within the document that is open. */
import { base, call } from "./api.js";
import { h, tool } from "./dom.js";
import { placeOf } from "./records.js";

const MAX_HITS = 20;

export class Find {
  /** @param {(place: import("./records.js").Place) => void} show */
  constructor(show) {
    this.show = show;
    this.collection = "";
    this.document = "";
    this.hasPages = true;
    this.asking = 0;
    this.input = h("input", { type: "search", "aria-label": "Search in this document", placeholder: "Search in this document", dir: "auto", maxlength: "500" });
    this.list = h("ol");
    this.note = h("p", { role: "status", hidden: true });
    const form = h("form", { role: "search" }, this.input, tool("close", "Close the search", () => this.close()));
    this.element = h("div", { class: "find", hidden: true }, form, this.note, this.list);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#search();
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.close();
    });
  }

  /** Sets the document of a place as the one to search in. @param {import("./records.js").Place} place */
  of({ collection, document, has_pages: hasPages }) {
    if (this.document !== document || this.collection !== collection) this.#clear();
    Object.assign(this, { collection, document, hasPages });
  }

  /** Shows or hides the field. */
  toggle() {
    if (!this.element.hidden) return this.close();
    this.element.hidden = false;
    this.input.focus();
  }

  /** Hides the field and what was found. */
  close() {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.#clear();
  }

  #clear() {
    this.asking += 1;
    this.input.value = "";
    this.list.replaceChildren();
    this.note.hidden = true;
  }

  async #search() {
    const asking = (this.asking += 1);
    const question = this.input.value.trim();
    if (!question) return;
    try {
      const body = { question, k: MAX_HITS, filters: { documents: [this.document] } };
      const { hits } = await call(`${base(this.collection)}/search`, { method: "POST", body });
      if (asking === this.asking) this.#list(hits);
    } catch (error) {
      if (asking === this.asking) this.#tell(error instanceof Error ? error.message : String(error));
    }
  }

  /** @param {string} words */
  #tell(words) {
    this.note.hidden = false;
    this.note.textContent = words;
  }

  /** @param {any[]} hits */
  #list(hits) {
    this.#tell(hits.length ? `${hits.length} places, the nearest first` : "Nothing in this document is near these words.");
    this.list.replaceChildren(...hits.map((hit) => {
      const quote = hit.quote ?? { ...hit, id: hit.quote_id, has_pages: this.hasPages };
      const button = h("button", { type: "button" }, h("span", { class: "page", text: placeOf(quote) }), h("span", { class: "says", dir: "auto", text: quote.text || quote.caption || "An image" }));
      button.addEventListener("click", () => {
        this.list.querySelector("[aria-current]")?.removeAttribute("aria-current");
        button.setAttribute("aria-current", "true");
        this.show({ ...quote, collection: this.collection, quote_id: quote.id, regions: hit.regions });
      });
      return h("li", {}, button);
    }));
  }
}
