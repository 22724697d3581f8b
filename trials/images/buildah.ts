import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { repository } from '../../ops/docker/test/support/build-stages.js'

/** Folder of images and layers, kept for the next run; the machine's own images are not touched. */
export const cache = join(repository, 'node_modules/.cache/switchyard-images')

const settings = {
  'storage.conf': `[storage]
driver = "overlay"
runroot = "${cache}/run"
graphroot = "${cache}/storage"
`,
  // Without control groups, it also works on machines that have versions 1 and 2 of them in parallel.
  'containers.conf': `[containers]
default_ulimits = []
cgroups = "disabled"
netns = "host"
`,
}

export const buildahEnvironment = {
  CONTAINERS_STORAGE_CONF: join(cache, 'storage.conf'),
  CONTAINERS_CONF: join(cache, 'containers.conf'),
  // The folder of build caches, such as pnpm's.
  TMPDIR: join(cache, 'tmp'),
}

export function prepareBuildah(): void {
  mkdirSync(buildahEnvironment.TMPDIR, { recursive: true })
  for (const [name, text] of Object.entries(settings)) writeFileSync(join(cache, name), text)
}

/** Runs a buildah command and returns its output. */
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

/** Returns the hexadecimal SHA-256 of an image's configuration, which contains the hashes of its layers. */
export const idOf = (image: string): Promise<string> =>
  buildah('inspect', '--type', 'image', '--format', '{{.FromImageID}}', image)

/** Calls `use` with a folder in which the files of an image are mounted meanwhile. */
export async function withFiles<T>(image: string, use: (folder: string) => T): Promise<Awaited<T>> {
  const container = await buildah('from', '--pull-never', image)
  try {
    return await use(await buildah('mount', container))
  } finally {
    await buildah('rm', container)
  }
}
