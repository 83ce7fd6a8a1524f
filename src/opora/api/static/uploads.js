// Files on their way to the service: a short queue, progress for each, a reason for each that was refused.

import { upload } from "./api.js";
import { t } from "./i18n.js";

const AT_ONCE = 2;

/** `baseFor()` gives the base to store in (or null), `onChange()` redraws, `onStored()` runs after each stored file. */
export function createUploads({ baseFor, onChange, onStored }) {
  let queue = [];
  let running = 0;
  let count = 0;

  async function send(item) {
    running += 1;
    item.state = "sending";
    onChange();
    try {
      await upload(item.base, item.file, (part) => {
        item.part = part;
        onChange();
      });
      drop(item.key);
      await onStored();
    } catch (error) {
      item.state = error.status === 409 ? "known" : "failed";
      item.message = error.status === 409 ? t("alreadyHere") : error.message;
    }
    running -= 1;
    onChange();
    next();
  }

  function next() {
    while (running < AT_ONCE) {
      const item = queue.find((each) => each.state === "waiting");
      if (!item) return;
      send(item);
    }
  }

  function drop(key) {
    queue = queue.filter((each) => each.key !== key);
  }

  return {
    rows: () => queue,
    async add(files) {
      if (!files.length) return;
      const base = await baseFor();
      if (!base) return;
      for (const file of files) {
        queue.push({ key: `upload-${++count}`, base, file, name: file.name, part: 0, state: "waiting", message: "" });
      }
      onChange();
      next();
    },
    dismiss(key) {
      drop(key);
      onChange();
    },
  };
}

const isHidden = (name) => name.startsWith(".");

/** The files of a drop, folders opened. */
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  const found = [];
  for (const entry of entries) await collect(entry, found);
  return found;
}

async function collect(entry, found) {
  if (isHidden(entry.name)) return;
  if (entry.isFile) {
    found.push(await new Promise((resolve, reject) => entry.file(resolve, reject)));
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return;
    for (const inner of batch) await collect(inner, found);
  }
}
