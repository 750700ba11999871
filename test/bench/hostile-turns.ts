import type { FormatName, Provider } from '#core/catalog/catalog.ts';
import { systemClock } from '#core/clock.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { admitInSteps } from '../../api/inference/admit/admit.ts';
import type { CallPlan } from '../../api/inference/admit/call-plan.ts';
import { parseBodyInSteps } from '../../api/inference/admit/parse-body.ts';
import { findInlineFiles, mayHoldFiles } from '../../api/inference/admit/place-inline-images.ts';
import { runAtOnce, type Steps } from '../../api/inference/admit/steps.ts';
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
  const turns = new MeasuredTurns(measure);
  if (mayHoldFiles(bytes)) {
    const parsed = runAtOnce(parseBodyInSteps(bytes));
    if (!isApiError(parsed)) {
      const marks = new NumberMarks();
      const { marked } = turns.run('images', findInlineFiles(marks, format, bytes, parsed.value));
      turns.take('images: print', () => marks.print(marked));
    }
  }
  const admitted = turns.run('admit', admitInSteps(callFormats[format], bytes, 'active', routes));
  if (admitted.ok) turns.run('send', send(admitted.plan));
  return turns.taken;
}

interface Turn<Cost> {
  turn: string;
  cost: Cost;
}

class MeasuredTurns<Cost> {
  readonly taken: Turn<Cost>[] = [];
  readonly #measure: (work: () => unknown) => Cost;

  constructor(measure: (work: () => unknown) => Cost) {
    this.#measure = measure;
  }

  take<T>(turn: string, work: () => T): T {
    const results: { value: T }[] = [];
    const cost = this.#measure(() => results.push({ value: work() }));
    this.taken.push({ turn: `${this.taken.length + 1}. ${turn}`, cost });
    const [{ value } = { value: work() }] = results;
    return value;
  }

  run<T>(name: string, steps: Steps<T>): T {
    for (;;) {
      const at = this.taken.length;
      const step = this.take(name, () => steps.next());
      const turn = this.taken[at];
      if (turn !== undefined) turn.turn += `: ${step.done === true ? 'end' : step.value}`;
      if (step.done === true) return step.value;
    }
  }
}

function* send(plan: CallPlan): Steps<Buffer | null> {
  const [candidate] = plan.candidates;
  if (candidate === undefined) return null;
  estimateHold(plan);
  const asked = candidate.translated === null ? plan : { ...plan, body: candidate.translated };
  return yield* candidate.format.buildBody(asked, candidate, 1);
}
