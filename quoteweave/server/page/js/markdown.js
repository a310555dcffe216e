// @ts-check
/**
 * Reads the Markdown that answers are written in, and makes elements of it: paragraphs, headings, lists, tables, code,
 * quotations, bold and italics. HTML is shown as text, and a link as its text and its address, not to be followed. In
 * the text, SIGN and one character that holds its number stand for a mark; `make` makes the mark's element.
 */
import { h } from "./dom.js";

export const SIGN = "\ue000";
const FIRST = 0xe100;
const LAST = 0xf8ff;
const MARK = /\ue000([\ue100-\uf8ff])/;
const STOP = /^[.,;:!?…。、，！？)\]”’»]+/u; // stays on the line of the mark before it

/** The characters that stand for the mark of a number. @param {number} place */
export const standIn = (place) => (FIRST + place > LAST ? "" : SIGN + String.fromCharCode(FIRST + place));

/**
 * @typedef {{source: string, kind: string, level?: number, lines: string[]}} Block
 * @typedef {(place: number) => {inline: Node | null, after: HTMLElement | null}} MakeMark
 */

const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/;
const ITEM = /^(\s*)([-*+•]|\d{1,4}[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const DELIMITER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/**
 * Cuts a text into blocks. Linear in the number of lines.
 * @param {string} text
 * @returns {Block[]}
 */
export function readBlocks(text) {
  const lines = text.split(/\r\n|\n|\r/);
  /** @type {Block[]} */
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const end = endOfBlock(lines, at);
    const taken = lines.slice(at, end);
    if (taken.some((line) => line.trim())) blocks.push({ source: taken.join("\n"), kind: kindAt(lines, at), lines: taken });
    at = end;
  }
  return blocks;
}

/** @param {string[]} lines @param {number} at */
function kindAt(lines, at) {
  const line = lines[at];
  if (FENCE.test(line)) return "code";
  if (HEADING.test(line)) return "heading";
  if (RULE.test(line)) return "rule";
  if (/^ {0,3}>/.test(line)) return "quotation";
  if (ITEM.test(line)) return "list";
  if (line.includes("|") && DELIMITER.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) return "table";
  return "paragraph";
}

/** @param {string[]} lines @param {number} at @returns {number} */
function endOfBlock(lines, at) {
  const kind = kindAt(lines, at);
  let end = at + 1;
  if (!lines[at].trim() || kind === "heading" || kind === "rule") return end;
  if (kind === "code") {
    while (end < lines.length && !FENCE.test(lines[end])) end += 1;
    return Math.min(end + 1, lines.length);
  }
  if (kind === "table") end = at + 2;
  while (end < lines.length && continues(kind, lines, end)) end += 1;
  return end;
}

/** @param {string} kind @param {string[]} lines @param {number} at */
function continues(kind, lines, at) {
  const line = lines[at];
  if (kind === "list") {
    if (!line.trim()) return ITEM.test(lines[at + 1] ?? "") || /^\s{2,}\S/.test(lines[at + 1] ?? "");
    return ITEM.test(line) || /^\s{2,}\S/.test(line);
  }
  if (!line.trim()) return false;
  if (kind === "table") return line.includes("|");
  if (kind === "quotation") return /^ {0,3}>/.test(line);
  return kindAt(lines, at) === "paragraph";
}

/**
 * Makes the elements of a block.
 * @param {Block} block
 * @param {MakeMark} make
 * @returns {HTMLElement[]}
 */
export function makeBlock(block, make) {
  /** @type {HTMLElement[]} */
  const after = [];
  /** @param {string} text */
  const write = (text) => inline(text, make, after);
  const element = makers[block.kind](block.lines, write, () => after.splice(0));
  const empty = block.kind === "paragraph" && !element.textContent?.trim() && !element.querySelector("button");
  return empty ? after : [element, ...after];
}

/** @type {Record<string, (lines: string[], write: (text: string) => Node[], shown: () => HTMLElement[]) => HTMLElement>} */
const makers = {
  code: (lines) => h("pre", { tabindex: "0", dir: "ltr" }, h("code", { text: lines.slice(1, FENCE.test(lines[lines.length - 1]) && lines.length > 1 ? -1 : undefined).join("\n") })),
  heading: (lines, write) => {
    const [, signs, text] = HEADING.exec(lines[0]) ?? ["", "#", lines[0]];
    return h(/** @type {"h3"} */ (`h${Math.max(3, Math.min(signs.length + 1, 5))}`), { dir: "auto" }, ...write(text));
  },
  rule: () => h("hr"),
  quotation: (lines, write) => h("blockquote", { dir: "auto" }, ...broken(lines.map((line) => line.replace(/^ {0,3}> ?/, "")), write)),
  paragraph: (lines, write) => h("p", { dir: "auto" }, ...broken(lines, write)),
  list: (lines, write, shown) => makeList(lines, write, shown),
  table: (lines, write) => makeTable(lines, write),
};

/** @param {string[]} lines @param {(text: string) => Node[]} write */
function broken(lines, write) {
  return lines.flatMap((line, place) => (place ? [h("br"), ...write(line.trim())] : write(line.trim())));
}

/** @param {string[]} lines @param {(text: string) => Node[]} write @param {() => HTMLElement[]} shown @returns {HTMLElement} */
function makeList(lines, write, shown) {
  const [, indent, sign] = ITEM.exec(lines[0]) ?? ["", "", "-"];
  const ordered = /\d/.test(sign);
  const list = ordered ? h("ol", { start: parseInt(sign, 10) === 1 ? null : parseInt(sign, 10), dir: "auto" }) : h("ul", { dir: "auto" });
  let at = 0;
  while (at < lines.length) {
    let end = at + 1;
    while (end < lines.length && !isItemAt(lines[end], indent.length)) end += 1;
    list.append(makeItem(lines.slice(at, end).filter((line) => line.trim()), write, shown));
    at = end;
  }
  return list;
}

/** @param {string} line @param {number} indent */
function isItemAt(line, indent) {
  const found = ITEM.exec(line);
  return found !== null && found[1].length <= indent + 1;
}

/**
 * Makes an item of a list, with the images that it shows below its text rather than below the list.
 * @param {string[]} lines @param {(text: string) => Node[]} write @param {() => HTMLElement[]} shown
 */
function makeItem(lines, write, shown) {
  const first = ITEM.exec(lines[0])?.[3] ?? lines[0];
  const nested = lines.findIndex((line, place) => place > 0 && ITEM.test(line));
  const own = nested < 0 ? lines.slice(1) : lines.slice(1, nested);
  const item = h("li", { dir: "auto" }, ...broken([first, ...own], write), ...shown());
  if (nested > 0) item.append(makeList(lines.slice(nested), write, shown));
  return item;
}

/** @param {string} line */
function cells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** @param {string[]} lines @param {(text: string) => Node[]} write */
function makeTable(lines, write) {
  const sides = cells(lines[1]).map((cell) => (/^:-+:$/.test(cell) ? "center" : /-:$/.test(cell) ? "end" : null));
  const row = (/** @type {string} */ line, /** @type {"th" | "td"} */ tag) =>
    h("tr", {}, ...cells(line).map((cell, place) => h(tag, { dir: "auto", class: sides[place], scope: tag === "th" ? "col" : null }, ...write(cell))));
  const body = lines.slice(2).map((line) => row(line, "td"));
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" }, h("table", {}, h("thead", {}, row(lines[0], "th")), h("tbody", {}, ...body)));
}

const INLINE = /(?<code>`+)(?<coded>[^`]+?)\k<code>(?!`)|\*\*(?<strong>[^*\n](?:[^\n]*?[^*\n])??)\*\*|\*(?<em>[^*\s](?:[^*\n]*?[^*\s])??)\*|(?<![\w_])_(?<under>[^_\s](?:[^_\n]*?[^_\s])??)_(?![\w_])|(?<!!)\[(?<words>[^\]\[\n]+)\]\((?<address>[^()\s]+)\)|\ue000(?<mark>[\ue100-\uf8ff])|\\(?<escaped>[\\`*_{}[\]()#+\-.!|>~])/u;

/**
 * Makes the nodes of a line: text, bold, italics, code, marks.
 * @param {string} text
 * @param {MakeMark} make
 * @param {HTMLElement[]} after receives the elements that marks show below their block
 * @param {number} [depth]
 * @returns {Node[]}
 */
function inline(text, make, after, depth = 0) {
  /** @type {Node[]} */
  const nodes = [];
  let rest = text;
  while (rest) {
    const found = depth > 5 ? MARK.exec(rest) : INLINE.exec(rest);
    if (!found) break;
    if (found.index) nodes.push(document.createTextNode(rest.slice(0, found.index)));
    const parts = found.groups ?? { mark: found[1] };
    /** @param {string} part */
    const within = (part) => inline(part, make, after, depth + 1);
    let end = found.index + found[0].length;
    if (parts.mark) {
      const made = make(parts.mark.charCodeAt(0) - FIRST);
      const stop = made.inline ? (STOP.exec(rest.slice(end))?.[0] ?? "") : "";
      end += stop.length;
      if (made.inline) nodes.push(stop ? h("span", { class: "unbroken" }, made.inline, stop) : made.inline);
      if (made.after) after.push(made.after);
    } else if (parts.coded) nodes.push(h("code", { text: parts.coded.replaceAll(SIGN, "") }));
    else if (parts.strong) nodes.push(h("strong", {}, ...within(parts.strong)));
    else if (parts.em ?? parts.under) nodes.push(h("em", {}, ...within(parts.em ?? parts.under)));
    else if (parts.words) nodes.push(...within(parts.words), document.createTextNode(` (${parts.address})`));
    else nodes.push(document.createTextNode(parts.escaped));
    rest = rest.slice(end);
  }
  if (rest) nodes.push(document.createTextNode(rest));
  return nodes;
}
