import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `make test` puts it there, where the machine has Python. */
const tool = fileURLToPath(new URL('../../.cache/schemathesis/bin/schemathesis', import.meta.url));

export const hasSchemathesis = existsSync(tool);
if (!hasSchemathesis)
  console.log('Skipped: no schemathesis. `make test` installs it where there is python3.');

/**
 * What is left out: the spec says that a wrong method is 404 (`unsupported_method` wants 405), and that fields which no
 * schema names are passed on (`negative_data_rejection` wants a refusal); and which models are served, or which links
 * lead outside, no schema says (`positive_data_acceptance` wants no refusal).
 */
const LEFT_OUT = 'unsupported_method,negative_data_rejection,positive_data_acceptance';

export interface Fuzz {
  baseUrl: string;
  /** As a client is given it. */
  document: object;
  /** With each request: `Name: value`. */
  headers: readonly string[];
  options: readonly string[];
}

/** Sends what the document allows and forbids, and takes down every answer that it does not describe. */
export async function fuzz({
  baseUrl,
  document,
  headers,
  options,
}: Fuzz): Promise<{ code: number | null; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'faregate-schemathesis-'));
  try {
    const file = join(folder, 'document.json');
    await writeFile(file, JSON.stringify(document));
    const child = spawn(
      tool,
      [
        'run',
        file,
        `--url=${baseUrl}`,
        ...headers.map((header) => `--header=${header}`),
        `--exclude-checks=${LEFT_OUT}`,
        '--generation-deterministic',
        '--no-color',
        // They are about how fast inputs are made and how many of them fit, and fail on a machine that is busy with something else.
        '--suppress-health-check=too_slow,filter_too_much',
        ...options,
      ],
      { cwd: folder },
    );
    const pieces: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => pieces.push(piece));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, output: Buffer.concat(pieces).toString() };
  } finally {
    await rm(folder, { recursive: true });
  }
}
