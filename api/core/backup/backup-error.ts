/** Why a backup or a restore does not go on, in a sentence for the operator. Nothing was changed. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
