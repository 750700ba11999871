/** Who hears of each configuration that is taken while a process runs. */
export interface Reloads<Config> {
  tell(config: Config): void;
  /** At once, too, of the latest that was taken before: a role that waited for its store has missed it. */
  listen(listener: (config: Config) => void): void;
}

export function createReloads<Config>(): Reloads<Config> {
  const listeners: ((config: Config) => void)[] = [];
  let latest: { config: Config } | null = null;
  return {
    tell(config) {
      latest = { config };
      for (const listener of listeners) listener(config);
    },
    listen(listener) {
      listeners.push(listener);
      if (latest !== null) listener(latest.config);
    },
  };
}
