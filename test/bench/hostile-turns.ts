import type { FormatName, Provider } from '#core/catalog/catalog.ts';
import { systemClock } from '#core/clock.ts';
import { isSteps, type Steps } from '#core/steps.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { admitInSteps, type Routes } from '../../api/inference/admit/admit.ts';
import type { CallPlan } from '../../api/inference/admit/call-plan.ts';
import { parseBodyInSteps } from '../../api/inference/admit/parse-body.ts';
import { findInlineFiles, mayHoldFiles } from '../../api/inference/admit/place-inline-images.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { NumberMarks } from '../../api/inference/json/number-marks.ts';
import { estimateHold } from '../../api/inference/price/estimate.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { endpoint, model, noLinkRules, provider, testCatalog } from '../inference/support.ts';
import { plainHealth } from '../support/plain-health.ts';

export const formats = ['chat', 'responses', 'messages'] as const;

/** The provider that is asked and its model, because some rules are those of a model. */
export interface HostileTarget {
  provider: Partial<Provider>;
  upstreamModel?: string;
}

const { openai, anthropic } = providerKinds;

/** Those that speak the caller's format, that keep to a list of fields, and that a call is translated for. */
export const targets: ReadonlyMap<string, HostileTarget> = new Map<string, HostileTarget>([
  ['router', { provider: {} }],
  ['openai', { provider: { kind: openai, dialect: dialects.openai }, upstreamModel: 'gpt-5.1' }],
  ['vllm', { provider: { kind: openai, dialect: dialects.vllm } }],
  [
    'to google',
    {
      provider: { kind: openai, dialect: dialects.google, formats: ['chat'] },
      upstreamModel: 'gemini-3-pro',
    },
  ],
  ['to chat', { provider: { kind: openai, formats: ['chat'] } }],
  ['to claude', { provider: { kind: anthropic, formats: ['messages'] }, upstreamModel: 'claude-opus-4-5' }],
]);

/**
 * Returns what each turn of the event loop costs that a large body takes before its provider is asked, in order. Images in it are found
 * where they are to be kept, it is admitted in steps (`admitInSteps`), and it is sent in a turn of its own. A body that is refused
 * gets no further. Short steps share a turn (`runSteps`), so a turn may be a millisecond longer than its longest step.
 */
export function measureTurns<Cost>(
  format: FormatName,
  bytes: Buffer,
  { provider: given, upstreamModel }: HostileTarget,
  measure: (work: () => unknown) => Cost,
): Turn<Cost>[] {
  const catalog = testCatalog({
    models: [
      model({
        contextLength: 10_000_000,
        inputModalities: ['text', 'image', 'file'],
        endpoints: [endpoint(upstreamModel === undefined ? {} : { upstreamModel })],
      }),
    ],
    providers: [provider(given)],
  });
  const routes = { catalog, health: plainHealth(systemClock), links: noLinkRules };
  return measureSteps(wholeCall(format, bytes, routes), measure);
}

interface Turn<Cost> {
  turn: string;
  cost: Cost;
}

/** The end of one part of the work shares a turn with the begin of the next one, so all parts are steps of one. */
function* wholeCall(format: FormatName, bytes: Buffer, routes: Routes): Steps<void> {
  if (mayHoldFiles(bytes)) yield* findFiles(format, bytes);
  const admitted = yield* admitInSteps(callFormats[format], bytes, 'active', routes);
  yield 'admit';
  if (admitted.ok) yield* send(admitted.plan);
}

function* findFiles(format: FormatName, bytes: Buffer): Steps<void> {
  const parse = parseBodyInSteps(bytes);
  const parsed = isSteps(parse) ? yield* parse : parse;
  if (isApiError(parsed)) return;
  const marks = new NumberMarks();
  const { marked, files } = yield* findInlineFiles(marks, format, bytes, parsed.value);
  if (files.length === 0) return;
  marks.print(marked);
  yield 'print with links';
}

function measureSteps<Cost>(steps: Steps<void>, measure: (work: () => unknown) => Cost): Turn<Cost>[] {
  const turns: Turn<Cost>[] = [];
  for (let name = ''; name !== END; ) {
    const cost = measure(() => {
      const step = steps.next();
      name = step.done === true ? END : step.value;
    });
    turns.push({ turn: `${turns.length + 1}. ${name}`, cost });
  }
  return turns;
}

const END = 'end';

function* send(plan: CallPlan): Steps<Buffer | null> {
  const [candidate] = plan.candidates;
  if (candidate === undefined) return null;
  estimateHold(plan);
  const asked = candidate.translated === null ? plan : { ...plan, body: candidate.translated };
  const body = candidate.format.buildBody(asked, candidate, 1);
  return isSteps(body) ? yield* body : body;
}
