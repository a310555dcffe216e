// @ts-check
/** One question with its answer, which is shown while it is written and afterwards. */
import { Problem, base, stream } from "./api.js";
import { h, icon, motion, say } from "./dom.js";
import { VERDICTS, dressChip, makeChip, reasonOf, verdictOf } from "./marks.js";
import { problemNotice } from "./notices.js";
import { Prose } from "./prose.js";
import { makeActions } from "./share.js";
import { makeSources } from "./sources.js";
import { open } from "./state.js";

/** @typedef {import("./records.js").Answer} Answer */
/** @typedef {import("./records.js").Citation} Citation */
/** @typedef {import("./records.js").Context} Context */
/** @typedef {{collection: string, show: (turn: Turn, place: number, chip: HTMLElement | null) => void,
 *   showHit: (place: import("./records.js").Place) => void, card: import("./marks.js").Card,
 *   again: (turn: Turn, model?: string) => void, kept: (turn: Turn) => void}} Surroundings */

const STATUS = { answered: "Answered", located: "Places to look at", abstained: "Not answered" };

export class Turn {
  /** @param {string} question @param {Surroundings} around */
  constructor(question, around) {
    this.question = question;
    this.around = around;
    this.text = "";
    this.thought = "";
    /** @type {Citation[]} */
    this.citations = [];
    /** @type {Answer | null} */
    this.answer = null;
    /** @type {Context | null} */
    this.context = null;
    /** What was missing or went wrong while searching. @type {string[]} */
    this.notes = [];
    /** The conversation that keeps the answer. @type {string | null} */
    this.conversation = null;
    /** Whether it was answered on an earlier visit, so that its documents may have changed since. */
    this.earlier = false;
    /** `open.contents` when the question was asked; if that differs now, the documents have changed. */
    this.contents = open.contents;
    this.drawing = 0;
    this.prose = new Prose(around.collection, (place, chip) => around.show(this, place, chip));
    this.status = h("ul", { class: "facts" });
    this.understood = h("p", { class: "understood", dir: "auto", hidden: true });
    this.thoughts = h("details", { class: "thoughts", hidden: true }, h("summary", { text: "What the model considered" }), h("div", { dir: "auto", tabindex: "0" }));
    this.body = h("div", {}, this.prose.element);
    this.heading = h("h2", { class: "question", dir: "auto", tabindex: "-1", text: question });
    this.element = h("article", { class: "turn", "aria-label": question }, h("header", {}, this.heading, this.understood, this.status), this.thoughts, this.body);
    this.element.addEventListener("click", (event) => {
      const chip = /** @type {HTMLElement} */ (event.target).closest(".chip");
      if (chip instanceof HTMLElement) around.show(this, Number(chip.dataset.citation), chip);
    });
    around.card.watch(this.element, (place) => this.citations[place], around.collection);
  }

  /**
   * Asks the question and shows the answer as it comes. Never throws: errors are shown.
   * @param {Record<string, unknown>} body of the request
   * @param {AbortSignal} signal
   */
  async ask(body, signal) {
    this.#working("Looking for quotes");
    this.element.classList.add("writing");
    this.element.setAttribute("aria-busy", "true");
    say("Looking for an answer");
    try {
      let kept = /** @type {string | null} */ (null);
      const opened = (/** @type {Headers} */ headers) => (kept = headers.get("x-conversation-id"));
      for await (const { type, data } of stream(`${base(this.around.collection)}/answers`, { method: "POST", body, signal, opened })) {
        if (type === "answer") this.#keep(kept);
        this.#take(type, data);
        if (type === "answer") break; // the last event; do not wait for the connection to close
      }
      if (!this.answer) throw new Problem({ title: "The answer is not complete", detail: "The server ended before the answer was checked. What had arrived is shown." });
    } catch (error) {
      this.#fail(error, signal.aborted);
    } finally {
      this.element.classList.remove("writing");
      this.element.removeAttribute("aria-busy");
    }
  }

