/** A store cannot be used at the start, in a sentence for the operator. */
export class StoreError extends Error {
  override readonly name = 'StoreError';

  constructor(store: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`${store} cannot be used: ${why}`, { cause });
  }
}

/** What goes wrong with a store while a process starts is the operator's to mend. */
export async function reach<T>(store: string, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    throw new StoreError(store, error);
  }
}
