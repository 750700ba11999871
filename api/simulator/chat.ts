import type { Clock } from '#core/clock.ts';
import { isRecord } from '#core/is-record.ts';
import { type AttoUsd, parseAttoUsd } from '#core/money.ts';
import { parseJson } from '#core/parse-json.ts';
import { jsonAnswer, scripted, textAnswer } from './answers.ts';
import type { BillEntry } from './bill-book.ts';
import { answerChoice, usedTokens } from './chat-answer.ts';
import type { ChatReply, Dialect } from './chat-render.ts';
import { readChat } from './chat-request.ts';
import type { TokenUse } from './prices.ts';
import type { ScriptBook } from './script-book.ts';
import { plainRule, type Rule } from './script-rule.ts';
import type { Answer, Delivery, Piece } from './send.ts';
import { noRuns, runTools } from './server-tools.ts';
import { simChat } from './sim-chat.ts';
import type { SimFormat } from './sim-format.ts';
import { simMessages } from './sim-messages.ts';
import { simResponses } from './sim-responses.ts';
import { BYTES_PER_TOKEN } from './tokens.ts';

export interface ChatSetting {
  seed: string;
  dialect: Dialect;
  clock: Clock;
  script: ScriptBook;
  /** Counts this simulator's calls, so that equal requests have ids of their own. */
  nextOrdinal(): number;
}

/** One call decided: all that is left is to send it and to bill what was delivered. */
export interface ChatPlan {
  rule: Rule;
  answer: Answer;
  generationId: string | null;
  /** `null`: the provider bills nothing and knows of no generation. */
  bill(delivery: Delivery): BillEntry | null;
}

/** By their paths. */
export const simFormats: ReadonlyMap<string, SimFormat> = new Map(
  [simChat, simResponses, simMessages].map((format) => [format.path, format]),
);

export function planChat(format: SimFormat, text: string, setting: ChatSetting): ChatPlan {
  const { path } = format;
  const body = parseJson(text);
  const reading = readChat(body, format.toChat(body), setting.seed, promptBytes(body));
  if (!reading.ok) {
    const rule = setting.script.take({ path });
    const refused = textAnswer(reading.status, format.refusal(reading.status, reading.message, reading.type));
    return { rule, answer: scripted(refused, rule, format.errorBody), generationId: null, bill: () => null };
  }
  const { call } = reading;
  const rule = setting.script.take({ path, model: call.modelId, lastUserText: call.lastUserText });
  const choice = answerChoice(call, rule);
  const turn = usedTokens(call, choice, rule);
  const runs = runTools(call.serverTools, turn, call.model.contextLength, rule.dearest);
  const promptTokens = Math.min(turn.promptTokens + runs.foundTokens, call.model.contextLength);
  const lastTurn = runs === noRuns ? turn : { ...turn, promptTokens };
  const { price, dearestPrice } = call.endpoint;
  const priceOf = rule.dearest ? dearestPrice : price;
  const earlierAtto = runs.earlierTurns.reduce((sum, each) => sum + priceOf(each), runs.feesAtto);
  const costWith = (last: TokenUse) => earlierAtto + priceOf(last);
  const use = runs.earlierTurns.reduce(addUse, lastTurn);
  const createdAtMs = setting.clock.now();
  const createdAtSeconds = Math.floor(createdAtMs / 1_000);
  const reply: ChatReply = {
    call,
    rule,
    choice,
    use,
    costAtto: costWith(lastTurn),
    lastTurn,
    costWith,
    runs,
    generationId: generationId(createdAtSeconds, call.digest, setting.nextOrdinal()),
    createdAtSeconds,
    dialect: setting.dialect,
  };
  const answer = answerOf(format, reply);
  const failed = answer.status >= 400;
  return {
    rule,
    answer,
    generationId: failed ? null : reply.generationId,
    bill: (delivery) => billOf(reply, delivery, failed, createdAtMs),
  };
}

function answerOf(format: SimFormat, reply: ChatReply): Answer {
  const { rule, call } = reply;
  const id: Record<string, string> =
    reply.dialect === 'openai' ? {} : { 'x-generation-id': reply.generationId };
  if (!call.stream) return answerFor(jsonAnswer(200, format.json(reply), id), rule, format);
  const stream: Answer = {
    status: 200,
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...id },
    pieces: rule.comments === 'forever' ? [] : piecesOf(format, reply),
    endless: rule.comments === 'forever' ? keepAliveComment(rule.lineEnd) : null,
  };
  return answerFor(stream, rule, format);
}

