// @ts-check
/** Reads which documents the collection has, and follows the jobs that change them. */
import { base, call, stream } from "./api.js";
import { documentsChanged, open } from "./state.js";

/** @typedef {{status: string, report: any, notes: string[], error: string | null}} Job */

/** @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

let readings = 0;

/** Reads the list of documents. If it is read several times at once, only the result of the last reading counts. */
export async function readDocuments() {
  const reading = (readings += 1);
  let found;
  try {
    found = await call(`${base(open.collection)}/documents`);
  } catch (error) {
    if (reading === readings) throw error;
  }
  if (reading !== readings) return;
  Object.assign(open, { documents: found.documents, failures: found.failures, listed: true });
  open.contents = open.documents.map(({ name, content }) => `${name}\n${content}`).join("\n");
  const names = new Set(open.documents.map((document) => document.name));
  for (const name of open.chosen) if (!names.has(name)) open.chosen.delete(name);
  documentsChanged();
}

/**
 * Follows a job until it ends.
 * @param {string} id
 * @param {(progress: any) => void} told of its progress
 * @returns {Promise<Job>}
 */
export async function follow(id, told) {
  for await (const { type, data } of stream(`/v1/jobs/${encodeURIComponent(id)}/events`)) {
    if (type === "job") return data;
    if (type === "progress") told(data);
  }
  return call(`/v1/jobs/${encodeURIComponent(id)}`);
}
