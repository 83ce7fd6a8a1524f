// The side panel that opens a citation at its place: the page with its boxes, the rows of a table, or the text.

import { chunk as fetchChunk, documents } from "./api.js";
import { byId, fill, h, icon, iconButton, reveal } from "./dom.js";
import { t } from "./i18n.js";
import { locate, locateClaim, unitIndex } from "./locate.js";
import { pageView } from "./page.js";

const AROUND = 6000;
const CELL_JOIN = " | ";

let opened = 0;
let returnTo = null;
let shown = null;

export const isOpen = () => !byId("source").hidden;
export const shownTitle = () => (isOpen() ? (shown?.title ?? "") : "");

/**
 * Open a source. `claim` is the text that the citation stands after; `stored` is the passage kept with the answer,
 * shown when the document is gone.
 */
export async function openSource({ title = "", chunkId = "", documentId = "", claim = "", stored = null }) {
  const ticket = ++opened;
  if (!isOpen()) returnTo = document.activeElement;
  shown = { title, documentId };
  header(title, "");
  show(h("p", { class: "quiet" }, t("loading")));
  byId("source").hidden = false;
  document.body.classList.add("with-source");
  document.dispatchEvent(new Event("sourcechange"));
  byId("source-title").focus();
  try {
    const chunk = chunkId ? await fetchChunk(chunkId) : null;
    const id = chunk?.knowledge_id ?? documentId;
    const [document_, text] = await Promise.all([documents.get(id), documents.text(id)]);
    if (ticket !== opened) return;
    shown = { title: document_.title || document_.file_name || title, documentId: id, fileName: document_.file_name };
    present(document_, widest(chunk, stored, claim), text, claim);
  } catch (error) {
    if (ticket === opened) gone(error, stored, claim);
  }
  document.dispatchEvent(new Event("sourcechange"));
}

/** The chunk, or the passage it was merged into for the answer when only that holds the quoted words. */
function widest(chunk, stored, claim) {
  const needed = chunk && stored?.place?.end > stored?.place?.start && claim && !locateClaim(claim, chunk.content);
  return needed && locateClaim(claim, stored.content) ? { ...chunk, content: stored.content, place: stored.place } : chunk;
}

export function closeSource() {
  if (!isOpen()) return;
  opened += 1;
  byId("source").hidden = true;
  document.body.classList.remove("with-source");
  document.dispatchEvent(new Event("sourcechange"));
  if (returnTo?.isConnected) returnTo.focus();
  else byId("question").focus();
}

function header(title, place) {
  byId("source-title").textContent = title || t("sourcePanel");
  fill(byId("source-place"), place);
}

const show = (...nodes) => fill(byId("source-body"), ...nodes);

function gone(error, stored, claim) {
  fill(byId("source-tools"));
  if (error.status !== 404) return show(h("p", { class: "notice bad", role: "alert" }, error.message));
  if (!stored?.content) return show(h("p", { class: "notice", role: "status" }, t("removedBare")));
  const kept = h("p", { class: "document-text" });
  const sentence = locateClaim(claim, stored.content);
  fill(kept, marked(stored.content, null, sentence));
  return show(h("p", { class: "notice", role: "status" }, t("removed")), kept);
}

/** In words: page, sheet and rows, headings; a first heading that only says the title again is left out. */
export function placeInWords(place, title = "") {
  if (!place) return "";
  const { page, page_end: pageEnd, sheet, row, row_end: rowEnd, heading_path: path } = place;
  const words = [];
  if (page) words.push(t("page", { n: pageEnd && pageEnd !== page ? `${page}–${pageEnd}` : page }));
  if (sheet) words.push(t("sheet", { name: sheet }));
  if (row) words.push(rowEnd && rowEnd !== row ? t("rows", { from: row, to: rowEnd }) : t("row", { n: row }));
  const headings = path?.[0] === title ? path.slice(1) : (path ?? []);
  if (headings.length) words.push(headings.join(" › "));
  return words.join(" · ");
}

function present(document_, chunk, text, claim) {
  const { title, fileName } = shown;
  header(title, [placeInWords(chunk?.place, title), fileName !== title && fileName].filter(Boolean).join(" · "));
  tools(document_);
  const views = [];
  const place = chunk?.place ?? {};
  if (place.page || document_.file_type === "pdf") {
    const found = chunk && locateClaim(claim, chunk.content);
    const sentence = found && { from: found.start / chunk.content.length, to: found.end / chunk.content.length };
    const { documentId } = shown;
    views.push(["viewPage", (box) => pageView(box, { documentId, place, pages: document_.metadata?.pages, sentence })]);
  }
  if (place.row) views.push(["viewRows", (box) => rowsView(box, chunk, claim)]);
  views.push(["viewText", (box) => textView(box, text, chunk, claim)]);
  const box = h("div", { class: "view" });
  if (views.length === 1) show(box);
  else show(switcher(views, box), box);
  views[0][1](box);
}

