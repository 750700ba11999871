import { readFileSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { formatUsd } from '#core/money.ts';
import { errorStatus, errorType } from '../../api/contract/error-body.ts';
import { errorCodes as codes, type ErrorCode, type ErrorRow, errorTable } from '../../api/contract/errors.ts';
import { headerDocs } from '../../api/contract/headers.ts';
import { shapeOfPath } from '../../api/contract/route.ts';
import { pathOf } from '../support/path-of.ts';
import { codeGrid, type Way, type Ways } from './code-grid.ts';
import { type Cell, CodeWorld, type Met } from './code-world.ts';
import { eventsIn, FORMATS } from './requests.ts';

const world = new CodeWorld();
afterAll(() => world.stop());
afterEach(() => world.reset());

const document = JSON.parse(readFileSync(new URL('../../openapi/v1.json', import.meta.url), 'utf8'));
const rowOf = (code: ErrorCode): ErrorRow => errorTable[code];
const waysOf = (ways: Ways): readonly Way[] => (typeof ways === 'string' ? [] : ways);

/** What of a provider or of our account may stand in no answer. */
const SECRET = /SimCloud|openrouter|req_011sim|user_sim|sim-edge/i;

describe('the table of codes', () => {
  it('has every code, and says of each how it is met before and inside a stream, or why it cannot be', () => {
    expect(Object.keys(codeGrid).sort()).toEqual([...codes].sort());
    for (const code of codes) {
      const { before, within } = codeGrid[code];
      for (const ways of [before, within]) {
        if (typeof ways === 'string') expect(ways).toMatch(/^[A-Z].{30,}\.$/s);
        else expect(ways.length).toBeGreaterThan(0);
      }
    }
  });
});

describe.each(FORMATS)('by %s', (format) => {
  describe.each([false, true])('as a status (stream: %s)', (stream) => {
    for (const code of codes) {
      for (const way of waysOf(codeGrid[code].before)) {
        if (stream && way.wholeOnly === true) continue;
        it.each(way.kinds)(`${code}: ${way.when} (%s)`, async (kind) => {
          const cell: Cell = { format, stream, kind };
          const met = await way.meet(world, cell);
          expectStatus(met, code, way, format);
          if (code !== 'not_found') expectDocumented(met.res, code, format);
          await expectPaid(met, way);
        });
      }
    }
  });

  describe('as an event of a running stream', () => {
    for (const code of codes) {
      for (const way of waysOf(codeGrid[code].within)) {
        it.each(way.kinds)(`${code}: ${way.when} (%s)`, async (kind) => {
          const met = await way.meet(world, { format, stream: true, kind });
          expect(met.res.status).toBe(200);
          // A head that goes out while the provider is silent names no answer.
          const id = met.res.headers.get('x-generation-id');
          expect(id).toEqual(way.early === true ? null : expect.stringMatching(/^gen-/));
          expectIds(met, format);
          expectEvent(met.text, code, format);
          await expectPaid(met, way);
        });
      }
    }
  });
});

function expectStatus({ res, text }: Met, code: ErrorCode, way: Way, format: FormatName): void {
  const shape = shapeOfPath(pathOf(format));
  const body = JSON.parse(text);
  const error = { type: errorType(code, shape), message: expect.stringMatching(/\S{3}.*/), code };
  const param = shape === 'messages' ? undefined : body.error.param;
  const expected =
    shape === 'messages'
      ? { type: 'error', error }
      : { error: { ...error, param: expect.toBeOneOf([null, param]) } };
  expect(body).toEqual(expected);
  expect(param === undefined || param === null || typeof param === 'string').toBe(true);
  expect(text).not.toMatch(SECRET);
  expect(res.status).toBe(errorStatus(code, shape));
  expect(res.headers.get('content-type')).toBe('application/json');
  expectIds({ res }, format);
  const { headers } = res;
  expect(headers.get('x-hold-usd')).toEqual(way.held ? expect.stringMatching(/^0\.0/) : null);
  const { retry, retryAfterMs, longWait } = rowOf(code);
  if (retryAfterMs === undefined) {
    for (const name of ['retry-after', 'retry-after-ms']) expect(headers.get(name)).toBeNull();
    expect(headers.get('x-should-retry')).toBe(retry === 'fix_first' ? 'false' : null);
  } else {
    const waitMs = Number(headers.get('retry-after-ms'));
    expect(waitMs).toBeGreaterThanOrEqual(1);
    expect(headers.get('retry-after')).toBe(String(Math.ceil(waitMs / 1_000)));
    expect(headers.get('x-should-retry')).toBe(longWait ? 'false' : null);
  }
  expect(headers.get('x-ratelimit-remaining-requests')).toBe(code === 'rate_limited' ? '0' : null);
  expect(headers.get('x-ratelimit-limit-requests')).toBe(code === 'rate_limited' ? '1' : null);
  expect(headers.get('www-authenticate')).toBe(code === 'invalid_api_key' ? 'Bearer realm="faregate"' : null);
}

/** A path that is not served stands in no document. */
function expectDocumented({ status, headers }: Response, code: ErrorCode, format: FormatName): void {
  const operation = document.paths[pathOf(format)].post;
  expect(operation['x-error-codes'][status]).toContain(code);
  const name = operation.responses[status].$ref.split('/').at(-1);
  const documented = Object.keys(document.components.responses[name].headers);
  for (const header of Object.keys(headerDocs)) {
    // That an error is not to be kept needs no word; the header is told of lists.
    if (header !== 'cache-control' && headers.has(header)) expect(documented).toContain(header);
  }
}

function expectIds({ res }: Pick<Met, 'res'>, format: FormatName): void {
  const id = res.headers.get('x-service-call-id');
  expect(id).toMatch(/^\d+$/);
  expect(res.headers.get('x-request-id')).toBe(id);
  expect(res.headers.get('request-id')).toBe(format === 'messages' ? id : null);
}

function expectEvent(text: string, code: ErrorCode, format: FormatName): void {
  const shape = shapeOfPath(pathOf(format));
  const events = eventsIn(text);
  const last = events.at(format === 'responses' ? -2 : -1);
  const error = { type: errorType(code, shape), message: expect.any(String), code };
  expect(JSON.stringify([last, events.at(-1)])).not.toMatch(SECRET);
  expect(text.match(new RegExp(`"code":"${code}"`, 'g'))).toHaveLength(format === 'responses' ? 3 : 1);
  switch (format) {
    case 'chat':
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
      expect(last).toMatchObject({
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
      });
      expect(last?.error).toEqual(error);
      return;
    case 'responses':
      expect(text).toMatch(/\n\nevent: error\ndata: [^\n]*\n\nevent: response\.failed\ndata: [^\n]*\n\n$/);
      expect(last).toMatchObject({ type: 'error', code, message: expect.any(String), param: null });
      expect(last?.error).toEqual({ ...error, param: null });
      expect(events.at(-1)).toMatchObject({ response: { status: 'failed', error: { code }, output: [] } });
      return;
    case 'messages':
      expect(text).toMatch(/\n\nevent: error\ndata: [^\n]*\n\n$/);
      expect(last).toEqual({ type: 'error', error });
  }
}

async function expectPaid({ gateway, agent }: Met, { pays }: Way): Promise<void> {
  const view = await gateway.settled(agent);
  if (pays === 'written') expect(view.chargedNanoUsd).toBeGreaterThan(0n);
  else expect(`$${formatUsd(view.chargedNanoUsd)}`).toBe(pays ?? '$0');
  expect(gateway.running.deps.gateway.openCalls.size).toBe(0);
  expect(gateway.running.deps.gateway.capacity.heldNanoUsd).toBe(0n);
}

describe('what is not served', () => {
  it.each([
    ['POST', '/messages/count_tokens', 'messages'],
    ['POST', '/messages/batches', 'messages'],
    ['GET', '/messages', 'messages'],
    ['DELETE', '/messages', 'messages'],
    ['OPTIONS', '/messages', 'messages'],
    ['POST', '/messages/', 'messages'],
    ['POST', '/messages//', 'messages'],
    ['POST', '/messages/%zz', 'messages'],
    ['POST', '/Messages', 'chat'],
    ['POST', '/messagesx', 'chat'],
    ['GET', '/responses', 'chat'],
    ['GET', '/responses/resp_1', 'chat'],
    ['POST', '/responses/', 'chat'],
    ['PUT', '/chat/completions', 'chat'],
    ['POST', '/chat/completions/', 'chat'],
    ['POST', '/chat', 'chat'],
    ['POST', '/embeddings', 'chat'],
    ['POST', '/models', 'chat'],
    ['GET', '/models/', 'chat'],
    ['GET', '/models/acme/all', 'chat'],
  ] as const)('%s %s answers not_found in the %s shape', async (method, path, shape) => {
    const { baseUrl, agent } = await world.gateway('usual');
    const headers = { 'x-api-key': agent.key };
    const body = method === 'POST' || method === 'PUT' ? { body: '{' } : {};
    const res = await fetch(baseUrl + path, { method, headers, ...body });
    const error = { type: 'not_found_error', code: 'not_found', message: expect.any(String) };
    expect(res.status).toBe(404);
    expect(JSON.parse(await res.text())).toEqual(
      shape === 'messages' ? { type: 'error', error } : { error: { ...error, param: null } },
    );
    expect(res.headers.get('request-id') !== null).toBe(shape === 'messages');
  });
});
