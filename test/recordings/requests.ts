import type { FormatName } from '#core/catalog/catalog.ts';

const parameters = { type: 'object', properties: { town: { type: 'string' } } };
const names = ['weather', 'clock'];

const tools: Record<FormatName, object[]> = {
  chat: names.map((name) => ({ type: 'function', function: { name, parameters } })),
  responses: names.map((name) => ({ type: 'function', name, parameters, strict: false })),
  messages: names.map((name) => ({ name, input_schema: parameters })),
};

/** A request with two tools, whose conversation goes on with these turns or items. */
export function requestOf(format: FormatName, turns: readonly object[] = []): object {
  const user = { role: 'user', content: 'Oslo or Bergen?' };
  const shared = { tools: tools[format] };
  switch (format) {
    case 'chat':
      return { ...shared, messages: [user, ...turns] };
    case 'responses':
      return { ...shared, input: [user, ...turns], include: ['reasoning.encrypted_content'], store: false };
    case 'messages':
      return { ...shared, max_tokens: 1_000, messages: [user, ...turns] };
  }
}
