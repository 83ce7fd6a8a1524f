// Makes elements of an answer's Markdown. Only the elements named here can arise, with text nodes inside.

import { h } from "./dom.js";
import { parseBlocks } from "./markdown.js";
import { extractSources, PLACEHOLDER, safeUrl } from "./sources.js";

const SPAN =
  /\\[!-/:-@[-`{-~]|`+|\*+|_+|~~|!?\[([^[\]\n]*)\]\(\s*<?([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)?)>?(?:\s+"[^"\n]*")?\s*\)|<br\s*\/?>|https?:\/\/[^\s<>"'`|\uE000]+|\uE000(\d+)\uE001|\n/gi;
const WORD = /[\p{L}\p{N}]/u;
const DEEPEST = 10;

/**
 * Show an answer in `container`. Blocks that did not change since the last call keep their elements, so that focus and
 * selection survive a stream. `cite(source)` makes the element of a citation. Gives back the sources.
 */
export function renderAnswer(container, answer, { final, cite }) {
  const { text, sources } = extractSources(answer, final);
  const blocks = parseBlocks(text);
  const before = container.rendered ?? [];
  const now = [];
  for (const [index, block] of blocks.entries()) {
    const open = !final && index === blocks.length - 1;
    const key = `${open} ${block.source}`;
    const kept = before[index]?.key === key ? before[index].node : null;
    const node = kept ?? blockNode(block, { sources, cite, open });
    if (!kept) {
      if (before[index]) before[index].node.replaceWith(node);
      else container.append(node);
    }
    now.push({ key, node });
  }
  for (const { node } of before.slice(blocks.length)) node.remove();
  container.rendered = now;
  return sources;
}

function blockNode(block, context) {
  switch (block.type) {
    case "heading":
      return h(`h${Math.min(6, block.level + 2)}`, {}, spans(block.text, context));
    case "rule":
      return h("hr");
    case "code":
      return h("pre", { tabindex: "0", "data-language": block.language || null }, h("code", {}, block.text.replace(PLACEHOLDER, "")));
    case "quote":
      return h("blockquote", {}, block.blocks.map((inner) => blockNode(inner, context)));
    case "list":
      return h(
        block.ordered ? "ol" : "ul",
        block.ordered && block.start !== 1 ? { start: block.start } : {},
        block.items.map((blocks) => h("li", {}, itemNodes(blocks, context))),
      );
    case "table":
      return tableNode(block, context);
    default:
      return h("p", {}, spans(block.text, context));
  }
}

/** An item of one paragraph shows it without paragraph spacing. */
function itemNodes(blocks, context) {
  return blocks.map((block, index) =>
    block.type === "paragraph" && index === 0 ? spans(block.text, context) : blockNode(block, context),
  );
}

function tableNode({ head, align, rows }, context) {
  const cell = (tag, text, column) => h(tag, { class: `align-${align[column]}` }, spans(text, context));
  return h(
    "div",
    { class: "table", tabindex: "0", role: "group" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, head.map((text, column) => cell("th", text, column)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((text, column) => cell("td", text, column))))),
    ),
  );
}

/** The nodes of a line of text. */
function spans(text, context, depth = 0) {
  const nodes = [];
  let from = 0;
  const scan = new RegExp(SPAN);
  for (let match = scan.exec(text); match; match = scan.exec(text)) {
    const found = spanAt(text, match, context, depth);
    if (!found) {
      // Not what it looked like: a mark is passed over, a bracket's inside is read again.
      scan.lastIndex = match.index + (/^[`*_~]/.test(match[0]) ? match[0].length : 1);
      continue;
    }
    if (match.index > from) nodes.push(text.slice(from, match.index));
    nodes.push(found.node);
    from = found.end;
    scan.lastIndex = from;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

function spanAt(text, match, context, depth) {
  const [whole, label, target, placeholder] = match;
  const end = match.index + whole.length;
  if (placeholder) {
    const source = context.sources[Number(placeholder) - 1];
    return { node: source ? context.cite(source) : null, end };
  }
  if (whole === "\n" || /^<br/i.test(whole)) return { node: h("br"), end };
  if (whole[0] === "\\") return { node: whole[1], end };
  if (whole[0] === "`") return codeSpan(text, match.index, whole, context);
  if (label !== undefined) return linkSpan(whole, label, target, end, context, depth);
  if (/^https?:/i.test(whole)) return bareLink(text, match.index, whole);
  return depth < DEEPEST ? emphasis(text, match.index, whole, context, depth) : null;
}

function codeSpan(text, at, mark, { open }) {
  let close = text.indexOf(mark, at + mark.length);
  while (close >= 0 && text[close + mark.length] === "`") {
    let run = close;
    while (text[run] === "`") run += 1;
    close = text.indexOf(mark, run);
  }
  if (close < 0 && !open) return null;
  const inner = text.slice(at + mark.length, close < 0 ? text.length : close).replace(PLACEHOLDER, "");
  return { node: h("code", {}, inner.replace(/\n/g, " ")), end: close < 0 ? text.length : close + mark.length };
}

/** Links lead only to http and https; an image is shown by its description, since nothing remote is loaded. */
function linkSpan(whole, label, target, end, context, depth) {
  const url = safeUrl(target);
  const inner = depth < DEEPEST ? spans(label || target, context, depth + 1) : [label];
  if (!url || whole.startsWith("!")) return { node: h("span", {}, inner), end };
  return { node: link(url, inner), end };
}

function bareLink(text, at, whole) {
  if (at > 0 && WORD.test(text[at - 1])) return null;
  const shown = whole.replace(/[.,;:!?)\]}»”。，；：！？）」*_]+$/u, "");
  const url = safeUrl(shown);
  return url ? { node: link(url, [shown]), end: at + shown.length } : null;
}

const link = (url, inner) => h("a", { href: url, title: url, target: "_blank", rel: "noopener noreferrer nofollow" }, inner);

function emphasis(text, at, run, context, depth) {
  const mark = run[0] === "~" ? run : run.slice(0, Math.min(run.length, 3));
  const start = at + mark.length;
  if (run.length > 3 || start >= text.length || /\s/.test(text[start])) return null;
  if (mark[0] === "_" && at > 0 && WORD.test(text[at - 1])) return null;
  let close = closing(text, mark, start);
  if (close < 0 && context.open && mark === "**") close = text.length;
  if (close < 0) return null;
  const inner = spans(text.slice(start, close), context, depth + 1);
  const end = Math.min(text.length, close + mark.length);
  if (mark[0] === "~") return { node: h("del", {}, inner), end };
  if (mark.length === 3) return { node: h("em", {}, h("strong", {}, inner)), end };
  return { node: h(mark.length === 2 ? "strong" : "em", {}, inner), end };
}

function closing(text, mark, from) {
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1)) {
    const after = text[at + mark.length];
    if (at === from || /\s/.test(text[at - 1]) || text[at - 1] === "\\") continue;
    if (mark.length === 1 && (text[at - 1] === mark || after === mark)) continue;
    if (mark[0] === "_" && after && WORD.test(after)) continue;
    return at;
  }
  return -1;
}
