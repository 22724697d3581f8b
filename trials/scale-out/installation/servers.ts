import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { findServerUser, type ServerUser } from '../../../packages/dev-env/src/postgres/server-user.js'
import type { Command } from '../../../packages/dev-env/src/process/death-signal.js'
import {
  type SupervisedProcess,
  supervise,
} from '../../../packages/dev-env/src/process/supervised-process.js'

export const root = resolve(import.meta.dirname, '../../..')

/** Starts servers of other makers in folders below one, each again when it ends; what started last is stopped first. */
export class Servers {
  readonly #running: SupervisedProcess[] = []

  constructor(readonly folder: string) {
    mkdirSync(folder, { recursive: true })
    // PostgreSQL runs as another user when this process is root.
    chmodSync(folder, 0o711)
  }

  start(name: string, command: Command, env: NodeJS.ProcessEnv = {}): SupervisedProcess {
    const started = supervise({
      name,
      ...command,
      cwd: this.folder,
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env },
      logFile: join(this.folder, 'logs', `${name}.log`),
      stopTimeoutMs: 30_000,
    })
    this.#running.push(started)
    return started
  }

  async stop(): Promise<void> {
    for (const server of this.#running.reverse()) await server.stop()
  }

  /** A file of ops/deploy/highly-available with its variables put in; the owner is who reads it. */
  configure(name: string, path: string, variables: Record<string, string>, owner?: ServerUser): string {
    const text = readFileSync(join(root, 'ops/deploy/highly-available', name), 'utf8')
    const file = join(this.folder, path)
    mkdirSync(dirname(file), { recursive: true })
    const filled = text.replace(/\$\{(\w+)\}/g, (_, variable: string) => {
      const value = variables[variable]
      if (value === undefined) throw new Error(`${name} has the unknown variable ${variable}`)
      return value
    })
    writeFileSync(file, filled, { mode: 0o600 })
    if (owner) chownSync(file, owner.uid, owner.gid)
    return file
  }

  /** A folder of a server, which only its user can enter. */
  makeFolder(path: string, owner?: ServerUser): string {
    const made = join(this.folder, path)
    mkdirSync(made, { recursive: true, mode: 0o700 })
    if (owner) chownSync(made, owner.uid, owner.gid)
    return made
  }
}

/** The user of PostgreSQL, or undefined when this process is not root. */
export const postgresUser = (folder: string): ServerUser | undefined =>
  findServerUser(join(folder, 'none'), [folder]) ?? undefined
