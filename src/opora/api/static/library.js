// The left side: knowledge bases, the documents of the chosen one, and files on their way in.

import { bases, documents } from "./api.js";
import { askText, confirmDeletion } from "./dialog.js";
import { byId, fill, h, iconButton, patch } from "./dom.js";
import { currentLanguage, duration, has, t } from "./i18n.js";
import { openSource } from "./source.js";
import { createUploads, droppedFiles } from "./uploads.js";

const KEPT = "opora.base";
const ALL = "";
const PAGE = 50;
const ESTIMATES = 8;
const BUSY_MS = 1000;
const IDLE_MS = 20_000;
const UNFINISHED = new Set(["pending", "processing", "deleting"]);

let known = [];
let chosen = localStorage.getItem(KEPT) ?? null;
let rows = [];
let total = 0;
let pages = 1;
let timer = 0;
let reading = 0;
let loaded = Promise.resolve();
let report = () => {};

/** The bases that a question is asked of; an empty list means all of them. */
export const chosenBases = () => (chosen ? [chosen] : []);
export const isEmpty = () => known.length === 0 || (chosen !== ALL && total === 0);

const uploads = createUploads({
  // Files may be dropped before the bases are known.
  baseFor: () => loaded.then(() => chosen || createBase(known.length ? null : t("firstBase"))),
  onChange: drawDocuments,
  onStored: refreshDocuments,
});

export async function startLibrary({ onProblem }) {
  report = onProblem;
  wire();
  document.addEventListener("languagechange", () => (drawBases(), drawDocuments()));
  document.addEventListener("visibilitychange", () => document.hidden || refreshDocuments());
  loaded = refreshBases();
  await loaded;
}

async function refreshBases() {
  known = await bases.list();
  if (!known.some((base) => base.id === chosen) && !(chosen === ALL && known.length > 1)) chosen = known[0]?.id ?? null;
  drawBases();
  await refreshDocuments();
}

function choose(base) {
  chosen = base;
  localStorage.setItem(KEPT, base ?? "");
  rows = [];
  total = 0;
  pages = 1;
  drawBases();
  return refreshDocuments();
}

async function createBase(name) {
  name ??= await askText(t("baseName"), t("create"), { title: t("newBase") });
  if (!name) return null;
  const made = await bases.create(name);
  known.push(made);
  await choose(made.id);
  return made.id;
}

async function removeBase() {
  const base = known.find((each) => each.id === chosen);
  if (!base || !(await confirmDeletion(t("deleteBaseAsk", { name: base.name })))) return;
  await bases.remove(base.id);
  chosen = null;
  rows = [];
  total = 0;
  await refreshBases();
}

/** Read the shown pages of the list again; soon once more while something is still on its way. */
export async function refreshDocuments() {
  clearTimeout(timer);
  const mine = ++reading;
  const base = chosen;
  try {
    if (base) {
      const found = [];
      let count = 0;
      for (let page = 1; page <= pages; page += 1) {
        const listed = await documents.list(base, page, PAGE);
        found.push(...listed.data);
        count = listed.total ?? found.length;
      }
      await estimate(found);
      if (mine !== reading) return;
      rows = found;
      total = count;
    } else if (mine === reading) {
      rows = [];
      total = 0;
    }
    drawDocuments();
    document.dispatchEvent(new Event("librarychange"));
  } catch (error) {
    if (mine === reading) report(error);
  }
  if (mine === reading) {
    clearTimeout(timer);
    const busy = rows.some((row) => UNFINISHED.has(row.parse_status));
    timer = setTimeout(() => (document.hidden ? undefined : refreshDocuments()), busy ? BUSY_MS : IDLE_MS);
  }
}

/** Ask how long the first documents in work will take; the list itself does not say. */
async function estimate(found) {
  const working = found.filter((row) => row.parse_status === "processing" && row.chunk_count).slice(0, ESTIMATES);
  await Promise.all(working.map(async (row) => (row.progress = await documents.progress(row.id).catch(() => undefined))));
}

const guarded = (action) => async (...given) => {
  try {
    await action(...given);
  } catch (error) {
    report(error);
  }
};

function drawBases() {
  const options = known.map((base) => h("option", { value: base.id }, base.name));
  if (known.length > 1) options.unshift(h("option", { value: ALL }, t("allBases")));
  const select = byId("base");
  fill(select, options);
  select.disabled = known.length === 0;
  if (chosen !== null) select.value = chosen;
  byId("base-delete").hidden = !chosen;
  byId("drop").hidden = chosen === ALL;
  byId("choose-base").hidden = chosen !== ALL;
}

