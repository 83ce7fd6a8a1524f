// The choice of an agent, the bundle of settings that questions are asked with. Hidden while there is only the built-in one.

import { agents } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { t } from "./i18n.js";

const CHOSEN = "opora.agent";

let listed = [];

/** The id to send with a question; "" for the built-in agent. */
export const chosenAgent = () => byId("agent").value;

export async function startAgents() {
  byId("agent").addEventListener("change", () => localStorage.setItem(CHOSEN, chosenAgent()));
  document.addEventListener("languagechange", draw);
  listed = (await agents.list()).filter((agent) => !agent.is_builtin);
  draw();
}

/** One that was deleted meanwhile is chosen no more. */
function draw() {
  const kept = localStorage.getItem(CHOSEN) ?? "";
  const options = listed.map((agent) => h("option", { value: agent.id, title: agent.description || null }, agent.name));
  fill(byId("agent"), h("option", { value: "" }, t("quickAnswer")), options);
  byId("agent").value = listed.some((agent) => agent.id === kept) ? kept : "";
  byId("agents").hidden = !listed.length;
}