/** Most calls have no script: they skip the copies. */
const answerFor = (answer: Answer, rule: Rule, { errorBody }: SimFormat): Answer =>
  rule === plainRule ? answer : scripted(answer, rule, errorBody);

/** The events as they are written, one by one. */
function piecesOf(format: SimFormat, reply: ChatReply): Piece[] {
  const { rule } = reply;
  const end = rule.lineEnd;
  const pieces: Piece[] = [];
  const comments = rule.comments ?? (reply.dialect === 'openrouter' ? 1 : 0);
  if (comments !== 'forever') {
    for (let i = 0; i < comments; i++) pieces.push(keepAliveComment(end));
  }
  format.events(reply).forEach(({ name, json, textBytes }, index) => {
    const data = index === rule.malformedChunk ? json.slice(0, json.length / 2) : json;
    const line = name === null ? '' : `event: ${name}${end}`;
    pieces.push({ data: `${line}data: ${data}${end}${end}`, textBytes });
  });
  return pieces;
}

const keepAliveComment = (lineEnd: string): Piece => ({
  data: `: OPENROUTER PROCESSING${lineEnd}${lineEnd}`,
  textBytes: 0,
});

function billOf(
  reply: ChatReply,
  delivery: Delivery,
  failed: boolean,
  createdAtMs: number,
): BillEntry | null {
  const { call, rule, choice } = reply;
  const unanswered = failed || (delivery.state === 'cut' && rule.cutAt === 'headers');
  if (unanswered && rule.billUsd === undefined) return null;
  const use = billedUse(reply, delivery);
  return {
    generationId: reply.generationId,
    model: call.model.id,
    providerName: call.endpoint.providerName,
    costAtto: scriptedBill(rule) ?? (isErrorAnswer(rule) ? 0n : reply.costWith(use)),
    use,
    streamed: call.stream,
    cancelled: delivery.state === 'hung_up',
    finishReason: rule.error === undefined ? choice.finishReason : 'error',
    createdAtMs,
    lookupMisses: rule.lookupMisses,
  };
}

const isErrorAnswer = (rule: Rule): boolean => rule.error !== undefined && rule.error.at !== 'stream';

const scriptedBill = (rule: Rule): AttoUsd | null =>
  rule.billUsd === undefined ? null : parseAttoUsd(rule.billUsd);

/** A stream that ended early bills what it delivered; a JSON answer cannot be cancelled. */
function billedUse({ call, lastTurn: use, rule }: ChatReply, { state, textBytes }: Delivery): TokenUse {
  const whole = state === 'answered' && rule.error?.at !== 'stream';
  if (!call.stream || whole || (state === 'hung_up' && rule.hangUpBills === 'all')) return use;
  const completionTokens = Math.min(Math.ceil(textBytes / BYTES_PER_TOKEN), use.completionTokens);
  return { ...use, completionTokens, reasoningTokens: Math.min(use.reasoningTokens, completionTokens) };
}

/** Of what a model reads, in whichever format: settings are not part of it. */
function promptBytes(body: unknown): number {
  if (!isRecord(body)) return 0;
  const { messages, input, instructions, system, tools, response_format: format, text } = body;
  const read = [messages, input, instructions, system, tools, format, text];
  return Buffer.byteLength(JSON.stringify(read.filter((each) => each !== undefined)));
}

const addUse = (sum: TokenUse, use: TokenUse): TokenUse => ({
  promptTokens: sum.promptTokens + use.promptTokens,
  cachedTokens: sum.cachedTokens + use.cachedTokens,
  completionTokens: sum.completionTokens + use.completionTokens,
  reasoningTokens: sum.reasoningTokens + use.reasoningTokens,
  images: sum.images,
});

/** `gen-<unix seconds>-<20 characters>`, as OpenRouter's are. */
function generationId(createdAtSeconds: number, digest: string, ordinal: number): string {
  return `gen-${createdAtSeconds}-${digest.slice(0, 12)}${ordinal.toString(36).padStart(8, '0')}`;
}