function drawDocuments() {
  const item = (row, make) => ({ signature: JSON.stringify([currentLanguage(), row]), make: () => make(row) });
  patch(byId("documents"), [...uploads.rows().map((row) => item(row, uploadRow)), ...rows.map((row) => item(row, documentRow))]);
  byId("documents-count").textContent = total ? String(total) : "";
  const isBare = rows.length === 0 && uploads.rows().length === 0;
  byId("documents-none").hidden = !isBare || chosen === ALL;
  byId("documents-title").hidden = isBare && chosen === ALL;
  byId("documents-more").hidden = rows.length >= total;
}

function uploadRow({ key, name, part, state, message }) {
  const note = message || (state === "waiting" ? t("waitingUpload") : t("uploading"));
  return h(
    "li",
    { class: `document ${state}` },
    h("span", { class: "name" }, name),
    h("span", { class: "status", role: state === "failed" ? "alert" : null }, note),
    state === "sending" && h("progress", { max: "1", value: part, "aria-label": `${t("uploading")}: ${name}` }),
    (state === "failed" || state === "known") && iconButton("close", `${t("dismiss")}: ${name}`, () => uploads.dismiss(key)),
  );
}

function documentRow(row) {
  // People look for the file that they brought; the title inside it is what citations show.
  const name = row.file_name || row.title;
  const { text, part } = statusOf(row);
  const open = () => openSource({ title: name, documentId: row.id });
  const remove = guarded(async () => {
    if (!(await confirmDeletion(t("deleteDocumentAsk", { name })))) return;
    await documents.remove(row.id);
    rows = rows.filter((each) => each.id !== row.id);
    await refreshDocuments();
  });
  return h(
    "li",
    { class: `document ${row.parse_status}` },
    h("button", { type: "button", class: "name", "data-key": row.id, title: row.title || name, onclick: open }, name),
    h("span", { class: "status" }, text),
    part !== null && h("progress", { max: "1", value: part, "aria-label": name }),
    iconButton("trash", `${t("deleteDocument")}: ${name}`, remove, { "data-key": `${row.id} delete` }),
  );
}

/** What to say of a document, and the part of its vectors that is done (null: no bar). */
function statusOf(row) {
  const { chunks = row.chunk_count ?? 0, embedded = row.embedded_count ?? 0, seconds_left: left = row.seconds_left } = row.progress ?? {};
  switch (row.parse_status) {
    case "completed":
      return { text: t("ready"), part: null };
    case "failed": {
      const reason = `reason_${row.error_reason}`;
      return { text: `${t("failed")}: ${row.error_message || (has(reason) ? t(reason) : "")}`, part: null };
    }
    case "processing":
      if (!chunks) return { text: t("reading"), part: null };
      return {
        text: `${t("searchable")}; ${left ? t("vectorsLeft", { time: duration(left) }) : t("vectors", { done: embedded, all: chunks })}`,
        part: embedded / chunks,
      };
    default:
      return { text: has(row.parse_status) ? t(row.parse_status) : row.parse_status, part: null };
  }
}

function wire() {
  byId("base").addEventListener("change", (event) => choose(event.target.value));
  byId("base-new").addEventListener("click", guarded(() => createBase(null)));
  byId("base-delete").addEventListener("click", guarded(removeBase));
  byId("documents-more").addEventListener("click", () => ((pages += 1), refreshDocuments()));
  for (const [button, input] of [["files-choose", "files"], ["folder-choose", "folder"]]) {
    byId(button).addEventListener("click", () => byId(input).click());
    byId(input).addEventListener("change", guarded(async (event) => {
      const files = [...event.target.files].filter((file) => !file.webkitRelativePath.split("/").some((name) => name.startsWith(".")));
      event.target.value = "";
      await uploads.add(files);
    }));
  }
  wireDrop();
}

/** Files may be dropped anywhere on the page. */
function wireDrop() {
  let inside = 0;
  const carriesFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const mark = () => document.body.classList.toggle("dropping", inside > 0 && chosen !== ALL);
  document.addEventListener("dragenter", (event) => carriesFiles(event) && ((inside += 1), mark()));
  document.addEventListener("dragleave", (event) => carriesFiles(event) && ((inside = Math.max(0, inside - 1)), mark()));
  document.addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
  document.addEventListener("drop", guarded(async (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    inside = 0;
    mark();
    if (chosen !== ALL) await uploads.add(await droppedFiles(event.dataTransfer));
  }));
}
