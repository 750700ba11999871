import type { IncomingMessage } from 'node:http';
import type { AddressWeights, Counted } from '#core/rates/address-weights.ts';
import { publicHeaders } from '../contract/headers.ts';
import { type MarketError, marketError } from '../contract/market-errors.ts';
import type { PublicCallContext } from '../contract/route.ts';
import type { MarketAnswer, MarketReads } from '../market/market-reads.ts';
import { type MarketQuery, readBookQuery, readCandlesQuery, readListQuery } from '../market/read-query.ts';
import type { ReadyAnswer } from '../market/ready-answer.ts';
import { hasEtag } from './has-etag.ts';
import { KnownUrls } from './known-urls.ts';
import { renderError } from './render-error.ts';

export interface ServeMarketsOptions {
  /** `null`: there are no markets here. */
  reads: MarketReads | null;
  weights: AddressWeights;
  clientAddress: (req: IncomingMessage) => string;
  callIdHeader: string;
}

type Call = Omit<PublicCallContext<unknown>, 'deps'>;

/** One request, understood. The same one comes again each second. */
interface MarketRequest {
  weight: number;
  read: () => MarketAnswer | Promise<MarketAnswer>;
  isKept: boolean;
}

/**
 * Market data as it is answered. What is refused: first a parameter that is not one of the endpoint's, which counts for
 * nothing; then an address that has used its weight; then a parameter's value; then what is not there.
 */
export function createServeMarkets({ reads, weights, clientAddress, callIdHeader }: ServeMarketsOptions) {
  const headOf = createAnswerHeads(callIdHeader);
  // Of those alone that there is something to be read for.
  const understood = new KnownUrls<MarketRequest>();

  const serve = (understand: (url: string) => MarketRequest | MarketError) => (call: Call) => {
    const { url = '' } = call.req;
    const request = understood.get(url) ?? understand(url);
    if ('refused' in request) return renderError(call.res, request, call);
    const counted = weights.count(clientAddress(call.req), request.weight);
    return counted instanceof Promise
      ? counted.then((known) => answerCounted(call, request, known))
      : answerCounted(call, request, counted);
  };

  function answerCounted(call: Call, request: MarketRequest, counted: Counted): void | Promise<void> {
    if (counted.waitMs > 0) {
      const refused = marketError('rate_limited', { retryAfterMs: counted.waitMs });
      return send(call, request, refused, counted.used);
    }
    const answer = request.read();
    return answer instanceof Promise
      ? answer.then((ready) => send(call, request, ready, counted.used))
      : send(call, request, answer, counted.used);
  }

  function send(call: Call, request: MarketRequest, answer: MarketAnswer, used: number): void {
    if ('refused' in answer) {
      renderError(call.res, answer, call, { 'x-used-weight-1m': String(used) });
      return;
    }
    if (!request.isKept) {
      request.isKept = true;
      understood.note(call.req.url ?? '', request);
    }
    sendReady(call, answer, used);
  }

  function sendReady({ callId, req, res }: Call, answer: ReadyAnswer, used: number): void {
    if (hasEtag(req, answer.etag)) res.writeHead(304, headOf(answer.unchangedHeaders, callId, used)).end();
    else res.writeHead(200, headOf(answer.headers, callId, used)).end(answer.body, 'latin1');
  }

  const requestOf = <Asked extends object>(
    query: MarketQuery<Asked> | MarketError,
    read: (reads: MarketReads, asked: Asked) => MarketAnswer | Promise<MarketAnswer>,
  ): MarketRequest | MarketError => {
    if ('refused' in query) return query;
    const { weight, asked } = query;
    const isKept = false;
    if ('refused' in asked) return { weight, isKept, read: () => asked };
    if (reads === null) return { weight, isKept, read: () => marketError('not_found') };
    return { weight, isKept, read: () => read(reads, asked) };
  };

  return {
    listMarkets: serve((url) => requestOf(readListQuery(queryOf(url)), (markets) => markets.list())),
    sendBook: serve((url) => {
      const market = marketOf(url);
      return requestOf(readBookQuery(queryOf(url)), (markets, asked) => markets.book(market, asked));
    }),
    sendCandles: serve((url) => {
      const market = marketOf(url);
      return requestOf(readCandlesQuery(queryOf(url)), (markets, asked) => markets.candles(market, asked));
    }),
  };
}

/**
 * An answer's head with what is of one call alone, names and values in turn, which Node takes as they are and writes at
 * once: so the same list serves every call that is answered so, and only its last places are written anew.
 */
function createAnswerHeads(callIdHeader: string) {
  const forPages = Object.entries(publicHeaders(callIdHeader)).flat();
  const heads = new WeakMap<readonly string[], string[]>();

  return (headers: readonly string[], callId: number, used: number): string[] => {
    let head = heads.get(headers);
    if (head === undefined) {
      head = [...headers, ...forPages, callIdHeader, '', 'x-request-id', '', 'x-used-weight-1m', ''];
      heads.set(headers, head);
    }
    const id = String(callId);
    const end = head.length;
    head[end - 5] = id;
    head[end - 3] = id;
    head[end - 1] = String(used);
    return head;
  };
}

function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

/**
 * The path's last step but one, as sent, also of an address that is sent whole (RFC 9112, 3.2.2). No id has a character that
 * needs an escape, so that with one it is none.
 */
function marketOf(url: string): string {
  const [path = ''] = url.split('?');
  return path.split('/').at(-2) ?? '';
}
