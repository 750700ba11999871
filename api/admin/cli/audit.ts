import type { Command } from 'commander';
import { HOUR_MS, isoTime, MINUTE_MS, systemClock } from '#core/clock.ts';
import { AuditedChangeList, type AuditedChangeRecord } from '../schemas/audited-change.ts';
import { addExamples, type OpenContext, shortTime } from './cli-context.ts';
import { usageError } from './cli-error.ts';
import { type Column, formatTable } from './terminal.ts';

interface ListOptions {
  since?: string;
  action?: string;
  limit: string;
  before?: string;
}

export function addAudit(program: Command, open: OpenContext): void {
  const audit = program.command('audit').description('who changed what');
  const list = audit
    .command('list')
    .description('changes and refused attempts, newest first; kept for 400 days')
    .option(
      '--since <when>',
      'a date, a time, or how long ago: 2026-11-21, 2026-11-21T10:00:00Z, 90m, 24h, 7d',
    )
    .option('--action <name>', 'only of this kind, such as agents.suspend')
    .option('--limit <rows>', 'at most so many', '50')
    .option('--before <id>', 'the page after the one that ended with this change')
    .action(async ({ since, action, limit, before }: ListOptions) => {
      const { client, showAnswer } = open();
      const from = since === undefined ? undefined : parseSince(since, systemClock.now());
      const asked = { since: from, action, limit };
      const answer = await client.get(AuditedChangeList, '/audit', { ...asked, before });
      showAnswer(answer, ({ changes, next }, paint) => [
        ...formatTable(changes, columns, paint),
        ...(next === null ? [] : ['', `More: ${nextPage(asked, next)}`]),
      ]);
    });
  addExamples(list, {
    'audit list --since 24h': 'what was done since yesterday',
    'audit list --action credit.grant --json': 'every grant, for programs',
  });
}

function nextPage(options: Record<string, string | undefined>, before: number): string {
  const given = Object.entries(options).flatMap(([name, value]) => (value ? [`--${name} ${value}`] : []));
  return ['audit list', ...given, `--before ${before}`].join(' ');
}

const UNITS = { m: MINUTE_MS, h: HOUR_MS, d: 24 * HOUR_MS };

/** As the API takes it. */
function parseSince(text: string, nowMs: number): string {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (unit === 'm' || unit === 'h' || unit === 'd') return isoTime(nowMs - Number(count) * UNITS[unit]);
  const atMs = /^\d{4}-\d{2}-\d{2}([T ]|$)/.test(text) ? Date.parse(withZone(text)) : Number.NaN;
  if (Number.isFinite(atMs)) return isoTime(atMs);
  throw usageError(`--since takes a date, a time, or how long ago, such as 2026-11-21 or 24h, not ${text}.`);
}

/** Tables show UTC, so what is typed after them is UTC, too; a date alone already is. */
const withZone = (text: string): string =>
  /[T ]/.test(text) && !/(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? `${text}Z` : text;

const columns: Column<AuditedChangeRecord>[] = [
  { title: 'TIME (UTC)', text: ({ started_at }) => shortTime(started_at) },
  { title: 'WHO', text: ({ operator }) => operator },
  { title: 'FROM', text: ({ address }) => address },
  { title: 'ACTION', text: ({ action }) => action },
  {
    title: 'RESULT',
    text: ({ result }) => result ?? 'started',
    style: ({ result }) => (result === 'ok' ? 'green' : result === null ? 'yellow' : 'red'),
  },
  {
    title: 'SUBJECT',
    text: ({ subject }) =>
      Object.entries(subject)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
  },
];