  /** Sets the conversation before the answer is shown, as the next question belongs to it. @param {string | null} conversation */
  #keep(conversation) {
    this.conversation = conversation;
    this.around.kept(this);
  }

  /** @param {string} type @param {any} data */
  #take(type, data) {
    if (type === "sources") this.#takeSources(data);
    else if (type === "thought") this.#think(data.text);
    else if (type === "text") this.#addText(data.text);
    else if (type === "citation") this.citations.push(data.citation);
    else if (type === "answer") this.show(data.answer, this.context);
    else if (type === "error") throw new Problem(data.problem ?? data);
    if (type === "citation" || type === "image") this.#drawSoon();
  }

  /** @param {{context: Context, trace: import("./records.js").Trace}} data */
  #takeSources(data) {
    this.context = data.context;
    this.hear(data.trace);
    const count = data.context.texts.length + data.context.images.length;
    this.#working(count ? `Reading ${count} quotes` : "Looking for quotes");
  }

  /** @param {string} text */
  #think(text) {
    this.thought += text;
    this.thoughts.hidden = false;
    if (this.thoughts.lastElementChild) this.thoughts.lastElementChild.textContent = this.thought;
  }

  /** @param {string} text */
  #addText(text) {
    if (!this.text) this.#working("Writing");
    this.text += text;
    this.#drawSoon();
  }

  /** Shows how the question was understood, and keeps what was missing or went wrong. @param {import("./records.js").Trace} trace */
  hear(trace) {
    const question = trace.standalone_question ?? this.question;
    this.understood.hidden = question === this.question;
    this.understood.textContent = `Understood as: ${question}`;
    this.notes = trace.notes;
  }

  #drawSoon() {
    this.drawing ||= requestAnimationFrame(() => {
      this.drawing = 0;
      if (!this.answer) this.prose.write(this.text, this.citations);
    });
  }

  /** @param {string} words */
  #working(words) {
    this.status.replaceChildren(h("li", { class: "working", text: `${words}…` }));
  }

  /**
   * Shows a complete answer.
   * @param {Answer} answer
   * @param {Context | null} context
   */
  show(answer, context) {
    this.answer = answer;
    this.context = context;
    this.citations = answer.citations;
    this.text = answer.text;
    this.prose.write(answer.text, answer.citations);
    this.element.classList.add(answer.status);
    this.#dress();
    this.status.replaceChildren(...facts(answer, context));
    const parts = [answer.status === "abstained" ? abstention(this.prose.element, context) : this.prose.element, located(answer)];
    const tally = makeTally(answer);
    if (tally) this.status.after(tally);
    this.body.replaceChildren(...present([...parts, doubts(answer), warnings([...new Set([...this.notes, ...answer.warnings])]), makeActions(this), makeSources(this)]));
    say(spoken(answer));
  }

  /** Shows the gate's verdicts on marks that were drawn before these were known. */
  #dress() {
    for (const chip of this.prose.element.querySelectorAll(".chip")) {
      const citation = this.citations[Number(/** @type {HTMLElement} */ (chip).dataset.citation)];
      if (citation) dressChip(/** @type {HTMLElement} */ (chip), citation);
    }
  }

  /** @param {unknown} error @param {boolean} stopped */
  #fail(error, stopped) {
    this.prose.write(this.text, this.citations);
    this.status.replaceChildren(h("li", { class: "status", text: stopped ? "Stopped" : "Not answered" }));
    if (stopped) {
      const note = h("p", { class: "small", text: "You stopped this answer. What had arrived was not checked." });
      this.body.append(h("div", { class: "notice" }, note, h("div", { class: "choices" }, h("button", { type: "button", class: "button", text: "Ask again", on: { click: () => this.around.again(this) } }))));
      return;
    }
    const problem = error instanceof Problem ? error : new Problem({ title: "Something went wrong in this page", detail: String(error) });
    this.body.append(problemNotice(problem, (model) => this.around.again(this, model)));
    say(problem.title);
  }

  /** The button of a citation in the text. @param {number} place @returns {HTMLElement | null} */
  chip(place) {
    return this.prose.element.querySelector(`.chip[data-citation="${place}"]`);
  }

  /** Scrolls to the question. */
  reveal() {
    this.element.scrollIntoView({ block: "start", behavior: motion() });
  }
}

