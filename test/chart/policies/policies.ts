import { configuration } from './configuration.ts';
import { disruption } from './disruption.ts';
import { drain } from './drain.ts';
import { hooks } from './hooks.ts';
import { images } from './images.ts';
import { names } from './names.ts';
import { networkPolicies } from './network-policies.ts';
import { noDemo } from './no-demo.ts';
import { noRights } from './no-rights.ts';
import { podSecurity } from './pod-security.ts';
import type { Policy } from './policy.ts';
import { probes } from './probes.ts';
import { references } from './references.ts';
import { resources } from './resources.ts';
import { scaling } from './scaling.ts';
import { secrets } from './secrets.ts';
import { spread } from './spread.ts';

/** What every render of the chart keeps, whatever its values. */
export const policies: readonly Policy[] = [
  podSecurity,
  noRights,
  disruption,
  scaling,
  names,
  resources,
  probes,
  secrets,
  hooks,
  references,
  configuration,
  drain,
  spread,
  images,
  networkPolicies,
  noDemo,
];
