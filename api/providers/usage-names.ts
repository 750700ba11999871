import { type UsageFormat, type UsageRole, vendorUsages } from './usage-fields.ts';

/** For each role the paths of all its names, in one format, over all vendors: `usage-fields.ts` says whose each is. */
export type UsageNames = Readonly<Record<UsageRole, readonly (readonly string[])[]>>;

/** Computed once: a record is read for each call, and of some vendors for each chunk. */
export const usageNames: Readonly<Record<UsageFormat, UsageNames>> = {
  chat: namesOf('chat'),
  responses: namesOf('responses'),
  messages: namesOf('messages'),
};

/** Members of a usage record that tell what a vendor charges the operator. */
export const billMembers: readonly string[] = [...new Set(vendorUsages.flatMap(({ bill = [] }) => bill))];

function namesOf(format: UsageFormat): UsageNames {
  const pathsOf = (role: UsageRole): string[][] => {
    const paths = vendorUsages.flatMap(({ formats }) => formats[format]?.[role] ?? []);
    return [...new Set(paths)].map((path) => path.split('.'));
  };
  return {
    prompt: pathsOf('prompt'),
    promptBeside: pathsOf('promptBeside'),
    cached: pathsOf('cached'),
    cacheWritten: pathsOf('cacheWritten'),
    cacheWritten5m: pathsOf('cacheWritten5m'),
    cacheWritten1h: pathsOf('cacheWritten1h'),
    completion: pathsOf('completion'),
    reasoning: pathsOf('reasoning'),
    total: pathsOf('total'),
    webSearches: pathsOf('webSearches'),
  };
}
