// @ts-check
/** The bar above a document's pages: its name, the page number, zoom and search. */
import { h, tool } from "./dom.js";

const ZOOMS = [["auto", "Auto"], ["page", "Whole page"], ["width", "Full width"], ["75", "75 %"], ["100", "100 %"], ["125", "125 %"], ["150", "150 %"], ["200", "200 %"]];

export class ViewBar {
  /**
   * @param {{documents: () => void, turn: (by: number) => void, goTo: (page: number) => void, zoom: (zoom: string) => void,
   *   find: () => void, close: () => void}} acts
   */
  constructor(acts) {
    this.count = 1;
    this.name = h("bdi", { class: "name" });
    this.page = h("input", { type: "text", inputmode: "numeric", "aria-label": "Page", on: { change: () => this.#typed(acts.goTo) } });
    this.total = h("span");
    this.previous = tool("up", "Previous page", () => acts.turn(-1), { title: "Previous page (left arrow)" });
    this.next = tool("down", "Next page", () => acts.turn(1), { title: "Next page (right arrow)" });
    this.select = h("select", { class: "quiet", "aria-label": "Size of the pages", on: { change: () => acts.zoom(this.select.value) } }, ...ZOOMS.map(([value, words]) => h("option", { value, text: words })));
    this.pager = h("div", { class: "pager" }, this.previous, this.page, this.total, this.next);
    this.zooming = h("div", { class: "zoom" }, this.select);
    this.element = h("div", { class: "viewbar", role: "toolbar", "aria-label": "Document" },
      tool("grid", "All documents", acts.documents, { title: "All documents (d)" }), this.name, this.pager, this.zooming,
      tool("search", "Search in this document", acts.find, { title: "Search in this document (f)" }),
      tool("close", "Close", acts.close, { class: "tool sheet-only" }));
  }

  /** Shows which document is open. @param {string} name @param {boolean} hasPages @param {number} [count] pages */
  of(name, hasPages, count = 1) {
    this.name.textContent = name;
    this.name.title = name;
    this.count = count;
    this.total.textContent = `of ${count}`;
    this.pager.hidden = this.zooming.hidden = !hasPages;
  }

  /** Shows which page is in view. @param {number} page from 0 */
  tell(page) {
    this.page.value = String(page + 1);
    this.previous.disabled = page <= 0;
    this.next.disabled = page >= this.count - 1;
  }

  /** @param {(page: number) => void} goTo */
  #typed(goTo) {
    const page = Math.max(1, Math.min(parseInt(this.page.value, 10) || 1, this.count));
    goTo(page - 1);
    this.tell(page - 1);
  }

  /** The zoom after the next step. @param {number} by */
  stepped(by) {
    const steps = ZOOMS.map(([value]) => value).slice(3);
    const at = steps.indexOf(this.select.value);
    return steps[Math.max(0, Math.min(at < 0 ? 1 : at + by, steps.length - 1))];
  }
}
