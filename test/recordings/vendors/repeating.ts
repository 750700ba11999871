import { BERGEN, bothCalls, OSLO, piecesOf, type Recording } from '../recording.ts';
import { chatShape, usageOf, wholeCall } from './chat-shape.ts';

/* Servers that send the arguments of a call more than once, and one that ends each chunk. */

const liteShape = chatShape({
  frame: { id: 'chatcmpl-Li3', created: 1_790_000_901, model: 'claude-test-lite' },
  choice: {},
  wholeChoice: { provider_specific_fields: {} },
});
const liteUsage = usageOf(58, 26);
const liteShared = {
  vendor: 'LiteLLM',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 58, completion: 26 },
} as const;
const liteCalls = liteShape.whole(
  {
    content: null,
    tool_calls: [wholeCall('toolu_los', OSLO), wholeCall('toolu_lbe', BERGEN)],
    function_call: null,
  },
  'tool_calls',
  liteUsage,
);
const liteCall = (index: number, id: string, json: string) =>
  liteShape.chunk({ tool_calls: [{ index, ...wholeCall(id, json) }] });
const litePiece = (index: number, json: string) =>
  liteShape.chunk({ tool_calls: [{ index, type: 'function', function: { arguments: json } }] });

/* github.com/BerriAI/litellm/issues/4537 and 20480. */
const litellm: Recording[] = [
  {
    ...liteShared,
    kind: 'parallel calls, each with an empty object before its arguments',
    stream: [
      liteShape.chunk({ role: 'assistant', content: null }),
      liteCall(0, 'toolu_los', '{}'),
      ...piecesOf(OSLO).map((piece) => litePiece(0, piece)),
      liteCall(1, 'toolu_lbe', '{}'),
      ...piecesOf(BERGEN).map((piece) => litePiece(1, piece)),
      liteShape.end('tool_calls'),
      liteShape.counted(liteUsage),
    ],
    whole: liteCalls,
    said: { calls: bothCalls('toolu_los', 'toolu_lbe') },
  },
  ...[
    { as: 'as they are', print: (json: string) => json },
    { as: 'as JSON texts', print: (json: string) => JSON.stringify(json) },
  ].map(
    ({ as, print }): Recording => ({
      ...liteShared,
      kind: `parallel calls whose ids and arguments come again at the end, ${as}`,
      stream: [
        liteShape.chunk({ role: 'assistant', content: null }),
        ...[
          ['toolu_los', OSLO],
          ['toolu_lbe', BERGEN],
        ].flatMap(([id = '', json = ''], index) =>
          ['', ...piecesOf(json)].map((piece) => liteCall(index, id, piece)),
        ),
        liteShape.chunk({
          tool_calls: [
            { index: 0, ...wholeCall('toolu_los', print(OSLO)) },
            { index: 1, ...wholeCall('toolu_lbe', print(BERGEN)) },
          ],
        }),
        liteShape.end('tool_calls'),
        liteShape.counted(liteUsage),
      ],
      whole: liteCalls,
      said: { calls: bothCalls('toolu_los', 'toolu_lbe') },
    }),
  ),
];

const repeatingShape = chatShape({
  frame: { id: 'chatcmpl-Rp5', created: 1_790_000_902, model: 'test-repeating' },
});
const repeatingUsage = usageOf(42, 21);
const repeatingShared = {
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 42, completion: 21 },
  whole: repeatingShape.whole(
    { content: null, tool_calls: [wholeCall('call_ros', OSLO), wholeCall('call_rbe', BERGEN)] },
    'tool_calls',
    repeatingUsage,
  ),
  said: { calls: bothCalls('call_ros', 'call_rbe') },
} as const;
/** Deltas of both calls whose arguments come in these pieces. */
const repeated = (pieces: (json: string) => readonly string[]) =>
  [
    ['call_ros', OSLO],
    ['call_rbe', BERGEN],
  ].flatMap(([id = '', json = ''], index) => [
    repeatingShape.chunk({ tool_calls: [{ index, ...wholeCall(id, '') }] }),
    ...pieces(json).map((piece) =>
      repeatingShape.chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
    ),
  ]);
const repeatingEnd = [repeatingShape.end('tool_calls'), repeatingShape.counted(repeatingUsage)];

const others: Recording[] = [
  {
    // github.com/NousResearch/hermes-agent/pull/35718: DeepSeek behind Baidu Qianfan.
    ...repeatingShared,
    vendor: 'Baidu Qianfan',
    kind: 'parallel calls, of which each piece has all of the arguments so far',
    stream: [
      repeatingShape.chunk({ role: 'assistant', content: '' }),
      ...repeated((json) => [json.slice(0, 4), json.slice(0, 12), json]),
      ...repeatingEnd,
    ],
  },
  {
    // The first piece ends before a value, where an object could begin.
    ...repeatingShared,
    vendor: 'Baidu Qianfan',
    kind: 'parallel calls, of which each piece has all of the arguments so far, cut behind the colon',
    stream: [
      repeatingShape.chunk({ role: 'assistant', content: '' }),
      ...repeated((json) => [json.slice(0, 8), json]),
      ...repeatingEnd,
    ],
  },
  {
    // github.com/lidge-jun/opencodex/issues/361
    ...repeatingShared,
    vendor: 'OpenCodex',
    kind: 'parallel calls whose arguments come twice',
    stream: [
      repeatingShape.chunk({ role: 'assistant', content: '' }),
      ...repeated((json) => [json, json]),
      ...repeatingEnd,
    ],
  },
  {
    // github.com/1jehuang/jcode/issues/1326: in front of vLLM.
    ...repeatingShared,
    vendor: 'Open WebUI',
    kind: 'parallel calls with an end behind each chunk',
    stream: [
      ...[repeatingShape.chunk({ role: 'assistant', content: '' }), ...repeated(piecesOf)].flatMap(
        (chunk) => [chunk, repeatingShape.end('stop')],
      ),
      ...repeatingEnd,
    ],
  },
];

export const repeating: Recording[] = [...litellm, ...others];
