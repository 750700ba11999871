import { videoRefusals } from './video-refusals.ts';

/*
 * `node test/media/print-video-refusals.ts`: every field of an order of a video, every way in which its value may be wrong, and
 * what is answered (`video-refusals.test.ts` sends each of them). Markdown.
 */
console.log('| Field (`param`) | Wrong because it is | Code | Message |');
console.log('|---|---|---|---|');
for (const { param, wrong, code = 'invalid_request', message } of videoRefusals) {
  console.log(`| \`${param}\` | ${wrong} | \`${code}\` | ${message} |`);
}
