import { readFileSync } from 'node:fs'
import { execaSync } from 'execa'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { createServiceContext } from '../../../packages/service-kit/src/lifecycle/index.js'
import { exporterMetrics, ruleFiles, rules } from '../../deploy/test/support/alert-rules.js'
import { dashboards } from '../../deploy/test/support/dashboards.js'
import { metricOf, selectorsOf } from '../../deploy/test/support/selectors.js'
import { repository } from './support/build-stages.js'
import { readCompose, readRepositoryFile } from './support/compose.js'
import { serviceNames } from './support/service-configs.js'

describe('the selectors of an expression', () => {
  it.each([
    ['time() - max by (job) (up{job="a b", x=~".*(y|z)"} > 0)', ['up{job="a b", x=~".*(y|z)"}']],
    ['rate(a_total[$__rate_interval]) / on (x) group_left (y) b:c:d1h > bool 1e6', ['a_total', 'b:c:d1h']],
    ['topk(15, histogram_quantile(0.9, sum by (le) (rate(a_bucket{}[5m])))) or b', ['a_bucket{}', 'b']],
  ])('%s', (expression, selectors) => {
    expect(selectorsOf(expression)).toEqual(selectors)
  })
})

describe('the metrics of rules and dashboards', () => {
  const { registry } = createServiceContext('asked', 'silent').metrics
  const sources = execaSync(
    'git',
    ['grep', '-lwE', 'help|ofSource', '--', 'services/*/src/*.ts', 'packages/*/src/*.ts'],
    { cwd: repository },
  ).stdout.split('\n')
  const known = new Set([
    ...registry.getMetricsAsArray().map(({ name }) => name),
    ...sources.flatMap((path) => readRepositoryFile(path).match(/(?<=')[a-z]+(?:_[a-z]+)+(?=')/g) ?? []),
    ...rules.map(({ record }) => record),
    ...exporterMetrics.keys(),
  ])
  const isKnown = (name: string) => known.has(name) || known.has(name.replace(/_(bucket|sum|count)$/, ''))
  const unknownIn = (expression: string) =>
    selectorsOf(expression)
      .map(metricOf)
      .filter((name) => !isKnown(name))

  it.each(rules.map(({ alert, record, expr }) => [alert ?? record, expr] as const))(
    'exist: in the rule %s',
    (_name, expr) => expect(unknownIn(expr)).toEqual([]),
  )

  it.each(dashboards)('exist: in the dashboard %s', (_name, { panels, templating }) => {
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    expect(expressions.flatMap(unknownIn)).toEqual([])
    const variables = templating.list.map(({ query }) => /^label_values\((\w+),/.exec(query)?.[1])
    expect(variables.filter((name) => name !== undefined && !isKnown(name))).toEqual([])
  })

  it('are reported when they do not exist', () => {
    expect(unknownIn('rate(http_request_total[5m]) > worker_jobs_in_progress')).toEqual([
      'http_request_total',
    ])
  })
})

it('the rules of the component monitoring in Kubernetes are those of Prometheus; `vitest -u` writes them', async () => {
  const groups = ruleFiles.flatMap((file) => parse(readFileSync(file, 'utf8')).groups)
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'switchyard' },
    spec: { groups },
  }
  const text = `# Written from ops/deploy/prometheus.\n${stringify(manifest, { lineWidth: 0 })}`
  await expect(text).toMatchFileSnapshot('../../deploy/kubernetes/components/monitoring/rules.yaml')
})

describe('docker-compose.monitoring.yml', () => {
  const { services, secrets } = readCompose({ SECRETS_FOLDER: './secrets' }, 'docker-compose.monitoring.yml')
  const prometheus = parse(readRepositoryFile('ops/deploy/prometheus/prometheus.yml'))
  const targets = (name: string) => parse(readRepositoryFile(`ops/deploy/prometheus/targets/${name}.yml`))

  it('has every exporter that Prometheus reads, and a Prometheus that reads every service', () => {
    const [ofServices] = prometheus.scrape_configs
    expect(ofServices.dns_sd_configs[0].names.toSorted()).toEqual(serviceNames.toSorted())
    const addresses = JSON.stringify(prometheus).match(/[\w-]+-exporter(?=:\d)/g)
    expect(addresses?.sort()).toEqual(
      Object.keys(services)
        .filter((name) => name.endsWith('-exporter'))
        .sort(),
    )
  })

  it('sends alerts nowhere and probes the gateway of Compose, unless configured otherwise', () => {
    expect(targets('alertmanagers')).toEqual([])
    expect(targets('gateways')).toEqual([{ targets: ['http://gateway:8080/-/gateway/liveness'] }])
  })

  it('publishes Prometheus, which has no login, on loopback only, and Grafana with a password', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports)
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([
      ['prometheus', ['127.0.0.1:9090:9090']],
      ['grafana', ['127.0.0.1:3000:3000']],
    ])
    const prometheusPort = /127\.0\.0\.1:\$\{PROMETHEUS_PORT/
    expect(readRepositoryFile('docker-compose.monitoring.yml')).toMatch(prometheusPort)
    expect(services.grafana?.environment?.GF_SECURITY_ADMIN_PASSWORD__FILE).toBe(
      '/run/secrets/grafana_password',
    )
    expect(Object.keys(secrets)).toContain('grafana_password')
  })

  it('mounts the dashboards where Grafana expects them, and connects it to Prometheus', () => {
    const provisioned = (path: string) => parse(readRepositoryFile(`ops/deploy/grafana/provisioning/${path}`))
    const { path } = provisioned('dashboards/switchyard.yaml').providers[0].options
    expect(services.grafana?.volumes).toContain(`./ops/deploy/grafana:${path}:ro`)
    const { url, jsonData } = provisioned('datasources/prometheus.yaml').datasources[0]
    expect(Object.keys(services)).toContain(new URL(url).hostname)
    expect(jsonData.timeInterval).toBe(prometheus.global.scrape_interval)
  })
})
