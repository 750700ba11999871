import type { Command } from 'commander';
import { systemClock } from '#core/clock.ts';
import { examine } from '../doctor/examine.ts';
import type { Finding } from '../doctor/finding.ts';
import { addExamples, type OpenContext } from './cli-context.ts';
import { type Column, formatTable, type Paint, type Style } from './terminal.ts';

export function addDoctor(program: Command, open: OpenContext): void {
  const doctor = program
    .command('doctor')
    .description(
      'look at configuration, folder, ports, clock, stores, and the keys, models and prices of providers, whether the ' +
        'gateway runs or not; exit code 1 when there is a problem',
    )
    .action(async () => {
      const { show, paint, fail, loadConfig, telling } = open();
      const findings = await telling('Reading the configuration', (say) => {
        const onWaiting = (names: readonly string[]) => say(`Waiting for ${names.join(', ')}`);
        return examine({ loadConfig, clock: systemClock, onWaiting });
      });
      const isSound = findings.every(({ state }) => state !== 'problem');
      if (!isSound) fail();
      show({ ok: isSound, findings }, () => [
        ...formatTable(findings.flatMap(toRows), columns, paint),
        '',
        summary(findings, paint),
      ]);
    });
  addExamples(doctor, {
    doctor: 'before the first start, and whenever something does not work',
    'doctor --json': 'for programs',
  });
}

interface Row {
  check: string;
  state: Finding['state'] | '';
  text: string;
}

/** What to do stands below what was found: beside it, the table would be wider than a terminal. */
const toRows = ({ check, state, found, todo }: Finding): Row[] => [
  { check, state, text: found },
  ...(todo === null ? [] : [{ check: '', state: '' as const, text: `→ ${todo}` }]),
];

const columns: Column<Row>[] = [
  { title: 'CHECK', text: ({ check }) => check },
  { title: 'STATE', text: ({ state }) => state, style: ({ state }) => (state === '' ? null : styles[state]) },
  { title: 'FOUND', text: ({ text }) => text },
];

const styles: Record<Finding['state'], Style> = { ok: 'green', warning: 'yellow', problem: 'red' };

function summary(findings: readonly Finding[], paint: Paint): string {
  const count = (state: Finding['state']): number => findings.filter((each) => each.state === state).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (problems > 0) return paint('red', `${plural(problems, 'problem')}, ${plural(warnings, 'warning')}.`);
  if (warnings > 0) return paint('yellow', `No problem, ${plural(warnings, 'warning')}.`);
  return paint('green', 'Everything is as it should be.');
}

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
