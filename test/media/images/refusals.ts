import type { ErrorCode } from '../../../api/contract/errors.ts';

/** A request that is refused before anything is held: what is wrong, where, and in which words. */
export interface ImageRefusal {
  /** Completes: it is refused when … */
  when: string;
  /** Besides a model and a prompt. */
  body: object;
  code?: ErrorCode;
  param: string | null;
  message: string;
}

const link = (url: unknown) => ({ type: 'image_url', image_url: { url } });
const ONE_LINK = 'input_references[0].image_url.url';
const PUBLIC = `\`${ONE_LINK}\` has to be a public https link of at most 2048 characters.`;
const PROMPT = 'has to be a string of 1 to 32000 characters, not blank.';
const MODEL = 'has to be a model id: a string of 1 to 256 characters.';
const OF_PLAIN = 'is not taken by the model `acme/plain`, which takes no fields of its own.';
const NOT_TAKEN =
  'is not taken by the model `acme/painter`, which takes only `n`, `resolution`, `output_format`, `output_compression`, `transparent` of such fields.';

/** Of one field that the model does not list. */
const unlisted = (field: string, value: unknown): ImageRefusal => ({
  when: `\`${field}\` is not listed by the model`,
  body: { [field]: value },
  param: field,
  message: `\`${field}\` ${NOT_TAKEN}`,
});

const wrong = (field: string, value: unknown, message: string): ImageRefusal => ({
  when: `\`${field}\` is ${JSON.stringify(value)?.slice(0, 40) ?? 'absent'}`,
  body: { [field]: value },
  param: field,
  message: `\`${field}\` ${message}`,
});

const N = 'has to be a whole number from 1 to 4.';
const RESOLUTION = 'has to be one of `1K`, `2K`.';
const COMPRESSION = 'has to be a whole number from 0 to 100.';

