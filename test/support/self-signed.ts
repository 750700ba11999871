import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../services/run-command.ts';

/** A certificate that nobody else signed, and its key. */
export async function selfSigned(): Promise<{ key: string; cert: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'faregate-self-signed-'));
  const at = (name: string) => join(folder, name);
  try {
    await runCommand('openssl', [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'],
      ...['-keyout', at('key.pem'), '-out', at('certificate.pem')],
    ]);
    return {
      key: await readFile(at('key.pem'), 'utf8'),
      cert: await readFile(at('certificate.pem'), 'utf8'),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}
