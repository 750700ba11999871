import { createServer, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { type Dispatcher, Pool } from 'undici';

/**
 * What a proxy costs that does nothing: `node:http` in, undici out, bytes through, backpressure and hang-ups kept.
 * Everything that the gateway adds is measured against it.
 */
const { values } = parseArgs({ options: { upstream: { type: 'string', default: 'http://127.0.0.1:8100' } } });

const pool = new Pool(values.upstream, { allowH2: false });

interface Relayed extends ServerResponse {
  upstream?: Dispatcher.DispatchController;
}

// Shared: a closure for each call costs a fifth more CPU.
function onClose(this: Relayed): void {
  if (!this.writableFinished) this.upstream?.abort(new Error('The caller left'));
}

function onDrain(this: Relayed): void {
  this.upstream?.resume();
}

const server = createServer((req, res: Relayed) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    res.on('close', onClose);
    res.on('drain', onDrain);
    const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    const headers = { 'content-type': 'application/json' };
    pool.dispatch({ path: '/api/v1/chat/completions', method: 'POST', headers, body }, relay(res));
  });
});

function relay(res: Relayed): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller) {
      res.upstream = controller;
    },
    onResponseStart(_controller, status, headers) {
      const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...kept } = headers;
      res.writeHead(status, kept);
    },
    onResponseData(controller, chunk) {
      if (!res.write(chunk)) controller.pause();
    },
    onResponseEnd() {
      res.end();
    },
    onResponseError() {
      if (!res.headersSent) res.writeHead(502);
      res.end();
    },
  };
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }));
});
process.once('SIGTERM', () => process.exit(0));
