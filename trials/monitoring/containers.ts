import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { repository } from '../../ops/docker/test/support/build-stages.js'
import { readCompose } from '../../ops/docker/test/support/compose.js'
import { containers, findProgram } from './programs.js'

export interface Containers {
  /** Returns the folder for a path in a container, e.g. `/metrics` of `node-exporter`. */
  folderOf(container: string, path: string): string
  /** Returns the path of a secret. */
  secretPath(name: string): string
  start(env: Record<string, string>): Promise<void>
  /** Returns the output of a container. */
  logOf(container: string): string
  stop(): void
}

/**
 * Runs Prometheus and the exporters with commands, variables and files of docker-compose.monitoring.yml as
 * processes of this machine. Mounted paths of containers are replaced by paths in `folder`.
 */
export async function makeContainers(folder: string, externalUrl: string): Promise<Containers> {
  await execa('node', [join(repository, 'ops/docker/make-env.mjs'), folder])
  const compose = readCompose(
    { SECRETS_FOLDER: join(folder, 'secrets'), EXTERNAL_URL: externalUrl },
    'docker-compose.monitoring.yml',
  )
  const logs = new Map<string, string>()
  const children: ChildProcess[] = []

  /** The longest path comes first, because a mount may be below another one. */
  const mountsOf = (container: string) =>
    (compose.services[container]?.volumes ?? [])
      .map((volume) => volume.split(':') as [string, string])
      .sort(([, a], [, b]) => b.length - a.length)
  const folderOf = (container: string, path: string) => join(folder, container, path)
  const secretPath = (name: string) => join(folder, 'secrets', name)

  for (const container of containers) {
    for (const [source, target] of mountsOf(container).toReversed()) {
      const place = folderOf(container, target)
      if (source.startsWith('./')) cpSync(join(repository, source), place, { recursive: true })
      else mkdirSync(place, { recursive: true })
    }
  }

  function replacePaths(container: string, text: string): string {
    const mounted = mountsOf(container).find(([, target]) => text.includes(target))
    if (mounted) return text.replace(mounted[1], folderOf(container, mounted[1]))
    return text.replace('/run/secrets', join(folder, 'secrets'))
  }

  async function startOne(container: string, env: Record<string, string>): Promise<void> {
    const { command = [], environment = {} } = compose.services[container] ?? {}
    const own = Object.entries(environment).map(([name, value]) => [
      name,
      replacePaths(container, value ?? ''),
    ])
    const args = [command].flat().map((text) => replacePaths(container, text))
    const child = spawn(await findProgram(container), args, {
      env: { PATH: process.env.PATH, ...Object.fromEntries(own), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const keep = (bytes: Buffer) => logs.set(container, `${logs.get(container) ?? ''}${bytes}`)
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('exit', (code) => keep(Buffer.from(`ended with ${code}\n`)))
    children.push(child)
  }

  return {
    folderOf,
    secretPath,
    async start(env) {
      for (const container of containers) await startOne(container, env)
    },
    logOf: (container) => logs.get(container) ?? '',
    stop() {
      for (const child of children) child.kill()
    },
  }
}
