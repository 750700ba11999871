import { plainRule, type Rule, type ScriptRule, scriptRule } from './script-rule.ts';

/** The rules in line, and the gates at which calls wait. */
export interface ScriptBook {
  /** Throws when the rule is none. */
  add(rule: ScriptRule): void;
  /** For a call whose body is not read yet: only rules that leave it unread. */
  takeUnread(path: string): Rule | null;
  /** For a call that was read; `plainRule` when no rule speaks of it. */
  take(call: { path: string; model?: string | undefined; lastUserText?: string | undefined }): Rule;
  /** Opens a gate for those who wait and for all who come later. */
  release(gate: string): void;
  isOpen(gate: string): boolean;
  /** Resolves when the gate opens. */
  opened(gate: string, open: () => void): void;
  /** Calls that stand before this gate now. */
  waitingAt(gate: string): number;
  leave(gate: string, open: () => void): void;
  clear(): void;
}

export function createScriptBook(): ScriptBook {
  const lines: { rule: Rule; timesLeft: number }[] = [];
  const openGates = new Set<string>();
  const waiting = new Map<string, Set<() => void>>();

  function takeFirst(matches: (rule: Rule) => boolean): Rule | null {
    const index = lines.findIndex((line) => matches(line.rule));
    const line = lines[index];
    if (line === undefined) return null;
    line.timesLeft -= 1;
    if (line.timesLeft === 0) lines.splice(index, 1);
    return line.rule;
  }

  return {
    add(input) {
      const rule = scriptRule.parse(input);
      lines.push({ rule, timesLeft: rule.times === 'always' ? Number.POSITIVE_INFINITY : rule.times });
    },
    takeUnread(path) {
      if (lines.length === 0) return null;
      return takeFirst((rule) => rule.path === path && rule.request !== 'read');
    },
    take(call) {
      if (lines.length === 0) return plainRule;
      const taken = takeFirst(
        (rule) =>
          rule.path === call.path &&
          rule.request === 'read' &&
          (rule.model === undefined || rule.model === (call.model ?? '')) &&
          (rule.prefix === undefined || (call.lastUserText ?? '').startsWith(rule.prefix)),
      );
      return taken ?? plainRule;
    },
    release(gate) {
      openGates.add(gate);
      for (const open of waiting.get(gate) ?? []) open();
      waiting.delete(gate);
    },
    isOpen: (gate) => openGates.has(gate),
    opened(gate, open) {
      const openers = waiting.get(gate) ?? new Set();
      waiting.set(gate, openers.add(open));
    },
    waitingAt: (gate) => waiting.get(gate)?.size ?? 0,
    leave(gate, open) {
      waiting.get(gate)?.delete(open);
    },
    clear() {
      lines.length = 0;
      openGates.clear();
    },
  };
}
