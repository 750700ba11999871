import type { AttoUsd } from '#core/money.ts';
import type { ApiError } from '../../contract/errors.ts';

/**
 * Tools that a provider runs by itself in the middle of an answer. Each has bounds: the caller's own, or ours, written
 * into the body that goes upstream, so that the hold covers all that they can cost.
 */
export interface ServerTools {
  /** Turns in which they run, at the most. After each the model reads everything again, results included. */
  stepsMax: number;
  tools: readonly ServerTool[];
}

export interface ServerTool {
  kind: 'search' | 'fetch' | 'clock';
  door: ToolDoor;
  /** As the caller wrote it, but for the settings that are never sent. */
  sent: Readonly<Record<string, unknown>>;
  /** The names of those settings that the caller wrote. */
  unsentSettings: readonly string[];
  /** The caller's, or ours where it set none: written over what it sent. */
  bounds: Readonly<Record<string, unknown>>;
  usesMax: number;
  /** Of the router's; a model's own search is none of them. */
  namesEngine: boolean;
  /** What the router's search engines take for one use; a model's own search has its own price. */
  feeAtto: AttoUsd;
  /** Of one use, by the router's engines. */
  resultTokensMax: number;
  /** Why nobody may run it as the caller wrote it; missing: its settings are served. */
  fault?: ApiError;
}

/** Where a tool stands in the body. `asked`: it has no entry of its own there (`:online`, `web_search_options`). */
export type ToolDoor =
  | { list: 'tools'; index: number; words: 'router' | 'shorthand' | 'messages' }
  | { list: 'plugins'; index: number }
  | 'asked';

/** The same at one endpoint. */
export interface PlacedTools {
  stepsMax: number;
  tools: readonly PlacedTool[];
}

export interface PlacedTool extends ServerTool {
  /** The router's engines at its fees, or the model's own search at the price that its endpoint lists. */
  runner: 'router' | 'model';
  /** Of one use, the operator's margin included. */
  feeAtto: AttoUsd;
  /** Of all uses. */
  resultTokensMax: number;
}

/** It is one of the messages format's own tools. */
export const isInOwnWords = ({ door }: ServerTool): boolean =>
  door !== 'asked' && door.list === 'tools' && door.words === 'messages';
