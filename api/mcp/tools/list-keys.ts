import { z } from 'zod';
import { listKeys as list } from '../../account/keys.ts';
import { KeyList } from '../../contract/key-record.ts';
import { answerOf, defineTool, readsOnly } from '../tool.ts';

export const listKeys = defineTool({
  name: 'list_keys',
  title: 'List keys',
  description:
    "The agent's active keys, oldest first, with their limits and what each spent this month. Secrets are never shown.",
  input: z.object({}),
  output: KeyList,
  annotations: readsOnly,
  run: async ({ account }, caller) => answerOf(await list(account, caller)),
});
