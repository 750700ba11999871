import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { runAtOnce } from '#core/steps.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { endpoint, model, noLinkRules, provider, testCatalog } from '../inference/support.ts';
import { plainHealth } from '../support/plain-health.ts';
import { requestIn } from './requests.ts';

/* Claude Code's line for billing differs in each request, and would keep every prompt out of a cache. */

const NAME = 'x-anthropic-billing-header';
const lineOf = (cch: string): string => `${NAME}: cc_version=2.1.117.48f; cc_entrypoint=cli; cch=${cch};`;
const text = (said: string): object => ({ type: 'text', text: said });
const prompt = text('You are a coder.');

/** The body that a server is sent, and the names of hints that it is not sent. */
function sent(extra: object, upstreamModel: string, formats: readonly FormatName[]) {
  const catalog = testCatalog({
    models: [model({ endpoints: [endpoint({ providerId: 'p', upstreamModel })] })],
    providers: [provider({ id: 'p', kind: providerKinds.openai, dialect: dialects.vllm, formats })],
  });
  const body = Buffer.from(JSON.stringify(requestIn('messages', 'acme/small', extra)));
  const routes = { catalog, health: plainHealth(), links: noLinkRules };
  const result = admitCall(callFormats.messages, body, 'active', routes);
  const [candidate] = result.ok ? result.plan.candidates : [];
  if (!result.ok || candidate === undefined) throw new Error('The call is not admitted.');
  const plan = { ...result.plan, body: candidate.translated ?? result.plan.body };
  const bytes = runAtOnce(candidate.format.buildBody(plan, candidate, 7)).toString();
  const value: unknown = JSON.parse(bytes);
  if (!isRecord(value)) throw new Error('The body is no object.');
  return { value, bytes, hints: candidate.hints, leftOut: candidate.leftOut };
}

const ways: readonly [string, string, readonly FormatName[]][] = [
  ['a server of chat', 'qwen3', ['chat']],
  ['a server of messages with another model', 'glm-5', ['messages']],
];

describe.each(ways)('the line for Claude’s billing at %s', (_name, upstreamModel, formats) => {
  const forms: [string, (line: string) => unknown][] = [
    ['a block', (line) => [text(line), prompt]],
    ['a block with a line end', (line) => [text(`${line}\n`), prompt]],
    ['a later block', (line) => [prompt, text(line)]],
    ['the first line of a block', (line) => [text(`${line}\n\nBe kind.`), prompt]],
    ['the first line of one text', (line) => `${line}\nYou are a coder.`],
    ['before the words of one line', (line) => `${line} You are a coder.`],
    ['all there is', (line) => line],
    ['the only block', (line) => [text(line)]],
  ];

  it.each(forms)('is not sent, so two prompts begin alike: %s', (_form, system) => {
    const [one, other] = ['36ee5', '0aaa9'].map((cch) =>
      sent({ system: system(lineOf(cch)) }, upstreamModel, formats),
    );
    expect(one?.bytes).toBe(other?.bytes);
    expect(one?.bytes).not.toContain('cch');
    for (const word of ['You are a coder.', 'Be kind.'])
      if (JSON.stringify(system('')).includes(word)) expect(one?.bytes).toContain(word);
    expect(one).toMatchObject({ hints: [NAME], leftOut: [] });
  });

  it('leaves no empty instructions behind', () => {
    for (const system of [lineOf('1'), [text(lineOf('1'))]]) {
      const { value } = sent({ system }, upstreamModel, formats);
      expect(value).not.toHaveProperty('system');
      expect(JSON.stringify(value.messages)).not.toContain('system');
    }
  });

  it('stands where a person wrote of it', () => {
    const messages = [{ role: 'user', content: lineOf('1') }];
    const system = `Explain the header ${NAME}.`;
    const { bytes, hints } = sent({ system, messages }, upstreamModel, formats);
    expect(bytes).toContain(lineOf('1'));
    expect(bytes).toContain(system);
    expect(hints).toEqual([]);
  });
});

describe('the line for Claude’s billing at Claude', () => {
  it('is sent byte for byte', () => {
    const system = [text(lineOf('36ee5')), prompt];
    const { value, hints } = sent({ system }, 'anthropic/claude-opus-5', ['messages']);
    expect(value.system).toEqual(system);
    expect(hints).toEqual([]);
  });
});
