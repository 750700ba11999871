import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes a configuration of this folder's with each `@NAME@` filled in. */
export function fillTemplate(
  template: string,
  target: string,
  values: Record<string, string | number>,
): void {
  const text = readFileSync(join(import.meta.dirname, template), 'utf8');
  writeFileSync(
    target,
    text.replace(/@([A-Z_]+)@/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`${template} asks for ${name}`);
      return String(value);
    }),
  );
}
