// Reads the citation tags of an answer, numbers its sources, and hides tags that are half received or malformed.

// Private-use characters stand in for tags while Markdown is read, so that no tag meets Markdown's own syntax.
const OPEN = "\uE000";
const CLOSE = "\uE001";
export const PLACEHOLDER = /\uE000(\d+)\uE001/g;

const OURS = /[\uE000\uE001]/g;
const WHOLE = /<(kb|web)(?=[\s/>])([^<>]*)>/gi;
const BROKEN = /<\/?(?:kb|web)(?![\w-])(?:\s+[\w:-]+\s*=\s*"[^"<>]*"?)*\s*\/?>?/gi;
const HALF = /<\/?(?:k|kb|w|we|web|(?:kb|web)[\s/][^<>]*)?$/i;
const ATTRIBUTE = /([\w:-]+)\s*=\s*"([^"]*)"/g;
const NAMED = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(value) {
  return value.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name) return NAMED[name.toLowerCase()] ?? whole;
    const code = decimal ? Number(decimal) : parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function sourceOf(kind, text) {
  const found = {};
  for (const [, name, value] of text.matchAll(ATTRIBUTE)) found[name.toLowerCase()] ??= unescapeXml(value);
  if (kind === "web") {
    const url = safeUrl(found.url ?? "");
    return url && { kind, key: `web ${url}`, title: found.title || url, url };
  }
  const { doc = "", chunk_id: chunkId = "", knowledge_id: documentId = "", kb_id: baseId = "" } = found;
  const key = chunkId || documentId || doc;
  return key && { kind: "kb", key: `kb ${key}`, title: doc, chunkId, documentId, baseId };
}

/** The address if it is http or https, else "". */
export function safeUrl(text) {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : "";
  } catch {
    return "";
  }
}

/**
 * Take the tags out of an answer: `text` has a placeholder for each, `sources` are numbered from 1 in the order of
 * their first appearance. While the answer is not `final`, an end that may become a tag is held back.
 */
export function extractSources(answer, final) {
  const sources = [];
  const numbers = new Map();
  let text = answer.replace(OURS, "");
  if (!final) text = text.replace(HALF, "");
  text = text.replace(WHOLE, (_, kind, attributes) => {
    const source = sourceOf(kind.toLowerCase(), attributes);
    if (!source) return "";
    if (!numbers.has(source.key)) {
      sources.push({ ...source, number: sources.length + 1 });
      numbers.set(source.key, sources.length);
    }
    return `${OPEN}${numbers.get(source.key)}${CLOSE}`;
  });
  text = text.replace(BROKEN, "");
  // Taking a broken tag out may have joined two halves to a new one.
  while (/<\/?(?:kb|web)(?![\w-])/i.test(text)) text = text.replace(/<\/?(?:kb|web)(?![\w-])/gi, "");
  return { text, sources };
}
