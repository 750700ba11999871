import { expect, test } from 'vitest';
import { CliError } from '../../api/admin/cli/cli-error.ts';
import { explaining } from '../../api/admin/cli/explaining.ts';

test.each([
  'Command timed out',
  "Stream isn't writeable and enableOfflineQueue options is false",
  'NOAUTH Authentication required.',
  'connect ECONNREFUSED 127.0.0.1:6379\n    at somewhere',
])('a command on the stores says in one line that Redis answered “%s”', async (message) => {
  const work = explaining(() => Promise.reject(new Error(message)));
  await expect(work).rejects.toThrow(CliError);
  await expect(work).rejects.toThrow(/^A store of the cluster does not answer[^\n]*$/);
});

test('a mistake of ours keeps its stack', async () => {
  await expect(explaining(() => Promise.reject(new TypeError('x is not a function')))).rejects.toThrow(
    TypeError,
  );
});
