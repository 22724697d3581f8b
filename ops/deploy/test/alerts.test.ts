import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { healthy, troubles } from './support/alert-inputs.js'
import { alerts, type Rule, ruleFiles } from './support/alert-rules.js'

const promtool = process.env.SWITCHYARD_TEST_PROMTOOL ?? ''
if (!promtool) console.error('SKIPPED: the alerts are not tried, because there is no promtool')

const backupOfKubernetes = {
  switchyard_backup_cut_timestamp_seconds: null,
  'kube_cronjob_status_last_successful_time{namespace="switchyard",cronjob="backup"}': '-90000+0x180',
}

const folder = mkdtempSync(join(tmpdir(), 'switchyard-alerts-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Creates a test of promtool: after three hours of these series, exactly these alerts fire. */
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

const repository = resolve(import.meta.dirname, '../../..')
const runbookOf = ({ annotations }: Rule) =>
  /^\{\{ \$externalLabels\.switchyard_url \}\}\/console\/runbooks\/([\w-]+)#(\w+)$/.exec(
    annotations?.runbook_url ?? '',
  )

/** Alerts about the queues of other programs are one step less severe, so that they page nobody. */
const severity =
  /^(critical|warning|info|\{\{ if eq \$labels\.source "switchyard" \}\}(critical\{\{ else \}\}warning|warning\{\{ else \}\}info)\{\{ end \}\})$/

it.each(alerts)(
  '$alert describes its subject, and names the section of a runbook with instructions',
  (rule) => {
    expect(rule.labels).toEqual({ severity: expect.stringMatching(severity) })
    expect(rule.annotations).toMatchObject({ summary: expect.any(String), description: expect.any(String) })
    const [, page = '', anchor] = runbookOf(rule) ?? []
    expect(anchor).toBe(rule.alert.toLowerCase())
    const text = readFileSync(join(repository, `docs/runbooks/${page}.md`), 'utf8')
    const section = text.split(/^(?=## )/m).find((part) => part.startsWith(`## ${rule.alert}\n`))
    for (const part of ['Means', 'Hurts', 'Look at', 'Do']) expect(section).toContain(`- **${part}**: `)
  },
)

it('the runbooks have no section without an alert, and no broken links', () => {
  const folder = join(repository, 'docs/runbooks')
  const pages = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))
  const sections = pages.flatMap(({ text }) => [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title))
  expect(sections.sort()).toEqual(alerts.map(({ alert }) => alert).sort())
  for (const { name, text } of pages) {
    for (const [link, path = '', anchor] of text.matchAll(/\]\(([^)#]*)(?:#([^)]+))?\)/g)) {
      const target = path === '' ? join(folder, name) : resolve(folder, path)
      expect(existsSync(target), `${name}: ${link}`).toBe(true)
      if (anchor) expect(anchorsOf(readFileSync(target, 'utf8')), `${name}: ${link}`).toContain(anchor)
    }
  }
})

const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )

describe.runIf(promtool)('the alerts', () => {
  it('are rules that Prometheus accepts', async () => {
    await execa(promtool, ['check', 'rules', ...ruleFiles])
  })

  it('page nobody for the queues of other programs, and have the address of their runbook', async () => {
    const of = (source: string) => ({ series: `jobqueue_source_up{source="${source}"}`, values: '0+0x10' })
    const rule = alerts.find(({ alert }) => alert === 'JobQueueSourceAway')
    const expected = (source: string, severity: string) => ({
      exp_labels: { source, severity },
      exp_annotations: {
        summary: `The job queue source ${source} does not answer`,
        description: rule?.annotations?.description,
        runbook_url: 'https://switchyard.example.com/console/runbooks/job-queues#jobqueuesourceaway',
      },
    })
    const file = join(folder, 'severity.test.yml')
    const test = {
      interval: '1m',
      external_labels: { switchyard_url: 'https://switchyard.example.com' },
      input_series: [of('switchyard'), of('shop')],
      alert_rule_test: [
        {
          eval_time: '5m',
          alertname: 'JobQueueSourceAway',
          exp_alerts: [expected('shop', 'warning'), expected('switchyard', 'critical')],
        },
      ],
    }
    writeFileSync(file, stringify({ rule_files: ruleFiles, tests: [test] }))
    const { exitCode, all } = await execa(promtool, ['test', 'rules', file], { reject: false, all: true })
    expect(exitCode, all).toBe(0)
  })

  it('warn before writes are refused, on any size and speed of the disk of the repositories', async () => {
    const gibibyte = 2 ** 30
    const emptyMinutes = 60
    const tests = [5, 30, 4096].flatMap((gibibytes) =>
      [30, 300].map((minutes) => {
        const size = gibibytes * gibibyte
        const kept = Math.min(gibibyte, size * 0.05)
        const full = emptyMinutes + minutes
        const series = (part: string, values: string) => ({
          series: `git_api_storage_${part}_bytes{service="git-api"}`,
          values,
        })
        return {
          name: `${gibibytes} GiB in ${minutes} minutes`,
          interval: '1m',
          input_series: [
            series('size', `${size}x${full}`),
            series('kept_free', `${kept}x${full}`),
            series('free', `${size}x${emptyMinutes} ${size}-${(size - kept) / minutes}x${minutes}`),
          ],
          promql_expr_test: [
            {
              expr: 'max(ALERTS{alertname=~"Storage.+",alertstate="firing",severity="critical"})',
              eval_time: `${full - 5}m`,
              exp_samples: [{ labels: '{}', value: 1 }],
            },
          ],
        }
      }),
    )
    const file = join(folder, 'disks.test.yml')
    const rules = ruleFiles.filter((rule) => rule.endsWith('repositories.rules.yml'))
    writeFileSync(file, stringify({ rule_files: rules, evaluation_interval: '1m', tests }))
    const { exitCode, all } = await execa(promtool, ['test', 'rules', file], { reject: false, all: true })
    expect(exitCode, all).toBe(0)
  })

  it('fire each on its own problem and not on a healthy installation', async () => {
    const tests = [
      caseOf('in good order', {}, []),
      ...Object.entries(troubles).map(([alert, { input, also = [] }]) =>
        caseOf(alert, input, [alert, ...also]),
      ),
      caseOf('a backup of Kubernetes', backupOfKubernetes, ['BackupTooOld']),
    ]
    const file = join(folder, 'alerts.test.yml')
    writeFileSync(file, stringify({ rule_files: ruleFiles, evaluation_interval: '10m', tests }))
    const { exitCode, all } = await execa(promtool, ['test', 'rules', file], { reject: false, all: true })
    expect(exitCode, all).toBe(0)
  })
})
