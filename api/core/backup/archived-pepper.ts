import { createHmac, createSecretKey } from 'node:crypto';
import type { Pepper } from '../accounts/api-key.ts';
import type { ArchivedPepper } from './archive-lines.ts';

/**
 * What an archive tells of a pepper. With its secret where the gateway keeps its own: an archive without it would
 * restore money that no key can spend. A cluster's stays in the operator's Secret.
 */
export const archivePepper = (pepper: Pepper, { withSecret }: { withSecret: boolean }): ArchivedPepper => ({
  id: pepper.id,
  fingerprint: fingerprint(pepper),
  secret: withSecret ? pepper.secret.export().toString('base64url') : null,
});

/** `null`: the archive does not hold it. */
export const pepperOf = ({ id, secret }: ArchivedPepper): Pepper | null =>
  secret === null ? null : { id, secret: createSecretKey(Buffer.from(secret, 'base64url')) };

/** False for another secret of the same name, with which no key would be recognised. */
export const isSamePepper = (archived: ArchivedPepper, pepper: Pepper): boolean =>
  archived.id === pepper.id && archived.fingerprint === fingerprint(pepper);

const fingerprint = (pepper: Pepper): string =>
  createHmac('sha256', pepper.secret).update('faregate backup').digest('base64url').slice(0, 16);
