import type { FormatName } from '#core/catalog/catalog.ts';
import type { ScriptRule } from '../../api/simulator/script-rule.ts';
import { pathOf } from '../support/path-of.ts';
import type { ProviderKind } from './format-gateway.ts';
import { modelOf } from './format-gateway.ts';

export const FORMATS = ['chat', 'responses', 'messages'] as const satisfies readonly FormatName[];

/** The same small request in any format. */
export function requestIn(format: FormatName, model: string, extra: object = {}): object {
  const text = 'Hello';
  switch (format) {
    case 'chat':
      return { model, messages: [{ role: 'user', content: text }], ...extra };
    case 'responses':
      return { model, input: text, ...extra };
    case 'messages':
      return { model, max_tokens: 200, messages: [{ role: 'user', content: text }], ...extra };
  }
}

/** In which format the provider of this kind is asked by a caller of that format. */
export function askedIn(kind: ProviderKind, format: FormatName): FormatName {
  if (kind === 'chat only') return 'chat';
  return kind === 'messages only' ? 'messages' : format;
}

/** A rule for the next call of this format to a provider of this kind. */
export const ruleFor = (kind: ProviderKind, format: FormatName, rule: ScriptRule): ScriptRule => ({
  path: pathOf(askedIn(kind, format)),
  ...rule,
});

export const post = (
  gateway: { post(body: unknown, options: object): Promise<Response> },
  { kind, format, stream, ...options }: Asked,
): Promise<Response> => {
  const streamed =
    format === 'chat' && stream ? { stream, stream_options: { include_usage: true } } : { stream };
  return gateway.post(requestIn(format, modelOf[kind], streamed), { path: pathOf(format), ...options });
};

interface Asked {
  kind: ProviderKind;
  format: FormatName;
  stream: boolean;
  agent?: object;
  signal?: AbortSignal;
}

/** The JSON of every event of a stream, in order. */
export const eventsIn = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
