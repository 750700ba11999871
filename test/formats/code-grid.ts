import type { FormatName } from '#core/catalog/catalog.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { ErrorCode } from '../../api/contract/errors.ts';
import type { ScriptRule } from '../../api/simulator/script-rule.ts';
import { until } from '../support/gateway.ts';
import { passTime } from '../support/pass-time.ts';
import { pathOf } from '../support/path-of.ts';
import { plainHealth } from '../support/plain-health.ts';
import { failing } from '../support/provider-failures.ts';
import { unavailableLedger } from '../support/unavailable-ledger.ts';
import type { Cell, CodeWorld, Met, Setting } from './code-world.ts';
import { modelOf, PROVIDER_KINDS, type ProviderKind } from './format-gateway.ts';
import { askedIn, requestIn, ruleFor } from './requests.ts';

/** One way to meet a code on a running gateway, by any format. */
export interface Way {
  /** Completes: the code comes when … */
  when: string;
  /** By which kinds of providers it is tried. */
  kinds: readonly ProviderKind[];
  meet(world: CodeWorld, cell: Cell): Promise<Met>;
  /** It failed after its hold was on disk, so the answer names the hold. */
  held: boolean;
  /** As a status only to a caller who waits for the whole answer: a stream has got its head by then. */
  wholeOnly?: true;
  /** As an event: the provider had not answered yet. */
  early?: true;
  /** What the agent pays; default nothing. `written`: what came before the error. */
  pays?: 'written' | `$${string}`;
}

/** The ways that tests go, or why there is none. */
export type Ways = readonly Way[] | string;

export interface CodeWays {
  /** As a status: to a caller who waits for JSON, and to one who asked for a stream that had not begun. */
  before: Ways;
  /** As an event of a stream that runs. */
  within: Ways;
}

const NATIVE = ['all formats'] as const;

/** Of the request or of what is known of its sender: no provider is asked. */
const refused = (when: string, meet: Way['meet']): Way => ({ when, kinds: NATIVE, held: false, meet });

const refusedAt = (setting: Setting, when: string, extra: object = {}): Way =>
  refused(when, (world, cell) => world.ask(setting, cell, { extra }));

/** A call waits at its provider while the cell's own is sent. */
const whileOneRuns = (setting: Setting, when: string, isSameAgent: boolean): Way =>
  refused(when, async (world, cell) => {
    const gateway = await world.gateway(setting);
    const agent = await gateway.newAgent();
    gateway.provider.next(ruleFor(cell.kind, cell.format, { gate: when, gateAt: 'headers' }));
    const path = pathOf(cell.format);
    // In each format, 200 tokens hold some $0.00016.
    const extra = cell.format === 'responses' ? { max_output_tokens: 200 } : { max_tokens: 200 };
    const running = gateway.post(requestIn(cell.format, modelOf[cell.kind], extra), { path, agent });
    await gateway.provider.reached(when);
    const met = await world.ask(setting, cell, isSameAgent ? { agent, extra } : { extra });
    gateway.provider.release(when);
    await (await running).text();
    await gateway.settled(agent);
    // Its own charge is not this cell's.
    return isSameAgent ? { ...met, agent: await gateway.newAgent() } : met;
  });

/** The provider costs nothing for what fails, and says so when it is asked. */
const FREE = { billUsd: '0', usageFields: { cost: '0' } } as const;

const providerDoes = (when: string, rule: ScriptRule, rest: Partial<Way> = {}): Way => ({
  when: `the provider ${when}`,
  kinds: PROVIDER_KINDS,
  held: true,
  async meet(world, cell) {
    const { provider } = await world.gateway('usual');
    provider.next(ruleFor(cell.kind, cell.format, { ...(rest.pays === undefined ? FREE : {}), ...rule }));
    return world.ask('usual', cell);
  },
  ...rest,
});

/** In the dialect of the kind, or in the shape of another vendor's chat. */
function answers(status: number, rest: Parameters<typeof failing>[1] = {}): Way {
  const { style, type } = rest;
  const words = [`answers ${status}`, style && `in the shape ${style}`, type && `as ${type}`];
  const kinds: Partial<Way> = style === undefined ? {} : { kinds: ['chat only'] };
  return providerDoes(words.filter(Boolean).join(' '), failing(status, rest), kinds);
}

