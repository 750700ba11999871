import { workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

/** A demo agent is for a start without a configuration file, or for one that FAREGATE_DEMO asks for. */
export const noDemo: Policy = {
  name: 'no pod makes a demo agent with credit and a key that nobody asked for',
  find: ({ objects }) =>
    workloadsOf(objects).flatMap(({ label, containers }) =>
      containers
        .filter(({ command = [] }) => command.includes('api/main.ts'))
        .flatMap(({ name, env = [] }) => {
          const valueIn = (wanted: string) => env.findLast((each) => each.name === wanted)?.value;
          const findings: string[] = [];
          if (!valueIn('FAREGATE_CONFIG'))
            findings.push(`${label} ${name} starts without a configuration file`);
          if (valueIn('FAREGATE_DEMO') !== '0')
            findings.push(`${label} ${name} may be asked for a demo agent`);
          return findings;
        }),
    ),
};
