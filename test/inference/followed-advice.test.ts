import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName, Provider } from '#core/catalog/catalog.ts';
import type { ImageModel } from '#core/catalog/image-model.ts';
import type { ApiError, ErrorCode } from '../../api/contract/errors.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { fieldRules } from '../../api/inference/policy/field-rules.ts';
import { adviseImage, imageHold } from '../../api/media/images/advise-image.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { FORMATS, requestIn } from '../formats/requests.ts';
import { painter } from '../media/images/image-world.ts';
import { plainHealth } from '../support/plain-health.ts';
import { atto, model, noLinkRules, provider, testCatalog } from './support.ts';

/*
 * When the caller does what a refusal says, does the next try pass? For the codes that a caller can mend in its body; those of money, and
 * the ones that a wait ends, are in `advice.test.ts` and `test/formats/every-code.test.ts`.
 */

type Body = Record<string, unknown>;

const GOOD = 'https://example.com/a.png';
const careful: Partial<Provider> = { kind: providerKinds.openai, dialect: dialects.vllm, formats: FORMATS };

function admit(format: FormatName, body: Body, given: Partial<Provider>) {
  const routes = {
    catalog: testCatalog({
      models: [model({ inputModalities: ['text', 'image'] })],
      providers: [provider(given)],
    }),
    health: plainHealth(),
    links: noLinkRules,
  };
  return admitCall(callFormats[format], Buffer.from(JSON.stringify(body)), 'active', routes);
}

function placeOf(body: Body, param: string): { holder: object; last: string } {
  const path = param.match(/[^.[\]]+/g) ?? [];
  let holder: object = body;
  for (const name of path.slice(0, -1)) holder = Object(Reflect.get(holder, name));
  return { holder, last: path.at(-1) ?? '' };
}

/** Takes out what `param` names: a member, or an entry of a list with all that is in it. */
function leaveOut(body: Body, param: string): void {
  const { holder, last } = placeOf(body, param);
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else Reflect.deleteProperty(holder, last);
}

