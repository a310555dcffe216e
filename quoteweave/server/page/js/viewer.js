// @ts-check
/** The right pane: the documents of the collection, or one document opened at a place. */
import { Problem, call, pageUrl, quoteUrl } from "./api.js";
import { byId, h, icon, narrow, onNarrow, say, toast } from "./dom.js";
import { EvidenceBar } from "./evidence.js";
import { Find } from "./find.js";
import { markedWords } from "./marks.js";
import { PagesView } from "./pages.js";
import { placeOf } from "./records.js";
import { open } from "./state.js";
import { ViewBar } from "./viewbar.js";
import { WrittenView } from "./written.js";

/** @typedef {import("./records.js").Place} Place */
/** @typedef {PagesView | WrittenView} View */

const KEPT = 6; // documents whose pages stay in memory

export class Viewer {
  /** @param {HTMLElement} library what is shown while no document is open */
  constructor(library) {
    this.root = byId("viewer");
    this.library = library;
    /** @type {Map<string, View>} */
    this.views = new Map();
    /** @type {View | null} */
    this.view = null;
    this.document = "";
    this.opening = 0;
    /** @type {HTMLElement | null} */
    this.from = null;
    this.evidence = new EvidenceBar((by) => this.onStep(by), () => this.#clear());
    this.find = new Find((place) => this.open(place, { keepFind: true }));
    /** @type {(by: number) => void} */
    this.onStep = () => {};
    this.bar = new ViewBar({
      documents: () => this.showLibrary(true),
      turn: (by) => this.turn(by),
      goTo: (page) => this.view?.goTo(page),
      zoom: (zoom) => this.setZoom(zoom),
      find: () => this.toggleFind(),
      close: () => this.close(),
    });
    this.stage = h("div", { class: "stage" }, this.evidence.element);
    this.panel = h("section", { class: "viewer", "aria-label": "Document", hidden: true }, this.bar.element, this.find.element, this.stage);
    this.panel.addEventListener("keydown", (event) => this.#key(event));
    this.root.append(this.library, this.panel);
    onNarrow(() => this.sheet(this.root.classList.contains("open") && !this.panel.hidden));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.turn(by);
  }

  /**
   * Opens a document at a place. Pages that are shown already are not requested again.
   * @param {Place} place
   * @param {{claim?: import("./evidence.js").Claim | null, from?: HTMLElement | null, keepFind?: boolean}} [more]
   */
  async open(place, { claim = null, from = null, keepFind = false } = {}) {
    const opening = (this.opening += 1);
    if (from) this.from = from;
    this.#reveal();
    if (!keepFind && place.document !== this.document) this.find.close();
    try {
      const complete = await located(place);
      if (complete.gone && opening === this.opening) return this.#showKept(complete, claim);
      const view = await this.#viewOf(complete);
      if (opening !== this.opening) return;
      this.#use(view, complete);
      this.evidence.show(claim, complete);
      await view.show(complete);
      if (opening === this.opening) this.#told(complete.regions[0]?.page ?? complete.page);
      say(`${complete.document}, ${placeOf(complete)} is shown`);
    } catch (error) {
      if (opening === this.opening) this.#failed(place, error);
    }
  }

  /** Shows the pane: on small screens as a sheet over the answer. */
  #reveal() {
    this.library.hidden = true;
    this.panel.hidden = false;
    this.sheet(true);
  }

  /** Opens or closes the sheet of small screens. @param {boolean} shown */
  sheet(shown) {
    const over = shown && narrow();
    this.root.classList.toggle("open", shown);
    this.root.setAttribute("role", over ? "dialog" : "complementary");
    if (over) this.root.setAttribute("aria-modal", "true");
    else this.root.removeAttribute("aria-modal");
    byId("left").inert = over;
  }

  /** @param {Place} place @returns {Promise<View>} */
  async #viewOf(place) {
    const content = listed(place)?.content ?? "";
    const key = [place.collection, place.document, content].join("\n"); // a changed file gets a new view
    const kept = this.views.get(key);
    if (kept) {
      this.views.delete(key);
      this.views.set(key, kept);
      return kept;
    }
    const count = await pagesOf(place);
    const made = place.has_pages
      ? new PagesView(place.collection, place.document, count, (page) => this.#told(page))
      : new WrittenView(place.collection, place.document, count);
    made.setZoom(this.bar.select.value);
    this.views.set(key, made);
    if (this.views.size > KEPT) this.views.delete(/** @type {string} */ (this.views.keys().next().value));
    return made;
  }

  /** @param {View} view @param {Place} place */
  #use(view, place) {
    this.document = place.document;
    this.bar.of(place.document, place.has_pages, view.count);
    this.find.of(place);
    if (this.view === view) return;
    this.view?.rest();
    this.view?.element.remove();
    this.view = view;
    this.stage.querySelector(".notice")?.remove();
    this.stage.prepend(view.element);
    view.watch();
  }

