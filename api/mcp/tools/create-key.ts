import { z } from 'zod';
import { createKey as create } from '../../account/keys.ts';
import { NewKey } from '../../contract/key-record.ts';
import { labelInput, limitInput, readLabel, readLimit } from '../key-fields.ts';
import { keySentence } from '../sentences.ts';
import { defineTool, writes } from '../tool.ts';

export const createKey = defineTool({
  name: 'create_key',
  title: 'Create a key',
  description:
    'Makes a key of this agent. `key` is its secret: it is shown this once. A key with a spending limit can only read here.',
  input: z.object({
    label: labelInput(),
    spending_limit: limitInput().optional().meta({ description: 'Leave it out for no limit.' }),
  }),
  output: NewKey,
  annotations: writes,
  async run({ account }, caller, given) {
    const label = readLabel(given.label);
    if (!label.ok) return label;
    const limit = given.spending_limit === undefined ? null : readLimit(given.spending_limit);
    if (limit?.ok === false) return limit;
    const made = await create(account, caller, { label: label.value, limit: limit?.value ?? null });
    if (made.ok) return { ok: true, record: made.key };
    return { ok: false, sentence: keySentence(made.reason, caller.keyId, account.limits()) };
  },
});
