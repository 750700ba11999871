import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

/**
 * What an answer costs that nobody has to think of: `node:http`, the request's body read to its end, the same bytes each
 * time, head and body. `--headers`: names and values in turn, in JSON.
 */
const { values } = parseArgs({
  options: { headers: { type: 'string', default: '[]' }, answer: { type: 'string', default: '{}' } },
});

const body = Buffer.from(values.answer);
const headers: string[] = JSON.parse(values.headers);

const server = createServer((req, res) => {
  req.on('end', () => res.writeHead(200, headers).end(body));
  req.resume();
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }));
});
process.once('SIGTERM', () => process.exit(0));
