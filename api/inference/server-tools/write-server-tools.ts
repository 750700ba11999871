import { isRecord } from '#core/is-record.ts';
import { ROUTER_TOOLS } from '../../providers/router-tools.ts';
import type { Candidate } from '../admit/call-plan.ts';
import { parseExact } from '../json/exact-json.ts';
import { splitJsonList } from '../json/json-list.ts';
import { type JsonObject, type MemberChanges, memberText } from '../json/json-object.ts';
import { isInOwnWords, type PlacedTool, type PlacedTools, type ServerTool } from './server-tools.ts';
import { entryMembers, settingsOf } from './setting-keys.ts';

/** Writes the bounds that the hold was made of into the body that goes upstream. */
export function writeServerTools(body: JsonObject, candidate: Candidate, changes: MemberChanges): void {
  const { serverTools, unrunTools, translated } = candidate;
  if (serverTools === null && unrunTools.length === 0) return;
  const tools = serverTools ?? NO_TOOLS;
  changes.set('web_search_options', null);
  const list: (string | null)[] = entriesOf(body, 'tools');
  const plugins = entriesOf(body, 'plugins');
  // A translated list has functions alone.
  for (const { door } of translated === null ? unrunTools : [])
    if (door !== 'asked' && door.list === 'tools') list[door.index] = null;
  const ownSearches: PlacedTool[] = [];
  const home = candidate.translated === null ? tools.tools.find(isOwnSearchInItsWords) : undefined;
  for (const tool of tools.tools) {
    const { door, sent, bounds, runner } = tool;
    if (runner === 'model' && (candidate.translated !== null || !isInOwnWords(tool))) {
      ownSearches.push(tool);
      // A translated list has functions alone.
      if (candidate.translated === null && door !== 'asked' && door.list === 'tools') list[door.index] = null;
    } else if (door === 'asked') plugins.push(JSON.stringify({ ...sent, id: 'web', ...bounds }));
    else if (door.list === 'plugins') plugins[door.index] = JSON.stringify({ ...sent, ...bounds });
    else list[door.index] = JSON.stringify(entryOf(tool, door.words));
  }
  if (home !== undefined && home.door !== 'asked')
    list[home.door.index] = JSON.stringify(ownEntry(withUsesOf(home, ownSearches)));
  const added = home === undefined ? ownSearch(ownSearches) : [];
  const entries = [...list.filter((entry) => entry !== null), ...added];
  if (translated === null) leaveOutOfChoice(body, unrunTools, changes);
  if (entries.length > 0) changes.set('tools', `[${entries.join(',')}]`);
  else if (list.length > 0) leaveOutTools(changes);
  if (plugins.length > 0) changes.set('plugins', `[${plugins.join(',')}]`);
  if (serverTools !== null) writeSteps(body, tools, candidate, changes);
}

/** A choice that allows some tools may name one that is not sent. Where it allows no other, no tool may be called. */
function leaveOutOfChoice(body: JsonObject, unrun: readonly ServerTool[], changes: MemberChanges): void {
  const text = unrun.length === 0 ? undefined : memberText(body, 'tool_choice');
  const choice = text === undefined ? null : parseExact(text);
  if (!isRecord(choice) || choice.type !== 'allowed_tools') return;
  const types = new Set(unrun.map(({ sent }) => sent.type));
  const isGone = (tool: unknown): boolean => isRecord(tool) && types.has(tool.type);
  const { allowed_tools: nested, tools } = choice;
  const listed = isRecord(nested) ? nested.tools : tools;
  if (!Array.isArray(listed) || !listed.some(isGone)) return;
  const allowed = listed.filter((tool) => !isGone(tool));
  const inPlace = isRecord(nested)
    ? { ...choice, allowed_tools: { ...nested, tools: allowed } }
    : { ...choice, tools: allowed };
  changes.set('tool_choice', JSON.stringify(allowed.length === 0 ? 'none' : inPlace));
}

/** Some servers refuse words about tools where there are none. */
function leaveOutTools(changes: MemberChanges): void {
  for (const member of ['tools', 'tool_choice', 'parallel_tool_calls']) changes.set(member, null);
}

const NO_TOOLS: PlacedTools = { stepsMax: 0, tools: [] };

const isOwnSearchInItsWords = (tool: PlacedTool): boolean =>
  tool.runner === 'model' && tool.kind === 'search' && isInOwnWords(tool);