/** @param {(HTMLElement | null)[]} elements @returns {HTMLElement[]} */
const present = (elements) => elements.filter((element) => element !== null);

/** @param {Answer} answer @param {Context | null} context */
function facts(answer, context) {
  const count = context ? context.texts.length + context.images.length : 0;
  const cited = new Set(answer.citations.map((citation) => citation.quote_id)).size;
  const seconds = answer.seconds < 0.1 ? "under 0.1 s" : `${answer.seconds.toFixed(1)} s`;
  const model = answer.model === "extractive" ? "The documents’ own sentences" : answer.model;
  const words = [h("bdi", { text: model }), seconds, count && answer.status !== "abstained" ? `${cited} of ${count} quotes cited` : null];
  return [h("li", { class: "status", text: STATUS[answer.status] }), ...words.filter(Boolean).map((each) => h("li", {}, /** @type {Node | string} */ (each)))];
}

/** @param {Answer} answer */
function makeTally(answer) {
  const counts = /** @type {("supported" | "unsupported" | "unchecked")[]} */ (["supported", "unsupported", "unchecked"])
    .map((verdict) => /** @type {const} */ ([verdict, answer.citations.filter((citation) => verdictOf(citation) === verdict).length]))
    .filter(([, count]) => count);
  if (!counts.length) return null;
  return h("ul", { class: "tally", "aria-label": "What was found of the citations" }, ...counts.map(([verdict, count]) => h("li", { class: verdict }, icon(verdict), `${count} ${VERDICTS[verdict].toLowerCase()}`)));
}

/** @param {HTMLElement} prose @param {Context | null} context */
function abstention(prose, context) {
  const considered = context && context.texts.length + context.images.length ? "; what was considered is listed below" : "";
  return h("div", { class: "notice", role: "note" },
    h("h3", { text: "No answer was found in these documents" }),
    prose,
    h("p", { class: "small", text: `Nothing is made up where the documents do not say it. Other words, fewer filters, or more documents may help${considered}.` }));
}

/** @param {Answer} answer */
function located(answer) {
  if (answer.status !== "located") return null;
  return h("p", { class: "small after-prose", text: "These are places to look at, not an answer: press a number to read each on its page." });
}

/** What the gate or the checker could not confirm, and why. @param {Answer} answer */
function doubts(answer) {
  const found = answer.citations.flatMap((citation, place) => (verdictOf(citation) === "unsupported" ? [{ citation, place }] : []));
  if (!found.length && !answer.unresolved.length) return null;
  const list = found.map(({ citation, place }) => h("p", { class: "finding" }, makeChip(citation, place), h("bdi", { text: reasonOf(citation) ?? "The cited quote does not say this." })));
  const unresolved = answer.unresolved.length > 0 && h("p", {}, "The model referred to quotes that it was not shown, and these marks were taken out: ", h("bdi", { text: answer.unresolved.map((mark) => mark.mark).join(" ") }));
  return h("div", { class: "notice", role: "note" }, h("h3", { text: "What could not be confirmed" }), ...list, unresolved);
}

/** @param {string[]} said */
function warnings(said) {
  if (!said.length) return null;
  return h("div", { class: "notice", role: "note" }, h("h3", { text: "Please note" }), h("ul", {}, ...said.map((text) => h("li", { dir: "auto", text }))));
}

/** @param {Answer} answer */
function spoken(answer) {
  const count = answer.citations.length;
  if (answer.status === "abstained") return "No answer was found";
  const doubted = answer.citations.filter((citation) => verdictOf(citation) === "unsupported").length;
  return `${STATUS[answer.status]}, ${count} ${count === 1 ? "citation" : "citations"}${doubted ? `, ${doubted} not confirmed` : ""}`;
}
