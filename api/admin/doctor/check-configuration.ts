import { checkCatalog } from '#core/catalog/check-catalog.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError, formatProblem } from '../../config/config-error.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const CHECK = 'configuration';

/** `null`: it cannot be used, and its mistakes are among the findings. */
export async function checkConfiguration(
  loadConfig: () => Promise<Config>,
): Promise<{ config: Config | null; findings: Finding[] }> {
  try {
    const config = await loadConfig();
    const warnings = [...config.notices, ...checkCatalog(config)].map((found) =>
      warning(CHECK, found, 'Mend it, unless it is meant so.'),
    );
    return { config, findings: [summary(config), ...stops(config), ...warnings] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = error.problems.map((each) =>
      problem(CHECK, formatProblem(each), 'Correct it: no gateway starts with it.'),
    );
    return { config: null, findings };
  }
}

function summary({ file, storage, providers }: Config): Finding {
  const from = file ?? 'no file is named by FAREGATE_CONFIG: the defaults';
  const count = providers.length === 1 ? '1 provider' : `${providers.length} providers`;
  return ok(CHECK, `${from}; mode ${storage.mode}, ${count}`);
}

const stops = ({ stopped }: Config): Finding[] =>
  stopped
    ? [
        warning(
          CHECK,
          'The gateway is stopped: it starts no calls.',
          'Take stopped: true away to start them.',
        ),
      ]
    : [];