function switcher(views, box) {
  const buttons = views.map(([key, view], index) =>
    h("button", { type: "button", "aria-pressed": String(index === 0), onclick: () => choose(index, view) }, t(key)),
  );
  const choose = (chosen, view) => {
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(index === chosen)));
    box.replaceChildren();
    view(box);
  };
  return h("div", { class: "switcher", role: "group", "aria-label": t("sourcePanel") }, buttons);
}

function tools(document_) {
  const download = async (event) => {
    event.currentTarget.disabled = true;
    const button = event.currentTarget;
    try {
      const address = URL.createObjectURL(await documents.file(shown.documentId));
      h("a", { href: address, download: document_.file_name || document_.title }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    } finally {
      button.disabled = false;
    }
  };
  fill(byId("source-tools"), document_.file_name ? iconButton("down", t("download"), download) : null);
}

/** The document's text around the passage, more of it on demand; the passage and the quoted sentence are marked. */
function textView(box, text, chunk, claim) {
  if (!text) return fill(box, h("p", { class: "quiet" }, t("noTextYet")));
  const passage = chunk ? passageIn(text, chunk) : null;
  if (chunk && !passage) {
    fill(box, h("p", { class: "document-text" }, marked(chunk.content, null, locateClaim(claim, chunk.content))));
    return undefined;
  }
  const inner = passage && locateClaim(claim, text.slice(passage.start, passage.end));
  const sentence = inner && { start: passage.start + inner.start, end: passage.start + inner.end };
  let from = Math.max(0, (passage?.start ?? 0) - AROUND);
  let to = Math.min(text.length, (passage?.end ?? 0) + AROUND);
  const body = h("p", { class: "document-text" });
  const up = h("button", { type: "button", class: "more", onclick: () => ((from = Math.max(0, from - AROUND * 4)), draw()) }, t("above"));
  const down = h("button", { type: "button", class: "more", onclick: () => ((to = Math.min(text.length, to + AROUND * 4)), draw()) }, t("below"));
  const draw = () => {
    const move = (range) => range && { start: range.start - from, end: range.end - from };
    fill(body, marked(text.slice(from, to), move(passage), move(sentence)));
    up.hidden = from === 0;
    down.hidden = to === text.length;
  };
  draw();
  fill(box, up, body, down);
  reveal(box.querySelector("mark.sentence") ?? box.querySelector("mark"), byId("source-body"));
  return undefined;
}

/** Where the chunk stands in the text: by its offsets when the text there is the same, else by its words. */
function passageIn(text, { content, place }) {
  if (place?.end > place?.start) {
    const start = unitIndex(text, place.start);
    const end = start + unitIndex(text.slice(start), place.end - place.start);
    if (locateClaim(content, text.slice(start, end)) || place.row) return { start, end };
  }
  return locateClaim(content, text);
}

/** Text with one marked passage, and inside it one marked sentence. */
function marked(text, passage, sentence) {
  if (!passage) return sentence ? split(text, 0, text.length, sentence) : [text];
  return [
    text.slice(0, passage.start),
    h("mark", { class: "passage" }, split(text, passage.start, passage.end, sentence)),
    text.slice(passage.end),
  ];
}

function split(text, start, end, sentence) {
  if (!sentence) return [text.slice(start, end)];
  return [
    text.slice(start, sentence.start),
    h("mark", { class: "sentence" }, text.slice(sentence.start, sentence.end)),
    text.slice(sentence.end, end),
  ];
}

/** A table's passage row by row, each with its number; `Name: value` cells show their names small. */
function rowsView(box, { content, place }, claim) {
  const lines = content.split("\n").filter((line) => line.trim());
  const count = (place.row_end ?? place.row) - place.row + 1;
  const heads = Math.max(0, lines.length - count);
  const rows = lines.map((line, index) => {
    const quoted = Boolean(claim) && (locateClaim(claim, line) || locate(line, claim));
    const number = index < heads ? "" : place.row + index - heads;
    const cells = line.split(CELL_JOIN).map((cell) => {
      const [, name, value] = /^([^:]{1,60}): (.*)$/.exec(cell) ?? [null, "", cell];
      return h("span", { class: "cell" }, name && h("small", {}, name), value);
    });
    return h("li", { class: quoted ? "quoted" : null }, h("b", {}, number), h("div", {}, cells));
  });
  fill(box, h("ol", { class: "rows" }, rows));
  reveal(box.querySelector(".quoted"), byId("source-body"));
}

byId("source-close").append(icon("close"));
byId("source-close").addEventListener("click", closeSource);
