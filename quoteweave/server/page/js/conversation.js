// @ts-check
/** The questions and answers of one conversation, and which citation of them is open in the viewer. */
import { call } from "./api.js";
import { byId, narrow, toast } from "./dom.js";
import { Card } from "./marks.js";
import { placeOfCitation } from "./records.js";
import { filters, open, settings } from "./state.js";
import { Turn } from "./turn.js";
import { makeWelcome } from "./welcome.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */

export class Conversation {
  /** @param {Viewer} viewer @param {(busy: boolean) => void} onBusy */
  constructor(viewer, onBusy) {
    this.viewer = viewer;
    this.onBusy = onBusy;
    this.element = byId("turns");
    this.card = new Card();
    this.welcome = makeWelcome((question) => this.ask(question));
    /** @type {string | null} */
    this.id = null;
    /** @type {Turn[]} */
    this.turns = [];
    /** @type {AbortController | null} */
    this.asking = null;
    /** Grows whenever another conversation is opened, so that responses requested before are recognised as late. */
    this.begun = 0;
    /** @type {{turn: Turn, place: number} | null} */
    this.shown = null;
    viewer.onStep = (by) => this.step(by);
  }

  /** Begins a new conversation. */
  clear() {
    this.asking?.abort();
    this.begun += 1;
    this.id = null;
    this.turns = [];
    this.shown = null;
    this.card.hide();
    this.viewer.showLibrary();
    this.element.replaceChildren(this.welcome.element);
    this.welcome.draw();
    this.#address();
  }

  /**
   * Writes into the page's address what is open, so that it can be shared and opened again.
   * @param {string | null} asked a question without an answer, which a reload puts into the field again
   */
  #address(asked = null) {
    const query = new URLSearchParams({ collection: open.collection });
    if (this.id) query.set("conversation", this.id);
    history.replaceState({ asked }, "", `/?${query}`);
  }

  /**
   * Asks a question, with the earlier ones as its history.
   * @param {string} question
   * @param {string} [model] that answers this time
   */
  async ask(question, model) {
    this.asking?.abort();
    this.begun += 1;
    this.#follow();
    const asking = (this.asking = new AbortController());
    const turn = this.#add(question);
    this.onBusy(true);
    this.#address(question);
    await turn.ask(this.#request(question, model), asking.signal);
    if (this.asking === asking) {
      this.asking = null;
      this.onBusy(false);
    }
    if (this.turns[this.turns.length - 1] === turn) this.#address(turn.answer ? null : question);
  }

  /** Stops the answer that is being written. */
  stop() {
    this.asking?.abort();
  }

  /** @param {string} question @param {string} [model] */
  #request(question, model) {
    const before = this.turns.filter((turn) => turn.answer && turn.question);
    const history = before.slice(-6).flatMap((turn) => [{ role: "user", content: turn.question }, { role: "assistant", content: turn.text }]);
    const chosen = model ?? byId("model").value;
    const retriever = byId("retriever").value;
    return {
      question,
      stream: true,
      store: true,
      filters: filters(),
      settings: {
        ...(settings.size ? { size: Number(settings.size) } : {}),
        ...(settings.gate ? { gate: settings.gate } : {}),
        ...(chosen ? { model: chosen } : {}),
        ...(retriever ? { retriever: [retriever] } : {}),
      },
      ...(this.id ? { conversation: this.id } : { history }),
    };
  }

  /** @param {string} question */
  #add(question) {
    this.welcome.element.remove();
    const turn = new Turn(question, {
      collection: open.collection,
      card: this.card,
      show: (of, place, chip) => this.show(of, place, chip),
      showHit: (place) => {
        this.#mark(null);
        this.viewer.open(place, { from: /** @type {HTMLElement} */ (document.activeElement) });
      },
      again: (of, model) => this.ask(of.question, model),
      kept: (of) => {
        if (of.conversation && this.turns.includes(of)) this.id = of.conversation;
      },
    });
    this.turns.push(turn);
    this.element.append(turn.element);
    turn.reveal();
    return turn;
  }

  /** Keeps the end of a growing answer in view until the reader scrolls. */
  #follow() {
    this.card.hide();
  }

  /**
   * Opens a citation of an answer in the viewer.
   * @param {Turn} turn
   * @param {number} place of the citation
   * @param {HTMLElement | null} chip that was pressed
   */
  show(turn, place, chip) {
    const citation = turn.citations[place];
    if (!citation) return;
    this.#mark({ turn, place });
    this.card.hide();
    const back = () => this.back();
    const claim = { citation, index: place, count: turn.citations.length, isPlace: turn.answer?.status === "located", back };
    const earlier = turn.earlier || turn.contents !== open.contents;
    this.viewer.open(placeOfCitation(citation, turn.around.collection, earlier), { claim, from: chip ?? turn.chip(place) });
  }

  /** @param {{turn: Turn, place: number} | null} shown */
  #mark(shown) {
    for (const chip of this.element.querySelectorAll("[aria-current]")) chip.removeAttribute("aria-current");
    this.shown = shown;
    shown?.turn.chip(shown.place)?.setAttribute("aria-current", "true");
  }

  /** Gives the focus back to the mark whose page is open. */
  back() {
    const chip = this.shown?.turn.chip(this.shown.place);
    this.viewer.close();
    chip?.scrollIntoView({ block: "nearest" });
    chip?.focus();
  }

  /** Opens the next citation, or the one before. @param {number} by */
  step(by) {
    const turn = this.shown?.turn ?? [...this.turns].reverse().find((each) => each.citations.length);
    if (!turn?.citations.length) return;
    const count = turn.citations.length;
    const from = this.shown ? this.shown.place : by > 0 ? -1 : 0;
    const place = (from + by + count) % count;
    this.show(turn, place, null);
    if (!narrow()) turn.chip(place)?.scrollIntoView({ block: "nearest" });
  }

  /** Opens an earlier conversation, with the places of its citations. @param {string} id */
  async open(id) {
    const begun = (this.begun += 1);
    try {
      const found = await call(`/v1/conversations/${encodeURIComponent(id)}`);
      if (begun !== this.begun) return;
      this.clear();
      this.id = id;
      for (const stored of found.turns) this.#restore(stored, id);
      this.turns[this.turns.length - 1]?.element.scrollIntoView({ block: "start" });
      this.#address();
    } catch (error) {
      const gone = /** @type {any} */ (error).status === 404;
      toast(gone ? "There is no such conversation. It may have been deleted." : /** @type {Error} */ (error).message);
    }
  }

  /** @param {any} stored @param {string} id */
  #restore(stored, id) {
    const turn = this.#add(stored.question);
    Object.assign(turn, { conversation: id, earlier: true });
    turn.hear(stored.answered.trace);
    turn.show(stored.answered.answer, stored.answered.context);
  }
}
