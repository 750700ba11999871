import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { HANDLED, saysNothing } from '../../api/inference/formats/unsupported-fields.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import {
  askTarget,
  fateOf,
  type KnownField,
  knownFields,
  plainRequest,
  type Target,
} from '../../openapi/generate/field-table.ts';
import { FORMATS } from './requests.ts';

/* What the guide of fields says holds for every field in every format, at every server that the gateway knows. */

const ways: readonly FormatName[][] = [['chat', 'responses', 'messages'], ['chat'], ['messages']];
const servers: readonly Target[] = [
  ...Object.entries(dialects).flatMap(([name, dialect]) =>
    ways.map((formats) => ({
      name: `${name}, ${formats.join(' and ')}`,
      kind: 'openai' as const,
      dialect,
      formats,
    })),
  ),
  { name: 'anthropic', kind: 'anthropic', dialect: dialects.other, formats: ['messages'] },
  {
    name: 'a router',
    kind: 'openrouter',
    dialect: dialects.other,
    formats: ['chat', 'responses', 'messages'],
  },
];

/** The gateway heeds them in the answers that it shows, which have signed reasoning always. */
const HEEDED = new Set(['reasoning.exclude', 'reasoning.summary', 'stream', 'include']);

const mayVanish = ({ name, sample }: KnownField): boolean => {
  const [top = ''] = name.split('.');
  return (
    (name === top && HANDLED.has(top)) || HEEDED.has(name) || saysNothing(name, Object.values(sample)[0])
  );
};

const requestOf = (format: FormatName, { sample }: KnownField, provider: object | null = null): object => ({
  ...plainRequest[format],
  ...sample,
  ...(provider === null ? {} : { provider: { ...Object(Reflect.get(sample, 'provider')), ...provider } }),
});

describe.each(servers)('at a server of $name', (server) => {
  it.each(FORMATS)('no field of %s vanishes without its name', (format) => {
    const vanished = knownFields[format].filter(
      (known) => fateOf(format, known, server) === 'by the gateway' && !mayVanish(known),
    );
    expect(vanished.map(({ name }) => name)).toEqual([]);
  });

  it.each(FORMATS)(
    'a call in %s that wants every field heeded hears of each that is not, and of no hint',
    (format) => {
      for (const known of knownFields[format]) {
        const asked = askTarget(format, requestOf(format, known), server);
        if (isApiError(asked)) continue;
        const strict = askTarget(format, requestOf(format, known, { require_parameters: true }), server);
        const [missed] = asked.leftOut;
        if (missed === undefined) {
          expect([known.name, isApiError(strict)]).toEqual([known.name, false]);
          continue;
        }
        if (!isApiError(strict)) throw new Error(`${known.name} is admitted`);
        expect([strict.code, strict.param]).toEqual(['no_provider', missed]);
        expect(strict.message).toContain(`\`${missed}\``);
      }
    },
  );
});
