import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteJournal, type SqliteJournal } from './sqlite-journal.ts';
import { type JournalAnswer, type JournalRequest, toWireError } from './sqlite-journal-messages.ts';

/** The thread that owns the journal's file, so that a slow disk never stalls a stream. */
const port = parentPort;
if (port === null) throw new Error('to be started as a thread');
const send = (answer: JournalAnswer): void => port.postMessage(answer);

try {
  const journal = openSqliteJournal(String(workerData));
  port.on('message', (request: JournalRequest) => {
    send(answerTo(journal, request));
    if (request.operation === 'close') port.close();
  });
  send({ id: 0, ok: true, answer: undefined });
} catch (error) {
  send({ id: 0, ok: false, error: toWireError(error) });
  port.close();
}

function answerTo(journal: SqliteJournal, request: JournalRequest): JournalAnswer {
  try {
    const answer: unknown = Reflect.apply(journal[request.operation], journal, request.args);
    return { id: request.id, ok: true, answer };
  } catch (error) {
    return { id: request.id, ok: false, error: toWireError(error) };
  }
}
