import type { IncomingMessage, ServerResponse } from 'node:http';
import { jsonAnswer, notFound, recordAnswer, scripted, textAnswer } from './answers.ts';
import { type BillBook, generationPage } from './bill-book.ts';
import { type ChatPlan, type ChatSetting, planChat, simFormats } from './chat.ts';
import type { Dialect } from './chat-render.ts';
import { answerControl } from './control.ts';
import { refusal } from './error-body.ts';
import { planImages } from './media/answer-images.ts';
import { type MediaAnswer, pollVideo, sendVideo, submitVideo } from './media/answer-videos.ts';
import { findSimImageModel } from './media/image-models.ts';
import type { VideoBook } from './media/video-book.ts';
import {
  endpointsPage,
  imageEndpointsPage,
  imageModelsPage,
  modelsPage,
  videoModelsPage,
} from './model-pages.ts';
import { findSimModel } from './models.ts';
import { quirkedChat } from './quirks.ts';
import { type BodyReading, readBody } from './read-body.ts';
import type { RequestLog, SeenRequest } from './request-log.ts';
import { plainRule, type Rule } from './script-rule.ts';
import { type Answer, type Delivery, sendAtOnce, sendByRule } from './send.ts';
import type { SimFormat } from './sim-format.ts';
import { createStage } from './stage.ts';

export interface Running extends Omit<ChatSetting, 'nextOrdinal'> {
  paceMs: number;
  requests: RequestLog;
  bills: BillBook;
  videos: VideoBook;
  /** Called after everything that a test may wait for. */
  changed(): void;
}

const API = '/api/v1';
/** The address of a server with ways of its own. */
const QUIRKED = /^\/quirks\/([\w.]{1,20})\/v1/;

const formatOf = (path: string, quirk: string | undefined): SimFormat | undefined =>
  quirk === undefined ? simFormats.get(path) : path === '/chat/completions' ? quirkedChat(quirk) : undefined;

const NOTHING = Buffer.alloc(0);

/** Takes one request from its first byte to its last, its record and its bill. */
export class CallRunner {
  readonly #running: Running;
  readonly #setting: ChatSetting;
  /** For a stream that no rule of the script speaks of. */
  readonly #pacedRule: Rule;

  constructor(running: Running) {
    let ordinal = 0;
    this.#running = running;
    this.#setting = { ...running, nextOrdinal: () => ++ordinal };
    this.#pacedRule = running.paceMs > 0 ? { ...plainRule, gapMs: running.paceMs } : plainRule;
  }

  begin(req: IncomingMessage, res: ServerResponse): void {
    const { requests, script } = this.#running;
    const path = req.url ?? '/';
    const quirk = QUIRKED.exec(path);
    if (quirk === null && !path.startsWith(API)) {
      answerControl(req, res, this.#running);
      return;
    }
    const seen: SeenRequest = {
      method: req.method ?? '',
      path,
      headers: req.headers,
      rawHeaders: req.rawHeaders,
      body: NOTHING,
      generationId: null,
      state: 'open',
    };
    requests.add(seen);
    const query = path.indexOf('?');
    const begin = quirk?.[0].length ?? API.length;
    const route = routeOf(path.slice(begin, query === -1 ? undefined : query));
    const unread = script.takeUnread(route.path);
    const format = req.method === 'POST' ? formatOf(route.path, quirk?.[1]) : undefined;
    const dialect = quirk === null ? this.#setting.dialect : 'openai';
    if (unread !== null) this.#leaveUnread(res, unread, seen);
    else if (format !== undefined)
      readBody(req, (reading) => this.#chat(res, { format, dialect }, reading, seen));
    else if (isMedia(req, route))
      readBody(req, (reading) => void this.#media(req, res, route, reading, seen));
    else readBody(req, () => this.#answerPage(res, route, path, seen));
    this.#running.changed();
  }

  #leaveUnread(res: ServerResponse, rule: Rule, seen: SeenRequest): void {
    res.once('close', () =>
      this.#end(seen, { state: rule.request === 'ignore' ? 'hung_up' : 'cut', textBytes: 0 }),
    );
    if (rule.request === 'close') res.socket?.resetAndDestroy();
    else if (rule.request === 'answer_early') {
      const answer = scripted(textAnswer(413, refusal(413, 'Too large')), rule);
      sendAtOnce(res, { ...answer, headers: { ...answer.headers, connection: 'close' } });
    }
  }

  #chat(
    res: ServerResponse,
    { format, dialect }: { format: SimFormat; dialect: Dialect },
    reading: BodyReading,
    seen: SeenRequest,
  ): void {
    const text = this.#bodyText(res, reading, seen);
    if (text !== null) this.#sendPlan(res, planChat(format, text, { ...this.#setting, dialect }), seen);
  }

  async #media(
    req: IncomingMessage,
    res: ServerResponse,
    route: SimRoute,
    reading: BodyReading,
    seen: SeenRequest,
  ): Promise<void> {
    const text = this.#bodyText(res, reading, seen);
    if (text === null) return;
    if (route.path === '/images') {
      const nowMs = this.#running.clock.now();
      this.#sendPlan(res, await planImages(text, { ...this.#setting, nowMs }), seen);
      return;
    }
    const { answer, rule, generationId } = await videoAnswer(req, route, text, this.#running);
    seen.generationId = generationId;
    this.#send(res, answer, rule, seen);
  }

  /** The body, which is noted. `null`: it is not whole, and that has been answered. */
  #bodyText(res: ServerResponse, reading: BodyReading, seen: SeenRequest): string | null {
    if (reading.state !== 'whole') {
      this.#send(res, textAnswer(413, refusal(413, 'Too large')), plainRule, seen);
      return null;
    }
    this.#running.requests.bodyRead(seen, reading.body);
    return reading.body.toString();
  }

  #sendPlan(res: ServerResponse, { generationId, answer, rule, bill }: ChatPlan, seen: SeenRequest): void {
    seen.generationId = generationId;
    const isPaced = rule === plainRule && answer.pieces.length > 1;
    this.#send(res, answer, isPaced ? this.#pacedRule : rule, seen, (delivery) => {
      const billed = bill(delivery);
      if (billed !== null) this.#running.bills.add(billed);
    });
  }

  /** Answers everything that only reads: models, their endpoints, generations, the key. */
  #answerPage(res: ServerResponse, route: SimRoute, path: string, seen: SeenRequest): void {
    const rule = this.#running.script.take({ path: route.path });
    this.#send(res, scripted(page(route, path, this.#running.bills), rule), rule, seen);
  }

  #send(
    res: ServerResponse,
    answer: Answer,
    rule: Rule,
    seen: SeenRequest,
    bill: (delivery: Delivery) => void = () => {},
  ): void {
    const { clock, script, changed } = this.#running;
    const finish = (delivery: Delivery): void => {
      bill(delivery);
      this.#end(seen, delivery);
    };
    if (rule === plainRule) finish(sendAtOnce(res, answer));
    else void sendByRule(res, answer, rule, createStage(res, clock, script, changed)).then(finish);
  }

  #end(seen: SeenRequest, delivery: Delivery): void {
    seen.state = delivery.state;
    this.#running.changed();
  }
}

