import { createServer } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { filmBytes } from './film-bytes.ts';

/** A provider of videos that never ends one, or, with `--bytes`, has each made at once. */
const { values } = parseArgs({ options: { bytes: { type: 'string' } } });

const bytes = Number(values.bytes ?? 0);
const made =
  values.bytes === undefined ? { status: 'in_progress' } : { status: 'completed', usage: { cost: 0.2 } };
let jobs = 0;
let polls = 0;

const server = createServer((req, res) => {
  req.on('end', () => {
    const [, id = '', isContent] = /\/videos\/([^/?]+)(\/content)?/.exec(req.url ?? '') ?? [];
    const json = (body: object): void => {
      const text = JSON.stringify(body);
      res
        .writeHead(200, { 'content-type': 'application/json', 'content-length': String(text.length) })
        .end(text);
    };
    if (req.url === '/polls') json({ polls });
    else if (req.method === 'POST') json({ id: `job-${++jobs}`, status: 'pending' });
    else if (isContent === undefined) {
      polls++;
      json({ id, ...made });
    } else {
      res.writeHead(200, { 'content-type': 'video/mp4', 'content-length': String(bytes) });
      pipeline(Readable.from(filmBytes(bytes), { objectMode: false }), res, () => {});
    }
  });
  req.resume();
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }));
});
process.once('SIGTERM', () => process.exit(0));
