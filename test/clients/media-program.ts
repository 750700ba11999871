/** A user's program on types that are generated from the document: a video and two images, from list to file. */
export const mediaProgram = `
import { writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './faregate.d.ts';

const [, , baseUrl, key, folder, idempotencyKey] = process.argv;
const headers = { authorization: \`Bearer \${key}\` };
const lists = createClient<paths, 'application/json'>({ baseUrl });
const client = createClient<paths, 'application/json'>({ baseUrl, headers });

const videoModels = await lists.GET('/videos/models');
const model = videoModels.data?.data.find(({ id }) => id === 'faregate-sim/clip');
if (model === undefined) throw new Error('no such model of videos');
const order: components['schemas']['VideoRequest'] = {
  model: model.id,
  prompt: 'A harbour at dawn',
  duration: Math.max(...model.supported_durations.filter((seconds) => seconds <= 2)),
  resolution: '480p',
  aspect_ratio: '16:9',
  generate_audio: false,
};
const ordered = await client.POST('/videos', {
  params: { header: { 'Idempotency-Key': idempotencyKey } },
  body: order,
});
if (ordered.data === undefined) throw new Error(ordered.error.error.message);
let video: components['schemas']['Video'] = ordered.data;
const first = { status: ordered.response.status, video };
while (video.status === 'pending' || video.status === 'in_progress') {
  await wait(1000);
  const asked = await client.GET('/videos/{id}', { params: { path: { id: video.id } } });
  if (asked.data === undefined) throw new Error(asked.error.error.code);
  video = asked.data;
}
const content = await client.GET('/videos/{id}/content', {
  params: { path: { id: video.id } },
  parseAs: 'stream',
});
await writeFile(\`\${folder}/video.mp4\`, (content.data ?? null) as never);
const again = await client.POST('/videos', {
  params: { header: { 'Idempotency-Key': idempotencyKey } },
  body: { ...order, prompt: 'Something else' },
});
const refused = await client.POST('/videos', { body: { ...order, resolution: '9000p' } });

const imageModels = await lists.GET('/images/models');
const painter = imageModels.data?.data.find(({ id }) => id === 'faregate-sim/paint');
const made = await client.POST('/images', {
  body: { model: painter?.id ?? '', prompt: 'A harbour at dawn', n: 2, resolution: '512' },
});
if (made.data === undefined) throw new Error(made.error.error.message);
const images = await Promise.all(
  made.data.data.map(async ({ url, media_type: type }, index) => {
    const file = await fetch(url ?? '');
    await writeFile(\`\${folder}/image-\${index}.png\`, new Uint8Array(await file.arrayBuffer()));
    return { status: file.status, type, sent: file.headers.get('content-type') };
  }),
);
console.log(
  JSON.stringify({
    first,
    video,
    again: again.data?.id,
    refused: refused.error?.error,
    images,
    imageCost: made.data.usage.cost,
    price: painter?.pricing.find(({ variant }) => variant === '512')?.usd,
  }),
);
`;
