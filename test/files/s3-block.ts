import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { S3Settings } from '#core/files/s3-client.ts';

/** The block `files` of a configuration that keeps them in this store; its secrets are put into the folder. */
export async function s3Block(settings: S3Settings, folder: string): Promise<string> {
  const id = join(folder, 's3-id');
  const secret = join(folder, 's3-secret');
  await writeFile(id, settings.accessKeyId.reveal());
  await writeFile(secret, settings.secretAccessKey.reveal());
  const { endpoint, bucket } = settings;
  return `files: { kind: s3, endpoint: "${endpoint}", bucket: ${bucket}, accessKeyIdFile: ${id}, secretAccessKeyFile: ${secret} }\n`;
}
