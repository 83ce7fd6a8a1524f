// Shows one message: the question, or the answer with its labels, citations and sources, from one plain state.

import { messages } from "./api.js";
import { fill, h, iconButton } from "./dom.js";
import { has, t } from "./i18n.js";
import { renderAnswer } from "./render.js";
import { openSource, placeInWords } from "./source.js";

const FINISHES_SHOWN = new Set(["truncated", "stopped", "interrupted", "nothing_found", "error"]);

/** What is known of an answer while it runs and after; `phase` is what it does now, '' when it has ended. */
export function answerState(message = {}) {
  return {
    id: message.id ?? "",
    text: message.content ?? "",
    thinking: "",
    references: message.knowledge_references ?? [],
    support: message.citation_support ?? [],
    warnings: message.warnings ?? message.trace?.warnings ?? [],
    extractive: Boolean(message.extractive ?? message.data?.extractive ?? message.trace?.extractive),
    finish: message.finish ?? "",
    error: message.error_message ?? "",
    phase: message.is_completed === false ? "starting" : "",
  };
}

/** Take one event of the stream into the state. */
export function takeEvent(state, event) {
  const { response_type: type, content = "", data = {} } = event;
  if (data.extractive) state.extractive = true;
  if (type === "agent_query") {
    // The first event: what a broken stream had brought before is sent again from here.
    Object.assign(state, { id: event.assistant_message_id ?? data.assistant_message_id ?? state.id, text: "", thinking: "", error: "", support: [] });
  } else if (type === "tool_call") state.phase = data.tool_name === "query_understand" ? "understanding" : "searching";
  else if (type === "tool_result") {
    for (const warning of data.warnings ?? []) if (!state.warnings.includes(warning)) state.warnings.push(warning);
  } else if (type === "references") {
    state.references = event.knowledge_references ?? [];
    state.phase = "writing";
  } else if (type === "thinking") state.thinking += content;
  else if (type === "answer") {
    state.text += content;
    state.phase = "writing";
  } else if (type === "citations_checked") state.support = (data.citations ?? []).map((citation) => citation.support);
  else if (type === "error") state.error = content;
  else if (type === "complete") {
    state.finish = data.finish ?? "complete";
    state.phase = "";
  }
}

/** `images` are the stored pictures of the question ({id, caption}) in the message of that id. */
export function questionView(text, images = [], message = "") {
  const pictures = images.length > 0 && h("div", { class: "pictures" }, images.map((image) => pictureView(message, image)));
  return h("article", { class: "question" }, h("h2", { class: "unseen" }, t("you")), pictures, text && h("p", {}, text));
}

/** A picture is fetched like everything else, with the access key, which the address of an image could not carry. */
function pictureView(message, { id, caption }) {
  const picture = h("img", { alt: caption || t("picture"), title: caption || null });
  messages.image(message, id).then(
    (blob) => {
      picture.addEventListener("load", () => URL.revokeObjectURL(picture.src), { once: true });
      picture.src = URL.createObjectURL(blob);
    },
    (error) => picture.replaceWith(h("p", { class: "notice quiet" }, error.message)),
  );
  return picture;
}

/** The answer's element with `update()`; `again()` asks the question once more, where that can be done from here. */
export function answerView(state, { again }) {
  const body = h("div", { class: "text" });
  const label = h("p", { class: "label" });
  const phase = h("p", { class: "phase" });
  const thinking = h("div", { class: "text" });
  const reasoning = h("details", { class: "reasoning" }, h("summary"), thinking);
  const ending = h("div", { class: "ending" });
  const root = h("article", { class: "answer" }, h("h2", { class: "unseen" }), label, reasoning, body, phase, ending);

  function cite(source) {
    if (source.kind === "web") {
      return h("a", { class: "cite", href: source.url, title: source.title, target: "_blank", rel: "noopener noreferrer nofollow" }, source.number);
    }
    const name = t("source", { n: source.number, title: source.title });
    const open = (event) => show(state, source, claimBefore(event.currentTarget));
    return h("button", { type: "button", class: "cite", "aria-label": name, title: source.title, onclick: open }, source.number);
  }

  function update() {
    const final = !state.phase;
    root.querySelector("h2").textContent = t("answer");
    root.setAttribute("aria-busy", String(!final));
    label.textContent = state.extractive ? t("extractive") : "";
    label.hidden = !state.extractive;
    reasoning.hidden = !state.thinking;
    reasoning.querySelector("summary").textContent = t("thinking");
    renderAnswer(thinking, state.thinking, { final, cite: () => document.createTextNode("") });
    const sources = renderAnswer(body, state.text, { final, cite });
    markSupport(body, state.support);
    phase.textContent = final ? "" : t(state.phase);
    phase.hidden = final;
    fill(ending, final ? endingOf(state, sources, again) : null);
  }

  return { root, update };
}

