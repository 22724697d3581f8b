import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { execaSync } from 'execa'
import ts from 'typescript'
import { parseAllDocuments, stringify } from 'yaml'

const kubernetesFolder = resolve(import.meta.dirname, '../../kubernetes')

/** The overlays that users apply. */
export const overlays = readdirSync(join(kubernetesFolder, 'overlays'))

export interface Probe {
  httpGet?: { path: string; port: string | number }
  tcpSocket?: { port: string }
}

export interface Container {
  name: string
  image: string
  env?: { name: string; value: string }[]
  envFrom?: { configMapRef: { name: string } }[]
  ports?: { name: string; containerPort: number }[]
  resources: { requests: Record<string, string>; limits: Record<string, string> }
  securityContext: unknown
  startupProbe?: Probe
  livenessProbe?: Probe
  readinessProbe?: Probe
}

export interface PodSpec {
  automountServiceAccountToken: boolean
  enableServiceLinks: boolean
  securityContext: unknown
  terminationGracePeriodSeconds?: number
  initContainers?: Container[]
  containers: Container[]
  volumes?: {
    name: string
    secret?: { secretName: string; items: { key: string; path: string }[] }
    configMap?: { name: string }
  }[]
}

/** A manifest that kubectl would send to a cluster. `Spec` is the part that a test reads. */
export interface Manifest<Spec = unknown> {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  spec: Spec
  data?: Record<string, string>
}

export type Workload = Manifest<{
  replicas?: number
  template: { metadata: { labels: Record<string, string> }; spec: PodSpec }
}>

/** Returns the manifests of an overlay, as `kubectl apply --kustomize` sends them. */
export const render = (kubectl: string, overlay: string): Manifest[] =>
  renderFolder(kubectl, join(kubernetesFolder, 'overlays', overlay))

/** Returns the manifests of a user's overlay, which adds a component to one of ours. */
export function renderWithComponent(kubectl: string, overlay: string, component: string): Manifest[] {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'switchyard-overlay-'))
  const pathOf = (name: string) => relative(folder, join(kubernetesFolder, name))
  const own = { resources: [pathOf(`overlays/${overlay}`)], components: [pathOf(`components/${component}`)] }
  writeFileSync(join(folder, 'kustomization.yaml'), stringify({ namespace: 'switchyard', ...own }))
  try {
    return renderFolder(kubectl, folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function renderFolder(kubectl: string, folder: string): Manifest[] {
  const { stdout } = execaSync(kubectl, ['kustomize', folder])
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
}

const moduleOf = ({ apiVersion }: Manifest) =>
  apiVersion.startsWith('monitoring.coreos.com/')
    ? `@kubernetes-models/prometheus-operator/${apiVersion}`
    : `kubernetes-models/${apiVersion}`

/** Returns the errors of manifests by the schemas of the Kubernetes API, which accept unknown fields. */
export async function schemaErrors(manifests: Manifest[]): Promise<string[]> {
  const errors: string[] = []
  for (const manifest of manifests) {
    const models = await import(moduleOf(manifest))
    const model = new models[manifest.kind](manifest)
    try {
      model.validate()
    } catch (error) {
      errors.push(`${manifest.kind} ${manifest.metadata.name}: ${(error as Error).message}`)
    }
  }
  return errors
}

/**
 * Returns fields that the Kubernetes API does not know, because TypeScript refuses them in a literal of the
 * kind's type.
 */
export function unknownFields(manifests: Manifest[]): string[] {
  const lines = manifests.map(
    (manifest, index) =>
      `export const _${index}: import('${moduleOf(manifest)}').I${manifest.kind} = ${JSON.stringify(manifest)}`,
  )
  const file = join(import.meta.dirname, 'manifests-as-code.ts')
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (name) => name === file || fileExists(name)
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, lines.join('\n'), ts.ScriptTarget.ESNext)
      : getSourceFile(name, ...rest)
  return ts
    .getPreEmitDiagnostics(ts.createProgram([file], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}
