import type { IncomingMessage } from 'node:http';
import type { AddressWeights } from '#core/rates/address-weights.ts';
import { publicHeaders } from '../contract/headers.ts';
import { type MarketError, marketError } from '../contract/market-errors.ts';
import type { PublicCallContext } from '../contract/route.ts';
import type { MarketAnswer, MarketReads } from '../market/market-reads.ts';
import { type MarketQuery, readBookQuery, readCandlesQuery, readListQuery } from '../market/read-query.ts';
import { renderError } from './render-error.ts';
import { hasEtag } from './send-cached.ts';

export interface ServeMarketsOptions {
  /** `null`: there are no markets here. */
  reads: MarketReads | null;
  weights: AddressWeights;
  clientAddress: (req: IncomingMessage) => string;
  callIdHeader: string;
}

type Call = Omit<PublicCallContext<unknown>, 'deps'>;

/**
 * Serves market data. It refuses first a parameter that the endpoint does not take, which counts for nothing; then an
 * address that has used its weight; then a wrong value; then what does not exist.
 */
export function createServeMarkets({ reads, weights, clientAddress, callIdHeader }: ServeMarketsOptions) {
  const forPages = Object.entries(publicHeaders(callIdHeader)).flat();

  async function serve<Asked extends object>(
    call: Call,
    query: MarketQuery<Asked> | MarketError,
    read: (reads: MarketReads, asked: Asked) => Promise<MarketAnswer>,
  ): Promise<void> {
    if ('refused' in query) return renderError(call.res, query, call);
    const { weight, asked } = query;
    const { waitMs, used } = await weights.count(clientAddress(call.req), weight);
    if (waitMs > 0) send(call, marketError('rate_limited', { retryAfterMs: waitMs }), used);
    else if ('refused' in asked) send(call, asked, used);
    else send(call, reads === null ? marketError('not_found') : await read(reads, asked), used);
  }

  function send(call: Call, answer: MarketAnswer, used: number): void {
    if ('refused' in answer) {
      renderError(call.res, answer, call, { 'x-used-weight-1m': String(used) });
      return;
    }
    const { req, res } = call;
    const id = String(call.callId);
    // Names and values in turn, which Node writes as they are.
    const ofCall = [callIdHeader, id, 'x-request-id', id, 'x-used-weight-1m', String(used)];
    if (hasEtag(req, answer.etag)) {
      res.writeHead(304, answer.unchangedHeaders.concat(forPages, ofCall)).end();
    } else res.writeHead(200, answer.headers.concat(forPages, ofCall)).end(answer.body, 'latin1');
  }

  return {
    listMarkets: (call: Call) => serve(call, readListQuery(queryOf(call)), (markets) => markets.list()),
    sendBook: (call: Call) =>
      serve(call, readBookQuery(queryOf(call)), (markets, asked) => markets.book(marketOf(call), asked)),
    sendCandles: (call: Call) =>
      serve(call, readCandlesQuery(queryOf(call)), (markets, asked) =>
        markets.candles(marketOf(call), asked),
      ),
  };
}

function queryOf({ req: { url = '' } }: Call): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

/**
 * The path's last step but one, as sent, also of an address that is sent whole (RFC 9112, 3.2.2). No id has a character that
 * needs an escape, so one with an escape names no market.
 */
function marketOf({ req: { url = '' } }: Call): string {
  const [path = ''] = url.split('?');
  return path.split('/').at(-2) ?? '';
}
