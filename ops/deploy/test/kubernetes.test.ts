import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execaSync } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { isSecretField, loadConfig } from '../../../packages/config/src/index.js'
import { configSchema as migrationSchema } from '../../../packages/db/src/migrations/config.js'
import { repository } from '../../docker/test/support/build-stages.js'
import { readCompose } from '../../docker/test/support/compose.js'
import { type ConfigSchema, configSchemaOf, serviceNames } from '../../docker/test/support/service-configs.js'
import {
  type Container,
  type Manifest,
  overlays,
  render,
  schemaErrors,
  unknownFields,
  type Workload,
} from './support/manifests.js'
import { servedPaths } from './support/served-paths.js'

const kubectl = process.env.SWITCHYARD_TEST_KUBECTL ?? ''
if (!kubectl)
  console.error(
    'SKIPPED: the Kubernetes manifests are not tested, because there is no kubectl of 2023 or later',
  )

/** Variables that these manifests do not set, with the reason. */
const unreached = new Map([
  ['SWITCHYARD_REVISION', 'set by the image'],
  ['SWITCHYARD_REVISION_TIME', 'set by the image'],
  ['OIDC_CLIENT_SECRET', 'a patch in docs/single-sign-on.md sets it, with its secret'],
  ['OIDC_PROVIDERS', 'as OIDC_CLIENT_SECRET'],
  ['AUDIT_EXPORT_HTTP_TOKEN', 'a patch in docs/audit-log.md sets it, with its secret'],
  ['AUDIT_EXPORT_HTTP_SECRET', 'as AUDIT_EXPORT_HTTP_TOKEN'],
  ['AUDIT_EXPORT_OTLP_HEADERS', 'as AUDIT_EXPORT_HTTP_TOKEN'],
  ['SWITCHYARD_ROOT_TOKEN_KEPT_IN', 'the token is in a secret'],
  ['MIGRATION_LOCK_TIMEOUT_MS', 'a patch of the Job sets it'],
  ['POSTGRES_PASSWORD_MONITORING', 'as MIGRATION_LOCK_TIMEOUT_MS'],
])

const folder = (path: string) => resolve(import.meta.dirname, '../kubernetes', path)
const read = (path: string) => readFileSync(folder(path), 'utf8')
const secretsFolder = mkdtempSync(join(tmpdir(), 'switchyard-kubernetes-'))
afterAll(() => rmSync(secretsFolder, { recursive: true, force: true }))

const workloadKinds = ['Deployment', 'StatefulSet', 'Job']
const isWorkload = (manifest: Manifest): manifest is Workload => workloadKinds.includes(manifest.kind)
const containersOf = ({ spec }: Workload): Container[] => [
  ...(spec.template.spec.initContainers ?? []),
  ...spec.template.spec.containers,
]
const find = <Found extends Manifest>(manifests: Manifest[], kind: string, name: string) =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name) as Found | undefined
const selects = (labels: Record<string, string>, { spec }: Workload) =>
  Object.entries(labels).every(([label, value]) => spec.template.metadata.labels[label] === value)

