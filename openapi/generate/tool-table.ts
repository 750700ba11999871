import { tools } from '../../api/mcp/tools.ts';
import { markdownTable } from './markdown-table.ts';

/** The tools of `/mcp`, in the order in which a client is told of them. */
export const mcpTools = (): string =>
  markdownTable(
    ['tool', 'what it does'],
    tools.map(({ listed: { name, title = name } }) => [`\`${name}\``, title]),
  );
