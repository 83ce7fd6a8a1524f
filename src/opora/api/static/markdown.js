// Reads Markdown into blocks and spans. It only describes; render.js makes the elements.

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s(.*)$/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,12})([-*+]|\d{1,9}[.)])(?: +(.*)|)$/;
const DELIMITERS = /^ *\|?(?: *:?-+:? *\|)* *:?-+:? *\|?[ \t]*$/;
const DEEPEST = 6;

/** Top-level blocks, each with the `source` it was read from. */
export function parseBlocks(text, depth = 0) {
  const lines = typeof text === "string" ? text.replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n") : text;
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (lines[at].trim() === "") {
      at += 1;
      continue;
    }
    const [block, next] = readBlock(lines, at, depth);
    blocks.push({ ...block, source: lines.slice(at, next).join("\n") });
    at = next;
  }
  return blocks;
}

function readBlock(lines, at, depth) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return readFence(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading) return [{ type: "heading", level: heading[1].length, text: withoutHashes(heading[2]) }, at + 1];
  if (RULE.test(line)) return [{ type: "rule" }, at + 1];
  if (isTable(lines, at)) return readTable(lines, at);
  if (depth < DEEPEST && QUOTE.test(line)) return readQuote(lines, at, depth);
  if (depth < DEEPEST && ITEM.test(line)) return readList(lines, at, depth);
  let end = at + 1;
  while (end < lines.length && !endsParagraph(lines, end)) end += 1;
  const text = lines.slice(at, end).map((each) => each.trim()).join("\n");
  return [{ type: "paragraph", text }, end];
}

function endsParagraph(lines, at) {
  const line = lines[at];
  if (line.trim() === "" || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line)) return true;
  if (isTable(lines, at)) return true;
  // A year at the start of a line begins no list; only a bullet or a first item does.
  const item = ITEM.exec(line);
  return item !== null && item[3] !== undefined && (!/\d/.test(item[2]) || parseInt(item[2], 10) === 1);
}

function withoutHashes(text) {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === "#") end -= 1;
  return end === 0 || trimmed[end - 1] === " " ? trimmed.slice(0, end).trimEnd() : trimmed;
}

function readFence(lines, at, [, mark, info]) {
  let end = at + 1;
  const isEnd = (line) => {
    const text = line.trim();
    return text.length >= mark.length && text === mark[0].repeat(text.length);
  };
  while (end < lines.length && !isEnd(lines[end])) end += 1;
  const code = lines.slice(at + 1, end).join("\n");
  return [{ type: "code", language: info.trim().split(/\s/)[0], text: code }, Math.min(end + 1, lines.length)];
}

function readQuote(lines, at, depth) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return [{ type: "quote", blocks: parseBlocks(inner, depth + 1) }, end];
}

const indentOf = (line) => line.length - line.trimStart().length;

function readList(lines, at, depth) {
  const [, indent, mark] = ITEM.exec(lines[at]);
  const ordered = /\d/.test(mark);
  const kind = mark.at(-1);
  const items = [];
  let end = at;
  while (end < lines.length) {
    const line = lines[end];
    const item = ITEM.exec(line);
    const inside = indentOf(line) >= indent.length + 2;
    if (line.trim() === "") {
      const next = lines[end + 1];
      const goesOn = next !== undefined && (indentOf(next) >= indent.length + 2 || ITEM.exec(next)?.[2].at(-1) === kind);
      if (next === undefined || next.trim() === "" || !goesOn) break;
      items.at(-1).push("");
    } else if (item && !inside) {
      if (item[2].at(-1) !== kind || item[1].length + 2 <= indent.length || RULE.test(line)) break;
      items.push([item[3] ?? ""]);
    } else if (inside) items.at(-1).push(dedent(line, indent.length + mark.length + 1));
    else if (endsParagraph(lines, end)) break;
    else items.at(-1).push(line.trim());
    end += 1;
  }
  const start = ordered ? parseInt(mark, 10) : null;
  return [{ type: "list", ordered, start, items: items.map((item) => parseBlocks(item, depth + 1)) }, end];
}

const dedent = (line, by) => line.slice(Math.min(by, indentOf(line)));

function isTable(lines, at) {
  const next = lines[at + 1];
  if (next === undefined || !lines[at].includes("|") || !next.includes("-") || !DELIMITERS.test(next)) return false;
  return cellsOf(lines[at]).length === cellsOf(next).length;
}

function cellsOf(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.replace(/\\\|/g, "\uE002").split("|").map((cell) => cell.replace(/\uE002/g, "|").trim());
}

function readTable(lines, at) {
  const head = cellsOf(lines[at]);
  const align = cellsOf(lines[at + 1]).map((cell) => {
    if (cell.endsWith(":")) return cell.startsWith(":") ? "center" : "right";
    return "left";
  });
  const rows = [];
  let end = at + 2;
  while (end < lines.length && lines[end].trim() !== "" && lines[end].includes("|")) {
    const cells = cellsOf(lines[end]);
    rows.push(head.map((_, column) => cells[column] ?? ""));
    end += 1;
  }
  return [{ type: "table", head, align, rows }, end];
}
