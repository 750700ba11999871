/** One mistake, with the place to look at. */
export interface ConfigProblem {
  /** The file as the operator named it, or `environment`. */
  source: string;
  /** From 1; `null` where a problem has no place in the file. */
  line: number | null;
  column: number | null;
  /** `providers[0].baseUrl`; empty for the whole. */
  path: string;
  message: string;
}

/**
 * The configuration cannot be used. Holds every problem found, never a value from the file or the
 * environment.
 */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const sorted = problems.toSorted(
      (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
    );
    const count = sorted.length === 1 ? 'a problem' : `${sorted.length} problems`;
    super(`The configuration has ${count}:\n${sorted.map((each) => `  ${formatProblem(each)}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = sorted;
  }
}

/** A problem with a variable of the environment, by its name. */
export const environmentProblem = (path: string, message: string): ConfigProblem => ({
  source: 'environment',
  line: null,
  column: null,
  path,
  message,
});

/** `faregate.yaml:4:3 limits.burst: …`: most terminals and editors open the place. */
export function formatProblem({ source, line, column, path, message }: ConfigProblem): string {
  const place = line === null ? source : `${source}:${line}:${column ?? 1}`;
  return `${place} ${path === '' ? '' : `${path}: `}${message}`;
}
