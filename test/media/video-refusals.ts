import type { ErrorCode } from '../../api/contract/errors.ts';
import { frame, IMAGE, order, reference } from './video-models.ts';

/** An order with something wrong in one place, and what its sender is told. */
export interface VideoRefusal {
  /** What is wrong. */
  wrong: string;
  body: object;
  /** Default: `invalid_request`. */
  code?: ErrorCode;
  param: string;
  message: string;
}

const plain = (extra: object) => order({ model: 'acme/plain', ...extra });
const without = (field: string) => order({ [field]: undefined });

type Row = [wrong: string, body: object];

/** The same words for each way to be wrong. */
const all = (param: string, message: string, rows: readonly Row[]): VideoRefusal[] =>
  rows.map(([wrong, body]) => ({ wrong, body, param, message: `\`${param}\` ${message}` }));

/** Required ones say so where they are missing. */
const required = (field: string, what: string, rows: readonly Row[]): VideoRefusal[] => [
  ...all(field, `is required and has to be ${what}.`, [['left out', without(field)]]),
  ...all(field, `has to be ${what}.`, [['null', order({ [field]: null })], ...rows]),
];

const url = 'frame_images[0].image_url.url';
const referenceUrl = 'input_references[1].image_url.url';
const LINK = 'has to be a public https link of at most 2048 characters.';
const inFrame = (link: unknown) => order({ frame_images: [frame('first_frame', link)] });

