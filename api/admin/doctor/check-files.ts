import { type Clock, HOUR_MS } from '#core/clock.ts';
import { type FileName, hourOf } from '#core/files/file-name.ts';
import { createS3FileStore } from '#core/files/s3-file-store.ts';
import { randomBase62 } from '#core/ids.ts';
import type { FilesConfig } from '../../config/files-settings.ts';
import { type Finding, ok, problem } from './finding.ts';
import { whyUnreachable } from './why-unreachable.ts';

const CHECK = 'files';
const SENT = Buffer.from('{"doctor":true}');

/** A file of a few bytes goes into an S3 store, comes back, and is deleted. */
export async function checkFiles(files: FilesConfig, clock: Clock): Promise<Finding[]> {
  if (files.kind === 'none') return [ok(CHECK, 'none are kept: uploads and videos are refused')];
  if (files.kind === 'local') return [ok(CHECK, 'in the data folder')];
  const where = `bucket ${files.bucket} at ${files.endpoint}`;
  const { hostname, port, protocol } = new URL(files.endpoint);
  // The store's client would try again for longer than anybody here waits.
  const away = await whyUnreachable(`${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`);
  if (away !== null)
    return [problem(CHECK, `${where} cannot be reached (${away})`, 'Start it, or correct files.endpoint.')];
  const store = createS3FileStore(files, clock);
  const name: FileName = {
    kind: 'orders',
    // The sweep takes it, should this process die in between.
    endHour: hourOf(clock.now() + HOUR_MS),
    ...{ agentId: 1, id: `vid_${randomBase62(20)}`, contentType: 'application/json' },
  };
  try {
    await store.write(name, chunksOf(SENT));
    const back = await store.read(name, SENT.length);
    await store.delete(name);
    if (back?.equals(SENT)) return [ok(CHECK, `${where} takes, returns and deletes a file`)];
    return [
      problem(
        CHECK,
        `${where} returned another file than it was sent`,
        'Use a store that reads what was written.',
      ),
    ];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [
      problem(
        CHECK,
        `${where}: ${why}`,
        "Correct files' bucket and keys, or give them the right to write, read and delete.",
      ),
    ];
  }
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