describe.runIf(kubectl).each(overlays)('the Kubernetes overlay %s', (overlay) => {
  const manifests = kubectl ? render(kubectl, overlay) : []
  const workloads = manifests.filter(isWorkload)

  it('fits the schemas of the Kubernetes API and has no unknown field', async () => {
    expect(await schemaErrors(manifests)).toEqual([])
    expect(unknownFields(manifests)).toEqual([])
  })

  it('has every service, the gateway and the migration, in one namespace', () => {
    for (const name of [...serviceNames, 'gateway'])
      expect(find(manifests, 'Deployment', name), name).toBeDefined()
    expect(find(manifests, 'Job', 'migrate')).toBeDefined()
    const namespaces = manifests
      .filter(({ kind }) => kind !== 'Namespace')
      .map(({ metadata }) => metadata.namespace)
    expect(new Set(namespaces)).toEqual(new Set(['switchyard']))
  })

  it.each(workloads.map((workload) => [workload.metadata.name, workload] as const))(
    '%s runs under the restricted security standard, within limits',
    (_name, workload) => {
      const { spec } = workload.spec.template
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      })
      for (const container of containersOf(workload)) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.resources.requests).toMatchObject({
          cpu: expect.any(String),
          memory: expect.any(String),
        })
        expect(container.resources.limits).toMatchObject({ memory: expect.any(String) })
      }
      if (serviceNames.includes(workload.metadata.name))
        expect(spec.securityContext).toMatchObject({ runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 })
    },
  )

  it.each([...serviceNames, 'migrate'])(
    'gives %s an environment with which it starts, and no variable that it does not read',
    async (name) => {
      const workload = find<Workload>(manifests, name === 'migrate' ? 'Job' : 'Deployment', name)
      const schema: ConfigSchema = name === 'migrate' ? migrationSchema : await configSchemaOf(name)
      for (const container of workload?.spec.template.spec.containers ?? []) {
        const environment = environmentOf(container, manifests)
        const secretFiles = Object.keys(schema.shape).filter((key) =>
          isSecretField(schema.shape[key] as never),
        )
        const readable = Object.keys(schema.shape)
          .filter((key) => !secretFiles.includes(key))
          .concat(secretFiles.map((key) => `${key}_FILE`))
        expect(readable).toEqual(expect.arrayContaining(Object.keys(environment)))
        expect(() => load(name, schema, withMountedSecrets(environment, workload as Workload))).not.toThrow()
      }
    },
  )

  it.each([...serviceNames, 'migrate'])(
    'can set every variable of %s: in the ConfigMap of settings, or as a secret in a file',
    async (name) => {
      const workload = find<Workload>(manifests, name === 'migrate' ? 'Job' : 'Deployment', name)
      const schema: ConfigSchema = name === 'migrate' ? migrationSchema : await configSchemaOf(name)
      const [container] = workload?.spec.template.spec.containers ?? []
      const environment = environmentOf(container as Container, manifests)
      const isReached = (variable: string) =>
        isSecretField(schema.shape[variable] as never)
          ? `${variable}_FILE` in environment
          : variable in environment || container?.envFrom?.some(({ configMapRef }) => configMapRef.name)
      const missing = Object.keys(schema.shape).filter((variable) => !isReached(variable))
      expect(missing.filter((variable) => !unreached.has(variable))).toEqual([])
    },
  )

  it('has a gateway that trusts nobody about the address of a client until a patch names proxies', () => {
    const gateway = find<Workload>(manifests, 'Deployment', 'gateway')?.spec.template.spec.containers[0]
    expect(gateway?.env).toEqual([{ name: 'TRUSTED_PROXIES', value: '' }])
  })

  it('starts a service with a database after the migration, which the service waits for with its own role', () => {
    const waiting = workloads.filter(({ spec }) => spec.template.spec.initContainers)
    expect(waiting.map(({ metadata }) => metadata.name).sort()).toEqual(
      serviceNames.filter((name) => name !== 'console').toSorted(),
    )
    const migration = find<Workload>(manifests, 'Job', 'migrate')?.spec.template.spec.containers[0]
    for (const workload of waiting) {
      const [wait] = workload.spec.template.spec.initContainers ?? []
      expect(wait).toMatchObject({
        image: migration?.image,
        args: ['node', 'dist/bundle/migrate.js', '--wait'],
      })
      const environment = withMountedSecrets(environmentOf(wait as Container, manifests), workload)
      expect(load('migrate', migrationSchema, environment)).toBeDefined()
    }
  })

  it('probes paths that are served, on ports that exist', async () => {
    const served = await servedPaths()
    for (const workload of workloads.filter(({ kind }) => kind === 'Deployment')) {
      const [container] = workload.spec.template.spec.containers
      const ports = container?.ports?.map(({ name }) => name)
      for (const kind of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
        const request = container?.[kind]?.httpGet
        expect(ports, workload.metadata.name).toContain(request?.port)
        const paths = workload.metadata.name === 'gateway' ? served.gateway : served.service
        expect(paths).toContain(request?.path)
      }
    }
  })

  it('connects each Service to a port of its pods, and each budget and autoscaler to a Deployment', () => {
    const services = manifests.filter(({ kind }) => kind === 'Service') as Manifest<{
      selector: Record<string, string>
      ports: { targetPort: string; port: number }[]
    }>[]
    for (const { metadata, spec } of services) {
      const [pod, ...others] = workloads.filter((workload) => selects(spec.selector, workload))
      expect(others).toEqual([])
      const ports = pod?.spec.template.spec.containers[0]?.ports ?? []
      for (const { targetPort, port } of spec.ports)
        expect(ports, metadata.name).toContainEqual({ name: targetPort, containerPort: port })
    }
    const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget') as Manifest<{
      selector: { matchLabels: Record<string, string> }
    }>[]
    const budgeted = budgets.map(({ spec }) =>
      workloads.filter((each) => selects(spec.selector.matchLabels, each)),
    )
    expect(
      budgeted
        .flat()
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual([...serviceNames, 'gateway'].sort())
    for (const { spec } of autoscalersOf(manifests)) {
      const scaled = find<Workload>(manifests, 'Deployment', spec.scaleTargetRef.name)
      // An autoscaler and a fixed number of replicas would conflict.
      expect(scaled?.spec).not.toHaveProperty('replicas')
    }
  })

  it('allows connections of a pod only by a rule, and only to ports that pods have', () => {
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy') as Manifest<{
      podSelector: { matchLabels?: Record<string, string> }
      policyTypes: string[]
      ingress?: { ports: { port: number }[] }[]
      egress?: unknown[]
    }>[]
    expect(policies.map(({ spec }) => spec)).toContainEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    })
    for (const { metadata, spec } of policies.filter(({ spec: { ingress } }) => ingress)) {
      const selected = workloads.filter((workload) => selects(spec.podSelector.matchLabels ?? {}, workload))
      const ports = selected.flatMap((workload) => containersOf(workload).flatMap((each) => each.ports ?? []))
      for (const { port } of spec.ingress?.flatMap((rule) => rule.ports) ?? [])
        expect(
          ports.map(({ containerPort }) => containerPort),
          metadata.name,
        ).toContain(port)
    }
  })
})

