// Finds a quoted sentence in its source, and turns the service's offsets into those of JavaScript strings.

// Blanks, invisible characters and Markdown's own marks do not count when a shown quote is compared with its source.
const IGNORED = /[\s*_`#|\\>~\u00ad\u200b-\u200d\u2060\ufeff\ufffe]/;
const SHORTEST = 4;

/** The service counts characters, JavaScript counts UTF-16 units: the index of character number `count`. */
export function unitIndex(text, count) {
  if (!/[\ud800-\udbff]/.test(text)) return Math.min(count, text.length);
  let at = 0;
  for (let seen = 0; seen < count && at < text.length; seen += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

function folded(text) {
  const places = [];
  let out = "";
  for (let at = 0; at < text.length; at += 1) {
    if (IGNORED.test(text[at])) continue;
    out += text[at];
    places.push(at);
  }
  return { out, places };
}

/** Where `quote` stands in `text`: {start, end}, or null. */
export function locate(quote, text) {
  const wanted = folded(quote).out;
  if (wanted.length < SHORTEST) return null;
  const { out, places } = folded(text);
  const at = out.indexOf(wanted);
  return at < 0 ? null : { start: places[at], end: places[at + wanted.length - 1] + 1 };
}

/** The first of several readings of a claim that stands in `text` word for word. */
export function locateClaim(claim, text) {
  for (const reading of readings(claim)) {
    const found = locate(reading, text);
    if (found) return found;
  }
  return null;
}

/** The claim whole, without quote marks, what stands in its last pair of them, its last sentence. */
function* readings(claim) {
  const whole = claim.trim();
  yield whole;
  yield whole.replace(/^[«“„"'「『(\s]+|[»”“"'」』)]+[\s.…]*$/gu, "");
  const inMarks = [...whole.matchAll(/[«“„"「『]([^«»“”„"「」『』]+)[»”“"」』]/gu)].at(-1);
  if (inMarks) yield inMarks[1];
  const sentences = whole.split(/(?<=[.!?。！？])\s*/u).filter(Boolean);
  if (sentences.length > 1) yield sentences.at(-1);
}