/** Say on each citation how far the check found its words in the source; where tags were hidden nobody can tell which is which. */
function markSupport(body, support) {
  const cites = [...body.querySelectorAll(".cite")];
  if (cites.length !== support.length) return;
  for (const [index, cite] of cites.entries()) {
    const key = `support_${support[index]}`;
    if (!has(key)) continue;
    cite.dataset.support = support[index];
    cite.dataset.name ??= cite.getAttribute("aria-label") || cite.title;
    cite.setAttribute("aria-label", `${cite.dataset.name}. ${t(key)}`);
    cite.title = `${cite.dataset.name}. ${t(key)}`;
  }
}

function show(state, source, claim) {
  const stored = state.references.find((reference) => reference.id === source.chunkId) ?? null;
  return openSource({ title: source.title, chunkId: source.chunkId, documentId: source.documentId || stored?.knowledge_id, claim, stored });
}

/** The text of the same paragraph, item or cell between the citation before and this one. */
function claimBefore(button) {
  const block = button.closest("p, li, td, th, blockquote, h3, h4, h5, h6") ?? button.parentElement;
  const range = document.createRange();
  range.selectNodeContents(block);
  const cites = [...block.querySelectorAll(".cite")];
  let before = cites.indexOf(button) - 1;
  // Several numbers in a row stand for the same words.
  let claim = "";
  range.setEndBefore(button);
  do {
    if (before >= 0) range.setStartAfter(cites[before]);
    else range.setStart(block, 0);
    claim = range.toString().trim();
    before -= 1;
  } while (!/[\p{L}\p{N}]/u.test(claim) && before >= -1);
  return claim;
}

function endingOf(state, sources, again) {
  const parts = [];
  if (FINISHES_SHOWN.has(state.finish)) {
    const bad = state.finish === "error";
    parts.push(h("p", { class: bad ? "notice bad" : "notice", role: bad ? "alert" : null }, state.error || t(state.finish)));
  } else if (state.error) parts.push(h("p", { class: "notice bad", role: "alert" }, state.error));
  for (const warning of state.warnings) parts.push(h("p", { class: "notice quiet" }, warning));
  if (sources.length) parts.push(sourceList(state, sources));
  const others = state.references.filter((reference) => !sources.some((source) => source.chunkId === reference.id));
  if (others.length) parts.push(otherList(state, others));
  parts.push(actions(state, again));
  return parts;
}

function placeOf(reference) {
  return placeInWords(reference?.place, reference?.knowledge_title);
}

function sourceList(state, sources) {
  const items = sources.map((source) => {
    const reference = state.references.find((each) => each.id === source.chunkId);
    const title = source.title || reference?.knowledge_title || reference?.knowledge_filename || "";
    const inner = [h("b", {}, source.number), h("span", {}, title, h("small", {}, placeOf(reference)))];
    if (source.kind === "web") {
      return h("li", {}, h("a", { href: source.url, target: "_blank", rel: "noopener noreferrer nofollow" }, inner));
    }
    return h("li", {}, h("button", { type: "button", onclick: () => show(state, source, "") }, inner));
  });
  return h("section", { class: "sources", "aria-label": t("sources") }, h("h3", {}, t("sources")), h("ol", {}, items));
}

function otherList(state, others) {
  const items = others.map((reference) => {
    const title = reference.knowledge_title || reference.knowledge_filename || "";
    const open = () => openSource({ title, chunkId: reference.id, documentId: reference.knowledge_id, stored: reference });
    return h("li", {}, h("button", { type: "button", onclick: open }, h("span", {}, title, h("small", {}, placeOf(reference)))));
  });
  return h("details", { class: "sources others" }, h("summary", {}, t("alsoFound", { n: others.length })), h("ul", {}, items));
}

function actions(state, again) {
  const copy = async (event) => {
    const button = event.currentTarget;
    await navigator.clipboard.writeText(state.text.replace(/<(?:kb|web)(?=[\s/>])[^<>]*>/gi, ""));
    button.setAttribute("aria-label", t("copied"));
    button.classList.add("done");
  };
  return h(
    "div",
    { class: "actions" },
    state.text && navigator.clipboard && iconButton("copy", t("copy"), copy),
    again && state.finish && state.finish !== "complete" && iconButton("again", t("again"), again),
  );
}
