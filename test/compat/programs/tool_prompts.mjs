// Thirty prompts, each of which must end in a call of the one tool that is offered, with arguments that fit its schema and
// with reasoning in the answer. By chat completions and by responses, as OpenAI tests servers of gpt-oss.
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import { OpenAI } from 'openai';
import { BASE_URL, KEY, THINKER, tried } from './checks.mjs';

setTracingDisabled(true);

const text = { type: 'string' };
const object = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const tools = {
  service_status: object({}),
  place_forecast: object({ place: text }),
  render_page: object({ source: text }),
  name_language: object({ sample: text }),
  draw_graph: object(
    {
      points: { type: 'array', items: { type: 'array', items: { type: 'number' } } },
      style: { type: 'string', enum: ['line', 'bar', 'dots'] },
      caption: { type: 'string', default: '' },
    },
    ['points', 'style'],
  ),
  select_rows: object(
    {
      from: text,
      fields: { type: 'array', items: text },
      most: { type: 'integer', minimum: 1, maximum: 500, default: 50 },
    },
    ['from', 'fields'],
  ),
};

const prompts = {
  service_status: [
    'Are all machines fine today?',
    'How do the servers feel?',
    'A short status report, please.',
    'Before I begin: is the service alive?',
    'Tell me whether something is broken.',
  ],
  place_forecast: [
    'Will it rain in Bergen tomorrow?',
    'The forecast for Nairobi, please.',
    'Do I need a coat in Quito?',
    'How warm does Perth get this week?',
    'Check "Reykjavík" for snow.',
  ],
  render_page: [
    'Make a web page of "# Ferns".',
    'I have `*green*` and want HTML.',
    'Please render\n\n- moss\n- bark',
    'Turn this into a page: > a quotation',
    'Show `[a link](https://example.com)` as HTML.',
  ],
  name_language: [
    'In which tongue is "God morgen, alle sammen"?',
    'Which language do I read here: "Добрый вечер"?',
    'Name the language of "おはようございます".',
    'Somebody wrote "¿Dónde está la estación?". Where from?',
    'Detect this: "Wie spät ist es?"',
  ],
  draw_graph: [
    'Draw a line through (0,1), (1,3), (2,7).',
    'Bars for 4, 8, 15, 16 please.',
    'Dots at [[1,1.5],[2,2.25]] with the caption "Growth".',
    'Let me see the visitors of the week as bars.',
    'Plot how the price went: 9, 8, 11.',
  ],
  select_rows: [
    'List name and age of everybody in people.',
    'I want the ten newest orders with their sums.',
    'Which cities stand in addresses?',
    'Fetch title and year from books.',
    'Get the id and the state of every job, 20 at most.',
  ],
};

function fits(schema, value) {
  if (schema.type === 'object')
    return (
      Object(value) === value &&
      schema.required.every((name) => Object.hasOwn(value, name)) &&
      Object.entries(value).every(
        ([name, each]) => name in schema.properties && fits(schema.properties[name], each),
      )
    );
  if (schema.type === 'array') return Array.isArray(value) && value.every((each) => fits(schema.items, each));
  if (schema.type === 'integer')
    return Number.isInteger(value) && value >= schema.minimum && value <= schema.maximum;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false;
  return typeof value === schema.type;
}

const hasReasoning = {
  chat: ({ providerData }) => providerData.choices[0].message.reasoning?.length > 0,
  responses: ({ providerData }) =>
    providerData.output.some(
      ({ type, content }) =>
        type === 'reasoning' &&
        content?.length > 0 &&
        content.every((part) => part.type === 'reasoning_text' && part.text !== ''),
    ),
};

for (const [format, Model] of Object.entries({
  chat: OpenAIChatCompletionsModel,
  responses: OpenAIResponsesModel,
})) {
  const model = new Model(new OpenAI({ baseURL: BASE_URL, apiKey: KEY, maxRetries: 0 }), THINKER);
  for (const [name, list] of Object.entries(prompts)) {
    const schema = tools[name];
    const offered = tool({
      name,
      description: name,
      parameters: schema,
      strict: false,
      execute: async () => '{"ok":true}',
    });
    // A model of Anthropic's reasons where it is asked to.
    const agent = new Agent({ name, tools: [offered], modelSettings: { reasoning: { effort: 'low' } } });
    for (const prompt of list)
      await tried(`${format}: ${prompt.replaceAll('\n', ' ')}`, async () => {
        const result = await new Runner({ model }).run(agent, prompt, { maxTurns: 10 });
        const call = result.newItems.find(({ type }) => type === 'tool_call_item')?.rawItem;
        if (call?.name !== name) throw new Error('The tool was not called.');
        if (!fits(schema, JSON.parse(call.arguments)))
          throw new Error(`The arguments do not fit: ${call.arguments}`);
        if (!result.rawResponses.some(hasReasoning[format])) throw new Error('No answer has reasoning.');
      });
  }
}
