import type { JsonSchema } from './config-schema-of-values.ts';
import { flatten, type Value } from './read-values.ts';

/** The template with the tables of values and of the server's configuration in the place of its two marks. */
export function makeReadme(
  template: string,
  { values, config }: { values: readonly Value[]; config: JsonSchema },
): string {
  const parts = { '<!-- values -->': valuesTable(values), '<!-- config -->': configTable(config) };
  let text = template.replace('<!-- generated -->\n', GENERATED);
  for (const [mark, table] of Object.entries(parts)) {
    if (!text.includes(mark)) throw new Error(`README.template.md has no ${mark}`);
    text = text.replace(mark, () => table);
  }
  return text;
}

const GENERATED =
  '<!-- Made from README.template.md, values.yaml and the schema of the configuration: node charts/write-chart-documents.ts -->\n';

function valuesTable(values: readonly Value[]): string {
  const rows = flatten(values).map(({ path, value, description, children }) => {
    const shown = children.length > 0 ? '' : code(JSON.stringify(value));
    return description === '' ? null : row([code(path), shown, description]);
  });
  return [row(['value', 'default', 'what it is']), row(['---', '---', '---']), ...rows]
    .filter((each) => each !== null)
    .join('\n');
}

/** Blocks, and what stands in them; the schema has the rest. */
function configTable({ properties = {} }: JsonSchema): string {
  const rows = Object.entries(properties).flatMap(([name, block]) => [
    configRow(name, block),
    ...Object.entries(keysOf(block)).map(([key, each]) =>
      configRow(`${name}${block.type === 'array' ? '[]' : ''}.${key}`, each),
    ),
  ]);
  return [row(['config.', 'default', 'what it is']), row(['---', '---', '---']), ...rows].join('\n');
}

const keysOf = (block: JsonSchema): Record<string, JsonSchema> =>
  block.properties ?? (block.items as JsonSchema | undefined)?.properties ?? {};

function configRow(name: string, { default: value, description = '' }: JsonSchema): string {
  const isBlock = typeof value === 'object' && value !== null;
  return row([
    code(name),
    value === undefined || isBlock ? '' : code(JSON.stringify(value)),
    String(description),
  ]);
}

const code = (text: string): string => `\`${text}\``;
const row = (cells: readonly string[]): string =>
  `| ${cells.map((each) => each.replaceAll('|', '\\|')).join(' | ')} |`;