/** What a caller does who reads the code, the field and the sentence, and nothing else. */
function follow(body: Body, { code, param, message }: ApiError): void {
  if (code === 'unknown_model' || code === 'model_not_served') {
    const meant = /Did you mean `([^`]+)`/.exec(message)?.[1];
    if (meant === undefined) expect(message).toContain('`GET /models` lists those that are');
    body.model = meant ?? 'acme/small';
    return;
  }
  if (param === null) throw new Error(`no field is named: ${message}`);
  if (message.includes('public https link')) {
    const { holder, last } = placeOf(body, param);
    Reflect.set(holder, last, GOOD);
    return;
  }
  const sent = /^Write `[^`]+` in .{5,20} letters, not as `([^`]+)`/.exec(message)?.[1];
  leaveOut(body, sent === undefined ? param : param.replace(/[^.[\]]+$/, sent));
}

const listOf = (format: FormatName): string => (format === 'responses' ? 'input' : 'messages');
const tool: Record<FormatName, object> = {
  chat: { type: 'code_interpreter' },
  responses: { type: 'mcp', server_url: 'https://example.com' },
  messages: { type: 'code_execution_20250825', name: 'code_execution' },
};
const textPart: Record<FormatName, object> = {
  chat: { type: 'text', text: 'hi' },
  responses: { type: 'input_text', text: 'hi' },
  messages: { type: 'text', text: 'hi' },
};

const refusedFields = [...fieldRules].filter(([, rule]) => rule.rule === 'refuse').map(([field]) => field);

/** One thing that is wrong with a body, and stays wrong until it is mended. */
type Mistake = [code: ErrorCode, spoil: (body: Body, format: FormatName) => unknown];

const mistakes: readonly Mistake[] = [
  ...refusedFields.map(
    (field): Mistake => [
      'invalid_request',
      (body) => {
        body[field] = 'x';
      },
    ],
  ),
  ['model_not_served', (body) => Object.assign(body, { model: 'acme/small:free' })],
  ['unknown_model', (body) => Object.assign(body, { model: 'acme/smal' })],
  ['tool_not_served', (body, format) => Object.assign(body, { tools: [tool[format]] })],
  ['invalid_request', (body) => Object.assign(body, { temperature: 9 })],
  ['invalid_request', (body) => Object.assign(body, { Temperature: 1 })],
  ['invalid_request', (body) => Object.assign(body, { Tools: [] })],
  ['invalid_request', (body) => Object.assign(body, { provider: { order: ['openai/priority'] } })],
  ['invalid_request', (body) => Object.assign(body, { provider: { options: { a: 1 } } })],
  ['invalid_request', (body) => Object.assign(body, { reasoning: { max_tokens: 0.5 } })],
  ['invalid_request', (body) => Object.assign(body, { thinking: { type: 'enabled', budget_tokens: 'x' } })],
  [
    'invalid_request',
    (body, format) => {
      if (format === 'chat')
        body.prediction = { type: 'content', content: [{ type: 'image_url', image_url: { url: GOOD } }] };
    },
  ],
  [
    'invalid_request',
    (body, format) => {
      const content = [textPart[format], { type: 'image_url', image_url: { url: 'http://10.0.0.1/a.png' } }];
      if (format === 'chat') body.messages = [{ role: 'user', content }];
    },
  ],
  [
    'invalid_request',
    (body, format) => {
      body[listOf(format)] = [{ role: 'user', content: [textPart[format]], attachments: [{ url: GOOD }] }];
    },
  ],
  ['no_provider', (body) => Object.assign(body, { provider: { only: ['acme'] } })],
  ['no_provider', (body) => Object.assign(body, { provider: { ignore: ['acme'] } })],
  ['no_provider', (body) => Object.assign(body, { provider: { max_price: { prompt: 0 } } })],
  [
    'no_provider',
    (body) => Object.assign(body, { lora: [{ id: 1 }], provider: { require_parameters: true } }),
  ],
];

describe.each(FORMATS)('%s: a caller who leaves out what each refusal names', (format) => {
  it.each(mistakes.map(([code, spoil], at) => ({ at, code, spoil })))(
    'is admitted after one mistake is mended: $code, $at',
    ({ spoil }) => {
      const body = { ...requestIn(format, 'acme/small') };
      spoil(body, format);
      let tries = 0;
      for (
        let admitted = admit(format, body, careful);
        !admitted.ok;
        admitted = admit(format, body, careful)
      ) {
        expect(++tries, admitted.error.message).toBeLessThanOrEqual(2);
        follow(body, admitted.error);
      }
    },
  );

  it('is admitted after at most two tries for each of its mistakes', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat({ max: mistakes.length - 1 }), { maxLength: 8 }), (chosen) => {
        const body = { ...requestIn(format, 'acme/small') };
        for (const at of chosen) mistakes[at]?.[1](body, format);
        let tries = 0;
        for (
          let admitted = admit(format, body, careful);
          !admitted.ok;
          admitted = admit(format, body, careful)
        ) {
          expect(++tries, admitted.error.message).toBeLessThanOrEqual(2 * chosen.length);
          follow(body, admitted.error);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('meets every code that is to be met', () => {
    const codes = mistakes.map(([, spoil]) => {
      const body = { ...requestIn(format, 'acme/small') };
      spoil(body, format);
      const admitted = admit(format, body, careful);
      return admitted.ok ? null : admitted.error.code;
    });
    for (const code of [
      'invalid_request',
      'model_not_served',
      'unknown_model',
      'tool_not_served',
      'no_provider',
    ])
      expect(codes).toContain(code);
  });
});

describe('a caller of images who sends the `n` that a refusal names', () => {
  const planOf = (priced: ImageModel, images: number) =>
    ({
      model: priced,
      shape: { images, promptBytes: 9, references: 0, resolution: null, size: null, quality: null },
    }) as unknown as Parameters<typeof adviseImage>[0];

  it('fits, and one more would not; where none fits, the named amount is enough for one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 0, max: 12_000_000 }),
        fc.integer({ min: 1, max: 900 }),
        (images, available, price) => {
          const priced = painter({
            pricing: [
              {
                billable: 'output_image',
                unit: 'image',
                price: atto(`0.00${String(price).padStart(3, '0')}`),
                variant: null,
              },
            ],
          });
          const plan = planOf(priced, images);
          const hold = imageHold(plan);
          if (hold === null || hold <= BigInt(available)) return;
          const { changes, needNanoUsd } = adviseImage(plan).fit(BigInt(available), 'or add credit');
          if (changes === null) {
            expect(needNanoUsd).toBe(imageHold(plan, 1));
            expect(needNanoUsd).toBeGreaterThan(BigInt(available));
            return;
          }
          const n = Number(changes[0]?.value);
          expect(imageHold(plan, n)).toBeLessThanOrEqual(BigInt(available));
          expect(imageHold(plan, n + 1)).toBeGreaterThan(BigInt(available));
        },
      ),
    );
  });
});
