import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { parseJson } from '#core/parse-json.ts';
import { jsonAnswer, recordAnswer } from './answers.ts';
import { type BillBook, billsPage } from './bill-book.ts';
import type { VideoBook } from './media/video-book.ts';
import { readBody } from './read-body.ts';
import type { ScriptBook } from './script-book.ts';
import { scriptRule } from './script-rule.ts';
import { type Answer, sendAtOnce } from './send.ts';

interface Controlled {
  script: ScriptBook;
  bills: BillBook;
  videos: VideoBook;
}

const oneOrMoreRules = z.union([scriptRule, z.array(scriptRule).max(1_000)]);
const release = z.strictObject({ gate: z.string() });

/**
 * `POST /_script` (a rule or a list of rules), `POST /_release` (`{"gate": "name"}`), `GET /_billed` and
 * `GET /_videos`, for tests that run in another process or language.
 */
export function answerControl(req: IncomingMessage, res: ServerResponse, controlled: Controlled): void {
  readBody(req, (reading) => {
    const text = reading.state === 'whole' ? reading.body.toString() : '';
    sendAtOnce(res, controlAnswer(`${req.method} ${req.url}`, req.headers['content-type'], text, controlled));
  });
}

function controlAnswer(
  route: string,
  contentType: string | undefined,
  text: string,
  { script, bills, videos }: Controlled,
): Answer {
  if (route === 'GET /_billed') return recordAnswer(billsPage(bills));
  if (route === 'GET /_videos') return recordAnswer({ object: 'list', data: videos.list() });
  if (route !== 'POST /_script' && route !== 'POST /_release') return failure(404, 'Not found');
  // A page in a browser cannot send this type to another origin without asking first.
  if (contentType?.startsWith('application/json') !== true) return failure(415, 'Send application/json');
  const body = parseJson(text);
  if (route === 'POST /_release') {
    const parsed = release.safeParse(body);
    if (!parsed.success) return failure(400, z.prettifyError(parsed.error));
    script.release(parsed.data.gate);
  } else {
    const parsed = oneOrMoreRules.safeParse(body);
    if (!parsed.success) return failure(400, z.prettifyError(parsed.error));
    for (const rule of [parsed.data].flat()) script.add(rule);
  }
  return recordAnswer({ ok: true });
}

const failure = (status: number, message: string): Answer =>
  jsonAnswer(status, JSON.stringify({ error: { message } }));
