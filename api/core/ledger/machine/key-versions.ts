import type { AgentState } from './state.ts';

/**
 * Each key of an agent has a version: the agent's version since which the key has not changed. Commands that change keys
 * name it. After a key's last change that is the version of its event; after a snapshot, which does not have it, the version of
 * the snapshot.
 */
export class KeyVersions {
  readonly #atSnapshot: number;
  readonly #changed = new Map<number, number>();

  constructor(atSnapshot = 0) {
    this.#atSnapshot = atSnapshot;
  }

  note(keyId: number, version: number): void {
    this.#changed.set(keyId, version);
  }

  of(keyId: number): number {
    return this.#changed.get(keyId) ?? this.#atSnapshot;
  }
}

/** No key has been made or changed since; 0 where there are none. */
export const newestVersion = (versions: readonly number[]): number => Math.max(0, ...versions);

export const newestKeyVersion = ({ keys, keyVersions }: Pick<AgentState, 'keys' | 'keyVersions'>): number =>
  newestVersion(Array.from(keys.keys(), (keyId) => keyVersions.of(keyId)));
