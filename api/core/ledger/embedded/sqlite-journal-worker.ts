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
    return { id: request.id, ok: true, answer: run(journal, request) };
  } catch (error) {
    return { id: request.id, ok: false, error: toWireError(error) };
  }
}

function run(journal: SqliteJournal, request: JournalRequest): unknown {
  switch (request.operation) {
    case 'commit':
      return journal.commit(...request.args);
    case 'head':
      return journal.head();
    case 'readAgents':
      return journal.readAgents(...request.args);
    case 'readEnded':
      return journal.readEnded(...request.args);
    case 'readTail':
      return journal.readTail(...request.args);
    case 'prune':
      return journal.prune(...request.args);
    case 'listCalls':
      return journal.listCalls(...request.args);
    case 'findCall':
      return journal.findCall(...request.args);
    case 'usage':
      return journal.usage(...request.args);
    case 'findVideo':
      return journal.findVideo(...request.args);
    case 'findVideoByKey':
      return journal.findVideoByKey(...request.args);
    case 'listVideos':
      return journal.listVideos(...request.args);
    case 'close':
      return journal.close();
    default:
      return request satisfies never;
  }
}