export const imageRefusals: readonly ImageRefusal[] = [
  wrong('model', undefined, `is required and ${MODEL}`),
  wrong('model', 7, MODEL),
  wrong('model', '', MODEL),
  wrong('model', 'm'.repeat(257), MODEL),
  {
    when: 'no model has the id',
    body: { model: 'acme/paintr' },
    code: 'unknown_model',
    param: 'model',
    message: 'No image model has the id `acme/paintr`. Did you mean `acme/painter` or `acme/plain`?',
  },
  wrong('prompt', undefined, `is required and ${PROMPT}`),
  wrong('prompt', null, PROMPT),
  wrong('prompt', '', PROMPT),
  wrong('prompt', ' \n', PROMPT),
  wrong('prompt', ['a'], PROMPT),
  wrong('prompt', 'p'.repeat(32_001), PROMPT),
  wrong('n', 0, N),
  wrong('n', 5, N),
  wrong('n', 1.5, N),
  wrong('n', '2', N),
  wrong('n', true, N),
  wrong('n', [1], N),
  wrong('resolution', '4K', RESOLUTION),
  wrong('resolution', '1k', RESOLUTION),
  wrong('resolution', 1, RESOLUTION),
  wrong('resolution', ['1K'], RESOLUTION),
  wrong('output_format', 'svg', 'has to be one of `png`, `webp`.'),
  wrong('output_format', 'jpeg', 'has to be one of `png`, `webp`.'),
  wrong('output_compression', 101, COMPRESSION),
  wrong('output_compression', -1, COMPRESSION),
  wrong('output_compression', '50', COMPRESSION),
  wrong('transparent', 'true', 'has to be one of `true`, `false`.'),
  unlisted('seed', 1),
  unlisted('aspect_ratio', '1:1'),
  unlisted('size', '1024x1024'),
  unlisted('quality', 'high'),
  unlisted('background', 'opaque'),
  unlisted('style', 'vivid'),
  unlisted('style', null),
  unlisted('user', 'me'),
  unlisted('provider', { only: ['x'] }),
  unlisted('callback_url', 'https://example.com'),
  unlisted('partial_images', 2),
  {
    when: 'the model lists no fields at all',
    body: { model: 'acme/plain', n: 1 },
    param: 'n',
    message: `\`n\` ${OF_PLAIN}`,
  },
  wrong('stream', 'true', 'has to be a boolean.'),
  {
    when: 'the model streams no partial images',
    body: { model: 'acme/plain', stream: true },
    param: 'stream',
    message: '`stream` has to be `false` or left out: the model `acme/plain` streams no partial images.',
  },
  {
    when: 'several images are to be streamed',
    body: { n: 2, stream: true },
    param: 'n',
    message: '`n` has to be 1 with `stream: true`: one image is streamed at a time.',
  },
  wrong('response_format', 'b64', 'has to be `url` or `b64_json`.'),
  wrong('response_format', true, 'has to be `url` or `b64_json`.'),
  wrong('input_references', link('https://example.com/a.png'), 'has to be an array of at most 16 images.'),
  wrong(
    'input_references',
    Array.from({ length: 17 }, (_, at) => link(`https://example.com/${at}.png`)),
    'has to be an array of at most 16 images.',
  ),
  {
    when: 'the model reads no images',
    body: { model: 'acme/plain', input_references: [link('https://example.com/a.png')] },
    param: 'input_references',
    message: '`input_references` is not taken by the model `acme/plain`: it reads no images.',
  },
  {
    when: 'a reference is a text',
    body: { input_references: ['https://example.com/a.png'] },
    param: 'input_references[0]',
    message: '`input_references[0]` has to be an object.',
  },
  {
    when: 'a reference has another type',
    body: { input_references: [{ ...link('https://example.com/a.png'), type: 'image' }] },
    param: 'input_references[0].type',
    message: '`input_references[0].type` has to be `image_url`.',
  },
  {
    when: 'a reference has a field more',
    body: { input_references: [{ ...link('https://example.com/a.png'), detail: 'high' }] },
    param: 'input_references[0].detail',
    message: '`input_references[0].detail` has to be left out: no such field is taken.',
  },
  {
    when: 'a link is missing',
    body: { input_references: [link(undefined)] },
    param: ONE_LINK,
    message: `\`${ONE_LINK}\` is required and has to be a public https link of at most 2048 characters.`,
  },
  ...[
    'http://example.com/a.png',
    'ftp://example.com/a.png',
    'https://127.0.0.1/a.png',
    'https://[::1]/a.png',
    'https://localhost/a.png',
    'https://me:secret@example.com/a.png',
    'https://example.com:8443/a.png',
    `https://example.com/${'a'.repeat(2048)}`,
    '',
  ].map(
    (url): ImageRefusal => ({
      when: `a link is \`${url.slice(0, 40)}\``,
      body: { input_references: [link(url)] },
      param: ONE_LINK,
      message: PUBLIC,
    }),
  ),
  {
    when: 'a link’s name leads to a private address',
    body: { input_references: [link('https://inside.example.com/a.png')] },
    param: ONE_LINK,
    message: `\`${ONE_LINK}\` leads to an address that is not public.`,
  },
  {
    when: 'an image stands in the request itself',
    body: { input_references: [link('data:image/png;base64,AAAA')] },
    param: ONE_LINK,
    message: `\`${ONE_LINK}\` holds inline data. Send a public https link instead, or upload the file (\`POST /uploads\`) and send its link.`,
  },
  {
    when: 'a link is another agent’s upload',
    body: {
      input_references: [link('https://files.test/uploads/20990101T00/2/upl_000000000000000000000000.png')],
    },
    param: ONE_LINK,
    message: `\`${ONE_LINK}\` is no link to an upload of yours that still lives; upload the image again and send its \`url\`.`,
  },
  {
    when: 'a link is an upload of one’s own that was never sent',
    body: {
      input_references: [link('https://files.test/uploads/20990101T00/1/upl_000000000000000000000000.png')],
    },
    param: ONE_LINK,
    message: `\`${ONE_LINK}\`: nothing has been uploaded to this link; PUT the image to its \`upload_url\` first, or start another upload.`,
  },
];
