import { z } from 'zod';
import { revokeKey as revoke } from '../../account/keys.ts';
import { RevokedKey } from '../../contract/key-record.ts';
import { keyIdInput } from '../key-fields.ts';
import { keySentence } from '../sentences.ts';
import { defineTool, writes } from '../tool.ts';

export const revokeKey = defineTool({
  name: 'revoke_key',
  title: 'Revoke a key',
  description:
    'Ends a key for ever: it stops on its next call, while its running calls finish. With `this_key` true it was the key of this connection.',
  input: z.object({ key_id: keyIdInput() }),
  output: RevokedKey,
  annotations: { ...writes, destructiveHint: true, idempotentHint: true },
  async run({ account }, caller, { key_id: keyId }) {
    const result = await revoke(account, caller, keyId);
    if (result.ok) return { ok: true, record: result.key };
    return { ok: false, sentence: keySentence(result.reason, keyId, account.limits()) };
  },
});
