import { hasTool, type ToolName } from '../tools/tool.ts';

const told = new Set<ToolName>();

/** Whether the machine has them; one that has not skips the tests and says so, which CI counts as failure. */
export function whereInstalled(...names: ToolName[]): boolean {
  const missing = names.filter((name) => !hasTool(name));
  for (const name of missing) {
    if (!told.has(name))
      console.warn(`SKIPPED: every test that needs ${name}. \`make test\` installs it where it can.`);
    told.add(name);
  }
  return missing.length === 0;
}