function videoAnswer(
  req: IncomingMessage,
  { path, id }: SimRoute,
  text: string,
  running: Running,
): MediaAnswer | Promise<MediaAnswer> {
  const address = `http://${req.headers.host}${API}`;
  if (path === '/videos') return submitVideo(text, address, running);
  return path === '/videos/{id}'
    ? pollVideo(id, address, running)
    : sendVideo(id, { range: req.headers.range, ifRange: req.headers['if-range']?.toString() }, running);
}

const isMedia = ({ method }: IncomingMessage, { path }: SimRoute): boolean =>
  method === 'POST'
    ? path === '/videos' || path === '/images'
    : path === '/videos/{id}' || path === '/videos/{id}/content';

const ENDPOINTS = /^\/models\/([^/]+\/[^/]+)\/endpoints$/;

function page({ path: route, id }: SimRoute, path: string, bills: BillBook): Answer {
  if (route === '/videos/models') return recordAnswer(videoModelsPage());
  if (route === '/images/models') return recordAnswer(imageModelsPage());
  if (route === '/images/models/{id}/endpoints') {
    const found = findSimImageModel(id);
    return found === undefined ? notFound('Not Found') : recordAnswer(imageEndpointsPage(found));
  }
  if (route === '/models') return recordAnswer(modelsPage());
  if (route === '/key') return jsonAnswer(200, keyPage(bills.totalUsd()));
  if (route === '/generation') {
    const generationId = new URLSearchParams(path.slice(path.indexOf('?') + 1)).get('id') ?? '';
    const bill = bills.lookUp(generationId);
    return bill === null
      ? notFound(`Generation ${generationId} not found`)
      : jsonAnswer(200, generationPage(bill));
  }
  const model = findSimModel(ENDPOINTS.exec(route)?.[1]?.replace('%3A', ':') ?? '');
  return model === undefined ? notFound('Not Found') : recordAnswer(endpointsPage(model));
}

/** The amount is written by hand: a float would lose its last digits. */
function keyPage(totalUsd: string): string {
  return `{"data":{"label":"simulator","limit":null,"limit_remaining":null,"usage":${totalUsd},"is_free_tier":false}}`;
}

/** Where a request goes, as scripts name it, and whose id stands in its path. */
interface SimRoute {
  path: string;
  id: string;
}

const WITH_ID: readonly { pattern: RegExp; path: string }[] = [
  { pattern: /^\/videos\/([^/]+)\/content$/, path: '/videos/{id}/content' },
  { pattern: /^\/videos\/([^/]+)$/, path: '/videos/{id}' },
  { pattern: /^\/images\/models\/([^/]+\/[^/]+)\/endpoints$/, path: '/images/models/{id}/endpoints' },
];

function routeOf(path: string): SimRoute {
  if (path === '/videos/models') return { path, id: '' };
  for (const each of WITH_ID) {
    const id = each.pattern.exec(path)?.[1];
    if (id !== undefined) return { path: each.path, id };
  }
  return { path, id: '' };
}
