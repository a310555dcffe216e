// @ts-check
/** The documents of the collection: to open one, to ask only some, to add and remove files. */
import { base, call, pageUrl, pathOf } from "./api.js";
import { confirm } from "./dialogs.js";
import { counted, follow, readDocuments } from "./documents.js";
import { fileName, h, icon, toast, tool } from "./dom.js";
import { documentsChanged, onDocuments, open } from "./state.js";

const FILTER_FROM = 9; // with so many documents or more, there is a field to find one by its name
const AT_ONCE = 60; // covers that are made at a time
const COVER = 400; // pixels across: a cover is drawn about 150 wide, and some screens have three for each of them
const WITHOUT_PAGES = new Set(["csv", "html", "markdown", "restructuredtext", "text"]); // these formats have no pages to draw

/** @typedef {import("./records.js").DocumentRecord} DocumentRecord */

export class Library {
  /** @param {{openDocument: (name: string) => void, close: () => void, upload: (files: FileList | File[]) => void, reading: HTMLElement}} around */
  constructor(around) {
    this.around = around;
    this.wanted = "";
    this.shown = AT_ONCE;
    this.made = 0;
    this.count = h("span", { class: "count" });
    this.all = h("button", { type: "button", class: "tool worded", hidden: true, text: "Ask all", on: { click: () => this.#askAll() } });
    this.search = h("input", { type: "search", "aria-label": "Find a document by its name", placeholder: "Find by name", on: { input: () => this.#find() } });
    this.shelf = h("ul", { class: "shelf" });
    this.said = h("ul");
    this.saying = h("summary");
    this.doubts = h("details", { class: "doubts", hidden: true }, this.saying, this.said);
    this.more = h("button", { type: "button", class: "button", text: "Show more", hidden: true, on: { click: () => this.#showMore() } });
    this.input = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1", "aria-hidden": "true", on: { change: () => this.#picked() } });
    this.drop = h("div", { class: "drop" },
      h("strong", { text: "Drop files here to add them" }),
      h("span", { text: "PDF, images, Markdown, HTML, CSV, reStructuredText and other text. They stay on this server." }),
      h("button", { type: "button", class: "button", on: { click: () => this.input.click() } }, icon("upload"), "Choose files"), this.input);
    this.add = h("button", { type: "button", class: "tool worded", "aria-label": "Add files", on: { click: () => this.input.click() } }, icon("upload"), h("span", { class: "wording", text: "Add files" }));
    const head = h("header", { class: "library-head" }, h("h2", { text: "Documents" }), this.count, h("span", { class: "grow" }), this.all, this.search, this.add, tool("close", "Close", () => around.close(), { class: "tool sheet-only" }));
    this.element = h("section", { class: "library", "aria-label": "Documents" }, head, around.reading, this.shelf, this.more, this.doubts, this.drop);
    onDocuments(() => this.draw());
  }

  /** Shows the documents of the collection. */
  draw() {
    const wanted = open.documents.filter((document) => document.name.toLocaleLowerCase().includes(this.wanted));
    const pages = open.documents.reduce((sum, document) => sum + document.pages, 0);
    this.count.textContent = open.documents.length ? `${counted(open.documents.length, "document")}, ${counted(pages, "page")}` : "";
    this.search.hidden = open.documents.length < FILTER_FROM;
    this.all.hidden = !open.chosen.size;
    this.drop.hidden = this.add.hidden = !open.writable;
    const before = new Map([...this.shelf.children].map((each) => [/** @type {HTMLElement} */ (each).dataset.key, each]));
    this.shelf.replaceChildren(...wanted.slice(0, this.shown).map((document) => this.#volume(document, before)));
    this.more.hidden = wanted.length <= this.shown;
    this.#drawDoubts();
    if (!wanted.length && open.listed) this.shelf.append(h("li", { class: "empty", text: open.documents.length ? "No document has such a name." : "There are no documents yet." }));
  }

  /** Lists the files that could not be read, and what was left out of others. */
  #drawDoubts() {
    const left = open.documents.filter((document) => document.warnings.length);
    const counts = [open.failures.length && `${counted(open.failures.length, "file")} could not be read`, left.length && `${counted(left.length, "document")} read with warnings`];
    this.doubts.hidden = !counts.some(Boolean);
    this.saying.textContent = counts.filter(Boolean).join(", ");
    const rows = [...open.failures.map(({ name, reason }) => ({ name, said: [reason], remove: !isDocument(name) && this.#remover(name) })), ...left.map(({ name, warnings }) => ({ name, said: warnings, remove: false }))];
    this.said.replaceChildren(...rows.map(({ name, said, remove }) => h("li", {}, h("span", { class: "file" }, fileName(name)), remove, ...said.map((text) => h("p", { dir: "auto", text })))));
  }

  /** @param {DocumentRecord} document @param {Map<string | undefined, Element>} before */
  #volume(document, before) {
    const key = `${open.collection}\n${document.name}\n${document.content}`;
    const kept = /** @type {HTMLElement | undefined} */ (before.get(key));
    const box = kept?.querySelector("input");
    if (kept && box) {
      box.checked = open.chosen.has(document.name);
      return kept;
    }
    return this.#make(document, key);
  }

  /** @param {DocumentRecord} document @param {string} key */
  #make(document, key) {
    const name = document.name;
    const id = `ask-${(this.made += 1)}`;
    const box = h("input", { type: "checkbox", id, title: "Ask only the documents that are ticked", "aria-label": `Ask only ${name}` });
    box.checked = open.chosen.has(name);
    box.addEventListener("change", () => {
      open.chosen[box.checked ? "add" : "delete"](name);
      documentsChanged();
    });
    const label = h("label", { for: id }, fileName(name), h("span", { text: aboutOf(document) }));
    return h("li", { class: "volume", "data-key": key }, cover(document, () => this.around.openDocument(name)), h("div", { class: "title" }, box, label), this.#remover(name));
  }

  /** @param {string} name */
  #remover(name) {
    return open.writable && tool("trash", `Remove ${name}`, () => this.#remove(name), { class: "tool remove" });
  }

  /** @param {string} name */
  async #remove(name) {
    const read = isDocument(name);
    const sure = read
      ? confirm("Remove this document?", `“${name}” is removed with everything that was read of it. Earlier answers that cite it stay, without their pages.`, "Remove")
      : confirm("Forget this file?", `“${name}” could not be read, and will not be listed any more.`, "Forget");
    if (!(await sure)) return;
    try {
      const { job } = await call(`${base(open.collection)}/documents/${pathOf(name)}`, { method: "DELETE" });
      const ended = await follow(job.id, () => {});
      if (ended.status !== "done") throw new Error(ended.error ?? "It was not removed.");
      open.chosen.delete(name);
      await readDocuments();
      toast(read ? "The document is removed" : "The file is forgotten");
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error));
    }
  }

  #picked() {
    if (this.input.files?.length) this.around.upload([...this.input.files]);
    this.input.value = "";
  }

  #find() {
    this.wanted = this.search.value.trim().toLocaleLowerCase();
    this.shown = AT_ONCE;
    this.draw();
  }

  #showMore() {
    this.shown += AT_ONCE;
    this.draw();
  }

  #askAll() {
    open.chosen.clear();
    documentsChanged();
  }
}

/** @param {DocumentRecord} document */
function aboutOf(document) {
  const meta = Object.values(document.metadata ?? {}).join(", ");
  return [counted(document.pages, "page"), meta, document.warnings?.length ? counted(document.warnings.length, "warning") : ""].filter(Boolean).join(" · ");
}

/** @param {DocumentRecord} document @param {() => void} show */
function cover(document, show) {
  const button = h("button", { type: "button", class: "cover", "aria-label": `Read ${document.name}`, title: document.name, on: { click: show } });
  const kind = h("span", { class: "kind", text: document.format });
  if (WITHOUT_PAGES.has(document.format)) {
    button.append(kind);
    return button;
  }
  const image = h("img", { src: `${pageUrl(open.collection, document.name, 0)}/image?format=jpeg&width=${COVER}`, alt: "", loading: "lazy", decoding: "async", fetchpriority: "low" });
  image.addEventListener("error", () => image.replaceWith(kind));
  button.append(image);
  return button;
}

/** @param {string} name */
function isDocument(name) {
  return open.documents.some((document) => document.name === name);
}
