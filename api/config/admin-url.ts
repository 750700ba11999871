import { join } from 'node:path';
import { writePrivateFile } from '#core/accounts/private-file.ts';

/** A file of the data folder that tells the operator's command the address of the running gateway's admin API. */
export const ADMIN_URL_FILE = 'admin-url';

/** Written at every start, because ports change. */
export const writeAdminUrl = (dataDir: string, adminUrl: string): void =>
  writePrivateFile(join(dataDir, ADMIN_URL_FILE), `${adminUrl}\n`);
