import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { repository } from '../../ops/docker/test/support/build-stages.js'
import type { Engine } from './engine.js'
import { withStandIns } from './stand-ins.js'

export interface Installation {
  /** The folder of an operator: docker-compose.yml, the files beside it, `.env` and the folder of secrets. */
  folder: string
  rootToken: string
  /** Runs `docker compose` in that folder, with the added files. */
  compose(...args: string[]): Promise<string>
  /** Like {@link compose}, with variables that override those of `.env`. */
  composeWith(variables: Record<string, string>, ...args: string[]): Promise<string>
  /** Like {@link compose}, but does not reject. */
  tryCompose(...args: string[]): Promise<{ exitCode?: number; all: string }>
  /** Runs `docker compose up --detach` with further arguments, until everything is ready. */
  up(...args: string[]): Promise<void>
  /** Returns the name of a service's container. */
  containerOf(service: string): string
  /** Runs a command in the container of a service. */
  exec(service: string, ...command: string[]): Promise<string>
  /** Stops everything, and removes the volumes. */
  remove(): Promise<void>
}

const composeFiles = readdirSync(repository).filter((name) => /^docker-compose.*\.yml$/.test(name))
const checkout = [
  ...composeFiles,
  '.env.example',
  'ops/docker/make-env.mjs',
  'ops/setup/arguments.mjs',
  'ops/deploy/grafana',
  'ops/deploy/prometheus',
  'ops/deploy/redis',
  'ops/gateway',
]

/**
 * Makes a folder as docs/operations.md describes, in which nothing runs yet. External images are replaced by
 * stand-ins.
 *
 * @param added names of the files added to docker-compose.yml: `tls` for docker-compose.tls.yml
 * @param settings content of `.env`
 */
export async function makeInstallation(
  engine: Engine,
  folder: string,
  added: string[] = [],
  settings: Record<string, string> = {},
): Promise<Installation> {
  mkdirSync(folder, { recursive: true })
  for (const path of checkout)
    cpSync(join(repository, path), join(folder, path), {
      recursive: true,
      filter: (source) => !/node_modules|\/(dist|test)$/.test(source),
    })
  for (const name of composeFiles) {
    const file = join(folder, name)
    writeFileSync(file, withStandIns(readFileSync(file, 'utf8')))
  }
  await execa('node', ['ops/docker/make-env.mjs', folder], { cwd: folder })
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  appendFileSync(join(folder, '.env'), lines.join(''))

  const files = ['docker-compose.yml', ...added.map((name) => `docker-compose.${name}.yml`)]
  const command = (args: string[]) => [
    'compose',
    ...(added.length > 0 ? files.flatMap((name) => ['--file', name]) : []),
    ...args,
  ]
  const options = { cwd: folder, env: engine.environment, all: true } as const
  const tryCompose = (...args: string[]) => execa('docker', command(args), { ...options, reject: false })
  const composeWith = async (variables: Record<string, string>, ...args: string[]) => {
    const env = { ...options.env, ...variables }
    return (await execa('docker', command(args), { ...options, env })).stdout
  }
  const compose = (...args: string[]) => composeWith({}, ...args)
  const containerOf = (service: string) => `switchyard-${service}-1`
  return {
    folder,
    rootToken: readFileSync(join(folder, 'secrets/root_token'), 'utf8').trim(),
    compose,
    composeWith,
    tryCompose,
    async up(...args) {
      await compose('up', '--detach', '--no-build', '--wait', '--wait-timeout', '600', ...args)
    },
    containerOf,
    exec: (service, ...command) => engine.podman('exec', containerOf(service), ...command),
    async remove() {
      await compose('--profile', 'backup', 'down', '--volumes', '--timeout', '30')
      rmSync(folder, { recursive: true })
    },
  }
}