/** A router may bill for what failed, and says so. */
const recorded = (code: number): Way => {
  const body = JSON.stringify({ error: { code, message: 'It failed.' }, usage: { cost: 0.0000042 } });
  const headers = { 'content-type': 'application/json' };
  return providerDoes(
    `answers an error ${code} with a cost`,
    { headers, body },
    { kinds: NATIVE, pays: '$0.0000042' },
  );
};

/** In the words of a router in its three formats, or of one vendor of the messages format. */
const says = (type: string, vendors?: string): Way[] => {
  const rule = (name: string): ScriptRule => ({
    chunks: 30,
    ...failing(502, { at: 'stream', afterChunks: 12, type: name }),
    status: 200,
  });
  const pays = 'written' as const;
  const router = providerDoes(`ends its stream with ${type}`, rule(type), { pays });
  if (vendors === undefined) return [router];
  return [router, withinMessages(vendors, rule(vendors))];
};

/** Every format is answered from a stream of the messages format. */
const withinMessages = (type: string, rule: ScriptRule): Way =>
  providerDoes(`ends its stream of messages with ${type}`, rule, {
    kinds: ['messages only'],
    pays: 'written',
  });

const SILENT_TO_THE_END = 'the provider is silent to the end of the time limit';

const DECIDED_BEFORE = 'It is decided before a provider is asked, so no stream has begun.';

const toolOf: Readonly<Record<FormatName, object>> = {
  chat: { type: 'code_interpreter' },
  responses: { type: 'mcp', server_url: 'https://example.com' },
  messages: { type: 'code_execution_20250825', name: 'code_execution' },
};

/** Below each format's own path, where nothing is served. */
const unservedPath: Readonly<Record<FormatName, string>> = {
  chat: '/chat/completions/one',
  responses: '/responses/resp_1/input_items',
  messages: '/messages/count_tokens',
};

/**
 * Each of the codes: the ways to meet it that the tests go in every format, and why it cannot be met elsewhere.
 */
