import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { systemClock } from '#core/clock.ts';
import type { S3Settings } from '#core/files/s3-client.ts';
import { createS3FileStore } from '#core/files/s3-file-store.ts';
import { Secret } from '#core/secret.ts';
import { localS3Keys, startS3 } from '../services/start-s3.ts';
import { testDataDir } from '../support/data-dir.ts';
import type { FileHome } from './file-home.ts';

export interface S3Home extends FileHome {
  settings: S3Settings;
}

const CORS =
  '<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>' +
  '<AllowedMethod>PUT</AllowedMethod><AllowedHeader>*</AllowedHeader></CORSRule></CORSConfiguration>';

/** A real S3 server with one bucket of its own. */
export async function startS3Home(): Promise<S3Home> {
  const folder = await testDataDir();
  const service = await startS3({ dir: folder.path });
  const endpoint = `http://127.0.0.1:${service.port}`;
  const settings = s3SettingsAt(endpoint);
  const client = new AwsClient({ ...localS3Keys, service: 's3', region: settings.region, retries: 0 });
  const at = (path: string) => `${endpoint}/${settings.bucket}${path}`;
  const made = await client.fetch(at(''), { method: 'PUT' });
  if (made.status !== 200) throw new Error(`The bucket was not made: ${made.status}`);
  // As the README wants it for pages in browsers.
  const rule = await client.fetch(at('?cors'), {
    method: 'PUT',
    headers: { 'content-md5': createHash('md5').update(CORS).digest('base64') },
    body: CORS,
  });
  if (rule.status !== 200) throw new Error(`The bucket took no CORS rule: ${rule.status}`);
  return {
    address: `127.0.0.1:${service.port}`,
    settings,
    store: createS3FileStore(settings, systemClock),
    nowMs: () => systemClock.now(),
    later(ms, make) {
      const clock = { ...systemClock, now: () => systemClock.now() - ms };
      return make(createS3FileStore(settings, clock), clock.now());
    },
    withOtherSecret: () =>
      createS3FileStore({ ...settings, secretAccessKey: new Secret('another-secret') }, systemClock),
    async putForeign() {
      await client.fetch(at('/uploads/0000/mine.txt'), { method: 'PUT', body: 'mine' });
      return async () => (await client.fetch(at('/uploads/0000/mine.txt'))).status === 200;
    },
    async leftovers() {
      const text = await (await client.fetch(at('?uploads'))).text();
      return [...text.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key);
    },
    async [Symbol.asyncDispose]() {
      await service.stop('SIGKILL');
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Of such a server, wherever its home was started. */
export const s3SettingsAt = (endpoint: string): S3Settings => ({
  endpoint,
  publicEndpoint: endpoint,
  region: 'us-east-1',
  bucket: 'faregate-test',
  accessKeyId: new Secret(localS3Keys.accessKeyId),
  secretAccessKey: new Secret(localS3Keys.secretAccessKey),
});
