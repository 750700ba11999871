import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { formatYaml, modelOf, PROVIDER_KINDS, type ProviderKind } from '../formats/format-gateway.ts';
import { FORMATS } from '../formats/requests.ts';
import { startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';

/* `media.inline: store`: images whose bytes stand in a request are kept as uploads, and sent on as links. */

const UPLOADS_MAX = 3;
const MORE = `media: { inline: store }\nlimits: { callsPerMinute: 60000, burst: 60000, uploadsPerDay: ${UPLOADS_MAX} }`;

let gateway: TestGateway;
let agent: TestAgent;
let png: Buffer;
beforeAll(async () => {
  gateway = await startTestGateway({ yaml: formatYaml('PROVIDER_URL', 'bills_full', { more: MORE }) });
  png = await readFile(new URL('../../api/simulator/media/files/512x512.png', import.meta.url));
});
beforeEach(async () => {
  agent = await gateway.newAgent({ creditUsd: '1.00' });
});
afterAll(() => gateway.stop());

/** The same image with other bytes behind its end. */
const another = (nth: number): Buffer => Buffer.concat([png, Buffer.from([nth])]);

function partIn(format: FormatName, image: Buffer, type = 'image/png'): object {
  const data = image.toString('base64');
  switch (format) {
    case 'chat':
      return { type: 'image_url', image_url: { url: `data:${type};base64,${data}`, detail: 'low' } };
    case 'responses':
      return { type: 'input_image', image_url: `data:${type};base64,${data}` };
    case 'messages':
      return { type: 'image', source: { type: 'base64', media_type: type, data } };
  }
}

/** A part for a document, with these bytes. */
function documentIn(format: FormatName, bytes: Buffer, type = 'application/pdf'): object {
  const data = bytes.toString('base64');
  switch (format) {
    case 'chat':
      return { type: 'file', file: { filename: 'a.pdf', file_data: `data:${type};base64,${data}` } };
    case 'responses':
      return { type: 'input_file', filename: 'a.pdf', file_data: data };
    case 'messages':
      return { type: 'document', title: 'a', source: { type: 'base64', media_type: type, data } };
  }
}

function bodyOf(kind: ProviderKind, format: FormatName, parts: object[]): object {
  const model = modelOf[kind];
  const turn = { role: 'user', content: parts };
  switch (format) {
    case 'chat':
      return { model, messages: [turn] };
    case 'responses':
      return { model, input: [turn] };
    case 'messages':
      return { model, max_tokens: 200, messages: [turn] };
  }
}

const ask = (kind: ProviderKind, format: FormatName, parts: object[], from = gateway): Promise<Response> =>
  from.post(bodyOf(kind, format, parts), {
    path: pathOf(format),
    agent: from === gateway ? agent : from.agent,
  });

/** Status, code and the field that the sentence names. */
async function errorOf(response: Response): Promise<unknown> {
  const { error } = JSON.parse(await response.text());
  const named = /`([^`]*\[\d+\][^`]*)`/.exec(error.message)?.[1] ?? null;
  return [response.status, error.code ?? error.type, named];
}

describe.each(PROVIDER_KINDS.flatMap((kind) => FORMATS.map((format) => ({ kind, format }))))(
  'an image in $format of $kind',
  ({ kind, format }) => {
    it('is looked at like one behind a link', async () => {
      const response = await ask(kind, format, [partIn(format, png)]);
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
      expect((await gateway.settled(agent)).chargedNanoUsd).toBeGreaterThan(0n);
    });

    it('counts as one upload a day, however often the conversation is sent', async () => {
      const parts = [partIn(format, png), partIn(format, png), partIn(format, another(1))];
      for (let turn = 0; turn < UPLOADS_MAX + 1; turn++)
        expect((await ask(kind, format, parts)).status).toBe(200);
      expect((await ask(kind, format, [partIn(format, another(2))])).status).toBe(200);
      const refused = await ask(kind, format, [partIn(format, another(3))]);
      expect(await errorOf(refused)).toEqual([429, 'rate_limited', null]);
    });

    it('is refused where it is none, and costs nothing', async () => {
      const refused = await ask(kind, format, [partIn(format, Buffer.from('<svg/>'))]);
      expect(await errorOf(refused)).toEqual([400, 'invalid_request', expect.stringContaining('[0]')]);
      expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
    });
  },
);

describe.each(FORMATS)('by %s', (format) => {
  const images = (count: number, from: number): object[] =>
    Array.from({ length: count }, (_, nth) => partIn(format, another(from + nth)));

  it('images of a call that may not start are not kept, and count for nothing', async () => {
    const poor = await gateway.newAgent({ creditUsd: '0.000000001' });
    const askAs = (asking: TestAgent, model: string, parts: object[]) =>
      gateway.post(
        { ...bodyOf('all formats', format, parts), model },
        { path: pathOf(format), agent: asking },
      );
    const { status } = await askAs(poor, modelOf['all formats'], images(UPLOADS_MAX, 10));
    expect(status).toBe(402);
    expect((await askAs(agent, 'acme/none', images(UPLOADS_MAX, 20))).status).toBe(400);
    const served = await askAs(agent, modelOf['all formats'], images(UPLOADS_MAX, 30));
    expect([served.status, await served.text()]).toEqual([200, expect.any(String)]);
  });

  it('an image that cannot be kept makes the call free', async () => {
    const refused = await ask('all formats', format, images(UPLOADS_MAX + 1, 40));
    expect(await errorOf(refused)).toEqual([429, 'rate_limited', null]);
    const settled = await gateway.settled(agent);
    expect([settled.chargedNanoUsd, settled.holds]).toEqual([0n, []]);
  });

  it('one image in several calls at a time counts once', async () => {
    const all = await Promise.all([0, 1, 2, 3].map(() => ask('all formats', format, images(1, 50))));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await ask('all formats', format, images(UPLOADS_MAX - 1, 51))).status).toBe(200);
  });

  it('a document is refused in words about documents', async () => {
    const pdf = Buffer.from('%PDF-1.7\n');
    const response = await ask('all formats', format, [documentIn(format, pdf)]);
    const { error } = JSON.parse(await response.text());
    expect([response.status, error.message]).toEqual([
      400,
      expect.stringMatching(/holds a document inline.*https link/),
    ]);
  });

  it.each(PROVIDER_KINDS)(
    'an image in the place of a document is sent on as an image, to %s',
    async (kind) => {
      const response = await ask(kind, format, [documentIn(format, png, 'image/png')]);
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    },
  );
});

