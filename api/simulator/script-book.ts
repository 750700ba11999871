import { plainRule, type Rule, type ScriptRule, scriptRule } from './script-rule.ts';

/** The rules in line, and the gates at which calls wait. */
export class ScriptBook {
  readonly #lines: { rule: Rule; timesLeft: number }[] = [];
  readonly #openGates = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Throws when the rule is none. */
  add(input: ScriptRule): void {
    const rule = scriptRule.parse(input);
    this.#lines.push({ rule, timesLeft: rule.times === 'always' ? Number.POSITIVE_INFINITY : rule.times });
  }

  /** For a call whose body is not read yet: only rules that leave it unread. */
  takeUnread(path: string): Rule | null {
    return this.#takeFirst((rule) => rule.path === path && rule.request !== 'read');
  }

  /** For a call that was read; `plainRule` when no rule speaks of it. */
  take(call: { path: string; model?: string | undefined; lastUserText?: string | undefined }): Rule {
    const taken = this.#takeFirst(
      (rule) =>
        rule.path === call.path &&
        rule.request === 'read' &&
        (rule.model === undefined || rule.model === (call.model ?? '')) &&
        (rule.prefix === undefined || (call.lastUserText ?? '').startsWith(rule.prefix)),
    );
    return taken ?? plainRule;
  }

  #takeFirst(matches: (rule: Rule) => boolean): Rule | null {
    const index = this.#lines.findIndex((line) => matches(line.rule));
    const line = this.#lines[index];
    if (line === undefined) return null;
    line.timesLeft -= 1;
    if (line.timesLeft === 0) this.#lines.splice(index, 1);
    return line.rule;
  }

  /** Opens a gate for those who wait and for all who come later. */
  release(gate: string): void {
    this.#openGates.add(gate);
    for (const open of this.#waiting.get(gate) ?? []) open();
    this.#waiting.delete(gate);
  }

  isOpen(gate: string): boolean {
    return this.#openGates.has(gate);
  }

  /** Calls `open` when the gate opens. */
  opened(gate: string, open: () => void): void {
    const openers = this.#waiting.get(gate) ?? new Set();
    this.#waiting.set(gate, openers.add(open));
  }

  /** Calls that stand before this gate now. */
  waitingAt(gate: string): number {
    return this.#waiting.get(gate)?.size ?? 0;
  }

  leave(gate: string, open: () => void): void {
    this.#waiting.get(gate)?.delete(open);
  }

  clear(): void {
    this.#lines.length = 0;
    this.#openGates.clear();
  }
}
