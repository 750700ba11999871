import type { IncomingMessage } from 'node:http';
import { MARKET_URL_CHARS_MAX, MARKET_URLS_MAX } from '#core/limits.ts';
import type { AddressWeights, Counted } from '#core/rates/address-weights.ts';
import { publicHeaders } from '../contract/headers.ts';
import { type MarketError, marketError } from '../contract/market-errors.ts';
import type { PublicCallContext } from '../contract/route.ts';
import type { MarketAnswer, MarketReads } from '../market/market-reads.ts';
import { type MarketQuery, readBookQuery, readCandlesQuery, readListQuery } from '../market/read-query.ts';
import type { ReadyAnswer } from '../market/ready-answer.ts';
import { hasEtag } from './has-etag.ts';
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
  const forPages = Object.entries(publicHeaders(callIdHeader)).flat();
  // Understood before, by path and query; of those alone that there is something to be read for.
  const understood = new Map<string, MarketRequest>();

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
    if (!request.isKept) keep(call.req.url ?? '', request);
    sendReady(call, answer, used);
  }

  function keep(url: string, request: MarketRequest): void {
    if (url.length > MARKET_URL_CHARS_MAX) return;
    request.isKept = true;
    if (understood.size >= MARKET_URLS_MAX) understood.clear();
    understood.set(url, request);
  }

  function sendReady({ callId, req, res }: Call, answer: ReadyAnswer, used: number): void {
    const id = String(callId);
    // Names and values in turn, which Node takes as they are; made without a spread, which costs more than all of them.
    const ofCall = [callIdHeader, id, 'x-request-id', id, 'x-used-weight-1m', String(used)];
    if (hasEtag(req, answer.etag)) {
      res.writeHead(304, answer.unchangedHeaders.concat(ofCall, forPages)).end();
    } else res.writeHead(200, answer.headers.concat(ofCall, forPages)).end(answer.body, 'latin1');
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
