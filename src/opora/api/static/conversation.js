// The middle: one conversation, the question box, the running answer that survives reloads and broken connections.

import { chat, sessions } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { answerState, answerView, questionView, takeEvent } from "./message.js";
import { follow } from "./stream.js";

const LOADED = 40;

let session = "";
/** {kind: "question", id, text, images} or {kind: "answer", state, view, question}, oldest first. */
let entries = [];
let running = null;
let hasEarlier = false;
let oldest = "";
let ticket = 0;
let hooks = {};

export const currentSession = () => session;

/** `basesFor()` gives the bases to ask, `agentFor()` the agent; `onSession(id, message)` keeps the address; `onAsked()` runs after a question is taken on or done. */
export function startConversation(given) {
  hooks = given;
  byId("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    const box = byId("question");
    const text = box.value.trim();
    if (!text || running) return;
    box.value = "";
    grow();
    ask(text);
  });
  byId("question").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("composer").requestSubmit();
  });
  byId("question").addEventListener("input", grow);
  byId("stop").addEventListener("click", stop);
  byId("earlier").addEventListener("click", () => loadEarlier().catch(hooks.onProblem));
  document.addEventListener("languagechange", () => entries.forEach((entry) => entry.view?.update()));
}

function grow() {
  const box = byId("question");
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight, 220)}px`;
}

function drop() {
  ticket += 1;
  running?.abort.abort();
  running = null;
  entries = [];
  hasEarlier = false;
  oldest = "";
  drawRunning();
}

/** An empty conversation; its session is made with the first question. */
export function newConversation() {
  drop();
  session = "";
  hooks.onSession("", "");
  draw();
  byId("question").focus();
}

/** Load a conversation and take up an answer that still runs. */
export async function openConversation(id) {
  drop();
  session = id;
  const mine = ticket;
  draw();
  const messages = await sessions.messages(id, LOADED);
  if (mine !== ticket) return;
  take(messages, false);
  draw();
  toEnd();
  const last = entries.at(-1);
  hooks.onSession(id, last?.state?.phase ? last.state.id : "");
  if (last?.state?.phase) await run(last, null);
}

async function loadEarlier() {
  const mine = ticket;
  const height = byId("scroll").scrollHeight;
  const messages = await sessions.messages(session, LOADED, oldest);
  if (mine !== ticket) return;
  take(messages, true);
  draw();
  byId("scroll").scrollTop += byId("scroll").scrollHeight - height;
}

function take(messages, before) {
  const sorted = messages.map((message, index) => ({ message, index })).sort(inOrder).map(({ message }) => message);
  hasEarlier = messages.length >= LOADED;
  oldest = sorted[0]?.created_at ?? oldest;
  const questions = new Map(sorted.filter((each) => each.role === "user").map((each) => [each.request_id, each]));
  const made = sorted.map((message) => {
    if (message.role === "user") return { kind: "question", id: message.id, text: message.content, images: message.images };
    const question = questions.get(message.request_id);
    // The page sends words: a question with pictures would be asked again without them.
    return answerEntry(answerState(message), question?.images?.length ? null : (question?.content ?? ""));
  });
  entries = before ? [...made, ...entries] : made;
}

function inOrder(one, other) {
  const [a, b] = [one.message, other.message];
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1;
  if (a.request_id === b.request_id && a.role !== b.role) return a.role === "user" ? -1 : 1;
  return one.index - other.index;
}

function answerEntry(state, question) {
  const again = () => (running ? undefined : ask(question));
  const view = answerView(state, { again: question === null ? null : again });
  view.update();
  return { kind: "answer", state, view, question };
}

export async function ask(text) {
  const entry = answerEntry({ ...answerState(), phase: "starting" }, text);
  entries.push({ kind: "question", text }, entry);
  draw();
  toEnd();
  const mine = ticket;
  const abort = new AbortController();
  running = { entry, abort };
  drawRunning();
  try {
    if (!session) {
      session = (await sessions.create()).id;
      if (mine !== ticket) return;
    }
    hooks.onSession(session, "");
    const bases = hooks.basesFor();
    const agent = hooks.agentFor();
    const body = { query: text, ...(bases.length ? { knowledge_base_ids: bases } : {}), ...(agent ? { agent_id: agent } : {}) };
    const first = await chat.ask(session, body, abort.signal);
    if (mine === ticket) await run(entry, first);
  } catch (error) {
    if (mine === ticket) fail(entry, error);
  }
}

/** Follow an answer to its end; `first` is the response to the question, null to replay. */
async function run(entry, first) {
  const { state, view } = entry;
  const abort = running?.entry === entry ? running.abort : new AbortController();
  const mine = ticket;
  if (running?.entry !== entry) running = { entry, abort };
  drawRunning();
  let frame = 0;
  const redraw = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      if (mine === ticket) show(view);
    });
  };
  const handle = (event) => {
    if (mine !== ticket) return;
    const started = !state.id;
    takeEvent(state, event);
    if (started && state.id) {
      hooks.onSession(session, state.id);
      hooks.onAsked(session);
      if (running?.stopWanted) stop();
    }
    if (event.response_type === "session_title") hooks.onAsked(session);
    if (event.response_type === "complete") finish(entry);
    else redraw();
  };
  const onBreak = () => ((state.phase = "reconnecting"), redraw());
  try {
    await follow({ session, message: state.id, first, signal: abort.signal, handle, onBreak });
  } catch (error) {
    if (mine === ticket && !abort.signal.aborted) fail(entry, error);
  }
}

function show(view) {
  const follows = isAtEnd();
  view.update();
  if (follows) toEnd();
}

function finish(entry) {
  if (running?.entry === entry) running = null;
  entry.state.phase = "";
  show(entry.view);
  drawRunning();
  hooks.onSession(session, "");
  hooks.onAsked(session);
  byId("announce").textContent = t("answerReady");
}

function fail(entry, error) {
  entry.state.finish = "error";
  entry.state.error = error.message || t("offline");
  finish(entry);
}

async function stop() {
  const entry = running?.entry;
  if (!entry) return;
  byId("stop").disabled = true;
  if (!entry.state.id) {
    // The answer has no name yet; it is stopped as soon as the first event brings one.
    running.stopWanted = true;
    return;
  }
  try {
    await sessions.stop(session, entry.state.id);
  } catch (error) {
    hooks.onProblem(error);
    byId("stop").disabled = false;
  }
}

function drawRunning() {
  byId("stop").hidden = !running;
  byId("stop").disabled = Boolean(running?.stopWanted);
  byId("send").hidden = Boolean(running);
}

function draw() {
  const list = byId("messages");
  fill(list, entries.map((entry) => (entry.kind === "question" ? (entry.root ??= questionView(entry.text, entry.images, entry.id)) : entry.view.root)));
  byId("earlier").hidden = !hasEarlier;
  byId("welcome").hidden = entries.length > 0 || Boolean(session);
}

const isAtEnd = () => {
  const box = byId("scroll");
  return box.scrollHeight - box.scrollTop - box.clientHeight < 80;
};

function toEnd() {
  const box = byId("scroll");
  box.scrollTop = box.scrollHeight;
}