  /** Shows a quote as it was cited, without its page, if the document has changed so that the box would be wrong. @param {Place} place @param {import("./evidence.js").Claim | null} claim */
  #showKept(place, claim) {
    const words = h("blockquote", { dir: "auto" }, ...markedWords(place.quoted ?? "", place.spans ?? []));
    this.#showInstead(place, h("div", { class: "notice kept" }, h("h3", { text: "The document has changed, or was removed" }), h("p", { text: "This is what it said when it was cited:" }), words));
    this.evidence.show(claim, place);
  }

  /** @param {Place} place @param {unknown} error */
  #failed(place, error) {
    this.#showInstead(place, h("div", { class: "notice error", role: "alert" }, h("h3", {}, icon("alert"), "The document cannot be shown"), h("p", { text: error instanceof Error ? error.message : String(error) })));
  }

  /** Shows a notice in place of the pages. @param {Place} place @param {HTMLElement} notice */
  #showInstead(place, notice) {
    this.view?.rest();
    this.view?.element.remove();
    this.view = null;
    this.document = place.document;
    this.bar.of(place.document, false);
    this.evidence.show(null);
    this.stage.querySelector(".notice")?.remove();
    this.stage.prepend(notice);
  }

  /** @param {number} page */
  #told(page) {
    this.bar.tell(page);
    if (this.view) this.view.current = page;
  }

  /** Turns pages. @param {number} by */
  turn(by) {
    if (!this.view || this.panel.hidden) return;
    const page = Math.max(0, Math.min(this.view.current + by, this.view.count - 1));
    this.view.goTo(page);
    this.#told(page);
  }

  /** @param {string} zoom */
  setZoom(zoom) {
    this.bar.select.value = zoom;
    this.views.forEach((view) => view.setZoom(zoom));
  }

  /** Zooms in or out by a step. @param {number} by */
  zoomBy(by) {
    this.setZoom(this.bar.stepped(by));
  }

  /** Opens or closes the search within the document. */
  toggleFind() {
    if (!this.panel.hidden) this.find.toggle();
  }

  /** Opens a document at its first page. @param {string} document */
  async openDocument(document) {
    const opening = (this.opening += 1);
    const { collection } = open;
    try {
      const { has_pages: hasPages } = await call(pageUrl(collection, document, 0));
      if (opening === this.opening) await this.open({ collection, document, page: 0, has_pages: hasPages, regions: [] });
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error));
    }
  }

  /** Opens a quote by its id. @param {string} collection @param {string} id */
  async openQuote(collection, id) {
    const { quote, regions, cited_in: kept } = await call(quoteUrl(collection, id));
    await this.open({ ...quote, collection, quote_id: quote.id, regions, quoted: quote.text || null, gone: Boolean(kept) });
  }

  /** Shows the documents. @param {boolean} [sheet] whether to open the sheet of small screens */
  showLibrary(sheet = false) {
    this.opening += 1;
    this.#clear();
    this.panel.hidden = true;
    this.library.hidden = false;
    if (sheet) this.sheet(true);
    if (sheet) /** @type {HTMLElement | null} */ (this.library.querySelector("button, input"))?.focus({ preventScroll: true });
  }

  #clear() {
    this.view?.clear();
    this.evidence.show(null);
  }

  /** Closes the sheet, and gives the focus back to where it was opened from; returns whether there was one. */
  close() {
    if (!narrow() || !this.root.classList.contains("open")) return false;
    this.sheet(false);
    this.from?.focus();
    return true;
  }
}

/** Quotes that were asked for, and the contents of the documents when they were. @type {Map<string, Promise<any>>} */
const found = new Map();
let contents = "";

/** A place with its regions, which are requested if it has none yet. @param {Place} place @returns {Promise<Place>} */
async function located(place) {
  const known = place.regions.length > 0 || !place.has_pages;
  if (place.gone || !place.quote_id || (known && !place.earlier)) return place;
  if (contents !== open.contents) found.clear();
  contents = open.contents;
  const url = quoteUrl(place.collection, place.quote_id);
  if (!found.has(url)) found.set(url, call(url));
  try {
    const { regions, cited_in: kept } = await found.get(url);
    return { ...place, regions: known ? place.regions : regions, gone: Boolean(kept) };
  } catch (error) {
    found.delete(url);
    if (!(error instanceof Problem) || error.status !== 404) throw error;
    return { ...place, gone: true };
  }
}

/** The document of a place, if it belongs to the open collection. @param {Place} place */
function listed(place) {
  return place.collection === open.collection ? open.documents.find((each) => each.name === place.document) : undefined;
}

/** How many pages a place's document has. @param {Place} place @returns {Promise<number>} */
async function pagesOf(place) {
  const document = listed(place);
  if (document) return document.pages;
  const page = await call(pageUrl(place.collection, place.document, place.page)); // the place is in another collection
  return page.pages;
}
