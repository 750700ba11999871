import type { CallToolResult, Tool as ListedTool, ToolAnnotations } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Unavailable } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import type { AccountDeps, AccountKey } from '../account/account-deps.ts';
import type { UploadRequest } from '../contract/upload.ts';
import type { CreateUploadResult } from '../media/create-upload.ts';
import { plainJsonSchema } from './plain-json-schema.ts';
import { sentences } from './sentences.ts';

/** What tools are made of; the same for every caller. */
export interface ToolDeps {
  account: AccountDeps;
  startUpload: (asked: {
    agentId: number;
    contentType: UploadRequest['content_type'];
    size: number;
  }) => Promise<CreateUploadResult>;
  log: Log;
}

/** A sentence where a tool cannot do what was asked (spec: MCP refusals). */
export type ToolAnswer<Record> = { ok: true; record: Record } | { ok: false; sentence: string };

export interface Tool {
  /** As `tools/list` shows it. */
  listed: ListedTool;
  /** Never rejects: whatever goes wrong is a refusal in a sentence. */
  call(deps: ToolDeps, caller: AccountKey, args: unknown): Promise<CallToolResult>;
}

export interface ToolFacts<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input: Input;
  output: Output;
  /** All four: clients take what is left out for the worst. */
  annotations: Required<Omit<ToolAnnotations, 'title'>>;
  run(deps: ToolDeps, caller: AccountKey, input: z.output<Input>): Promise<ToolAnswer<z.input<Output>>>;
}

export const readsOnly: ToolFacts<z.ZodObject, z.ZodObject>['annotations'] = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** A tool that changes something replaces of these what it differs in. */
export const writes = { ...readsOnly, readOnlyHint: false, idempotentHint: false };

/** Of what is only read: a store that cannot answer is the one way to fail. */
export const answerOf = <Read extends object>(read: Read | Unavailable): ToolAnswer<Read> =>
  read === 'unavailable' ? { ok: false, sentence: sentences.unavailable } : { ok: true, record: read };

/** Schemas are written once here: the library would convert them anew for every list. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  facts: ToolFacts<Input, Output>,
): Tool {
  const { name, title, description, annotations, input, output, run } = facts;
  return {
    listed: {
      name,
      title,
      description,
      inputSchema: plainJsonSchema(input, 'input'),
      outputSchema: plainJsonSchema(output, 'output'),
      annotations,
    },
    async call(deps, caller, args) {
      try {
        const asked = input.safeParse(args ?? {});
        if (!asked.success) return refusal(sentences.badInput(name, asked.error.issues));
        const answer = await run(deps, caller, asked.data);
        // Parsed, because clients refuse an answer with a member that the schema does not have.
        return answer.ok ? success(output.parse(answer.record)) : refusal(answer.sentence);
      } catch (error) {
        const { agentId, keyId } = caller;
        deps.log.error('mcp tool failed', { agentId, keyId, path: name, error });
        return refusal(sentences.unavailable);
      }
    },
  };
}

/** A refusal has no `structuredContent`: some clients would hold it against the schema of answers. */
const refusal = (sentence: string): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: sentence }],
});

const success = (record: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(record) }],
  structuredContent: record,
});
