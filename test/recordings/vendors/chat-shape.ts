import { BERGEN, OSLO, piecesOf } from '../recording.ts';

interface Written {
  /** Members of every chunk and of the whole answer. */
  frame: object;
  /** Members of every choice in a chunk, beside its delta; `finish_reason: null` included, where the vendor writes it. */
  choice?: object;
  /** Members of the choice of a whole answer. */
  wholeChoice?: object;
  /** Members of every chunk that a whole answer does not have. */
  chunkFrame?: object;
}

/** How one server writes chunks and whole answers. */
export function chatShape({
  frame,
  choice = { finish_reason: null },
  wholeChoice = {},
  chunkFrame = {},
}: Written) {
  const chunk = (delta: object, more: object = {}, ofChoice: object = {}) => ({
    ...frame,
    object: 'chat.completion.chunk',
    ...chunkFrame,
    choices: [{ index: 0, delta, ...choice, ...ofChoice }],
    ...more,
  });
  return {
    chunk,
    /** The last chunk of a choice. */
    end: (finish_reason: string, more: object = {}, delta: object = {}) =>
      chunk(delta, more, { finish_reason }),
    /** The counters in a chunk of their own. */
    counted: (usage: object, more: object = {}) => ({
      ...frame,
      object: 'chat.completion.chunk',
      ...chunkFrame,
      choices: [],
      usage,
      ...more,
    }),
    whole: (message: object, finish_reason: string, usage: object, more: object = {}) => ({
      ...frame,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, ...wholeChoice, finish_reason }],
      usage,
      ...more,
    }),
  };
}

export const wholeCall = (id: string, json: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: json },
  ...more,
});

/** Deltas of both calls, begun with id and name and continued by their number, as OpenAI streams them. */
export const pieceDeltas = (first: string, second: string): object[] =>
  [
    [first, OSLO],
    [second, BERGEN],
  ].flatMap(([id = '', json = ''], index) => [
    { tool_calls: [{ index, id, type: 'function', function: { name: 'weather', arguments: '' } }] },
    ...piecesOf(json).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);

/** Deltas of both calls, each whole in one delta. */
export const wholeDeltas = (first: string, second: string): object[] =>
  [wholeCall(first, OSLO), wholeCall(second, BERGEN)].map((call, index) => ({
    tool_calls: [{ index, ...call }],
  }));

export const usageOf = (prompt_tokens: number, completion_tokens: number, more: object = {}) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  ...more,
});