it('an image that a tool has returned is kept, too', async () => {
  const image = partIn('messages', png);
  const call = { type: 'tool_use', id: 'c', name: 'look', input: { n: 12_345 } };
  const response = await gateway.post(
    {
      model: modelOf['all formats'],
      max_tokens: 200,
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [image] }] },
      ],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
    },
    { path: pathOf('messages'), agent },
  );
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
});

it('a request whose keys stand twice is refused as it is without images', async () => {
  const text = JSON.stringify(bodyOf('chat only', 'chat', [partIn('chat', png)])).replace(
    '{',
    '{"model":"x",',
  );
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
    body: text,
  });
  expect(await errorOf(response)).toEqual([400, 'invalid_request', null]);
});

it('without the switch an image or a document is refused, and the sentence says what to do instead', async () => {
  const plain = await startTestGateway({ yaml: formatYaml('PROVIDER_URL', 'bills_full') });
  try {
    for (const format of FORMATS) {
      for (const [part, advice] of [
        [partIn(format, png), 'POST /uploads'],
        [documentIn(format, Buffer.from('%PDF-1.7')), 'link to the document'],
      ] as const) {
        const response = await ask('chat only', format, [part], plain);
        const { error } = JSON.parse(await response.text());
        expect([response.status, error.message]).toEqual([400, expect.stringContaining(advice)]);
      }
    }
  } finally {
    await plain.stop();
  }
});
