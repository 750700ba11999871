import { listMetrics, type Scraped } from '../../openapi/generate/metrics-table.ts';

/** What `/metrics` of a process says of each metric, by name. */
export async function describeMetrics(internalUrl: string): Promise<Map<string, string>> {
  const text = await (await fetch(`${internalUrl}/metrics`)).text();
  const types = new Map(
    Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name, type]) => [name, type]),
  );
  const helps = Array.from(
    text.matchAll(/^# HELP (\S+) (.*)$/gm),
    ([, name = '', help]): [string, string] => [name, `${types.get(name)}: ${help}`],
  );
  return new Map(helps.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The same of the table, for one process or for a worker of several roles. */
export const describeTable = (...processes: readonly Scraped[]): Map<string, string> =>
  new Map(
    listMetrics()
      .filter(({ of }) => of.some((each) => processes.includes(each)))
      .map(({ name, type, help }) => [name, `${type}: ${help}`]),
  );
