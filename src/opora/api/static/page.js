// A page of a PDF as an image, with the passage's boxes laid over it.

import { documents } from "./api.js";
import { fill, h, iconButton } from "./dom.js";
import { t } from "./i18n.js";

// Boxes are in points; page images are drawn at this many pixels a point.
const SCALE = 2;

/** Show a page in `box`: the one of the passage first, with buttons to leaf through the document. */
export function pageView(box, { documentId, place, pages }) {
  let current = place.page ?? 1;
  const sheet = h("div", { class: "sheet" });
  const number = h("span", { "aria-live": "polite" });
  const turn = (by) => () => ((current += by), draw());
  const back = iconButton("next", t("previousPage"), turn(-1), { class: "icon-button left" });
  const on = iconButton("next", t("nextPage"), turn(1));
  let ticket = 0;

  async function draw() {
    const mine = ++ticket;
    number.textContent = t("page", { n: pages ? `${current} / ${pages}` : current });
    back.disabled = current <= 1;
    on.disabled = pages ? current >= pages : false;
    try {
      const picture = await createImageBitmap(await documents.page(documentId, current));
      if (mine !== ticket || !box.isConnected) return;
      const canvas = h("canvas", { width: picture.width, height: picture.height, role: "img", "aria-label": t("pageImage", { n: current }) });
      canvas.getContext("2d").drawImage(picture, 0, 0);
      const boxes = (place.boxes ?? []).filter((each) => each.page === current).map((each) => overlay(each, picture));
      fill(sheet, canvas, boxes);
      boxes[0]?.scrollIntoView({ block: "center" });
    } catch (error) {
      if (mine === ticket) fill(sheet, h("p", { class: "notice" }, error.status === 404 ? t("noPage") : error.message || t("noPage")));
    }
  }

  fill(box, h("div", { class: "leaf" }, back, number, on), sheet);
  draw();
}

function overlay({ x0, y0, x1, y1 }, { width, height }) {
  const node = h("div", { class: "box" });
  node.style.left = `${((x0 * SCALE) / width) * 100}%`;
  node.style.top = `${((y0 * SCALE) / height) * 100}%`;
  node.style.width = `${(((x1 - x0) * SCALE) / width) * 100}%`;
  node.style.height = `${(((y1 - y0) * SCALE) / height) * 100}%`;
  return node;
}
