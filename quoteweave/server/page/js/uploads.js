// @ts-check
/** Adds files to the collection, and shows the progress of reading them, page by page. */
import { Problem, base, call } from "./api.js";
import { counted, follow, readDocuments } from "./documents.js";
import { h, say, toast, tool } from "./dom.js";
import { open } from "./state.js";

const SHOWN_MS = 10_000; // how long the list shows that files are ready

export class Uploads {
  constructor() {
    this.element = h("ul", { class: "reading", "aria-label": "Files that are being added", hidden: true });
    let depth = 0;
    const files = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") && open.writable;
    const show = (/** @type {number} */ by) => document.body.classList.toggle("dragging", (depth = Math.max(0, depth + by)) > 0);
    addEventListener("dragenter", (event) => files(event) && show(1));
    addEventListener("dragleave", (event) => files(event) && show(-1));
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      show(-depth);
      if (event.dataTransfer?.files.length && open.writable) this.add([...event.dataTransfer.files]);
    });
    /** @type {() => void} */
    this.onAdd = () => {};
  }

  /** Adds files; errors are shown beside them. @param {File[]} files */
  async add(files) {
    this.onAdd();
    const row = this.#row(files.length === 1 ? files[0].name : counted(files.length, "file"));
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    try {
      const { job, unchanged } = await call(`${base(open.collection)}/documents`, { method: "POST", body: form });
      const ended = job && (await follow(job.id, (progress) => row.progress(progress)));
      this.#end(row, ended, unchanged);
    } catch (error) {
      row.fail(error instanceof Problem && error.detail ? `${error.title}. ${error.detail}` : /** @type {Error} */ (error).message);
    }
    await readDocuments().catch((error) => toast(error.message));
  }

  /** Shows the files that are already being read, for example after the page was reloaded. */
  async resume() {
    const { jobs } = await call(`/v1/jobs?${new URLSearchParams({ collection: open.collection, limit: "20" })}`);
    for (const job of jobs) {
      if (job.kind !== "add" || !["queued", "running"].includes(job.status)) continue;
      const row = this.#row(job.documents.length === 1 ? job.documents[0] : counted(job.documents.length, "file"));
      follow(job.id, (progress) => row.progress(progress)).then((ended) => {
        this.#end(row, ended, []);
        return readDocuments();
      }).catch((error) => row.fail(error.message));
    }
  }

  /** @param {Row} row @param {import("./documents.js").Job | null} job @param {string[]} unchanged */
  #end(row, job, unchanged) {
    const report = job?.report ?? {};
    const failed = report.failed ?? [];
    for (const { name, reason } of failed) this.#row(name).fail(reason);
    if (job && job.status !== "done" && !failed.length) return row.fail(job.error ?? "The files were not added.");
    const same = unchanged.length + (report.unchanged?.length ?? 0);
    const added = report.added?.length ?? 0;
    if (!added && !same) return this.#drop(row.element);
    row.finish(added ? `${counted(added, "file is", "files are")} ready to be asked` : counted(same, "file was here already", "files were here already"));
    return setTimeout(() => this.#drop(row.element), SHOWN_MS);
  }

  /** @param {string} name */
  #row(name) {
    const row = new Row(name, () => this.#drop(row.element));
    this.element.hidden = false;
    this.element.append(row.element);
    return row;
  }

  /** @param {HTMLElement} element */
  #drop(element) {
    element.remove();
    this.element.hidden = !this.element.childElementCount;
  }
}

/** A row of the list: files that are being added, and their progress. */
class Row {
  /** @param {string} name @param {() => void} drop */
  constructor(name, drop) {
    this.name = name;
    this.drop = drop;
    this.done = 0;
    this.state = h("span", { class: "state", text: "Sending" });
    this.bar = h("progress", { max: "1", "aria-label": `Reading ${name}` });
    this.element = h("li", {}, h("bdi", { class: "file", text: name, title: name }), this.state, this.bar);
  }

  /** @param {any} told of the job */
  progress(told) {
    const { document, page, pages, files_done: done } = told;
    if (pages) Object.assign(this.bar, { max: pages, value: page ?? 0 });
    const of = document && document !== this.name ? `${document}, ` : "";
    this.state.textContent = pages ? `${of}page ${page ?? 0} of ${pages}` : (told.waiting ?? told.step ?? "Waiting");
    if (done > this.done) readDocuments().catch(() => {}); // documents that are ready can be asked already
    this.done = done ?? this.done;
  }

  /** @param {string} words */
  finish(words) {
    this.state.textContent = words;
    this.bar.remove();
    say(`${this.name}: ${words}`);
  }

  /** @param {string} reason */
  fail(reason) {
    this.element.classList.add("failed");
    this.state.textContent = reason;
    this.bar.replaceWith(tool("close", "Dismiss", this.drop));
    say(`${this.name}: ${reason}`);
  }
}