/** Every field, and every way in which its value may be wrong. */
export const videoRefusals: readonly VideoRefusal[] = [
  ...required('model', 'a model id: a string of 1 to 256 characters', [
    ['a number', order({ model: 7 })],
    ['empty', order({ model: '' })],
    ['too long', order({ model: 'a/'.repeat(129) })],
    ['an array', order({ model: ['acme/film'] })],
  ]),
  {
    wrong: 'nearly one that there is',
    body: order({ model: 'acme/fillm' }),
    code: 'unknown_model',
    param: 'model',
    message:
      'No video model has the id `acme/fillm`. Did you mean `acme/film` or `other/film` or `acme/plain`?',
  },
  {
    wrong: 'like none that there is',
    body: order({ model: 'zzzzzzzz' }),
    code: 'unknown_model',
    param: 'model',
    message: 'No video model has the id `zzzzzzzz`. `GET /videos/models` lists those that are served.',
  },
  {
    wrong: 'not served, however wrong the rest is',
    body: { model: 'acme/retired' },
    code: 'model_not_served',
    param: 'model',
    message: 'The model `acme/retired` is not served here; `GET /videos/models` lists those that are.',
  },
  {
    wrong: 'of a list that is too old',
    body: order({ model: 'acme/stale' }),
    code: 'catalog_unavailable',
    param: 'model',
    message: 'Model prices are briefly unavailable; wait as retry-after-ms says.',
  },
  {
    wrong: 'of a provider that the operator has stopped',
    body: order({ model: 'acme/halted' }),
    code: 'provider_unavailable',
    param: 'model',
    message: 'This model is unavailable right now; wait as retry-after-ms says, or choose another.',
  },
  ...all('prompt', 'has to be a string of at most 2000 characters.', [
    ['a number', order({ prompt: 7 })],
    ['an array', order({ prompt: ['x'] })],
    ['2,001 letters', order({ prompt: 'x'.repeat(2_001) })],
    ['2,001 emojis', order({ prompt: '\u{1F6A3}'.repeat(2_001) })],
    ['4 MB less a little', order({ prompt: 'x'.repeat(3_000_000) })],
  ]),
  ...all('prompt', 'is required unless `frame_images`, `input_references` or `previous_job_id` is sent.', [
    ['left out', without('prompt')],
    ['null', order({ prompt: null })],
    ['empty', order({ prompt: '' })],
    ['blank', order({ prompt: ' \n\t' })],
    ['left out, with no image in its array', order({ prompt: undefined, frame_images: [] })],
  ]),
  ...required('duration', 'one of 4, 8 (whole seconds)', [
    ['not in the list', order({ duration: 5 })],
    ['zero', order({ duration: 0 })],
    ['negative', order({ duration: -4 })],
    ['half a second', order({ duration: 4.5 })],
    ['a text', order({ duration: '4' })],
    ['beyond all', order({ duration: 1e300 })],
    ['an array', order({ duration: [4] })],
    ['a boolean', order({ duration: true })],
  ]),
  ...required('resolution', 'one of `480p`, `720p`', [
    ['not in the list', order({ resolution: '1080p' })],
    ['in another case', order({ resolution: '720P' })],
    ['with a blank', order({ resolution: '720p ' })],
    ['a number', order({ resolution: 720 })],
    ['empty', order({ resolution: '' })],
    ['an array', order({ resolution: ['720p'] })],
  ]),
  ...required('aspect_ratio', 'one of `16:9`, `9:16`', [
    ['not in the list', order({ aspect_ratio: '1:1' })],
    ['written otherwise', order({ aspect_ratio: '16/9' })],
    ['a number', order({ aspect_ratio: 1.78 })],
    ['an object', order({ aspect_ratio: {} })],
  ]),
  {
    wrong: 'listed, but without a price',
    body: order({ model: 'acme/unpriced', resolution: '720p' }),
    param: 'resolution',
    message: 'The model has no price for a video like this; choose another `resolution` or `duration`.',
  },
  ...all('generate_audio', 'has to be `true` or `false`.', [
    ['a text', order({ generate_audio: 'true' })],
    ['a number', order({ generate_audio: 1 })],
  ]),
  ...all('generate_audio', 'has to be `false` or left out: this model makes no sound.', [
    ['true, of a silent model', plain({ generate_audio: true })],
  ]),
  ...all('seed', 'has to be a whole number from 0 to 2147483647.', [
    ['negative', order({ seed: -1 })],
    ['more than 31 bits', order({ seed: 2_147_483_648 })],
    ['half', order({ seed: 0.5 })],
    ['a text', order({ seed: '1' })],
    ['a boolean', order({ seed: true })],
  ]),
  ...all('seed', 'has to be left out: this model takes no seed.', [
    ['of a model without', plain({ seed: 1 })],
  ]),
  ...all(
    'frame_images',
    'has to be an array of at most 2 images, one for each of `first_frame`, `last_frame`.',
    [
      ['an object', order({ frame_images: frame() })],
      ['a link', order({ frame_images: IMAGE })],
      ['three', order({ frame_images: [frame(), frame('last_frame'), frame()] })],
    ],
  ),
  ...all('frame_images', 'has to be left out: this model takes no frame images.', [
    ['of a model without', plain({ frame_images: [frame()] })],
  ]),
  ...all('frame_images[0]', 'has to be an object.', [
    ['a link', order({ frame_images: [IMAGE] })],
    ['null', order({ frame_images: [null] })],
  ]),
  ...all('frame_images[0].type', 'is required and has to be `image_url`.', [
    ['left out', order({ frame_images: [{ ...frame(), type: undefined }] })],
  ]),
  ...all('frame_images[0].type', 'has to be `image_url`.', [
    ['another', order({ frame_images: [{ ...frame(), type: 'video_url' }] })],
  ]),
  ...all('frame_images[0].image_url', 'is required and has to be an object with `url`.', [
    ['left out', order({ frame_images: [{ ...frame(), image_url: undefined }] })],
  ]),
  ...all('frame_images[0].image_url', 'has to be an object with `url`.', [
    ['the link itself', order({ frame_images: [{ ...frame(), image_url: IMAGE }] })],
  ]),
  ...all('frame_images[0].frame_type', 'is required and has to be one of `first_frame`, `last_frame`.', [
    ['left out', order({ frame_images: [reference()] })],
  ]),
  ...all('frame_images[0].frame_type', 'has to be one of `first_frame`, `last_frame`.', [
    ['another', order({ frame_images: [frame('middle_frame')] })],
    ['null', order({ frame_images: [frame(null)] })],
  ]),
  ...all('frame_images[0].frame_type', 'has to be `first_frame`.', [
    [
      'a last one, of a model that takes none',
      order({ model: 'acme/opening', frame_images: [frame('last_frame')] }),
    ],
  ]),
  ...all('frame_images[0].frame_type', 'has to be `last_frame`.', [
    ['a first one, of a model that takes none', order({ model: 'acme/ending', frame_images: [frame()] })],
  ]),
  {
    wrong: 'twice the same',
    body: order({ frame_images: [frame(), frame()] }),
    param: 'frame_images[1].frame_type',
    message: '`frame_images[1].frame_type`: there is a `first_frame` already, and a video has one at most.',
  },
  {
    wrong: 'a last one without a first one',
    body: order({ frame_images: [frame('last_frame')] }),
    param: 'frame_images[0].frame_type',
    message:
      '`frame_images[0].frame_type`: a `last_frame` needs a `first_frame` beside it; this model takes none alone.',
  },
  ...all(url, `is required and ${LINK}`, [
    ['left out', order({ frame_images: [{ ...frame(), image_url: {} }] })],
  ]),
  ...all(url, LINK, [
    ['a number', inFrame(7)],
    ['null', inFrame(null)],
    ['empty', inFrame('')],
    ['http', inFrame('http://images.example.com/cat.png')],
    ['another scheme', inFrame('ftp://images.example.com/cat.png')],
    ['a file', inFrame('file:///etc/passwd')],
    ['no host', inFrame('https:///cat.png')],
    ['no address at all', inFrame('cat.png')],
    ['too long', inFrame(`${IMAGE}?${'x'.repeat(2_048)}`)],
    ['loopback', inFrame('https://127.0.0.1/cat.png')],
    ['loopback as one number', inFrame('https://2130706433/cat.png')],
    ['loopback in octal', inFrame('https://0177.0.0.1/cat.png')],
    ['loopback in IPv6', inFrame('https://[::1]/cat.png')],
    ['an address of a cloud’s own data', inFrame('https://169.254.169.254/latest/meta-data')],
    ['a private address', inFrame('https://10.0.0.7/cat.png')],
    ['localhost', inFrame('https://localhost/cat.png')],
    ['an internal name', inFrame('https://redis.default.svc.cluster.local/cat.png')],
    ['a port of its own', inFrame('https://images.example.com:8443/cat.png')],
    ['a password', inFrame('https://user:password@images.example.com/cat.png')],
    ['a backslash', inFrame('https://images.example.com\\@10.0.0.7/cat.png')],
  ]),
  ...all(url, 'leads to an address that is not public.', [
    ['a name that resolves to a private address, too', inFrame('https://inside.example.com/cat.png')],
  ]),
  ...all(url, 'names a host that cannot be found.', [
    ['a name that nobody knows', inFrame('https://nobody.example.com/cat.png')],
  ]),
  ...all(
    url,
    'holds inline data. Send a public https link instead, or upload the file (`POST /uploads`) and send its link.',
    [['inline data', inFrame('data:image/png;base64,iVBORw0KGgo=')]],
  ),
  ...all(
    url,
    'is no link to an upload of yours that still lives; upload the image again and send its `url`.',
    [
      [
        'an upload’s link with a forged signature',
        inFrame(
          `https://gw.example.com/files/uploads/20991124T07/7/upl_${'a'.repeat(24)}.png?expires=4098700000&signature=${'A'.repeat(43)}`,
        ),
      ],
      ['a path of this gateway that is no file', inFrame('https://gw.example.com/files/uploads/cat.png')],
    ],
  ),
  ...all('input_references', 'has to be an array of at most 2 images.', [
    ['an object', order({ input_references: reference() })],
    ['three', order({ input_references: [reference(), reference(), reference()] })],
  ]),
  ...all('input_references', 'has to be left out: this model takes no reference images.', [
    ['of a model without', plain({ input_references: [reference()] })],
  ]),
  ...all('input_references[0]', 'has to be an object.', [['a link', order({ input_references: [IMAGE] })]]),
  ...all('input_references[0].type', 'has to be `image_url`.', [
    ['a sound', order({ input_references: [{ ...reference(), type: 'audio_url' }] })],
  ]),
  ...all('input_references[0].frame_type', 'has to be left out: no such field is taken.', [
    ['of a frame', order({ input_references: [frame()] })],
  ]),
  ...all(referenceUrl, LINK, [
    [
      'http, the second of two',
      order({ input_references: [reference(), reference('http://x.example.com/')] }),
    ],
  ]),
  {
    wrong: 'together with frame images',
    body: order({ frame_images: [frame()], input_references: [reference()] }),
    param: 'input_references',
    message: '`input_references` cannot be sent together with `frame_images`; send one of them.',
  },
  ...all('previous_job_id', 'has to be the id of one of your completed videos.', [
    ['a number', order({ previous_job_id: 7 })],
    ['another kind of id', order({ previous_job_id: 'gen-1' })],
    ['too short', order({ previous_job_id: `vid_${'a'.repeat(19)}` })],
    ['a path', order({ previous_job_id: '../../etc/passwd' })],
  ]),
  ...all('previous_job_id', 'has to be left out: this model carries no video on.', [
    ['of a model without', plain({ previous_job_id: `vid_${'a'.repeat(20)}` })],
  ]),
  {
    wrong: 'of no video',
    body: order({ previous_job_id: `vid_${'a'.repeat(20)}` }),
    param: 'previous_job_id',
    message: '`previous_job_id`: this agent has no such video.',
  },
  ...['size', 'n', 'callback_url', 'provider', 'stream', 'negative_prompt', 'Prompt', '__proto__x'].flatMap(
    (field) =>
      all(field, 'has to be left out: no such field is taken.', [['not taken', order({ [field]: 1 })]]),
  ),
  ...all('frame_images[0].image_url.detail', 'has to be left out: no such field is taken.', [
    ['not taken', order({ frame_images: [{ ...frame(), image_url: { url: IMAGE, detail: 'high' } }] })],
  ]),
];
