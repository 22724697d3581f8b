import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { repository } from '../../ops/docker/test/support/build-stages.js'

/** Images and layers stay here for the next run; nothing of the machine's own images is touched. */
export const cache = join(repository, 'node_modules/.cache/switchyard-images')

const settings = {
  'storage.conf': `[storage]
driver = "overlay"
runroot = "${cache}/run"
graphroot = "${cache}/storage"
`,
  // Without control groups it works on machines that have the first and the second version of them beside
  // each other.
  'containers.conf': `[containers]
default_ulimits = []
cgroups = "disabled"
netns = "host"
`,
}

export const buildahEnvironment = {
  CONTAINERS_STORAGE_CONF: join(cache, 'storage.conf'),
  CONTAINERS_CONF: join(cache, 'containers.conf'),
  // The folder of build caches, such as that of pnpm.
  TMPDIR: join(cache, 'tmp'),
}

export function prepareBuildah(): void {
  mkdirSync(buildahEnvironment.TMPDIR, { recursive: true })
  for (const [name, text] of Object.entries(settings)) writeFileSync(join(cache, name), text)
}

/** What a command of buildah prints. */
export async function buildah(...args: string[]): Promise<string> {
  return (await execa('buildah', args, { env: buildahEnvironment })).stdout
}

export interface ImageConfig {
  Cmd: string[]
  Entrypoint: string[]
  Env: string[]
  Healthcheck: { Test: string[] }
  User: string
}

export async function configOf(image: string): Promise<ImageConfig> {
  return JSON.parse(await buildah('inspect', '--type', 'image', image)).Docker.config
}

/** Hexadecimal SHA-256 of an image's settings, which name its layers by theirs. */
export const idOf = (image: string): Promise<string> =>
  buildah('inspect', '--type', 'image', '--format', '{{.FromImageID}}', image)

/** Calls `use` with the folder where the files of an image are for that time. */
export async function withFiles<T>(image: string, use: (folder: string) => T): Promise<Awaited<T>> {
  const container = await buildah('from', '--pull-never', image)
  try {
    return await use(await buildah('mount', container))
  } finally {
    await buildah('rm', container)
  }
}
