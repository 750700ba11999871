import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type Agent, request } from 'undici';
import { z } from 'zod';
import { parseNanoUsd } from '#core/money.ts';
import type { TestAgent, TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import type { RandomCall } from './draw-call.ts';

/** What a client was told of its call. */
export interface Told {
  call: RandomCall;
  agent: TestAgent;
  status: number;
  /** Of an error in its answer's head. */
  code: string | null;
  /** `null`: it left before it knew. */
  callId: number | null;
  generationId: string | null;
  /** In nano-dollars by the text of the answer, or as the number that an SDK makes of it; `null`: none was shown. */
  cost: bigint | number | null;
  /** The answer came to its end. */
  whole: boolean;
}

export function makeCall(
  gateway: TestGateway,
  call: RandomCall,
  agent: TestAgent,
  http: Agent,
): Promise<Told> {
  for (const rule of call.rules) gateway.provider.next(rule);
  return call.by === 'sdk' ? bySdk(gateway, call, agent) : byHttp(gateway, call, agent, http);
}

const COST = /"cost":([\d.]+)/g;
const ENDS =
  /data: \[DONE\]\n\n$|event: message_stop\n[^\n]*\n\n$|event: response\.(completed|incomplete)\n[^\n]*\n\n$/;

async function byHttp(
  gateway: TestGateway,
  call: RandomCall,
  agent: TestAgent,
  dispatcher: Agent,
): Promise<Told> {
  const abort = new AbortController();
  const gate = `#${call.number}`;
  let isOver = false;
  if (call.trouble === 'hang_up') {
    void gateway.provider.reached(gate).then(
      () => abort.abort(),
      (error: unknown) => {
        // A call that a slow disk refused never reaches its provider.
        if (!isOver) throw error;
      },
    );
  }
  const told: Told = {
    ...{ call, agent, status: 0, code: null, callId: null, generationId: null },
    ...{ cost: null, whole: false },
  };
  try {
    const res = await request(`${gateway.baseUrl}${pathOf(call.format)}`, {
      dispatcher,
      method: 'POST',
      headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(call.body),
      signal: abort.signal,
    });
    told.status = res.statusCode;
    told.callId = Number(res.headers['x-service-call-id']);
    told.generationId = String(res.headers['x-generation-id'] ?? '') || null;
    const text = await res.body.text();
    if (res.statusCode !== 200) told.code = codeOf(JSON.parse(text));
    const [, shown] = [...text.matchAll(COST)].at(-1) ?? [];
    told.cost = shown === undefined || res.statusCode !== 200 ? null : parseNanoUsd(shown);
    told.whole = res.statusCode === 200 && (!call.stream || (ENDS.test(text) && !text.includes('"error":{')));
  } catch (error) {
    if (!abort.signal.aborted) throw error;
  } finally {
    isOver = true;
    if (call.trouble === 'hang_up') gateway.provider.release(gate);
  }
  return told;
}

/** What the official clients type is of no matter here: the body is theirs as it was drawn. */
async function bySdk(gateway: TestGateway, call: RandomCall, agent: TestAgent): Promise<Told> {
  const answer = await askSdk(gateway, call, agent).catch((error: unknown) => {
    if (error instanceof OpenAI.APIError || error instanceof Anthropic.APIError) return error;
    throw error;
  });
  if (answer instanceof Error) {
    return {
      ...{
        call,
        agent,
        status: answer.status ?? 0,
        code: codeOf({ error: answer.error, ...Object(answer.error) }),
      },
      ...{
        callId: Number(answer.headers?.get('x-service-call-id')),
        generationId: null,
        cost: null,
        whole: false,
      },
    };
  }
  const { response, usage } = answer;
  const cost: unknown = Reflect.get(usage ?? {}, 'cost');
  return {
    call,
    agent,
    status: response.status,
    code: null,
    callId: Number(response.headers.get('x-service-call-id')),
    generationId: response.headers.get('x-generation-id'),
    cost: typeof cost === 'number' ? cost : null,
    whole: true,
  };
}

const errorBody = z.object({ error: z.object({ code: z.string() }) });
const codeOf = (body: unknown): string => errorBody.parse(body).error.code;

interface SdkAnswer {
  response: Response;
  usage: object | null | undefined;
}

async function askSdk(
  gateway: TestGateway,
  { format, stream, body }: RandomCall,
  agent: TestAgent,
): Promise<SdkAnswer> {
  const any = JSON.parse(JSON.stringify(body));
  if (format === 'messages') {
    const baseURL = gateway.baseUrl.replace(/\/v1$/, '');
    const client = new Anthropic({ apiKey: agent.key, baseURL, maxRetries: 0 });
    const { data, response } = await client.messages.create(any).withResponse();
    return { response, usage: stream ? await lastUsage(data, (event) => event.usage) : data.usage };
  }
  if (format === 'responses') {
    const { data, response } = await agent.openai.responses.create(any).withResponse();
    return {
      response,
      usage: stream ? await lastUsage(data, (event) => event.response?.usage) : data.usage,
    };
  }
  const { data, response } = await agent.openai.chat.completions.create(any).withResponse();
  return { response, usage: stream ? await lastUsage(data, (chunk) => chunk.usage) : data.usage };
}

type Event = { usage?: object | null; response?: { usage?: object | null } };

async function lastUsage(
  events: unknown,
  usageOf: (event: Event) => object | null | undefined,
): Promise<object | null> {
  let last: object | null = null;
  for await (const event of events as AsyncIterable<Event>) last = usageOf(event) ?? last;
  return last;
}
