import { describe, expect, it } from 'vitest'
import {
  type Container,
  type Manifest,
  overlays,
  type PodSpec,
  renderWithComponent,
  schemaErrors,
  unknownFields,
} from './support/manifests.js'

const kubectl = process.env.SWITCHYARD_TEST_KUBECTL ?? ''

type CronJob = Manifest<{
  jobTemplate: { spec: { template: { metadata: { labels: Record<string, string> }; spec: PodSpec } } }
}>

describe.runIf(kubectl).each(overlays)('the component backup in the overlay %s', (overlay) => {
  const manifests = kubectl ? renderWithComponent(kubectl, overlay, 'backup') : []
  const own = manifests.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] === 'backup')
  const pod = (own.find(({ kind }) => kind === 'CronJob') as CronJob | undefined)?.spec.jobTemplate.spec
    .template
  const container = pod?.spec.containers[0] as (Container & { args: string[] }) | undefined

  it('fits the schemas of the Kubernetes API and has no unknown field', async () => {
    expect(own.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
      ['PersistentVolumeClaim', 'switchyard'],
      ['CronJob', 'switchyard'],
    ])
    expect(await schemaErrors(own)).toEqual([])
    expect(unknownFields(own)).toEqual([])
  })

  it('runs under the restricted security standard, within limits', () => {
    expect(pod?.spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        fsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    })
    expect(container).toMatchObject({
      image: 'switchyard/backup:0.1.0',
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      resources: { limits: { memory: expect.any(String) } },
    })
  })

  it('backs up the repositories of git-api and the database, with access to both', () => {
    expect(container).toMatchObject({
      env: [{ name: 'DATABASE_URL_FILE', value: '/run/secrets/switchyard/database_url' }],
      volumeMounts: expect.arrayContaining([{ name: 'repositories', mountPath: '/var/lib/switchyard' }]),
    })
    const claims = manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim')
    expect(claims.map(({ metadata }) => metadata.name).toSorted()).toEqual(['backups', 'repositories'])
    expect(pod?.metadata.labels).toMatchObject({ 'switchyard.dev/uses-database': 'true' })
  })
})
