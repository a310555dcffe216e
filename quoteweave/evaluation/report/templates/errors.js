"use strict";
const held = JSON.parse(document.getElementById("data").textContent);
const { kinds, answers } = held;
const place = (id) => document.getElementById(id);
const storeKey = `quoteweave-errors-${document.body.dataset.key}`;
let state = { labels: {}, at: 0, history: [] };

function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(storeKey));
    if (kept && kept.labels && Array.isArray(kept.history)) state = kept;
    state.at = Math.min(Math.max(0, Number(state.at) || 0), answers.length - 1);
  } catch (_) {
    warn("This browser keeps nothing for this page: export your labels before you close it.");
  }
}

function save() {
  try {
    localStorage.setItem(storeKey, JSON.stringify(state));
  } catch (_) {
    warn("This browser keeps nothing for this page: export your labels before you close it.");
  }
}

function warn(text) {
  place("warning").textContent = text;
  place("warning").hidden = false;
}

const current = () => answers[state.at];
const labelOf = (id) => (Object.hasOwn(state.labels, id) ? state.labels[id] : null);

function setLabel(id, label) {
  state.history.push({ id, before: labelOf(id) });
  put(id, label);
}

function put(id, label) {
  if (label === null) delete state.labels[id];
  else state.labels[id] = label;
}

function toggle(number) {
  const { id } = current();
  const chosen = new Set(labelOf(id) || []);
  const { name } = kinds[number];
  if (!chosen.delete(name)) chosen.add(name);
  // An answer whose last kind was taken away again is not labelled: that it has none is said by 0.
  setLabel(id, chosen.size ? kinds.map((kind) => kind.name).filter((each) => chosen.has(each)) : null);
  show();
}

function sayNone() {
  setLabel(current().id, []);
  go(1);
}

function go(steps) {
  state.at = Math.min(Math.max(0, state.at + steps), answers.length - 1);
  show();
  window.scrollTo(0, 0);
}

function undo() {
  const last = state.history.pop();
  if (!last) return;
  put(last.id, last.before);
  state.at = Math.max(0, answers.findIndex((answer) => answer.id === last.id));
  show();
}

function counts() {
  const labelled = answers.map((answer) => labelOf(answer.id)).filter((label) => label !== null);
  const found = Object.fromEntries(kinds.map(({ name }) => [name, labelled.filter((label) => label.includes(name)).length]));
  return { ...found, none: labelled.filter((label) => !label.length).length, labelled: labelled.length, of: answers.length };
}

function exported() {
  const lines = [{ counts: counts() }];
  for (const { id, sha256 } of answers) if (labelOf(id) !== null) lines.push({ example: id, answer: sha256, kinds: labelOf(id) });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function download() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([exported()], { type: "application/x-ndjson" }));
  link.download = "labels.jsonl";
  link.click();
  URL.revokeObjectURL(link.href);
}

function element(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}

function quoteItem(quote) {
  const item = document.createElement("li");
  item.append(element("span", "name", quote.name), element("span", quote.right ? "verdict right" : "verdict", quote.verdict));
  if (quote.where) item.append(element("div", "soft", quote.where));
  if (quote.picture) {
    const picture = document.createElement("img");
    picture.src = quote.picture;
    picture.alt = quote.name;
    item.append(picture);
  }
  item.append(element("div", "words", quote.words));
  return item;
}

function kindButton(text, says, pressed, act, name) {
  const button = element("button", name, text);
  button.type = "button";
  button.setAttribute("aria-pressed", String(pressed));
  button.append(element("small", "", says));
  button.addEventListener("click", act);
  return button;
}

function show() {
  save();
  const answer = current();
  const label = labelOf(answer.id);
  const { labelled } = counts();
  place("progress").textContent = `Answer ${state.at + 1} of ${answers.length} · ${labelled} labelled`;
  place("bar").max = answers.length;
  place("bar").value = labelled;
  place("question").textContent = answer.question || answer.id;
  place("answer").textContent = answer.answer || "(empty)";
  place("cut").hidden = !answer.cut;
  place("cut").textContent = `${answer.cut} characters more are not shown.`;
  place("gold").textContent = answer.gold_answer || "(the dataset gives none)";
  place("quotes").replaceChildren(...answer.quotes.map(quoteItem));
  place("quotes").parentElement.hidden = !answer.quotes.length; // a search for a paper has none
  const buttons = kinds.map(({ name, says }, number) =>
    kindButton(`${number + 1}  ${name.replaceAll("_", " ")}`, says, Boolean(label && label.includes(name)), () => toggle(number), "kind"),
  );
  const none = label !== null && !label.length;
  place("kinds").replaceChildren(...buttons, kindButton("0  none", "It has none of these.", none, sayNone, "sound"));
  place("back").disabled = state.at === 0;
  place("next").disabled = state.at === answers.length - 1;
  place("undo").disabled = !state.history.length;
}

const KEYS = { 0: sayNone, Enter: () => go(1), ArrowRight: () => go(1), ArrowLeft: () => go(-1), u: undo, e: download };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const onButton = event.target instanceof HTMLButtonElement;
  if (onButton && event.key === "Enter") return;
  const act = event.key >= "1" && event.key <= String(kinds.length) ? () => toggle(Number(event.key) - 1) : KEYS[event.key];
  if (!act || event.key.length > 1 && !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  act();
});
place("back").addEventListener("click", () => go(-1));
place("next").addEventListener("click", () => go(1));
place("undo").addEventListener("click", undo);
place("export").addEventListener("click", download);
load();
show();
