import { z } from 'zod';
import { secretFile, variableName, webAddress } from './values.ts';

/** One shape of keys for all kinds, so that an editor knows them all; `toFiles` says which belong together. */
export const filesFile = z.strictObject({
  kind: z
    .enum(['local', 's3', 'none'])
    .optional()
    .describe(
      'Where uploads, images and videos are kept: local = inside the data folder, the default of one process; s3 = a ' +
        'store that speaks S3; none = nowhere, so that uploads are refused and no videos made, the default of a cluster.',
    ),
  endpoint: webAddress
    .optional()
    .describe('s3: address of the store, as https://s3.eu-central-1.amazonaws.com.'),
  publicEndpoint: webAddress
    .optional()
    .describe('s3: the same store as agents and models reach it, where that is another address.'),
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, 'has to be lower-case letters, digits and hyphens')
    .optional()
    .describe('s3: region that links are signed for; default us-east-1, which most other stores take.'),
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'is no name of a bucket')
    .optional()
    .describe(
      's3: bucket, which has to exist and stays private. Only names below uploads/, orders/, pictures/ and videos/ are ' +
        'written and deleted.',
    ),
  accessKeyIdEnv: variableName
    .optional()
    .describe('s3: environment variable that holds the id of the access key.'),
  accessKeyIdFile: secretFile.describe('s3: file that holds it.'),
  secretAccessKeyEnv: variableName
    .optional()
    .describe('s3: environment variable that holds the secret access key.'),
  secretAccessKeyFile: secretFile.describe('s3: file that holds it.'),
});
export type FilesFile = z.infer<typeof filesFile>;
