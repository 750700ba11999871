import { noAnswer, problem, readProblem } from './problem.js';

/**
 * What a stream tells while it runs.
 *
 * @typedef {object} Progress
 * @property {(start: { callId: string | null, holdUsd: string | null }) => void} started The status line is here.
 * @property {(text: string) => void} wrote The next piece of the answer.
 */

/**
 * @typedef {object} Ended
 * @property {string} reason Why the answer ends: `stop`, `length`, …
 * @property {{ prompt_tokens: number, completion_tokens: number, cost: number } | null} usage
 */

/**
 * A chat completion as a stream. Resolves when it has ended, however it did.
 *
 * @param {string} key
 * @param {object} body
 * @param {Progress} progress
 * @param {AbortSignal} signal
 * @returns {Promise<import('./problem.js').Result<Ended>>}
 */
export async function streamChat(key, body, progress, signal) {
  try {
    const res = await fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
      signal,
    });
    progress.started({
      callId: res.headers.get('x-request-id'),
      holdUsd: res.headers.get('x-hold-usd'),
    });
    if (!res.ok || res.body === null) return await readProblem(res);
    return await readChunks(res.body, progress);
  } catch {
    return signal.aborted ? problem('refused', 'You stopped the answer.', 'stopped') : noAnswer();
  }
}

/**
 * @param {ReadableStream<BufferSource>} body
 * @param {Progress} progress
 * @returns {Promise<import('./problem.js').Result<Ended>>}
 */
async function readChunks(body, progress) {
  /** @type {Ended} */
  const ended = { reason: '', usage: null };
  for await (const data of readEvents(body)) {
    if (data === '[DONE]') return { ok: true, value: ended };
    const { choices, usage, error } = JSON.parse(data);
    if (error !== undefined) return problem('refused', String(error.message), String(error.code));
    const text = choices?.[0]?.delta?.content;
    if (typeof text === 'string' && text !== '') progress.wrote(text);
    ended.reason = choices?.[0]?.finish_reason ?? ended.reason;
    ended.usage = usage ?? ended.usage;
  }
  return noAnswer();
}

/**
 * The data of each event. The gateway writes each in one line.
 *
 * @param {ReadableStream<BufferSource>} body
 */
async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data: ')) yield line.slice('data: '.length).trimEnd();
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
