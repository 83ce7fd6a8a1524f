// The HTTP surface: envelopes opened, failures turned into ApiError, the access key added when there is one.

import { t } from "./i18n.js";

const ROOT = new URL("api/v1/", document.baseURI);
const KEY = "opora.key";
let askForKey = async () => null;

export class ApiError extends Error {
  constructor(message, status = 0, details = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

/** Who asks the person for an access key; it gives the key or null. */
export function onKeyNeeded(ask) {
  askForKey = ask;
}

function headers(extra = {}) {
  const key = localStorage.getItem(KEY);
  return key ? { ...extra, Authorization: `Bearer ${key}` } : extra;
}

/** A raw answer; throws ApiError for a failure. Asks for the key once when the server wants one. */
export async function request(method, path, { body, signal, extra } = {}) {
  for (;;) {
    let response;
    try {
      response = await fetch(new URL(path, ROOT), {
        method,
        signal,
        headers: headers({ ...extra, ...(body === undefined ? {} : { "Content-Type": "application/json" }) }),
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(t("offline"));
    }
    if (response.ok) return response;
    if (response.status === 401 && (await newKey())) continue;
    throw failure(response.status, await response.text());
  }
}

let asking = null;

function newKey() {
  asking ??= askForKey().then((key) => {
    asking = null;
    if (key) localStorage.setItem(KEY, key);
    return Boolean(key);
  });
  return asking;
}

function failure(status, text) {
  let error = {};
  try {
    error = JSON.parse(text).error ?? {};
  } catch {
    // Not our envelope (a proxy's page): the status alone is told.
  }
  const hint = error.hint ?? error.details?.hint;
  const message = [error.message ?? t("failedCall", { status }), hint].filter(Boolean).join(" ");
  return new ApiError(message, status, error.details ?? {});
}

async function json(method, path, options) {
  const response = await request(method, path, options);
  return response.status === 204 ? {} : response.json();
}

const id = encodeURIComponent;
const data = async (method, path, options) => (await json(method, path, options)).data;

export const bases = {
  list: () => data("GET", "knowledge-bases?page_size=100"),
  create: (name) => data("POST", "knowledge-bases", { body: { name } }),
  remove: (base) => json("DELETE", `knowledge-bases/${id(base)}`),
};

export const agents = {
  list: () => data("GET", "agents"),
};

export const documents = {
  list: (base, page, size) => json("GET", `knowledge-bases/${id(base)}/knowledge?page=${page}&page_size=${size}`),
  get: (document) => data("GET", `knowledge/${id(document)}`),
  progress: (document) => data("GET", `knowledge/${id(document)}/progress`),
  text: async (document) => (await data("GET", `knowledge/${id(document)}/text`)).text ?? "",
  page: async (document, page) => (await request("GET", `knowledge/${id(document)}/pages/${id(page)}`)).blob(),
  file: async (document) => (await request("GET", `knowledge/${id(document)}/download`)).blob(),
  remove: (document) => json("DELETE", `knowledge/${id(document)}`),
};

export const chunk = (chunkId) => data("GET", `chunks/by-id/${id(chunkId)}`);

export const sessions = {
  list: (page, size) => json("GET", `sessions?page=${page}&page_size=${size}`),
  get: (session) => data("GET", `sessions/${id(session)}`),
  create: () => data("POST", "sessions", { body: {} }),
  remove: (session) => json("DELETE", `sessions/${id(session)}`),
  stop: (session, message) => json("POST", `sessions/${id(session)}/stop`, { body: { message_id: message } }),
  messages: (session, limit, before) =>
    data("GET", `messages/${id(session)}/load?limit=${limit}${before ? `&before_time=${id(before)}` : ""}`),
};

export const messages = {
  image: async (message, image) => (await request("GET", `messages/${id(message)}/images/${id(image)}`)).blob(),
};

export const chat = {
  ask: (session, body, signal) => request("POST", `knowledge-chat/${id(session)}`, { body, signal, extra: { Accept: "text/event-stream" } }),
  resume: (session, message, lastId, signal) =>
    request("GET", `sessions/continue-stream/${id(session)}?message_id=${id(message)}`, {
      signal,
      extra: { Accept: "text/event-stream", ...(lastId ? { "Last-Event-ID": lastId } : {}) },
    }),
};

/** Send one file and report the part that is sent, 0 to 1. fetch can't tell how far an upload is; this can. */
export async function upload(base, file, onProgress) {
  for (;;) {
    const { status, text } = await new Promise((resolve, reject) => {
      const call = new XMLHttpRequest();
      call.open("POST", new URL(`knowledge-bases/${id(base)}/knowledge/file`, ROOT));
      for (const [name, value] of Object.entries(headers())) call.setRequestHeader(name, value);
      call.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
      call.onload = () => resolve({ status: call.status, text: call.responseText });
      call.onerror = () => reject(new ApiError(t("offline")));
      const form = new FormData();
      form.append("file", file, file.name);
      call.send(form);
    });
    if (status >= 200 && status < 300) return JSON.parse(text).data;
    if (status === 401 && (await newKey())) continue;
    throw failure(status, text);
  }
}
