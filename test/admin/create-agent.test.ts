import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { testCreateAgent } from './create-agent-contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'faregate-agents-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('in memory', () => testCreateAgent(async (clock) => createMemoryLedger({ clock })));

describe('in one process, on its disk', () =>
  testCreateAgent(async (clock) => {
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    return openEmbeddedLedger({ dataDir: mkdtempSync(join(folder, 'ledger-')), clock, log });
  }));
