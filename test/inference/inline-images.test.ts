import { describe, expect, test } from 'vitest';
import { isApiError } from '../../api/contract/errors.ts';
import {
  INLINED_BYTES_AT_ONCE,
  INLINED_BYTES_MAX,
  inlineImages,
  type SentBody,
} from '../../api/inference/linked-images/inline-images.ts';
import { type LoadedImage, writeImages } from '../../api/inference/linked-images/write-images.ts';

const LINK = 'https://images.example.com/cat.png';
const ours = { contentType: 'image/png', bytes: Buffer.from('image') };
const DATA = ours.bytes.toString('base64');

const written = (body: unknown, images: Record<string, LoadedImage> = { [LINK]: ours }): unknown =>
  JSON.parse(
    writeImages(Buffer.from(JSON.stringify(body)), new Map(Object.entries(images))).toString('utf8'),
  );

describe('an image takes the place of its link', () => {
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
      'in an image of a screen',
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
    const image = { type: 'image_url', image_url: { url: LINK } };
    const { messages } = written({ messages: [...words, image], tools: [{ image_url: LINK }] }) as {
      messages: unknown[];
    };
    expect(messages.slice(0, -1)).toEqual(words);
  });

  test('many of them, each in its own place', () => {
    const images = Object.fromEntries(
      Array.from({ length: 16 }, (_, at) => [`${LINK}?${at}`, { ...ours, bytes: Buffer.alloc(at + 1, at) }]),
    );
    const links = [...Object.keys(images), ...Object.keys(images).reverse()];
    const sent = written({ input: links.map((image_url) => ({ type: 'input_image', image_url })) }, images);
    expect(sent).toEqual({
      input: links.map((link) => ({
        type: 'input_image',
        image_url: `data:image/png;base64,${images[link]?.bytes.toString('base64')}`,
      })),
    });
  });

  test('every other byte stays: long numbers, escapes, keys that mean something to others', () => {
    const body = `{"a":1.0,"seed":12345678901234567890,"messages":[{"n":12345678901234567890,"__proto__":{"x":1},"content":[{"image_url":"${LINK}"},{"text":"\\u00e9\\ud83d\\ude00"}]}],"z":"\\u00e9"}`;
    const sent = writeImages(Buffer.from(body), new Map([[LINK, ours]])).toString('utf8');
    expect(sent).toContain(
      '{"a":1.0,"seed":12345678901234567890,"messages":[{"n":12345678901234567890,"__proto__":{"x":1},',
    );
    expect(sent).toContain('{"text":"é😀"}');
    expect(sent).toContain('"z":"\\u00e9"}');
  });

  test('one whose place nobody knows is never sent as a link', () => {
    const body = Buffer.from(JSON.stringify({ messages: [{ content: [{ image: LINK }] }] }));
    expect(() => writeImages(body, new Map([[LINK, ours]]))).toThrow('no place');
  });
});

describe('images on their way', () => {
  const body = Buffer.from(JSON.stringify({ messages: [{ content: [{ image_url: LINK }] }] }));
  const image = { link: LINK, param: 'messages[0].content[0].image_url', own: null };
  const huge = { ok: true, contentType: 'image/png', bytes: Buffer.alloc(INLINED_BYTES_MAX) } as const;
  type Reader = Parameters<typeof inlineImages>[0];
  const running = (fetchImage: Reader['options']['gateway']['fetchImage'] = async () => huge): Reader => ({
    options: {
      gateway: { files: null, fetchImage, log: { info() {}, warn() {}, error() {} } },
      agentId: 1,
    },
    logFields: {},
    caller: { gone: false, committed: false },
    endedByUs: null,
    ended: new Promise(() => {}),
  });
  const inline = (call = running(), images = [image]) => inlineImages(call, images, body);

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
    ['a call that a shutdown has ended', { endedByUs: 'shutdown' }, 'gateway_unavailable'],
    ['a call whose time is over', { endedByUs: 'time_limit' }, 'upstream_timeout'],
  ])('are not fetched on for %s', async (_, end, code) => {
    let fetched = 0;
    const call = running(async () => {
      fetched++;
      Object.assign(call, end);
      return huge;
    });
    const two = [image, { ...image, link: `${LINK}?2` }];
    expect(await inline(call, two)).toMatchObject({ code });
    expect(await inline(call, two)).toMatchObject({ code });
    expect(fetched).toBe(1);
  });

  test('are not waited for by a call that a shutdown ends', async () => {
    const ended = Promise.withResolvers<undefined>();
    const fetched = Promise.withResolvers<typeof huge>();
    const call = { ...running(() => fetched.promise), ended: ended.promise };
    const body = inline(call);
    call.endedByUs = 'shutdown';
    ended.resolve(undefined);
    expect(await body).toMatchObject({ code: 'gateway_unavailable' });
    fetched.resolve(huge);
  });
});
