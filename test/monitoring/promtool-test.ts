import type { AlertCase, Series } from './alert-cases.ts';
import { JOB, NAMESPACE } from './rules.ts';

/** A file for `promtool test rules`: each alert once as it has to fire, once as it must not. */
export function promtoolTest(ruleFile: string, cases: readonly AlertCase[]): object {
  return {
    rule_files: [ruleFile],
    evaluation_interval: '1m',
    tests: cases.flatMap(({ alert, afterMinutes, fires, staysQuiet }) => [
      { name: `${alert} fires`, ...oneTest(alert, afterMinutes, fires, 1) },
      { name: `${alert} stays quiet`, ...oneTest(alert, afterMinutes, staysQuiet, 0) },
    ]),
  };
}

function oneTest(alert: string, afterMinutes: number, series: readonly Series[], firing: 0 | 1): object {
  return {
    interval: '1m',
    input_series: series.map(([metric, values]) => ({ series: withHere(metric), values })),
    promql_expr_test: [
      {
        expr: `count by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: `${afterMinutes}m`,
        exp_samples: firing === 0 ? [] : [{ labels: `{alertname="${alert}"}`, value: 1 }],
      },
    ],
  };
}

/** With the labels that the relabelings of the chart give every series. */
function withHere(metric: string): string {
  const [name = '', own = ''] = metric.split(/[{}]/);
  const here = `namespace="${NAMESPACE}",job="${JOB}"`;
  return `${name}{${[here, own].filter((labels) => labels !== '').join(',')}}`;
}
