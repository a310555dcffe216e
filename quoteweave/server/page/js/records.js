// @ts-check
/**
 * The records of the HTTP API, as `quoteweave.core` declares them; for type checkers and readers only.
 * Offsets count characters as Python does: code points, not UTF-16 units.
 *
 * @typedef {[number, number, number, number]} Box left, top, right, bottom
 * @typedef {{page: number, page_label: string, page_size: [number, number], rotation: number | null, bbox: Box,
 *   bbox_fraction: Box, words: Box[], words_fraction: Box[], estimated: boolean}} Region
 * @typedef {{start: number, end: number, boxes: Box[], estimated: boolean}} Span
 * @typedef {{mark: string, start: number, end: number, kind: "text" | "image", number: number, quote_id: string,
 *   document: string, page: number, page_label: string, section: string | null, has_pages: boolean, has_picture?: boolean,
 *   verdict: "supported" | "unsupported" | "unchecked" | null, reason: string | null,
 *   only_words_differ: boolean, checker_verdict: boolean | null, quoted: string | null,
 *   evidence: "words" | "element" | null, spans: Span[], regions: Region[], url: string | null,
 *   image_url: string | null}} Citation
 * @typedef {{type: "text", text: string, citations: Citation[]} | {type: "image", summary: string, image: string | null,
 *   citation: Citation}} Block
 * @typedef {{question: string, status: "answered" | "located" | "abstained", text: string, blocks: Block[],
 *   citations: Citation[], unresolved: {mark: string}[], model: string, seconds: number, warnings: string[],
 *   usage: {input_tokens: number | null, output_tokens: number | null}}} Answer
 * @typedef {{id: string, document: string, page: number, page_label: string, kind: "text" | "image", layout: string,
 *   section: string | null, caption: string | null, text: string, ocr_text: string | null, vlm_text: string | null,
 *   image: string | null, has_pages: boolean}} Quote
 * @typedef {{rank: number, score: number, quote: Quote, regions?: Region[], url?: string, image_url?: string}} Hit
 * @typedef {{texts: Hit[], images: Hit[]}} Context
 * @typedef {{notes: string[], standalone_question: string | null}} Trace
 * @typedef {{number: number, label: string, width: number, height: number, rotation: number | null}} Page
 * @typedef {{name: string, format: string, pages: number, quotes: number, metadata: Record<string, string>,
 *   content: string, warnings: string[]}} DocumentRecord
 *
 * What the viewer opens: a citation, a hit, or a quote.
 * @typedef {{collection: string, document: string, page: number, page_label?: string, has_pages: boolean,
 *   quote_id?: string, kind?: "text" | "image", regions: Region[], quoted?: string | null, spans?: Span[],
 *   evidence?: "words" | "element" | null, section?: string | null, earlier?: boolean, gone?: boolean}} Place
 */

/** Whether a citation has a picture of its own to show; a table in a file without pages has only words. @param {Citation} citation */
export const hasPicture = (citation) => citation.kind === "image" && citation.has_picture !== false;

/** All text of a quote, as `Quote.all_text` gives it. @param {Quote} quote */
export function wordsOf(quote) {
  return [quote.caption, quote.unit, quote.text, quote.text ? null : quote.ocr_text, quote.vlm_text].filter(Boolean).join("\n");
}

/**
 * The place of a quote in its document: `page 3`; `page 21 (23 in the file)` if the label printed on the page differs
 * from its number in the file; or its heading if there are no pages. The same as `place_of` of `core.records`.
 * @param {{page_label?: string, page: number, section?: string | null, has_pages: boolean}} quote
 */
export function placeOf(quote) {
  const nth = String(quote.page + 1);
  const label = quote.page_label ?? nth;
  if (quote.has_pages) return label === nth || label === "?" ? `page ${label}` : `page ${label} (${nth} in the file)`;
  return (quote.section ?? "").split(/\s+/).join(" ").trim().slice(0, 120) || `part ${label}`;
}

/**
 * A converter from code points to UTF-16 units for one text.
 * @param {string} text
 * @returns {(at: number) => number}
 */
export function unitsOf(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (at) => at;
  const starts = [0];
  for (const point of text) starts.push(starts[starts.length - 1] + point.length);
  return (at) => starts[Math.min(at, starts.length - 1)];
}

/**
 * The place of a citation, for the viewer.
 * @param {Citation} citation
 * @param {string} collection
 * @param {boolean} earlier whether it was cited on an earlier visit, so that its document may have changed since
 * @returns {Place}
 */
export function placeOfCitation(citation, collection, earlier) {
  return { ...citation, collection, earlier };
}