export const codeGrid: Readonly<Record<ErrorCode, CodeWays>> = {
  invalid_api_key: {
    before: [
      refused('nobody has the key', async (world, cell) => {
        const agent = await (await world.gateway('usual')).newAgent();
        const met = await world.ask('usual', cell, {
          agent: { ...agent, key: `${agent.key.slice(0, -4)}0000` },
        });
        return { ...met, agent };
      }),
    ],
    within: 'The key is checked before the hold; a call that runs finishes even where its key is revoked.',
  },
  agent_inactive: { before: [byStatus('inactive')], within: DECIDED_BEFORE },
  agent_suspended: {
    before: [byStatus('suspended')],
    within: 'A call that runs finishes even where its agent is suspended.',
  },
  invalid_request: {
    before: [
      refused('the body is no JSON', (world, cell) => world.ask('usual', cell, { body: '{"model":' })),
      refusedAt('usual', 'the model is missing', { model: undefined }),
      answers(400),
      answers(400, { style: 'openai', type: 'invalid_request_error' }),
      answers(400, { style: 'flat' }),
      answers(400, { style: 'google' }),
    ],
    within: says('invalid_request'),
  },
  unknown_model: {
    before: [refusedAt('usual', 'no model has this id', { model: 'nobody/knows' })],
    within: DECIDED_BEFORE,
  },
  model_not_served: {
    before: [
      refusedAt('usual', 'a free version is asked for', { model: 'acme/all:free' }),
      refusedAt('usual', 'a batch version is asked for', { model: 'acme/all:batch' }),
    ],
    within: DECIDED_BEFORE,
  },
  tool_not_served: {
    before: [
      refused('a tool would run on a shared account', (world, cell) =>
        world.ask('usual', cell, { extra: { tools: [toolOf[cell.format]] } }),
      ),
    ],
    within: DECIDED_BEFORE,
  },
  request_too_large: {
    before: [
      refusedAt('usual', 'the body is over 4 MB', { x: 'y'.repeat(4 * 1024 * 1024) }),
      answers(413),
      answers(400, { type: 'context_length_exceeded' }),
      answers(400, { style: 'openai', type: 'invalid_request_error', code: 'context_length_exceeded' }),
    ],
    within: says('context_length_exceeded'),
  },
  request_over_capacity: {
    before: [refusedAt('one call may hold next to nothing', 'the hold is above what one call may hold')],
    within: DECIDED_BEFORE,
  },
  not_found: {
    before: [
      refused('nothing is served at the path', (world, cell) =>
        world.ask('usual', cell, { path: unservedPath[cell.format] }),
      ),
    ],
    within: DECIDED_BEFORE,
  },
  insufficient_balance: {
    before: [
      refused('the balance is below the hold', async (world, cell) => {
        const agent = await (await world.gateway('usual')).newAgent({ creditUsd: '0.000001' });
        return world.ask('usual', cell, { agent });
      }),
    ],
    within: DECIDED_BEFORE,
  },
  key_limit: {
    before: [
      refused('the key’s limit is below the hold', async (world, cell) => {
        const gateway = await world.gateway('usual');
        const { agentId } = await gateway.newAgent();
        return world.ask('usual', cell, { agent: await gateway.newKey(agentId, '0.000001') });
      }),
    ],
    within: DECIDED_BEFORE,
  },
  rate_limited: {
    before: [
      refused('the agent has just started as many calls as it may', async (world, cell) => {
        const setting = 'an agent starts one call a minute';
        const gateway = await world.gateway(setting);
        const agent = await gateway.newAgent();
        await world.ask(setting, cell, { agent });
        await gateway.settled(agent);
        return { ...(await world.ask(setting, cell, { agent })), agent: await gateway.newAgent() };
      }),
    ],
    within: DECIDED_BEFORE,
  },
  too_many_running_calls: {
    before: [whileOneRuns('an agent runs one call', 'as many calls of the agent run as may', true)],
    within: DECIDED_BEFORE,
  },
  daily_share_used: {
    before: [
      whileOneRuns('an agent’s day has room for one call', 'the agent used its share of the day', true),
    ],
    within: DECIDED_BEFORE,
  },
  model_busy: {
    before: [
      answers(429),
      answers(429, { style: 'openai', type: 'requests', code: 'rate_limit_exceeded' }),
      answers(503),
      answers(503, { style: 'availability' }),
      answers(503, { style: 'empty' }),
      answers(529),
    ],
    within: [
      ...says('rate_limit_exceeded', 'rate_limit_error'),
      ...says('provider_overloaded', 'overloaded_error'),
    ],
  },
  gateway_busy: {
    before: [whileOneRuns('the process runs one call', 'as many calls run as may', false)],
    within: DECIDED_BEFORE,
  },
  gateway_capacity: {
    before: [
      whileOneRuns('all calls together may hold one call', 'the pool has no room for the hold', false),
      answers(402),
      answers(429, { style: 'openai', type: 'insufficient_quota', code: 'insufficient_quota' }),
    ],
    within: says('payment_required', 'billing_error'),
  },
  gateway_unavailable: {
    before: [refusedAt('the gateway is stopped', 'the operator stopped the gateway'), answers(401)],
    within: says('authentication', 'authentication_error'),
  },
  catalog_unavailable: {
    before: [
      refusedAt('a list of models never came', 'a provider that never told its list may serve the model', {
        model: 'vendor/of-theirs',
      }),
    ],
    within: DECIDED_BEFORE,
  },
  service_unavailable: {
    before: [
      refused('the ledger cannot answer', async (world, cell) => {
        const met = await world.gateway('usual');
        const { deps } = met.running;
        const agent = await met.newAgent();
        const { ledger } = deps.gateway;
        deps.gateway.ledger = unavailableLedger(ledger);
        const asked = await world.ask('usual', cell, { agent });
        deps.gateway.ledger = ledger;
        return asked;
      }),
    ],
    within:
      'No byte goes out before the hold is on disk: a ledger that fails by then is answered as a status, and one that ' +
      'fails later only delays the charge.',
  },
  provider_unavailable: {
    before: [refusedAt('the provider is stopped', 'the operator stopped the only provider of the model')],
    within: DECIDED_BEFORE,
  },
  gateway_error: {
    before: [{ ...faultIn('begin'), when: 'the gateway has a fault after the hold' }],
    within: [{ ...faultIn('end'), when: 'the gateway has a fault after the last event' }],
  },
  upstream_timeout: {
    before: [{ ...silent({ stallAt: 'headers' }, SILENT_TO_THE_END), wholeOnly: true }],
    within: [
      { ...silent({ stallAt: 'headers' }, SILENT_TO_THE_END), early: true },
      {
        ...silent({ chunks: 30, stallAt: 2_500 }, 'the provider falls silent in its stream'),
        pays: '$0.0000042',
      },
    ],
  },
  upstream_unreachable: {
    before: [providerDoes('cuts the connection before its status line', { cutAt: 'headers' })],
    within: 'A connection that is lost after the first byte is `provider_error`.',
  },
  provider_error: {
    before: [
      answers(502),
      answers(502, { style: 'html' }),
      recorded(502),
      providerDoes('answers what is no JSON', { body: 'hello' }),
      providerDoes('answers 200 with an error inside', {
        ...failing(502, { type: 'provider_unavailable' }),
        status: 200,
      }),
      providerDoes('is cut in its first event', { cutAt: 40 }),
    ],
    within: [
      ...says('provider_unavailable'),
      providerDoes('is cut in its stream', { chunks: 30, cutAt: 2_500 }, { pays: 'written' }),
      providerDoes('sends an event that is none', { chunks: 30, malformedChunk: 12 }, { pays: 'written' }),
    ],
  },
  no_provider: {
    before: [
      answers(404),
      refused('the provider could not be told all of the request', (world, cell) =>
        world.ask(
          'usual',
          { ...cell, kind: foreignKind[cell.format] },
          { extra: { some_option: 7, provider: { require_parameters: true } } },
        ),
      ),
    ],
    within: says('not_found'),
  },
  provider_refused: { before: [answers(403)], within: says('content_policy_violation') },
  unprocessable: { before: [answers(422)], within: says('unprocessable') },
  timeout: {
    before: [answers(408), answers(504), answers(524), recorded(504)],
    within: says('timeout'),
  },
  upstream_error: {
    before: [
      answers(500),
      answers(500, { style: 'text' }),
      answers(500, { style: 'string' }),
      answers(418),
      recorded(500),
      providerDoes('redirects', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
    ],
    within: says('server'),
  },
  not_ready: {
    before: 'Only of the file of a video, which no call of a text model has.',
    within: 'Only of the file of a video, which no stream has.',
  },
};

function byStatus(status: 'inactive' | 'suspended'): Way {
  return refused(`the agent is ${status}`, async (world, cell) => {
    const agent = await (await world.gateway('usual')).newAgent({ status });
    return world.ask('usual', cell, { agent });
  });
}

/** What is called at the start, or at the end, of every attempt breaks once. */
function faultIn(step: 'begin' | 'end'): Omit<Way, 'when'> {
  return {
    kinds: NATIVE,
    held: true,
    async meet(world, cell) {
      const { gateway } = (await world.gateway('usual')).running.deps;
      const { health } = gateway;
      const fault = (): void => {
        gateway.health = health;
        throw new Error('a fault');
      };
      gateway.health = Object.assign(plainHealth(), { [step]: fault });
      return world.ask('usual', cell);
    },
  };
}

function silent(rule: ScriptRule, when: string): Way {
  return {
    when,
    kinds: NATIVE,
    held: true,
    async meet(world, cell) {
      const gateway = await world.gateway('time moves by hand');
      const billUsd = rule.stallAt === 'headers' ? '0' : '0.0000042';
      gateway.provider.next(ruleFor(cell.kind, cell.format, { ...rule, billUsd, hangUpBills: 'delivered' }));
      const head = Promise.withResolvers<void>();
      const asked = world.ask('time moves by hand', cell, { onHead: head.resolve });
      await until(() => gateway.running.deps.gateway.openCalls.size === 1);
      await until(
        () =>
          gateway.provider
            .requests()
            .at(-1)
            ?.path.endsWith(pathOf(askedIn(cell.kind, cell.format))) === true,
      );
      // The caller's head goes out with the first event, which time by hand must not overtake.
      if (rule.stallAt !== 'headers') await head.promise;
      await passTime(gateway, world.clock, (cell.stream ? 30 : 13) * MINUTE_MS + 2 * SECOND_MS);
      const met = await asked;
      await until(async () => {
        await passTime(gateway, world.clock, 10 * SECOND_MS);
        return (await gateway.view(met.agent)).holds.length === 0;
      });
      return met;
    },
  };
}

/** Who does not speak the format, so that the request is translated. */
const foreignKind: Readonly<Record<FormatName, ProviderKind>> = {
  chat: 'messages only',
  responses: 'chat only',
  messages: 'chat only',
};
