// Small questions to the person: a confirmation, a name, a key. Esc and the backdrop mean no.

import { fill, h } from "./dom.js";
import { t } from "./i18n.js";

function open(content, { action, danger = false, value = () => true }) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { "aria-label": content.label });
    const done = (result) => {
      dialog.close();
      dialog.remove();
      resolve(result);
    };
    const submit = (event) => {
      event.preventDefault();
      done(value());
    };
    fill(
      dialog,
      h(
        "form",
        { onsubmit: submit },
        content.node,
        h(
          "div",
          { class: "choices" },
          h("button", { type: "button", onclick: () => done(null) }, t("cancel")),
          h("button", { type: "submit", class: danger ? "danger" : "primary" }, action),
        ),
      ),
    );
    dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      done(null);
    });
    dialog.addEventListener("click", (event) => event.target === dialog && done(null));
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector("input")?.focus();
  });
}

/** True when the person agrees. */
export async function confirmDeletion(text) {
  return Boolean(await open({ label: text, node: h("p", {}, text) }, { action: t("delete"), danger: true }));
}

/** A line of text, or null. */
export async function askText(label, action, { title = "", secret = false } = {}) {
  const input = h("input", { type: secret ? "password" : "text", required: true, maxlength: "200", autocomplete: "off" });
  const node = h("div", {}, title && h("h2", {}, title), h("label", {}, label, input));
  const text = await open({ label: title || label, node }, { action, value: () => input.value.trim() });
  return text || null;
}
