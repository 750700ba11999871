import { type AlertCase, pendingMinutes, type Series } from './alert-cases.ts';
import { JOB, NAMESPACE } from './rules.ts';

/** A file for `promtool test rules`: each alert once as it has to fire, once as it must not. */
export function promtoolTest(ruleFile: string, cases: readonly AlertCase[]): object {
  return {
    rule_files: [ruleFile],
    evaluation_interval: '1m',
    tests: cases.flatMap(({ alert, afterMinutes, fires, staysQuiet }) => [
      {
        name: `${alert} fires`,
        ...given(fires),
        promql_expr_test: [firing(alert, afterMinutes, 1), waited(alert, afterMinutes)],
      },
      {
        name: `${alert} stays quiet`,
        ...given(staysQuiet),
        promql_expr_test: [firing(alert, afterMinutes, 0)],
      },
    ]),
  };
}

const given = (series: readonly Series[]) => ({
  interval: '1m',
  input_series: series.map(([metric, values]) => ({ series: withHere(metric), values })),
});

const firing = (alert: string, afterMinutes: number, count: number) => ({
  expr: `count by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`,
  eval_time: `${afterMinutes}m`,
  exp_samples: samples(alert, count),
});

/** The rules are looked at each minute: as often as it was pending it was quiet, and fired at the next look. */
const waited = (alert: string, afterMinutes: number) => ({
  expr: `max by (alertname) (count_over_time(ALERTS{alertname="${alert}",alertstate="pending"}[1d]))`,
  eval_time: `${afterMinutes}m`,
  exp_samples: samples(alert, pendingMinutes[alert] ?? 0),
});

const samples = (alert: string, value: number) =>
  value === 0 ? [] : [{ labels: `{alertname="${alert}"}`, value }];

/** With the labels that the relabelings of the chart give every series. */
function withHere(metric: string): string {
  const [name = '', own = ''] = metric.split(/[{}]/);
  const here = `namespace="${NAMESPACE}",job="${JOB}"`;
  return `${name}{${[here, own].filter((labels) => labels !== '').join(',')}}`;
}
