import { pictureRefusals } from './pictures/refusals.ts';

/* `node test/media/print-picture-refusals.ts`: what `pictures/picture-refusals.test.ts` goes through. Markdown. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

console.log('| Refused when | Code | `param` | Message |');
console.log('|---|---|---|---|');
for (const { when, code = 'invalid_request', param, message } of pictureRefusals)
  console.log(`| ${cell(when)} | ${code} | ${param ?? '–'} | ${cell(message)} |`);
