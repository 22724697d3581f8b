import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { healthy, troubles } from './support/alert-inputs.js'
import { alerts, ruleFiles } from './support/alert-rules.js'

const promtool = process.env.SWITCHYARD_TEST_PROMTOOL ?? ''
if (!promtool) console.error('SKIPPED: the alerts are not tried, because there is no promtool')

const folder = mkdtempSync(join(tmpdir(), 'switchyard-alerts-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A test of promtool: after three hours of these series, exactly these alerts fire. */
function caseOf(name: string, changes: Record<string, string | null>, firing: string[]) {
  const series = Object.entries({ ...healthy, ...changes })
  return {
    name,
    interval: '1m',
    input_series: series.flatMap(([of, values]) => (values === null ? [] : [{ series: of, values }])),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: '3h',
        exp_samples: firing.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      },
    ],
  }
}

it('there is an input for every alert', () => {
  expect(Object.keys(troubles).sort()).toEqual(alerts.map(({ alert }) => alert).sort())
})

describe.runIf(promtool)('the alerts', () => {
  it('are rules that Prometheus reads', async () => {
    await execa(promtool, ['check', 'rules', ...ruleFiles])
  })

  it('fire each on its own trouble and not on an installation in good order', async () => {
    const tests = [
      caseOf('in good order', {}, []),
      ...Object.entries(troubles).map(([alert, { input, also = [] }]) =>
        caseOf(alert, input, [alert, ...also]),
      ),
    ]
    const file = join(folder, 'alerts.test.yml')
    writeFileSync(file, stringify({ rule_files: ruleFiles, evaluation_interval: '10m', tests }))
    const { exitCode, all } = await execa(promtool, ['test', 'rules', file], { reject: false, all: true })
    expect(exitCode, all).toBe(0)
  })
})
