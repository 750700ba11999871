import { describe, expect, test } from 'vitest';
import { isApiError } from '../../api/contract/errors.ts';
import {
  INLINED_BYTES_AT_ONCE,
  INLINED_BYTES_MAX,
  inlinePictures,
  type SentBody,
} from '../../api/inference/linked-images/inline-pictures.ts';
import { type LoadedPicture, writePictures } from '../../api/inference/linked-images/write-pictures.ts';

const LINK = 'https://pictures.example.com/cat.png';
const ours = { contentType: 'image/png', bytes: Buffer.from('picture') };
const DATA = ours.bytes.toString('base64');

const written = (body: unknown, pictures: Record<string, LoadedPicture> = { [LINK]: ours }): unknown =>
  JSON.parse(
    writePictures(Buffer.from(JSON.stringify(body)), new Map(Object.entries(pictures))).toString('utf8'),
  );

describe('a picture takes the place of its link', () => {
  const url = { type: 'url', url: LINK };
  const base64 = { type: 'base64', media_type: 'image/png', data: DATA };
  const dataUrl = `data:image/png;base64,${DATA}`;

  test.each<[string, unknown, unknown]>([
    [
      'in a chat',
      { image_url: { url: LINK, detail: 'high' } },
      { image_url: { url: dataUrl, detail: 'high' } },
    ],
    ['in a chat, without its frame', { image_url: LINK }, { image_url: dataUrl }],
    [
      'in what a model answered',
      { images: [LINK, { image_url: LINK }] },
      { images: [dataUrl, { image_url: dataUrl }] },
    ],
    ['in a message', { type: 'image', source: url }, { type: 'image', source: base64 }],
    [
      'in what a tool answered',
      {
        type: 'tool_result',
        content: [{ type: 'image', source: url, cache_control: { type: 'ephemeral' } }],
      },
      {
        type: 'tool_result',
        content: [{ type: 'image', source: base64, cache_control: { type: 'ephemeral' } }],
      },
    ],
    [
      'in a picture of a screen',
      { type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: LINK } },
      { type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: dataUrl } },
    ],
  ])('%s', (_, part, sent) => {
    for (const member of ['messages', 'input', 'system']) {
      const body = (content: unknown) => ({ model: 'm', [member]: [{ role: 'user', content: [content] }] });
      expect(written(body(part))).toEqual(body(sent));
    }
  });

  test('and nothing else that looks like it does', () => {
    const words = [
      { type: 'text', text: LINK },
      { type: 'document', source: url },
      { type: 'tool_use', input: { image_url: LINK, source: url } },
      { type: 'image_url', image_url: { url: `${LINK}?other` } },
      { type: 'image_url', image_url: 5 },
    ];
    const picture = { type: 'image_url', image_url: { url: LINK } };
    const { messages } = written({ messages: [...words, picture], tools: [{ image_url: LINK }] }) as {
      messages: unknown[];
    };
    expect(messages.slice(0, -1)).toEqual(words);
  });

  test('many of them, each in its own place', () => {
    const pictures = Object.fromEntries(
      Array.from({ length: 16 }, (_, at) => [`${LINK}?${at}`, { ...ours, bytes: Buffer.alloc(at + 1, at) }]),
    );
    const links = [...Object.keys(pictures), ...Object.keys(pictures).reverse()];
    const sent = written({ input: links.map((image_url) => ({ type: 'input_image', image_url })) }, pictures);
    expect(sent).toEqual({
      input: links.map((link) => ({
        type: 'input_image',
        image_url: `data:image/png;base64,${pictures[link]?.bytes.toString('base64')}`,
      })),
    });
  });

  test('every other byte stays: long numbers, escapes, keys that mean something to others', () => {
    const body = `{"a":1.0,"seed":12345678901234567890,"messages":[{"n":12345678901234567890,"__proto__":{"x":1},"content":[{"image_url":"${LINK}"},{"text":"\\u00e9\\ud83d\\ude00"}]}],"z":"\\u00e9"}`;
    const sent = writePictures(Buffer.from(body), new Map([[LINK, ours]])).toString('utf8');
    expect(sent).toContain(
      '{"a":1.0,"seed":12345678901234567890,"messages":[{"n":12345678901234567890,"__proto__":{"x":1},',
    );
    expect(sent).toContain('{"text":"é😀"}');
    expect(sent).toContain('"z":"\\u00e9"}');
  });

  test('one whose place nobody knows is never sent as a link', () => {
    const body = Buffer.from(JSON.stringify({ messages: [{ content: [{ picture: LINK }] }] }));
    expect(() => writePictures(body, new Map([[LINK, ours]]))).toThrow('no place');
  });
});

describe('pictures on their way', () => {
  const body = Buffer.from(JSON.stringify({ messages: [{ content: [{ image_url: LINK }] }] }));
  const picture = { link: LINK, param: 'messages[0].content[0].image_url', own: null };
  const huge = { ok: true, contentType: 'image/png', bytes: Buffer.alloc(INLINED_BYTES_MAX) } as const;
  type Reader = Parameters<typeof inlinePictures>[0];
  const running = (
    fetchPicture: Reader['options']['gateway']['fetchPicture'] = async () => huge,
  ): Reader => ({
    options: {
      gateway: { files: null, fetchPicture, log: { info() {}, warn() {}, error() {} } },
      agentId: 1,
    },
    logFields: {},
    caller: { gone: false, committed: false },
    endedByUs: null,
    ended: new Promise(() => {}),
  });
  const inline = (call = running(), pictures = [picture]) => inlinePictures(call, pictures, body);

  test('are never more bytes than a process has room for', async () => {
    const sent: SentBody[] = [];
    const more = async (): Promise<boolean> => {
      const each = await inline();
      if (isApiError(each)) {
        expect(each.code).toBe('gateway_busy');
        return false;
      }
      sent.push(each);
      return true;
    };
    while (await more());
    const bytes = sent.reduce((sum, each) => sum + each.bytes.length, 0);
    expect(bytes).toBeLessThanOrEqual(INLINED_BYTES_AT_ONCE);
    expect(bytes).toBeGreaterThan(INLINED_BYTES_AT_ONCE / 2);
    sent.pop()?.done();
    expect(await more()).toBe(true);
    expect(await more()).toBe(false);
    for (const each of sent) each.done();
  });

  test.each<[string, Partial<Reader>, string]>([
    ['who has left', { caller: { gone: true, committed: false } }, 'provider_error'],
    ['a call that a drain has ended', { endedByUs: 'drain' }, 'gateway_unavailable'],
    ['a call whose time is over', { endedByUs: 'time_limit' }, 'upstream_timeout'],
  ])('are not fetched on for %s', async (_, end, code) => {
    let fetched = 0;
    const call = running(async () => {
      fetched++;
      Object.assign(call, end);
      return huge;
    });
    const two = [picture, { ...picture, link: `${LINK}?2` }];
    expect(await inline(call, two)).toMatchObject({ code });
    expect(await inline(call, two)).toMatchObject({ code });
    expect(fetched).toBe(1);
  });

  test('are not waited for by a call that a drain ends', async () => {
    const ended = Promise.withResolvers<undefined>();
    const fetched = Promise.withResolvers<typeof huge>();
    const call = { ...running(() => fetched.promise), ended: ended.promise };
    const body = inline(call);
    call.endedByUs = 'drain';
    ended.resolve(undefined);
    expect(await body).toMatchObject({ code: 'gateway_unavailable' });
    fetched.resolve(huge);
  });
});