const withUsesOf = (tool: PlacedTool, others: readonly PlacedTool[]): PlacedTool => ({
  ...tool,
  bounds: {
    ...tool.bounds,
    max_uses: others.reduce((sum, { usesMax }) => sum + usesMax, tool.usesMax),
  },
});

/** Searches that were asked for in other words, as one: a model takes one tool of a name. */
function ownSearch(searches: readonly PlacedTool[]): string[] {
  const [first] = searches;
  if (first === undefined) return [];
  const given = isRecord(first.sent.parameters) ? first.sent.parameters : first.sent;
  const filters = isRecord(given.filters) ? given.filters : {};
  const allowed = given.allowed_domains ?? filters.allowed_domains;
  const blocked = given.excluded_domains ?? given.blocked_domains ?? filters.blocked_domains;
  const entry = {
    type: FIRST_SEARCH,
    name: 'web_search',
    max_uses: searches.reduce((sum, { usesMax }) => sum + usesMax, 0),
    ...(allowed === undefined ? {} : { allowed_domains: allowed }),
    ...(blocked === undefined ? {} : { blocked_domains: blocked }),
    ...locationOf(given.user_location),
  };
  return [JSON.stringify(entry)];
}

/** Chat's has its members one level deeper. */
function locationOf(location: unknown): object {
  if (!isRecord(location)) return {};
  const { approximate, ...flat } = location;
  return { user_location: { ...(isRecord(approximate) ? approximate : flat), type: 'approximate' } };
}

/** A list of conditions takes the place of `max_tool_calls`, and all formats know it: both say the same. */
function writeSteps(
  body: JsonObject,
  { stepsMax }: PlacedTools,
  { provider }: Candidate,
  changes: MemberChanges,
): void {
  // A plain server is sent neither.
  if (!provider.kind.capabilities.routesBetweenVendors) return;
  const earlier = entriesOf(body, 'stop_server_tools_when').filter(
    (entry) => !countsSteps(JSON.parse(entry)),
  );
  const steps = JSON.stringify({ type: 'step_count_is', step_count: stepsMax });
  changes.set('stop_server_tools_when', `[${[...earlier, steps].join(',')}]`);
  changes.set('max_tool_calls', String(stepsMax));
}

const countsSteps = (entry: unknown): boolean => isRecord(entry) && entry.type === 'step_count_is';

function entryOf(tool: PlacedTool, words: 'router' | 'shorthand' | 'messages'): Record<string, unknown> {
  const { sent, bounds, kind } = tool;
  switch (words) {
    case 'router':
      if (kind === 'clock') return { ...sent };
      return { ...entryMembers(sent), parameters: { ...settingsOf(sent), ...bounds } };
    case 'shorthand':
      return { ...sent, ...bounds };
    case 'messages':
      return tool.runner === 'model' ? ownEntry(tool) : inRoutersWords(tool);
  }
}

/** Later editions would have a program filter what they find, unless they are told who may call them. */
function ownEntry({ sent, bounds, kind }: PlacedTool): Record<string, unknown> {
  const { engine: _, max_results: _results, max_characters: _chars, ...ours } = bounds;
  const direct = FIRST_EDITIONS.has(String(sent.type)) ? {} : { allowed_callers: ['direct'] };
  return kind === 'search'
    ? { ...sent, max_uses: ours.max_uses, ...direct }
    : { ...sent, ...ours, ...direct };
}

const FIRST_SEARCH = 'web_search_20250305';
const FIRST_EDITIONS = new Set([FIRST_SEARCH, 'web_fetch_20250910']);

/** For a model that would not keep to the bounds of the messages format's own tool. */
function inRoutersWords({ sent, bounds, kind }: PlacedTool): Record<string, unknown> {
  const { allowed_domains: allowed, blocked_domains: blocked, user_location: location } = sent;
  const excluded = kind === 'search' ? 'excluded_domains' : 'blocked_domains';
  return {
    type: kind === 'search' ? ROUTER_TOOLS.search : ROUTER_TOOLS.fetch,
    parameters: {
      ...(allowed === undefined ? {} : { allowed_domains: allowed }),
      ...(blocked === undefined ? {} : { [excluded]: blocked }),
      ...(location === undefined ? {} : { user_location: location }),
      ...bounds,
    },
  };
}

const entriesOf = (body: JsonObject, key: string): string[] =>
  splitJsonList(memberText(body, key) ?? '') ?? [];
