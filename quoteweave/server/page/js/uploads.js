// @ts-check
/** Adds files to the collection, and shows how they are read page by page. */
import { Problem, base, call, stream } from "./api.js";
import { h, say, toast } from "./dom.js";
import { counted, readDocuments } from "./library.js";
import { open } from "./state.js";

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

  /** Adds files; what goes wrong is shown beside each. @param {File[]} files */
  async add(files) {
    this.onAdd();
    const rows = new Map(files.map((file) => [file.name, this.#row(file.name)]));
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    try {
      const answer = await call(`${base(open.collection)}/documents`, { method: "POST", body: form });
      const id = answer.id ?? answer.job?.id ?? answer.job;
      await this.#follow(String(id), rows);
    } catch (error) {
      const words = error instanceof Problem ? `${error.title}. ${error.detail}` : String(error);
      rows.forEach((row) => row.settled || row.fail(words));
    }
    await readDocuments().catch((error) => toast(error.message));
  }

  /** @param {string} name */
  #row(name) {
    this.element.hidden = false;
    const state = h("span", { class: "state", text: "Sending" });
    const bar = h("progress", { max: "1", "aria-label": `Reading ${name}` });
    const item = h("li", {}, h("bdi", { class: "file", text: name, title: name }), state, bar);
    this.element.prepend(item);
    const row = {
      settled: false,
      /** @param {string} words @param {number} [done] @param {number} [total] */
      tell(words, done, total) {
        state.textContent = words;
        if (done !== undefined && total) Object.assign(bar, { max: total, value: done });
      },
      /** @param {string} words */
      finish: (words) => {
        row.settled = true;
        state.textContent = words;
        bar.remove();
        setTimeout(() => this.#drop(item), 8000);
      },
      /** @param {string} words */
      fail(words) {
        row.settled = true;
        item.classList.add("failed");
        state.textContent = words;
        bar.remove();
        say(`${name}: ${words}`);
      },
    };
    return row;
  }

  /** @param {HTMLElement} item */
  #drop(item) {
    item.remove();
    this.element.hidden = !this.element.childElementCount;
  }

  /**
   * Follows a job until it ends.
   * @param {string} id
   * @param {Map<string, any>} rows
   */
  async #follow(id, rows) {
    let last = null;
    for await (const { type, data } of stream(`/v1/jobs/${encodeURIComponent(id)}/events`)) {
      if (type === "job") last = data.job ?? data;
      else if (type === "error") throw new Problem(data);
      else this.#progress(data, rows);
    }
    this.#end(last ?? {}, rows);
  }

  /** @param {any} data @param {Map<string, any>} rows */
  #progress(data, rows) {
    const named = rowOf(data.document ?? data.file, rows);
    const [done, total] = [data.page ?? data.done ?? data.completed, data.pages ?? data.total];
    const words = done !== undefined && total ? `Page ${done} of ${total}` : (data.message ?? data.stage ?? "Reading");
    for (const row of named ? [named] : rows.values()) if (!row.settled) row.tell(words, done, total);
    if (data.added || data.state === "added") {
      named?.finish("Ready to be asked");
      readDocuments().catch(() => {});
    }
  }

  /** @param {any} job @param {Map<string, any>} rows */
  #end(job, rows) {
    const report = job.report ?? job.result ?? job;
    for (const failed of report.failed ?? []) rowOf(failed.name ?? failed.document ?? failed.file, rows)?.fail(failed.reason ?? failed.error ?? failed.detail ?? "It could not be read.");
    const wrong = job.state === "failed" || job.status === "failed" ? (job.error?.detail ?? job.error ?? job.detail ?? "The files could not be added.") : null;
    let ready = 0;
    for (const row of rows.values()) {
      if (row.settled) continue;
      if (wrong) row.fail(String(wrong));
      else row.finish("Ready to be asked");
      ready += wrong ? 0 : 1;
    }
    if (ready) say(`${counted(ready, "file is", "files are")} ready to be asked`);
  }
}

/** The row of a file, by its name or the end of its path. @param {string | undefined} name @param {Map<string, any>} rows */
function rowOf(name, rows) {
  if (!name) return null;
  return rows.get(name) ?? rows.get(name.split("/").pop() ?? "") ?? null;
}
