// @ts-check
/** The field for the question, with the choice of documents, model and retriever. */
import { call } from "./api.js";
import { byId, h, icon, narrow } from "./dom.js";
import { counted } from "./documents.js";
import { change, onDocuments, open, settings } from "./state.js";

const LONG = 4000; // characters of a question from which its length is shown

export class Composer {
  /** @param {{ask: (question: string) => void, stop: () => void, openDocuments: () => void}} around */
  constructor(around) {
    this.around = around;
    this.busy = false;
    /** Whether the question is to be sent once a collection is open. */
    this.waits = false;
    this.form = byId("composer");
    this.field = byId("question");
    this.button = byId("send");
    this.note = byId("question-note");
    this.scope = byId("scope-documents");
    this.field.addEventListener("input", () => {
      this.waits = false; // a question that was edited again is not sent by itself
      this.#typed();
    });
    this.field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#send();
    });
    this.form.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      if (this.busy) this.around.stop();
      else this.#send();
    });
    this.scope.addEventListener("click", () => around.openDocuments());
    byId("model").addEventListener("change", () => change({ model: byId("model").value }));
    byId("retriever").addEventListener("change", () => change({ retriever: byId("retriever").value }));
    onDocuments(() => this.#scoped());
    this.setBusy(false);
    this.#scoped();
  }

  /** Shows whether an answer is being written: the button then stops it. @param {boolean} busy */
  setBusy(busy) {
    this.busy = busy;
    this.button.replaceChildren(icon(busy ? "stop" : "send"));
    this.button.setAttribute("aria-label", busy ? "Stop" : "Ask");
    this.button.title = busy ? "Stop" : "Ask (Enter)";
    this.#typed();
  }

  #typed() {
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight}px`;
    this.button.disabled = !this.busy && !this.field.value.trim();
    const length = this.field.value.length;
    this.note.textContent = length > LONG ? `${length.toLocaleString("en")} characters: that may be too long` : "";
    this.note.classList.toggle("over", length > LONG);
  }

  #send() {
    const question = this.field.value.trim();
    this.waits = !open.collection;
    if (!question || this.waits) return;
    this.field.value = "";
    this.#typed();
    if (narrow()) this.field.blur();
    this.around.ask(question);
  }

  #scoped() {
    const { size } = open.chosen;
    const words = size ? `${size} of ${open.documents.length} documents` : open.documents.length ? `All ${counted(open.documents.length, "document")}`.replace("All 1 document", "1 document") : open.listed ? "No documents" : "Documents";
    this.scope.replaceChildren(icon("documents"), words);
    this.scope.classList.toggle("narrowed", size > 0);
    this.scope.title = "Choose which documents are asked";
  }

  /** Fills in the retrievers of a collection, and sends a question that was asked before it was open. @param {string[]} retrievers */
  begin(retrievers) {
    fill(byId("retriever"), [["", "Standard search"], ...retrievers.map((name) => /** @type {[string, string]} */ ([name, name]))], settings.retriever);
    if (this.waits) this.#send();
  }

  /** Fills in the models that can be chosen. */
  async readModels() {
    /** @type {{name: string, default: boolean, destination: string | null}[]} */
    const models = (await call("/v1/models")).models;
    const own = models.find((model) => model.default);
    const others = models.filter((model) => !model.default);
    fill(byId("model"), [["", nameOf(own?.name ?? "")], ...others.map((model) => /** @type {[string, string]} */ ([model.name, nameOf(model.name)]))], settings.model);
    const sent = models.filter((model) => model.destination).map((model) => `${model.name}: ${model.destination}`);
    byId("model").title = sent.length ? `What writes the answer. Questions and quotes are sent to ${sent.join(", ")}` : "What writes the answer";
  }

  /** Puts a question into the field. @param {string} question */
  write(question) {
    this.field.value = question;
    this.#typed();
    this.field.focus();
  }
}

/** @param {string} model */
const nameOf = (model) => (model === "extractive" ? "Own sentences, no model" : model || "As the server is set");

/** @param {HTMLSelectElement} select @param {[string, string][]} choices @param {string} current */
function fill(select, choices, current) {
  select.replaceChildren(...choices.map(([value, text]) => h("option", { value, text })));
  select.value = choices.some(([value]) => value === current) ? current : "";
  select.hidden = choices.length < 2;
}


