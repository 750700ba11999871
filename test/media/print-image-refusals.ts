import { imageRefusals } from './images/refusals.ts';

/* `node test/media/print-image-refusals.ts`: what `images/image-refusals.test.ts` goes through. Markdown. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

console.log('| Refused when | Code | `param` | Message |');
console.log('|---|---|---|---|');
for (const { when, code = 'invalid_request', param, message } of imageRefusals)
  console.log(`| ${cell(when)} | ${code} | ${param ?? '–'} | ${cell(message)} |`);
