import type { FormatName } from '#core/catalog/catalog.ts';
import type { ScriptRule } from '../../api/simulator/script-rule.ts';
import { type Draw, pick } from '../ledger/history/random.ts';
import { pathOf } from '../support/path-of.ts';
import { failing } from '../support/provider-failures.ts';

export const kinds = ['sim', 'chat', 'messages'] as const;
export type Kind = (typeof kinds)[number];
const formats = ['chat', 'responses', 'messages'] as const;
const variants = ['small', 'thinker', 'vision'] as const;
type Variant = (typeof variants)[number];

/** One call, decided before it is made: the same seed makes the same ones. */
export interface RandomCall {
  number: number;
  format: FormatName;
  kind: Kind;
  variant: Variant;
  stream: boolean;
  /** Streamed chat alone may go without. */
  showsUsage: boolean;
  by: 'http' | 'sdk';
  tools: boolean;
  /** Where the first provider fails. */
  fallback: Kind | null;
  trouble: Trouble;
  caller: number;
  body: Record<string, unknown>;
  rules: ScriptRule[];
}

/**
 * `hang_up`: the caller leaves, before the answer or in the middle of it. `cut`: the provider does, in the middle.
 * `breaks`: an error inside the stream. `dear`: it takes more than was held. `late`: what it took has to be asked for.
 */
type Trouble = 'none' | 'fails' | 'hang_up' | 'cut' | 'breaks' | 'dear' | 'late';

export const modelOf = (kind: Kind, variant: Variant): string => `acme/${kind}-${variant}`;
const capField: Readonly<Record<FormatName, string>> = {
  chat: 'max_tokens',
  responses: 'max_output_tokens',
  messages: 'max_tokens',
};
const DEAR_USD = '0.75';
const IMAGE = 'https://example.com/cat.png';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

export function drawCall(draw: Draw, number: number, callers: number): RandomCall {
  const format = pick(draw, formats);
  const kind = pick(draw, kinds);
  const variant = pick(draw, variants);
  const stream = draw(2) === 0;
  const trouble = drawTrouble(draw, { kind, stream });
  const by = trouble === 'none' && draw(3) === 0 ? 'sdk' : 'http';
  const fallback = trouble === 'none' && draw(6) === 0 ? pick(draw, kinds) : null;
  const showsUsage = format !== 'chat' || !stream || draw(3) > 0;
  const tools = draw(5) === 0;
  const facts = { number, format, kind, variant, stream, showsUsage, by, tools, fallback, trouble } as const;
  const text = `#${number} ${'word '.repeat(draw(60))}`;
  const body = {
    model: modelOf(kind, variant),
    // A scripted answer is sent whole, whatever the cap: its cost has to fit the hold.
    [capField[format]]: (trouble === 'none' ? 1 : 300) + draw(300),
    ...(stream ? { stream } : {}),
    ...(format === 'chat' && stream && showsUsage ? { stream_options: { include_usage: true } } : {}),
    ...(fallback === null ? {} : { models: [modelOf(fallback, variant)] }),
    ...(tools ? toolsIn(format, draw(2) === 0) : {}),
    ...(variant === 'thinker' && format !== 'messages' && draw(2) === 0
      ? { reasoning: { effort: pick(draw, ['low', 'medium', 'high']) } }
      : {}),
    ...promptIn(format, text, variant === 'vision' ? draw(3) : 0),
  };
  return { ...facts, body, rules: rulesFor(draw, facts), caller: draw(callers) };
}

function drawTrouble(draw: Draw, { kind, stream }: Pick<RandomCall, 'kind' | 'stream'>): Trouble {
  const drawn = draw(20);
  if (drawn === 0) return 'fails';
  if (drawn <= 2) return 'hang_up';
  if (drawn === 3 && stream) return pick(draw, ['cut', 'breaks']);
  // Only a router says what it takes, and can be asked later.
  if (drawn === 4 && kind === 'sim') return stream ? pick(draw, ['dear', 'late']) : 'dear';
  return 'none';
}

const askedIn = (kind: Kind, format: FormatName): FormatName => {
  if (kind === 'sim') return format;
  return kind === 'chat' ? 'chat' : 'messages';
};

type Facts = Omit<RandomCall, 'body' | 'rules' | 'caller'>;

/** For this call alone: no other prompt begins like it. */
function rulesFor(draw: Draw, { number, format, kind, fallback, trouble }: Facts): ScriptRule[] {
  const own = { path: pathOf(askedIn(kind, format)), prefix: `#${number} ` } as const;
  const status = pick(draw, [500, 502, 503]);
  if (fallback !== null) return [{ ...own, ...failing(status) }];
  switch (trouble) {
    case 'none':
      return draw(4) === 0 ? [{ ...own, writeBytes: 1 + draw(400) }] : [];
    case 'fails':
      return [{ ...own, ...pick(draw, [failing(status), failing(422), { cutAt: 'headers' as const }]) }];
    case 'hang_up':
      return [{ ...own, chunks: 20, gate: `#${number}`, gateAt: pick(draw, ['headers' as const, 700]) }];
    case 'cut':
      // Behind the first event, which repeats the whole request in responses.
      return [{ ...own, chunks: 20, cutAt: format === 'responses' ? 2_500 : 900 }];
    case 'breaks':
      return [{ ...own, chunks: 20, ...failing(502, { at: 'stream', afterChunks: 7 }), status: 200 }];
    case 'dear':
      return [{ ...own, usageFields: { cost: DEAR_USD }, billUsd: DEAR_USD }];
    case 'late':
      return [{ ...own, usageAt: 'missing', lookupMisses: draw(2) }];
  }
}

function promptIn(format: FormatName, text: string, imageCount: number): Record<string, unknown> {
  const images = Array.from({ length: imageCount });
  switch (format) {
    case 'chat': {
      const parts = images.map(() => ({ type: 'image_url', image_url: { url: IMAGE } }));
      return { messages: [{ role: 'user', content: [{ type: 'text', text }, ...parts] }] };
    }
    case 'responses': {
      const parts = images.map(() => ({ type: 'input_image', image_url: IMAGE, detail: 'auto' }));
      return { input: [{ role: 'user', content: [{ type: 'input_text', text }, ...parts] }] };
    }
    case 'messages': {
      const parts = images.map(() => ({ type: 'image', source: { type: 'url', url: IMAGE } }));
      return { messages: [{ role: 'user', content: [{ type: 'text', text }, ...parts] }] };
    }
  }
}

function toolsIn(format: FormatName, forced: boolean): Record<string, unknown> {
  const name = 'get_weather';
  switch (format) {
    case 'chat':
      return {
        tools: [{ type: 'function', function: { name, parameters } }],
        ...(forced ? { tool_choice: 'required' } : {}),
      };
    case 'responses':
      return {
        tools: [{ type: 'function', name, parameters, strict: false }],
        ...(forced ? { tool_choice: 'required' } : {}),
      };
    case 'messages':
      return {
        tools: [{ name, input_schema: parameters }],
        ...(forced ? { tool_choice: { type: 'any' } } : {}),
      };
  }
}
