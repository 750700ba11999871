import { z } from 'zod';
import { configFile } from './config-file.ts';

/**
 * The JSON Schema (draft 2020-12) of the configuration file, for editors and the chart:
 * `openapi/config.schema.json`.
 */
export function makeConfigSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(configFile, { target: 'draft-2020-12', io: 'input' });
  return { $schema, title: 'Faregate configuration', ...schema };
}
