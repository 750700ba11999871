import { join } from 'node:path';

const at = (file: string) => join(import.meta.dirname, 'last', file);

/** What the release before this one wrote, and what it can read: as it was frozen when that went out. */
export const lastRelease = {
  schema: at('ledger-event.schema.json'),
  events: at('events.jsonl'),
  agents: at('agents.jsonl'),
  documents: { v1: at('v1.json'), admin: at('admin.json') },
};

export type DocumentName = keyof typeof lastRelease.documents;

export const documentNames: readonly DocumentName[] = ['v1', 'admin'];

/** As it is now. */
export const documentFile = (name: DocumentName): string =>
  join(import.meta.dirname, '../../openapi', `${name}.json`);
