import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteAuditFile } from './sqlite-audit-file.ts';
import type { AuditAnswer, AuditRequest } from './sqlite-audit-messages.ts';

const port = parentPort;
if (port === null) throw new Error('to be started as a thread');
// What this throws ends the thread, and is told to all who wait.
const file = openSqliteAuditFile(String(workerData));

port.on('message', (request: AuditRequest) => {
  port.postMessage(answerTo(request));
  if (request.operation === 'close') port.close();
});

function answerTo(request: AuditRequest): AuditAnswer {
  const { place } = request;
  try {
    return { place, ok: true, answer: run(request) };
  } catch (error) {
    return { place, ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

function run(request: AuditRequest): unknown {
  switch (request.operation) {
    case 'write':
      return file.write(...request.args);
    case 'list':
      return file.list(...request.args);
    case 'close':
      return file.close();
    default:
      return request satisfies never;
  }
}