describe.runIf(kubectl)('the overlays', () => {
  it('are for one node, and for pods on several nodes that share the repositories', () => {
    const [small, large] = [render(kubectl, 'small'), render(kubectl, 'highly-available')]
    const claimOf = (manifests: Manifest[]) => find(manifests, 'PersistentVolumeClaim', 'repositories')?.spec
    expect(claimOf(small)).toMatchObject({ accessModes: ['ReadWriteOnce'] })
    expect(claimOf(large)).toMatchObject({ accessModes: ['ReadWriteMany'] })
    for (const { metadata, spec } of large.filter(({ kind }) => kind === 'Deployment') as Workload[]) {
      const scaled = autoscalersOf(large).find((each) => each.spec.scaleTargetRef.name === metadata.name)
      expect(spec.replicas ?? scaled?.spec.minReplicas, metadata.name).toBeGreaterThanOrEqual(2)
    }
  })

  it('for several nodes allows every user of Redis to ask its Sentinels', () => {
    const policies = render(kubectl, 'highly-available').filter(
      ({ kind }) => kind === 'NetworkPolicy',
    ) as Manifest<{
      podSelector: { matchLabels?: Record<string, string> }
      egress?: { ports?: { port: number }[] }[]
    }>[]
    const asks = policies.filter(({ spec }) =>
      spec.egress?.some(({ ports }) => ports?.some(({ port }) => port === 26_379)),
    )
    expect(asks.map(({ spec }) => spec.podSelector.matchLabels)).toEqual([
      { 'switchyard.dev/uses-redis': 'true' },
    ])
  })

  it('scale by metrics that services have and the adapter exposes', () => {
    const { rules } = parse(read('prometheus-adapter.yaml')) as {
      rules: Record<'custom' | 'external', { seriesQuery: string; name: { as: string } }[]>
    }
    const shown = [...rules.custom, ...rules.external].map(({ name }) => name.as)
    const used = autoscalersOf(render(kubectl, 'highly-available')).flatMap(({ spec }) =>
      spec.metrics
        .map((metric) => (metric.pods ?? metric.external)?.metric.name)
        .filter((name) => name !== undefined),
    )
    expect(used.toSorted()).toEqual(shown.toSorted())
    const sources = execaSync('git', ['grep', '-hoE', "name: '\\w+'|'jobqueue_\\w+'", '--', '*.ts'], {
      cwd: repository,
    }).stdout
    for (const { seriesQuery } of [...rules.custom, ...rules.external])
      expect(sources).toContain(`'${seriesQuery.split('{')[0]}'`)
  })

  it('are checked by schemas that detect mistakes', async () => {
    const [worker] = render(kubectl, 'small').filter(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'worker',
    )
    const wrong = {
      ...worker,
      spec: { ...(worker as Workload).spec, replicas: 'two', selektor: {} },
    } as Manifest
    expect(await schemaErrors([wrong])).toEqual([expect.stringContaining('replicas')])
    expect(unknownFields([{ ...wrong, spec: { ...(worker as Workload).spec, selektor: {} } }])).toEqual([
      expect.stringContaining('selektor'),
    ])
  })
})

