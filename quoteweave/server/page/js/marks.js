// @ts-check
/** Citation marks: the buttons in an answer, the card that describes one, and the words that support a claim. */
import { quoteUrl } from "./api.js";
import { byId, h, icon } from "./dom.js";
import { hasPicture, placeOf, unitsOf } from "./records.js";

/** @typedef {import("./records.js").Citation} Citation */

export const VERDICTS = { supported: "Supported", unsupported: "Not confirmed", unchecked: "Not checked" };

/**
 * The verdict on a citation, as answer pages show it: not confirmed if the gate or the checker says so.
 * @param {Citation} citation
 */
export function verdictOf(citation) {
  if (citation.verdict === "unsupported" || citation.checker_verdict === false) return "unsupported";
  return citation.checker_verdict ? "supported" : citation.verdict;
}

/** The reason for that verdict; null if there is none. @param {Citation} citation */
export function reasonOf(citation) {
  if (verdictOf(citation) === citation.verdict) return citation.reason;
  return `The checker ${citation.checker_verdict ? "finds" : "does not find"} it supported by what it cites.`;
}

/** The address of a quote's own picture on this server. @param {string} collection @param {{quote_id: string}} citation */
export const pictureUrl = (collection, citation) => `${quoteUrl(collection, citation.quote_id)}/image`;

/** What a screen reader says of a citation. @param {Citation} citation */
export function nameOf(citation) {
  const kind = citation.kind === "image" ? "Image citation" : "Citation";
  const found = verdictOf(citation);
  const verdict = found ? `. ${VERDICTS[found]}` : "";
  return `${kind} ${citation.number}: ${citation.document}, ${placeOf(citation)}${verdict}`;
}

/**
 * Makes the button of a citation; `place` is its index among the answer's citations.
 * @param {Citation} citation
 * @param {number} place
 */
export function makeChip(citation, place) {
  const chip = h("button", { type: "button", class: "chip", "data-citation": place });
  return dressChip(chip, citation);
}

/** Shows the verdict on a citation's button. @param {HTMLElement} chip @param {Citation} citation */
export function dressChip(chip, citation) {
  chip.classList.remove(...Object.keys(VERDICTS));
  const verdict = verdictOf(citation);
  if (verdict) chip.classList.add(verdict);
  chip.setAttribute("aria-label", nameOf(citation));
  const sign = verdict && verdict !== "unchecked" ? [icon(verdict, "verdict")] : [];
  chip.replaceChildren(...(citation.kind === "image" ? [icon("image")] : []), String(citation.number), ...sign);
  return chip;
}

/**
 * The quoted words, in which those that support the claim are marked.
 * @param {string} text
 * @param {{start: number, end: number}[]} spans
 * @returns {(Node | string)[]}
 */
export function markedWords(text, spans) {
  const unit = unitsOf(text);
  /** @type {(Node | string)[]} */
  const parts = [];
  let at = 0;
  for (const span of spans) {
    const [start, end] = [Math.max(at, unit(span.start)), unit(span.end)];
    if (end <= start) continue;
    parts.push(text.slice(at, start), h("mark", { class: "cited", text: text.slice(start, end) }));
    at = end;
  }
  parts.push(text.slice(at));
  return parts;
}

/** Part of a long text from a little before its first marked words. @param {Citation} citation */
export function excerpt(citation) {
  const text = citation.quoted ?? "";
  const first = citation.spans[0]?.start ?? 0;
  const cut = first > 160 ? first - 80 : 0;
  if (!cut) return markedWords(text, citation.spans);
  const points = [...text];
  const moved = citation.spans.map((span) => ({ start: span.start - cut + 1, end: span.end - cut + 1 }));
  return markedWords(`…${points.slice(cut).join("")}`, moved);
}

/** The verdict on a citation in a line; null if it was not checked. @param {Citation} citation */
export function verdictLine(citation) {
  const verdict = verdictOf(citation), said = reasonOf(citation);
  if (!verdict) return null;
  const reason = said ? [": ", h("bdi", { text: said })] : [];
  return h("p", { class: `verdict-line ${verdict}` }, icon(verdict), VERDICTS[verdict], ...reason);
}

/** The card that describes the mark under the pointer or the focus. */
export class Card {
  constructor() {
    this.card = byId("card");
    /** @type {HTMLElement | null} */
    this.chip = null;
    this.waiting = 0;
    this.card.addEventListener("pointerenter", () => clearTimeout(this.waiting));
    this.card.addEventListener("pointerleave", () => this.hideSoon());
    addEventListener("scroll", () => this.chip && this.#place(), { capture: true, passive: true });
  }

  /**
   * Shows the card while the pointer or the focus is on a mark within `element`.
   * @param {HTMLElement} element
   * @param {(place: number) => Citation | undefined} find
   * @param {string} collection
   */
  watch(element, find, collection) {
    /** @param {Event} event */
    const chipOf = (event) => /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest?.(".chip"));
    const show = (/** @type {HTMLElement} */ chip) => {
      const citation = find(Number(chip.dataset.citation));
      if (citation) this.show(chip, citation, collection);
    };
    element.addEventListener("pointerover", (event) => {
      const chip = chipOf(event);
      if (chip && event.pointerType !== "touch") show(chip);
    });
    element.addEventListener("pointerout", (event) => chipOf(event) && this.hideSoon());
    element.addEventListener("focusin", (event) => {
      const chip = chipOf(event);
      if (chip?.matches(":focus-visible")) show(chip);
    });
    element.addEventListener("focusout", () => this.hide());
  }

  /** @param {HTMLElement} chip @param {Citation} citation @param {string} collection */
  show(chip, citation, collection) {
    clearTimeout(this.waiting);
    if (this.chip === chip) return;
    this.hide();
    this.chip = chip;
    const picture = hasPicture(citation) && h("img", { src: pictureUrl(collection, citation), alt: "", on: { load: () => this.#place() } });
    const says = citation.quoted && !picture && h("span", { class: "says", dir: "auto" }, ...excerpt(citation));
    this.card.replaceChildren(
      h("bdi", { class: "document", text: citation.document }),
      h("bdi", { class: "page", text: [placeOf(citation), citation.has_pages ? citation.section : null].filter(Boolean).join(" · ") }),
      ...[picture, says, verdictLine(citation)].filter(Boolean),
    );
    this.card.hidden = false;
    chip.setAttribute("aria-describedby", "card");
    this.#place();
  }

  #place() {
    const at = this.chip?.isConnected ? this.chip.getBoundingClientRect() : null;
    if (!at) return this.hide();
    const below = at.bottom + 8 + this.card.offsetHeight < innerHeight;
    const left = Math.min(at.left - 16, document.documentElement.clientWidth - this.card.offsetWidth - 16);
    this.card.style.left = `${Math.max(16, left)}px`;
    this.card.style.top = `${below ? at.bottom + 8 : Math.max(8, at.top - 8 - this.card.offsetHeight)}px`;
  }

  /** Hides the card unless the pointer moves onto it. */
  hideSoon() {
    clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => this.hide(), 150);
  }

  /** Hides the card; returns whether it was shown. */
  hide() {
    clearTimeout(this.waiting);
    const shown = !this.card.hidden;
    this.card.hidden = true;
    this.chip?.removeAttribute("aria-describedby");
    this.chip = null;
    return shown;
  }
}
