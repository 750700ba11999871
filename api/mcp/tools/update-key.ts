import { z } from 'zod';
import { changeKey } from '../../account/keys.ts';
import { KeyRecord } from '../../contract/key-record.ts';
import { keyIdInput, labelInput, limitInput, readLabel, readLimit } from '../key-fields.ts';
import { keySentence } from '../sentences.ts';
import { defineTool, writes } from '../tool.ts';

export const updateKey = defineTool({
  name: 'update_key',
  title: 'Change a key',
  description:
    'Changes the label of a key, its spending limit, or both. A new limit counts what the key already spent in that period.',
  input: z
    .object({
      key_id: keyIdInput(),
      label: labelInput().optional(),
      spending_limit: limitInput().nullable().optional().meta({ description: 'Null removes the limit.' }),
    })
    .refine(
      (given) => given.label !== undefined || given.spending_limit !== undefined,
      'pass label, spending_limit or both',
    ),
  output: KeyRecord,
  annotations: { ...writes, idempotentHint: true },
  async run({ account }, caller, { key_id: keyId, label: givenLabel, spending_limit: givenLimit }) {
    const label = givenLabel === undefined ? null : readLabel(givenLabel);
    if (label?.ok === false) return label;
    const limit = givenLimit === undefined || givenLimit === null ? null : readLimit(givenLimit);
    if (limit?.ok === false) return limit;
    const changed = await changeKey(account, caller, {
      keyId,
      label: label?.value ?? null,
      limit: givenLimit === undefined ? 'keep' : (limit?.value ?? null),
    });
    if (changed.ok) return { ok: true, record: changed.key };
    return { ok: false, sentence: keySentence(changed.reason, keyId, account.limits()) };
  },
});
