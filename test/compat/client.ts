import type { TestProvider } from '../support/provider.ts';
import type { ModelKind } from './compat-gateway.ts';

/** A program that other people wrote, and how it is run against the gateway. */
export interface CompatClient {
  /** Its name for `make compat ARGS=name`, and of its folder in `packages/`. */
  id: string;
  /** As its users know it. */
  title: string;
  group: ClientGroup;
  /** The folder of `packages/` with its pins; `null` for what the project itself has installed. */
  packages: string | null;
  /** The package whose version the table of results shows; `null` for cases of our own. */
  versionOf: string | null;
  /** The wire format that it speaks. */
  speaks: string;
  /** The program whose lines between `For the guide:` and `End.` the guide of clients shows. */
  program?: string;
  run(world: ClientWorld): Promise<readonly Check[]>;
}

export const CLIENT_GROUPS = ['Coding agents', 'SDKs and frameworks', 'Public suites'] as const;
export type ClientGroup = (typeof CLIENT_GROUPS)[number];

/** One promise about a client. */
export interface Check {
  /** It stays the same from run to run, because expected failures name it. */
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** The first lines of what went wrong. */
  detail: string;
}

/** A client is given a kind of model, accounts, and a folder that is thrown away afterwards. */
export interface ClientWorld {
  kind: ModelKind;
  modelId: string;
  /** Without `/v1`. */
  origin: string;
  accounts: { paid: string; empty: string; wrongKey: string };
  /** An empty folder that serves as HOME. */
  home: string;
  /** An empty folder to work in. */
  folder: string;
  /** The client's packages are installed in this folder. */
  installed: string;
  transcript: Transcript;
  /** The server behind the gateway, and what it was sent. */
  provider: TestProvider;
}

export interface Transcript {
  add(title: string, text: string): void;
}

export const passed = (name: string): Check => ({ name, outcome: 'passed', detail: '' });
export const failed = (name: string, detail: string): Check => ({
  name,
  outcome: 'failed',
  detail: detail.slice(0, DETAIL_CHARS),
});
const DETAIL_CHARS = 600;
