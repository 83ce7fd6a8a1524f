// Starts the page: address, list of conversations, language, drawer, keyboard, and news from other tabs.

import { chosenAgent, startAgents } from "./agents.js";
import { onKeyNeeded, sessions } from "./api.js";
import { currentSession, newConversation, openConversation, startConversation } from "./conversation.js";
import { askText, confirmDeletion } from "./dialog.js";
import { byId, h, iconButton, patch } from "./dom.js";
import { currentLanguage, LANGUAGES, setLanguage, t, translatePage } from "./i18n.js";
import { chosenBases, isEmpty, startLibrary } from "./library.js";
import { closeSource, isOpen, shownTitle } from "./source.js";

const PAGE = 30;
const NAMES = { ru: "Рус", en: "Eng", zh: "中文" };
const tabs = new BroadcastChannel("opora");

let listed = [];
let total = 0;
let shownPages = 1;

// --- address: #s=<session>&m=<running answer> -----------------------------------------------------------------

const address = () => new URLSearchParams(location.hash.slice(1));

function keepAddress(session, message) {
  const wanted = new URLSearchParams();
  if (session) wanted.set("s", session);
  if (message) wanted.set("m", message);
  const hash = wanted.size ? `#${wanted}` : "";
  if (hash === location.hash) return;
  const isNew = session !== (address().get("s") ?? "");
  history[isNew ? "pushState" : "replaceState"](null, "", hash || location.pathname + location.search);
  drawSessions();
  drawTitle();
}

async function openAddressed() {
  const session = address().get("s") ?? "";
  if (session === currentSession()) return;
  if (!session) newConversation();
  else await open(session);
}

async function open(session) {
  closeDrawer();
  try {
    await openConversation(session);
  } catch (error) {
    problem(error);
    if (error.status === 404) newConversation();
  }
  drawSessions();
  drawTitle();
}

// --- conversations ----------------------------------------------------------------------------------------------

async function refreshSessions() {
  const found = [];
  for (let page = 1; page <= shownPages; page += 1) {
    const answer = await sessions.list(page, PAGE);
    found.push(...answer.data);
    total = answer.total ?? found.length;
  }
  listed = found;
  drawSessions();
  drawTitle();
}

function drawSessions() {
  const current = currentSession();
  patch(
    byId("sessions"),
    listed.map((session) => ({
      signature: JSON.stringify([currentLanguage(), session.id, session.title, session.id === current]),
      make: () => sessionRow(session, session.id === current),
    })),
  );
  byId("sessions-none").hidden = listed.length > 0;
  byId("sessions-more").hidden = listed.length >= total;
}

function sessionRow(session, isCurrent) {
  const name = session.title || t("untitled");
  const remove = async () => {
    if (!(await confirmDeletion(t("deleteConversationAsk", { name })))) return;
    try {
      await sessions.remove(session.id);
      if (session.id === currentSession()) newConversation();
      await refreshSessions();
    } catch (error) {
      problem(error);
    }
  };
  return h(
    "li",
    { class: isCurrent ? "session current" : "session" },
    h("button", { type: "button", class: "name", "data-key": session.id, title: name, "aria-current": isCurrent ? "true" : null, onclick: () => open(session.id) }, name),
    iconButton("trash", `${t("deleteConversation")}: ${name}`, remove, { "data-key": `${session.id} delete` }),
  );
}

// --- the frame around ------------------------------------------------------------------------------------------

function drawTitle() {
  const session = listed.find((each) => each.id === currentSession());
  const title = shownTitle() || session?.title;
  document.title = title ? `${title} — Opora` : "Opora";
}

function drawWelcome() {
  byId("welcome-text").textContent = t(isEmpty() ? "welcomeEmpty" : "welcomeText");
  byId("welcome-add").hidden = !isEmpty();
}

/** A failure that belongs to no place on the page, said plainly until it is dismissed or replaced. */
function problem(error) {
  byId("problem-text").textContent = error.message || t("offline");
  byId("problem").hidden = false;
}

function drawLanguages() {
  const buttons = LANGUAGES.map((language) => ({
    signature: `${language} ${language === currentLanguage()}`,
    make: () =>
      h(
        "button",
        { type: "button", lang: language, "data-key": language, "aria-pressed": String(language === currentLanguage()), onclick: () => setLanguage(language) },
        NAMES[language],
      ),
  }));
  patch(byId("languages"), buttons);
}

function openDrawer() {
  document.body.classList.add("with-drawer");
  byId("menu").setAttribute("aria-expanded", "true");
  byId("drawer-close").focus();
}

function closeDrawer() {
  if (!document.body.classList.contains("with-drawer")) return;
  document.body.classList.remove("with-drawer");
  byId("menu").setAttribute("aria-expanded", "false");
  byId("menu").focus();
}

function wire() {
  byId("menu").addEventListener("click", openDrawer);
  byId("drawer-close").addEventListener("click", closeDrawer);
  byId("veil").addEventListener("click", () => (closeDrawer(), closeSource()));
  byId("problem-close").addEventListener("click", () => (byId("problem").hidden = true));
  byId("session-new").addEventListener("click", () => (closeDrawer(), closeSource(), newConversation(), drawSessions(), drawTitle()));
  byId("welcome-add").addEventListener("click", () => byId("files").click());
  byId("sessions-more").addEventListener("click", () => ((shownPages += 1), refreshSessions().catch(problem)));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
    if (isOpen()) closeSource();
    else closeDrawer();
  });
  document.addEventListener("sourcechange", drawTitle);
  document.addEventListener("librarychange", drawWelcome);
  document.addEventListener("languagechange", () => (drawLanguages(), drawSessions(), drawTitle(), drawWelcome()));
  window.addEventListener("popstate", openAddressed);
  window.addEventListener("hashchange", openAddressed);
  tabs.addEventListener("message", ({ data }) => {
    refreshSessions().catch(problem);
    // The other tab asked here, or its answer ended: show the same.
    if (data.session === currentSession() && document.querySelector("#stop").hidden) open(data.session);
  });
}

translatePage();
drawLanguages();
onKeyNeeded(() => askText(t("keyLabel"), t("signIn"), { title: t("keyTitle"), secret: true }));
startConversation({
  basesFor: chosenBases,
  agentFor: chosenAgent,
  onSession: keepAddress,
  onAsked: (session) => {
    tabs.postMessage({ session });
    refreshSessions().catch(problem);
  },
  onProblem: problem,
});
wire();
await Promise.all([startLibrary({ onProblem: problem }).catch(problem), startAgents().catch(problem), refreshSessions().catch(problem), openAddressed()]);
drawWelcome();
drawTitle();
document.body.classList.remove("starting");
if (!("ontouchstart" in window)) byId("question").focus();
