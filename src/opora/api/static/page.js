// A page of a PDF as an image, with the passage's boxes laid over it.

import { documents } from "./api.js";
import { byId, fill, h, iconButton, reveal } from "./dom.js";
import { t } from "./i18n.js";

// Boxes are in points; page images are drawn at this many pixels a point.
const SCALE = 2;

/**
 * Show a page in `box`: the one of the passage first, with buttons to leaf through the document. `sentence` is the part
 * of the passage that is quoted, {from, to} between 0 and 1; the lines it stands on are marked stronger.
 */
export function pageView(box, { documentId, place, pages, sentence }) {
  const lines = withSentence(place.boxes ?? [], sentence);
  let current = lines.find((line) => line.quoted)?.page ?? place.page ?? 1;
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
      const boxes = lines.filter((line) => line.page === current).map((line) => overlay(line, picture));
      fill(sheet, canvas, boxes);
      reveal(boxes.find((each) => each.classList.contains("quoted")) ?? boxes[0], byId("source-body"));
    } catch (error) {
      if (mine === ticket) fill(sheet, h("p", { class: "notice" }, error.status === 404 ? t("noPage") : error.message || t("noPage")));
    }
  }

  fill(box, h("div", { class: "leaf" }, back, number, on), sheet);
  draw();
}

/** The boxes are the passage's lines in reading order, and their widths tell about how much of the text each holds. */
function withSentence(boxes, sentence) {
  const total = boxes.reduce((sum, { x0, x1 }) => sum + x1 - x0, 0);
  let before = 0;
  return boxes.map((line) => {
    const [from, to] = [before / total, (before + line.x1 - line.x0) / total];
    before += line.x1 - line.x0;
    // A line counts when a good part of it, or of the sentence, is on it.
    const shared = sentence ? Math.min(to, sentence.to) - Math.max(from, sentence.from) : 0;
    return { ...line, quoted: shared > 0.15 * Math.min(to - from, sentence?.to - sentence?.from) };
  });
}

function overlay({ x0, y0, x1, y1, quoted }, { width, height }) {
  const node = h("div", { class: quoted ? "box quoted" : "box" });
  node.style.left = `${((x0 * SCALE) / width) * 100}%`;
  node.style.top = `${((y0 * SCALE) / height) * 100}%`;
  node.style.width = `${(((x1 - x0) * SCALE) / width) * 100}%`;
  node.style.height = `${(((y1 - y0) * SCALE) / height) * 100}%`;
  return node;
}
