// @ts-check
/** Puts the page together and opens what its address names. */
import { Problem, call, onUnauthorised } from "./api.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { openSettings, openShortcuts, signIn } from "./dialogs.js";
import { readDocuments } from "./documents.js";
import { byId, h, icon, loadIcons, narrow } from "./dom.js";
import { openHistory } from "./history.js";
import { Library } from "./library.js";
import { problemNotice } from "./notices.js";
import { listenForKeys } from "./keys.js";
import { openSources } from "./sources.js";
import { applyTheme, change, forgetDocuments, onDocuments, open, settings } from "./state.js";
import { Uploads } from "./uploads.js";
import { Viewer } from "./viewer.js";

applyTheme();
loadIcons();
onUnauthorised(signIn);

/** The collections with the retrievers of each. @type {Map<string, string[]>} */
let collections = new Map();
const uploads = new Uploads();
const library = new Library({ openDocument: (name) => viewer.openDocument(name), close: () => viewer.close(), upload: (files) => uploads.add([...files]), reading: uploads.element });
const viewer = new Viewer(library.element);
const conversation = new Conversation(viewer, (busy) => composer.setBusy(busy));
const composer = new Composer({ ask: (question) => conversation.ask(question), stop: () => conversation.stop(), openDocuments: showDocuments });
uploads.onAdd = () => viewer.showLibrary(narrow());

function showDocuments() {
  viewer.from = /** @type {HTMLElement} */ (document.activeElement);
  viewer.showLibrary(true);
}

function showHistory() {
  openHistory({ collection: open.collection, current: conversation.id, open: (id) => conversation.open(id), gone: (id) => id === conversation.id && conversation.clear() });
}

function begin() {
  conversation.clear();
  byId("question").focus();
}

/** @param {string} id @param {string} sign @param {() => void} act @param {string} [words] */
function button(id, sign, act, words) {
  byId(id).append(icon(sign), ...(words ? [h("span", { class: "wording", text: words })] : []));
  byId(id).addEventListener("click", act);
}

button("open-history", "history", showHistory);
button("open-documents", "documents", showDocuments, "Documents");
button("new-conversation", "plus", begin);
button("open-settings", "settings", () => openSettings({ signOut: session.name ? signOut : null }));
button("open-shortcuts", "help", openShortcuts);
byId("open-documents").setAttribute("aria-label", "Documents");

listenForKeys({ conversation, viewer, showDocuments, showHistory, openShortcuts });

/** Opens a collection with a new conversation; questions can be asked before its documents are listed. @param {string} name */
async function openCollection(name) {
  forgetDocuments();
  open.collection = name;
  change({ collection: name });
  document.title = `${name} · quoteweave`;
  byId("collection").value = name;
  conversation.clear();
  composer.begin(collections.get(name) ?? []);
  await readDocuments();
}

/** What the page's address names: a collection, and a conversation or a quote of it. */
function addressed() {
  const quote = /^\/c\/([^/]+)\/q\/(.+?)\/?$/.exec(location.pathname);
  const query = new URLSearchParams(location.search);
  return quote
    ? { collection: decodeURIComponent(quote[1]), quote: decodeURIComponent(quote[2]), conversation: null, question: null }
    : { collection: query.get("collection"), quote: null, conversation: query.get("conversation"), question: query.get("q") ?? history.state?.asked ?? null };
}

/** What the current key may do. */
let session = { key_needed: false, name: /** @type {string | null} */ (null), scopes: ["read", "write"] };

/** Asks the server what the session may do, and the user for a key if nothing is allowed without one. */
async function readSession() {
  session = await call("/v1/session");
  if (session.key_needed && !session.scopes.length) {
    await signIn();
    session = await call("/v1/session");
  }
  open.writable = session.scopes.includes("write");
}

async function signOut() {
  await call("/v1/session", { method: "DELETE" });
  location.assign("/");
}

/** Lists the collections. @returns {Promise<string[]>} */
async function readCollections() {
  const found = await call("/v1/collections");
  collections = new Map(found.collections.map((/** @type {any} */ one) => [one.name, one.retrievers]));
  const names = [...collections.keys()];
  byId("collection").replaceChildren(...names.map((name) => h("option", { value: name, text: name })));
  byId("collection").hidden = names.length < 2;
  return names;
}

async function start() {
  const wanted = addressed();
  await readSession();
  const names = await readCollections();
  const name = wanted.collection ?? (names.includes(settings.collection) ? settings.collection : names[0]);
  if (!name) throw new Problem({ title: "There is no collection yet", detail: "Make one with `quoteweave add FILES -c FOLDER`, and serve it with `quoteweave serve -c FOLDER`." });
  const path = location.pathname;
  const opened = openCollection(name);
  library.element.hidden = wanted.quote !== null; // so that covers are not drawn before the page of the quote
  await Promise.all([opened, composer.readModels()]);
  if (open.writable) uploads.resume().catch(() => {}); // the page works without the list of jobs
  if (wanted.quote) {
    history.replaceState(null, "", path);
    await viewer.openQuote(name, wanted.quote);
    return;
  }
  if (conversation.turns.length) return; // something was asked meanwhile
  if (wanted.conversation) await conversation.open(wanted.conversation);
  if (wanted.question && !byId("question").value) composer.write(wanted.question);
  else if (!wanted.conversation && !narrow()) byId("question").focus({ preventScroll: true });
}

/** @param {unknown} error */
function failed(error) {
  const problem = error instanceof Problem ? error : new Problem({ title: "The page could not be opened", detail: String(error) });
  const notice = h("div", { class: "turn" }, problemNotice(problem, () => location.reload()));
  if (viewer.panel.hidden) library.element.hidden = false;
  const again = notice.querySelector(".choices");
  again?.replaceChildren(h("button", { type: "button", class: "button", text: "Try again", on: { click: () => location.reload() } }));
  byId("turns").prepend(notice);
}

byId("collection").addEventListener("change", () => openCollection(byId("collection").value).catch(failed));
addEventListener("beforeprint", openSources);
onDocuments(() => byId("open-documents").classList.toggle("narrowed", open.chosen.size > 0));
start().catch(failed);
