// @ts-check
/** A document's pages in one column that scrolls; pictures are requested when they come near, and then kept. */
import { h, motion } from "./dom.js";
import { Sheet } from "./sheet.js";

/** @typedef {import("./records.js").Place} Place */
/** @typedef {import("./records.js").Region} Region */

const POINT = 96 / 72; // CSS pixels
const WIDEST = 860; // greatest width of a page with automatic zoom, in CSS pixels

export class PagesView {
  /**
   * @param {string} collection
   * @param {string} document
   * @param {number} count pages
   * @param {(page: number) => void} onPage told which page is looked at
   */
  constructor(collection, document, count, onPage) {
    this.count = count;
    this.onPage = onPage;
    this.zoom = "auto";
    this.current = 0;
    this.sheets = Array.from({ length: count }, (_, number) => new Sheet(collection, document, number));
    this.element = h("div", { class: "pages", tabindex: "0", role: "region", "aria-label": `Pages of ${document}` }, ...this.sheets.map((sheet) => sheet.element));
    /** @type {Map<Element, Sheet>} */
    this.byElement = new Map(this.sheets.map((sheet) => [sheet.element, sheet]));
    this.near = new IntersectionObserver((entries) => entries.forEach((entry) => entry.isIntersecting && this.#load(entry.target)), { root: this.element, rootMargin: "60% 0%" });
    this.resized = new ResizeObserver(() => this.layout());
    this.element.addEventListener("scroll", () => this.#look(), { passive: true });
    this.width = 0;
    /** The region that was opened, until the reader moves; it is kept in view when pages change size. @type {Region | null} */
    this.goal = null;
    for (const event of ["wheel", "pointerdown", "touchmove", "keydown"]) this.element.addEventListener(event, () => (this.goal = null), { passive: true });
  }

  /** Begins to load pages that are near; called when this view is in the document. */
  watch() {
    this.layout();
    this.resized.observe(this.element);
    this.sheets.forEach((sheet) => this.near.observe(sheet.element));
  }

  /** Stops loading; what was loaded is kept. */
  rest() {
    this.resized.disconnect();
    this.near.disconnect();
  }

  /** @param {Element} element */
  async #load(element) {
    const sheet = this.byElement.get(element);
    if (!sheet || sheet.rendered) return;
    const known = sheet.known;
    await sheet.load();
    if (known || !sheet.known) return;
    if (!this.sheets.some((each) => each.known && each !== sheet)) this.sheets.forEach((each) => each.setSize(sheet.size, false));
    this.layout(true);
  }

  /** Sets the width of each page by the zoom and the available space. @param {boolean} [force] */
  layout(force = false) {
    const style = getComputedStyle(this.element);
    const room = this.element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const height = this.element.clientHeight - 64;
    const key = room * 10_000 + height;
    if (room <= 0 || (key === this.width && !force)) return;
    this.width = key;
    const held = this.#hold();
    for (const sheet of this.sheets) sheet.paper.style.width = `${this.#widthOf(sheet, room, height)}px`;
    if (this.goal) this.#bring(this.goal, "auto");
    else this.#restore(held);
  }

  /** @param {Sheet} sheet @param {number} room @param {number} height */
  #widthOf(sheet, room, height) {
    const [wide, high] = sheet.size;
    if (this.zoom === "width") return room;
    if (this.zoom === "auto") return Math.min(room, WIDEST);
    if (this.zoom === "page") return Math.min(room, (height * wide) / high);
    const points = sheet.known && wide > 1000 ? wide / 2 : wide;
    return points * POINT * (Number(this.zoom) / 100);
  }

  /** @param {string} zoom auto, page, width, or per cent */
  setZoom(zoom) {
    this.zoom = zoom;
    this.layout(true);
  }

  /** What is in the middle of the view, to scroll back to it after the pages have changed size. */
  #hold() {
    const middle = this.element.scrollTop + this.element.clientHeight / 2;
    const sheet = this.sheets[this.#pageAt(middle)];
    if (!sheet || !sheet.element.offsetHeight || !this.element.scrollTop) return null;
    return { sheet, share: (middle - sheet.element.offsetTop) / sheet.element.offsetHeight };
  }

  /** @param {{sheet: Sheet, share: number} | null} held */
  #restore(held) {
    if (!held) return;
    const { offsetTop, offsetHeight } = held.sheet.element;
    this.element.scrollTop = offsetTop + held.share * offsetHeight - this.element.clientHeight / 2;
  }

  /** The page at a height, by binary search. @param {number} height @returns {number} */
  #pageAt(height) {
    let [low, high] = [0, this.count - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.sheets[middle].element.offsetTop <= height) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #look() {
    const page = this.#pageAt(this.element.scrollTop + this.element.clientHeight / 3);
    if (page === this.current) return;
    this.current = page;
    this.onPage(page);
  }

  /** Scrolls to the top of a page. @param {number} page */
  goTo(page) {
    this.goal = null;
    const at = Math.max(0, Math.min(page, this.count - 1));
    this.element.scrollTo({ top: this.sheets[at].element.offsetTop - 12, behavior: Math.abs(at - this.current) > 2 ? "auto" : motion() });
  }

  /** Removes all marks. */
  clear() {
    this.sheets.forEach((sheet) => sheet.clear());
  }

  /**
   * Marks the regions of a place and shows the first.
   * @param {Place} place
   */
  async show(place) {
    const seen = this.element.scrollTop > 0;
    this.clear();
    this.goal = null;
    const marks = place.regions.filter((region) => region.page < this.count);
    for (const region of marks) this.sheets[region.page].setSize(region.page_size);
    if (marks.length && !this.sheets.some((sheet) => sheet.known && sheet.number !== marks[0].page)) {
      this.sheets.forEach((sheet) => sheet.setSize(marks[0].page_size, false));
    }
    this.layout(true);
    if (!marks.length) return this.goTo(place.page);
    this.#bring(marks[0], seen ? motion() : "auto");
    [this.goal] = marks;
    await Promise.all(marks.map((region) => this.sheets[region.page].mark(region, place.kind ?? "text")));
    return undefined;
  }

  /** Scrolls to a region: centred, or to its top if it is higher than the view. @param {Region} region @param {ScrollBehavior} behavior */
  #bring(region, behavior) {
    const { paper } = this.sheets[region.page]; // its offset is relative to the view, like that of its sheet
    const box = region.words_fraction.length ? hull(region.words_fraction) : region.bbox_fraction;
    const [top, bottom] = [box[1], box[3]].map((share) => paper.offsetTop + share * paper.offsetHeight);
    const [left, right] = [box[0], box[2]].map((share) => paper.offsetLeft + share * paper.offsetWidth);
    const [high, wide] = [this.element.clientHeight - 120, this.element.clientWidth];
    const y = bottom - top > high * 0.8 ? top - 40 : (top + bottom - high) / 2;
    const x = right - left > wide ? left - 20 : (left + right - wide) / 2;
    const far = Math.abs(y - this.element.scrollTop) > 3 * high;
    this.element.scrollTo({ top: y, left: Math.max(0, x), behavior: far ? "auto" : behavior });
  }
}

/** The smallest box that encloses all boxes. @param {import("./records.js").Box[]} boxes @returns {import("./records.js").Box} */
function hull(boxes) {
  const side = (/** @type {number} */ at, /** @type {(...values: number[]) => number} */ pick) => pick(...boxes.map((box) => box[at]));
  return [side(0, Math.min), side(1, Math.min), side(2, Math.max), side(3, Math.max)];
}
