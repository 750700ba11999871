import type { IncomingMessage, ServerResponse } from 'node:http';
import { jsonAnswer, scripted, textAnswer } from './answers.ts';
import { type BillBook, generationPage } from './bill-book.ts';
import { type ChatSetting, planChat, simFormats } from './chat.ts';
import { answerControl } from './control.ts';
import { refusal } from './error-body.ts';
import { planImages } from './media/answer-images.ts';
import { type MediaAnswer, pollVideo, sendVideo, submitVideo } from './media/answer-videos.ts';
import { findSimImageModel } from './media/image-models.ts';
import { imageEndpointsPage, imageModelsPage, videoModelsPage } from './media/media-pages.ts';
import type { VideoBook } from './media/video-book.ts';
import { endpointsPage, modelsPage } from './model-pages.ts';
import { findSimModel } from './models.ts';
import { type BodyReading, readBody } from './read-body.ts';
import type { RequestLog, SeenRequest } from './request-log.ts';
import { routeOf, type SimRoute } from './route-of.ts';
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
const NOTHING = Buffer.alloc(0);

/** Takes one request from its first byte to its last, its record and its bill. */
export function createCallRunner(running: Running): (req: IncomingMessage, res: ServerResponse) => void {
  let ordinal = 0;
  const setting: ChatSetting = { ...running, nextOrdinal: () => ++ordinal };
  const pacedRule: Rule = running.paceMs > 0 ? { ...plainRule, gapMs: running.paceMs } : plainRule;

  function begin(req: IncomingMessage, res: ServerResponse): void {
    const path = req.url ?? '/';
    if (!path.startsWith(API)) {
      answerControl(req, res, running);
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
    running.requests.add(seen);
    const query = path.indexOf('?');
    const route = routeOf(path.slice(API.length, query === -1 ? undefined : query));
    const unread = running.script.takeUnread(route.path);
    const format = req.method === 'POST' ? simFormats.get(route.path) : undefined;
    if (unread !== null) leaveUnread(res, unread, seen);
    else if (format !== undefined) readBody(req, (reading) => chat(res, format, reading, seen));
    else if (isMedia(req, route)) readBody(req, (reading) => media(req, res, route, reading, seen));
    else readBody(req, () => look(res, route, path, seen));
    running.changed();
  }

  function leaveUnread(res: ServerResponse, rule: Rule, seen: SeenRequest): void {
    res.once('close', () =>
      ended(seen, { state: rule.request === 'ignore' ? 'hung_up' : 'cut', textBytes: 0 }),
    );
    if (rule.request === 'close') res.socket?.resetAndDestroy();
    else if (rule.request === 'answer_early') {
      const answer = scripted(textAnswer(413, refusal(413, 'Too large')), rule);
      sendAtOnce(res, { ...answer, headers: { ...answer.headers, connection: 'close' } });
    }
  }

  function chat(res: ServerResponse, format: SimFormat, reading: BodyReading, seen: SeenRequest): void {
    if (reading.state !== 'whole') {
      send(res, textAnswer(413, refusal(413, 'Too large')), plainRule, seen);
      return;
    }
    running.requests.bodyRead(seen, reading.body);
    const plan = planChat(format, reading.body.toString(), setting);
    seen.generationId = plan.generationId;
    const rule = plan.rule === plainRule && plan.answer.pieces.length > 1 ? pacedRule : plan.rule;
    send(res, plan.answer, rule, seen, (delivery) => {
      const bill = plan.bill(delivery);
      if (bill !== null) running.bills.add(bill);
    });
  }

  function media(
    req: IncomingMessage,
    res: ServerResponse,
    route: SimRoute,
    reading: BodyReading,
    seen: SeenRequest,
  ): void {
    if (reading.state !== 'whole') {
      send(res, textAnswer(413, refusal(413, 'Too large')), plainRule, seen);
      return;
    }
    running.requests.bodyRead(seen, reading.body);
    if (route.path === '/images') {
      const plan = planImages(reading.body.toString(), { ...setting, nowMs: running.clock.now() });
      seen.generationId = plan.generationId;
      const isPaced = plan.rule === plainRule && plan.answer.pieces.length > 1;
      send(res, plan.answer, isPaced ? pacedRule : plan.rule, seen, (delivery) => {
        const bill = plan.bill(delivery);
        if (bill !== null) running.bills.add(bill);
      });
      return;
    }
    const { answer, rule, generationId } = videoAnswer(req, route, reading.body);
    seen.generationId = generationId;
    send(res, answer, rule, seen);
  }

  function videoAnswer(req: IncomingMessage, { path, id }: SimRoute, body: Buffer): MediaAnswer {
    const address = `http://${req.headers.host}${API}`;
    if (path === '/videos') return submitVideo(body.toString(), address, running);
    return path === '/videos/{id}'
      ? pollVideo(id, address, running)
      : sendVideo(id, { range: req.headers.range, ifRange: req.headers['if-range']?.toString() }, running);
  }

  /** Everything that reads: models, their endpoints, generations, the key. */
  function look(res: ServerResponse, route: SimRoute, path: string, seen: SeenRequest): void {
    const rule = running.script.take({ path: route.path, model: '', lastUserText: '' });
    send(res, scripted(page(route, path, running.bills), rule), rule, seen);
  }

  function send(
    res: ServerResponse,
    answer: Answer,
    rule: Rule,
    seen: SeenRequest,
    bill: (delivery: Delivery) => void = () => {},
  ): void {
    function finish(delivery: Delivery): void {
      bill(delivery);
      ended(seen, delivery);
    }
    if (rule === plainRule) finish(sendAtOnce(res, answer));
    else {
      const stage = createStage(res, running.clock, running.script, running.changed);
      void sendByRule(res, answer, rule, stage).then(finish);
    }
  }

  function ended(seen: SeenRequest, delivery: Delivery): void {
    seen.state = delivery.state;
    running.changed();
  }

  return begin;
}

const isMedia = ({ method }: IncomingMessage, { path }: SimRoute): boolean =>
  method === 'POST'
    ? path === '/videos' || path === '/images'
    : path === '/videos/{id}' || path === '/videos/{id}/content';

const ENDPOINTS = /^\/models\/([^/]+\/[^/]+)\/endpoints$/;

function page({ path: route, id }: SimRoute, path: string, bills: BillBook): Answer {
  if (route === '/videos/models') return jsonAnswer(200, JSON.stringify(videoModelsPage()));
  if (route === '/images/models') return jsonAnswer(200, JSON.stringify(imageModelsPage()));
  if (route === '/images/models/{id}/endpoints') {
    const found = findSimImageModel(id);
    return found === undefined
      ? notFound('Not Found')
      : jsonAnswer(200, JSON.stringify(imageEndpointsPage(found)));
  }
  if (route === '/models') return jsonAnswer(200, JSON.stringify(modelsPage()));
  if (route === '/key') return jsonAnswer(200, keyPage(bills.totalUsd()));
  if (route === '/generation') {
    const generationId = new URLSearchParams(path.slice(path.indexOf('?') + 1)).get('id') ?? '';
    const bill = bills.lookUp(generationId);
    return bill === null
      ? notFound(`Generation ${generationId} not found`)
      : jsonAnswer(200, generationPage(bill));
  }
  const model = findSimModel(ENDPOINTS.exec(route)?.[1]?.replace('%3A', ':') ?? '');
  return model === undefined ? notFound('Not Found') : jsonAnswer(200, JSON.stringify(endpointsPage(model)));
}

const notFound = (message: string): Answer => textAnswer(404, refusal(404, message));

/** The amount is written by hand: a float would lose its last digits. */
function keyPage(totalUsd: string): string {
  return `{"data":{"label":"simulator","limit":null,"limit_remaining":null,"usage":${totalUsd},"is_free_tier":false}}`;
}
