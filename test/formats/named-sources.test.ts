import { describe, expect, it } from 'vitest';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { type Answer, shownCollected, shownEvents, shownStream, shownWhole } from './shown-answers.ts';

/* Servers that search name the pages beside the answer, and not in its annotations. The callers of other formats see them all the same. */

const TEXT = 'Rain by noon.';
const OSLO = { url: 'https://oslo.example/', title: 'Oslo' };
const BERGEN = { url: 'https://bergen.example/', title: 'Bergen' };
const untitled = ({ url }: { url: string }) => ({ url, title: '' });
const ways = [
  ['streamed', shownStream],
  ['put together', shownCollected],
  ['whole', shownWhole],
] as const;

interface Named {
  /** Members beside the choices. */
  beside?: object;
  /** Members of the message. */
  inside?: object;
}

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'a',
  ...more,
  choices: [{ index: 0, delta, finish_reason }],
});
const pieces = ['Rain', ' by', ' noon.'];

/** The pages in every chunk. */
const throughout = ({ beside = {}, inside = {} }: Named): Answer => ({
  events: [
    ...pieces.map((content) => chunk({ content, ...inside }, null, beside)),
    chunk(inside, 'stop', beside),
  ],
  whole: {
    id: 'a',
    ...beside,
    choices: [{ index: 0, message: { role: 'assistant', content: TEXT, ...inside }, finish_reason: 'stop' }],
  },
});

function citedIn(response: Record<string, unknown>): Record<string, unknown>[] {
  const message = records(response.output).find(({ type }) => type === 'message');
  return records(records(message?.content)[0]?.annotations);
}

const cited = (...pages: (typeof OSLO)[]) =>
  pages.map((page) => ({ type: 'url_citation', ...page, start_index: 0, end_index: TEXT.length }));

const lists: [string, Named, (typeof OSLO)[]][] = [
  ['as addresses', { beside: { citations: [OSLO.url, BERGEN.url] } }, [untitled(OSLO), untitled(BERGEN)]],
  ['as records', { beside: { citations: [{ id: '1', ...OSLO }, BERGEN] } }, [OSLO, BERGEN]],
  ['as results', { beside: { search_results: [{ ...OSLO, date: '2026-11-01' }, BERGEN] } }, [OSLO, BERGEN]],
  [
    'as addresses and, with titles, as results',
    { beside: { citations: [OSLO.url, BERGEN.url], search_results: [OSLO] } },
    [OSLO, untitled(BERGEN)],
  ],
  ['twice', { beside: { citations: [OSLO.url, OSLO.url], search_results: [OSLO, OSLO] } }, [OSLO]],
  ['as Alibaba does', { beside: { search_info: { search_results: [{ index: 1, ...OSLO }] } } }, [OSLO]],
  ['as Z.ai does', { beside: { web_search: [{ title: OSLO.title, link: OSLO.url }] } }, [OSLO]],
  ['as Azure does', { inside: { context: { citations: [{ ...OSLO, content: 'Rain' }] } } }, [OSLO]],
  [
    'as Groq does',
    { inside: { executed_tools: [{ type: 'search', search_results: { results: [OSLO, BERGEN] } }] } },
    [OSLO, BERGEN],
  ],
  [
    'as LiteLLM does',
    { inside: { provider_specific_fields: { citations: [[OSLO], [BERGEN]] } } },
    [OSLO, BERGEN],
  ],
  ['within the message', { inside: { citations: [OSLO] } }, [OSLO]],
];

describe.each(lists)('pages that a server names %s', (_how, named, pages) => {
  it.each(ways)('are cited once each, for the whole text: %s', (_way, shown) => {
    expect(citedIn(shown('chat', 'responses', throughout(named)))).toEqual(cited(...pages));
  });

  it('come as events behind the text', () => {
    const types = shownEvents('chat', 'responses', throughout(named))
      .map((data) => recordOf(data.startsWith('{') ? JSON.parse(data) : {}).type)
      .filter((type) => type === 'response.output_text.delta' || String(type).includes('annotation'));
    expect(types).toEqual([
      ...pieces.map(() => 'response.output_text.delta'),
      ...pages.map(() => 'response.output_text.annotation.added'),
    ]);
  });

  it('change nothing for a caller of messages, whose format cites what its own search has found', () => {
    expect(shownStream('chat', 'messages', throughout(named)).content).toMatchObject([
      { type: 'text', text: TEXT },
    ]);
  });
});

describe('pages beside an answer', () => {
  const beside = { citations: [OSLO.url] };

  it('are cited where they come behind its end', () => {
    const answer: Answer = {
      events: [
        ...pieces.map((content) => chunk({ content })),
        chunk({}, 'stop'),
        { id: 'a', choices: [], ...beside, usage: { prompt_tokens: 1, completion_tokens: 1 } },
      ],
      whole: {},
    };
    for (const shown of [shownStream, shownCollected])
      expect(citedIn(shown('chat', 'responses', answer))).toEqual(cited(untitled(OSLO)));
  });

  it.each(ways)('are not cited where the server has annotations, which say more: %s', (_way, shown) => {
    const annotations = [{ type: 'url_citation', url_citation: { ...BERGEN, start_index: 0, end_index: 4 } }];
    const answer = throughout({ beside });
    const [first = {}, ...others] = answer.events;
    const noted: Answer = {
      events: [first, chunk({ annotations }, null, beside), ...others],
      whole: {
        ...answer.whole,
        choices: [
          { index: 0, message: { role: 'assistant', content: TEXT, annotations }, finish_reason: 'stop' },
        ],
      },
    };
    expect(citedIn(shown('chat', 'responses', noted))).toMatchObject([{ ...BERGEN, end_index: 4 }]);
  });

  it.each(ways)('stand behind the text and before the calls: %s', (_way, shown) => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const answer: Answer = {
      events: [
        chunk({ content: TEXT }, null, beside),
        chunk({ tool_calls: [{ index: 0, ...call }] }, 'tool_calls', beside),
      ],
      whole: {
        id: 'a',
        ...beside,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: TEXT, tool_calls: [call] },
            finish_reason: 'tool_calls',
          },
        ],
      },
    };
    const response = shown('chat', 'responses', answer);
    expect(citedIn(response)).toEqual(cited(untitled(OSLO)));
    expect(response.output).toMatchObject([{ type: 'message' }, { type: 'function_call' }]);
  });

  it.each(ways)('make no text where there is none: %s', (_way, shown) => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const message = { role: 'assistant', content: null, tool_calls: [{ index: 0, ...call }] };
    const answer: Answer = {
      events: [chunk(message, 'tool_calls', beside)],
      whole: { id: 'a', ...beside, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
    };
    expect(shown('chat', 'responses', answer).output).toMatchObject([{ type: 'function_call' }]);
  });

  it.each([
    ['names of documents', ['doc1', { title: 'Handbook', url: 'handbook.pdf' }]],
    ['no texts', [1, null, [], {}]],
    ['no list', { url: OSLO.url }],
    ['an address without end', [`https://a.example/${'x'.repeat(10_000)}`]],
  ])('are left out where they are %s', (_what, citations) => {
    for (const [, shown] of ways)
      expect(citedIn(shown('chat', 'responses', throughout({ beside: { citations } })))).toEqual([]);
  });

  it('are bounded in number, however many a server names', () => {
    const citations = Array.from({ length: 5_000 }, (_, at) => `https://a.example/${at}`);
    const answer = throughout({ beside: { citations } });
    expect(citedIn(shownCollected('chat', 'responses', answer))).toHaveLength(1_000);
  });
});
