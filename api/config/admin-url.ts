import { join } from 'node:path';
import { writePrivateFile } from '#core/accounts/private-file.ts';

/** In the data folder: where the admin API of the gateway that uses the folder answers, for the operator's command. */
export const ADMIN_URL_FILE = 'admin-url';

/** Written at every start, because ports change. */
export const writeAdminUrl = (dataDir: string, adminUrl: string): void =>
  writePrivateFile(join(dataDir, ADMIN_URL_FILE), `${adminUrl}\n`);
