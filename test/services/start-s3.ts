import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { findCommand, runCommand } from './run-command.ts';
import { type Service, ServiceMissingError } from './service.ts';
import { inServicesCache } from './services-cache.ts';
import { startProcess } from './start-process.ts';

const VERSION = 'v1.8.0';
/** Of the local server only: they open nothing else. */
export const localS3Keys = { accessKeyId: 'faregate-local', secretAccessKey: 'faregate-local-secret' };

/** An S3 server that checks signatures and keeps objects as plain files. */
export async function startS3(options: { dir: string; detached?: boolean }): Promise<Service> {
  const command = await s3Server();
  const port = await freePort();
  const data = join(options.dir, 'data');
  mkdirSync(data, { recursive: true });
  return startProcess({
    name: 's3',
    dir: options.dir,
    port,
    detached: options.detached ?? false,
    command,
    args: ['--port', `127.0.0.1:${port}`, '-q', 'posix', data],
    env: { ROOT_ACCESS_KEY: localS3Keys.accessKeyId, ROOT_SECRET_KEY: localS3Keys.secretAccessKey },
  });
}

/** Built once, in about two minutes, and kept. */
async function s3Server(): Promise<string> {
  const binary = inServicesCache(`versitygw-${VERSION}`);
  if (existsSync(binary)) return binary;
  if (findCommand('go') === null) throw new ServiceMissingError('S3 needs `go` on the PATH.');
  const folder = mkdtempSync(inServicesCache('go-'));
  try {
    await runCommand(
      'go',
      ['install', '-ldflags', '-s -w', `github.com/versity/versitygw/cmd/versitygw@${VERSION}`],
      { GOBIN: folder, CGO_ENABLED: '0' },
    );
    renameSync(join(folder, 'versitygw'), binary);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return binary;
}
