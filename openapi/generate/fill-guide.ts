import { callErrors, marketErrors } from './error-tables.ts';
import { chatFields, dialectFields, messagesFields, responsesFields } from './field-table.ts';
import { changeableLimits, fixedLimits } from './limit-tables.ts';
import { quirkTable } from './quirk-table.ts';
import { mcpTools } from './tool-table.ts';

const tables: Readonly<Record<string, () => string>> = {
  'call errors': callErrors,
  'market errors': marketErrors,
  'changeable limits': changeableLimits,
  'fixed limits': fixedLimits,
  tools: mcpTools,
  'chat fields': chatFields,
  'responses fields': responsesFields,
  'messages fields': messagesFields,
  'dialect fields': dialectFields,
  quirks: quirkTable,
};

/** A guide with its tables as the contract has them now. They stand in the file, so that it can be read anywhere. */
export const fillGuide = (markdown: string): string =>
  markdown.replaceAll(
    /^(<!-- table: ([\w ]+), written by `make openapi` -->\n)[\s\S]*?^(<!-- end of table -->)$/gm,
    (_, begin: string, name: string, end: string) => {
      const table = tables[name];
      if (table === undefined) throw new Error(`A guide asks for a table of ${name}, which there is not.`);
      return `${begin}\n${table()}\n\n${end}`;
    },
  );
