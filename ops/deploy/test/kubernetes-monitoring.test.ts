import { describe, expect, it } from 'vitest'
import { readCompose } from '../../docker/test/support/compose.js'
import { serviceNames } from '../../docker/test/support/service-configs.js'
import { dashboards } from './support/dashboards.js'
import {
  type Container,
  type Manifest,
  overlays,
  renderWithComponent,
  schemaErrors,
  unknownFields,
  type Workload,
} from './support/manifests.js'

const kubectl = process.env.SWITCHYARD_TEST_KUBECTL ?? ''
const compose = readCompose({ SECRETS_FOLDER: './secrets' }, 'docker-compose.monitoring.yml')

type PodMonitor = Manifest<{
  selector: { matchLabels: Record<string, string> }
  podMetricsEndpoints: { port: string; path: string }[]
}>

describe.runIf(kubectl).each(overlays)('the component monitoring in the overlay %s', (overlay) => {
  const manifests = kubectl ? renderWithComponent(kubectl, overlay, 'monitoring') : []
  const ofKind = <Found extends Manifest>(kind: string) =>
    manifests.filter((manifest) => manifest.kind === kind) as Found[]
  const deployments = ofKind<Workload>('Deployment')
  const exporters = deployments.filter(({ metadata }) => metadata.name.endsWith('-exporter'))
  const containerOf = ({ spec }: Workload) =>
    spec.template.spec.containers[0] as Container & { args?: string[] }

  it('fits the schemas of the Kubernetes API and of the operator, and has no unknown field', async () => {
    const own = manifests.filter(
      ({ apiVersion, metadata }) =>
        apiVersion.startsWith('monitoring.coreos.com/') ||
        /exporter|blackbox|dashboards|probed/.test(metadata.name),
    )
    expect(new Set(own.map(({ kind }) => kind))).toEqual(
      new Set([
        'PodMonitor',
        'Probe',
        'PrometheusRule',
        'Deployment',
        'Service',
        'ConfigMap',
        'NetworkPolicy',
      ]),
    )
    expect(own.filter(({ metadata }) => metadata.namespace !== 'switchyard')).toEqual([])
    expect(await schemaErrors(own)).toEqual([])
    expect(unknownFields(own)).toEqual([])
  })

  it('has the exporters of Compose except that of disks, with the same image and arguments', () => {
    const names = Object.keys(compose.services).filter((name) => name.endsWith('-exporter'))
    expect(exporters.map(({ metadata }) => metadata.name).sort()).toEqual(
      names.filter((name) => name !== 'node-exporter').sort(),
    )
    for (const exporter of exporters) {
      const { image, command = [] } = compose.services[exporter.metadata.name] ?? {}
      const { args = [], ...container } = containerOf(exporter)
      expect([container.image, args]).toEqual([image, command])
    }
  })

  it.each(exporters.map((exporter) => [exporter.metadata.name, exporter] as const))(
    '%s runs under the restricted security standard, within limits',
    (_name, exporter) => {
      expect(exporter.spec.template.spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      })
      expect(containerOf(exporter)).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        resources: { limits: { memory: expect.any(String) } },
      })
    },
  )

  it('scrapes every service and every exporter, at a port that its pods have', () => {
    const scraped = ofKind<PodMonitor>('PodMonitor').flatMap(({ spec }) => {
      const [endpoint] = spec.podMetricsEndpoints
      const selected = deployments.filter((each) =>
        Object.entries(spec.selector.matchLabels).every(
          ([label, value]) => each.spec.template.metadata.labels[label] === value,
        ),
      )
      for (const each of selected)
        expect(containerOf(each).ports?.map(({ name }) => name)).toContain(endpoint?.port)
      return selected.map(({ metadata }) => metadata.name)
    })
    const expected = [...serviceNames, ...exporters.map(({ metadata }) => metadata.name)]
    expect(scraped.sort()).toEqual(expected.sort())
  })

  it('gives the migration the password of the exporter, and Grafana every dashboard', () => {
    const migrate = ofKind<Workload>('Job').find(({ metadata }) => metadata.name === 'migrate') as Workload
    const path = '/run/secrets/switchyard/postgres_password_monitoring'
    expect(containerOf(migrate).env).toContainEqual({
      name: 'POSTGRES_PASSWORD_MONITORING_FILE',
      value: path,
    })
    const keys = migrate.spec.template.spec.volumes?.flatMap(({ secret }) => secret?.items ?? [])
    expect(keys?.map(({ key }) => key)).toContain('postgres_password_monitoring')
    const shown = ofKind('ConfigMap').find(({ metadata }) => metadata.labels?.grafana_dashboard === '1')
    expect(Object.keys(shown?.data ?? {}).sort()).toEqual(dashboards.map(([name]) => name).sort())
  })
})
