// Reads an answer's event stream, and takes it up again where it broke.

import { ApiError, chat } from "./api.js";

const WAITS = [300, 700, 1500, 3000, 5000, 8000];

/** The frames of a server-sent event stream, however the network cut it. */
export async function* frames(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let id = "";
  let lines = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      // A carriage return at the very end may be the first half of a line end.
      const whole = rest.endsWith("\r") ? rest.length - 1 : rest.length;
      const parts = rest.slice(0, whole).split(/\r\n|\n|\r/);
      rest = parts.pop() + rest.slice(whole);
      for (const line of parts) {
        if (line === "") {
          if (lines.length) yield { id, data: lines.join("\n") };
          lines = [];
        } else if (line.startsWith("id:")) id = line.slice(3).trim();
        else if (line.startsWith("data:")) lines.push(line.slice(5).replace(/^ /, ""));
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });

/**
 * Follow an answer to its terminal event. `first` is the response of the question, or null to replay from the start.
 * `handle(event)` gets each event once; `onBreak()` is called when the stream broke and is taken up again.
 * Throws ApiError when it can't be taken up.
 */
export async function follow({ session, message, first, signal, handle, onBreak }) {
  let response = first;
  let lastId = "";
  let tries = 0;
  let complete = false;
  while (!complete) {
    try {
      response ??= await chat.resume(session, message, lastId, signal);
      for await (const frame of frames(response.body)) {
        const event = JSON.parse(frame.data);
        if (frame.id) lastId = frame.id;
        tries = 0;
        message ||= event.assistant_message_id ?? event.data?.assistant_message_id;
        handle(event);
        // Only a late title may still come; the reading goes on to the end of the stream.
        complete ||= event.response_type === "complete";
      }
    } catch (error) {
      if (complete) return;
      if (signal.aborted) throw error;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) throw error;
      if (error instanceof SyntaxError) throw new ApiError(error.message);
    }
    if (complete) return;
    if (!message || tries >= WAITS.length) throw new ApiError("");
    onBreak();
    await pause(WAITS[tries++], signal);
    response = null;
  }
}