describe('the gateway in Kubernetes', () => {
  it.runIf(kubectl).each(overlays)('has the files of the gateway in the overlay %s', (overlay) => {
    const configMaps = render(kubectl, overlay).filter(({ kind }) => kind === 'ConfigMap')
    const data = configMaps.find(({ metadata }) => metadata.name.startsWith('gateway-'))?.data ?? {}
    const shared = ['listen-grpc.conf', 'nginx.conf', 'start.sh']
    expect(Object.keys(data).sort()).toEqual([...shared, 'listen-http.conf', 'upstreams.conf'].sort())
    for (const name of shared)
      expect(data[name], name).toBe(readFileSync(join(repository, 'ops/gateway', name), 'utf8'))
  })

  it('has an upstream for each one of Compose, at the same port', () => {
    const upstreamsOf = (text: string) =>
      [
        ...text.matchAll(
          /^upstream (\S+) \{\n(?: {2}zone .*\n)? {2}server (\S+?)(?: resolve)?(?: max_fails=0)?;$/gm,
        ),
      ].map(([, name, address]) => [name, address])
    const compose = upstreamsOf(readFileSync(join(repository, 'ops/gateway/upstreams.conf'), 'utf8'))
    expect(compose.length).toBeGreaterThan(serviceNames.length)
    expect(upstreamsOf(read('base/gateway/upstreams.conf'))).toEqual(compose)
  })
})

describe.runIf(kubectl)('the images in Kubernetes', () => {
  it('are those of Compose', () => {
    const compose = readCompose({ SECRETS_FOLDER: './secrets' })
    // A service with a profile runs only when requested.
    const always = Object.values(compose.services).filter(({ profiles }) => !profiles)
    const nameOf = (image: string) => image.replace(/[:@].*$/, '')
    const images = render(kubectl, 'small')
      .filter(isWorkload)
      .flatMap(containersOf)
      .map(({ image }) => image)
    expect(new Set(images.map(nameOf))).toEqual(new Set(always.map(({ image }) => nameOf(image))))
    const others = always.map(({ image }) => image).filter((image) => !image.startsWith('switchyard/'))
    expect(images).toEqual(expect.arrayContaining(others))
  })
})

type Autoscaler = Manifest<{
  scaleTargetRef: { name: string }
  minReplicas: number
  metrics: Partial<Record<'pods' | 'external', { metric: { name: string } }>>[]
}>

const autoscalersOf = (manifests: Manifest[]) =>
  manifests.filter(({ kind }) => kind === 'HorizontalPodAutoscaler') as Autoscaler[]

/** Returns the variables of a container, including those of its ConfigMaps. */
function environmentOf({ env = [], envFrom = [] }: Container, manifests: Manifest[]): Record<string, string> {
  const shared = envFrom.map(({ configMapRef }) => find(manifests, 'ConfigMap', configMapRef.name)?.data)
  return Object.assign({}, ...shared, Object.fromEntries(env.map(({ name, value }) => [name, value])))
}

/**
 * Returns these variables with the paths of secrets on this machine, where `make-env` writes the content of
 * the Secret.
 */
function withMountedSecrets(environment: Record<string, string>, { spec }: Workload): Record<string, string> {
  const made = join(secretsFolder, 'secrets')
  execaSync('node', [join(repository, 'ops/docker/make-env.mjs'), secretsFolder])
  const items = spec.template.spec.volumes?.flatMap(({ secret }) => secret?.items ?? []) ?? []
  expect(readdirSync(made)).toEqual(expect.arrayContaining(items.map(({ key }) => key)))
  const mounted = new Map(items.map(({ key, path }) => [`/run/secrets/switchyard/${path}`, join(made, key)]))
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, mounted.get(value) ?? value]),
  )
}

const ofImages = {
  HOST: '0.0.0.0',
  PORT: '8080',
  SWITCHYARD_STORAGE_ROOT: '/var/lib/switchyard/repositories',
}

const load = (name: string, schema: ConfigSchema, environment: Record<string, string>) =>
  loadConfig(name, schema, { ...ofImages, ...environment })
