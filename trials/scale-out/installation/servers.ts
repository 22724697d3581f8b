import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { findServerUser, type ServerUser } from '../../../packages/local-servers/src/postgres/server-user.js'
import {
  type ProcessSpec,
  type SupervisedProcess,
  supervise,
} from '../../../packages/local-servers/src/process/supervised-process.js'
import { type Machine, network } from './machines.js'

export const root = resolve(import.meta.dirname, '../../..')
export const shipped = join(root, 'ops/deploy/highly-available')

interface Running {
  kind: string
  machine?: Machine
  process: SupervisedProcess
}

/** Processes on machines, each with data in a folder; each process is restarted when it ends. */
export class Servers {
  readonly #running: Running[] = []
  /** The user of PostgreSQL. */
  readonly postgresUser: ServerUser | undefined

  constructor(
    readonly folder: string,
    readonly machines: Machine[],
  ) {
    // PostgreSQL and the workers of nginx run as other users.
    chmodSync(folder, 0o711)
    this.postgresUser = findServerUser(join(folder, 'none'), [folder]) ?? undefined
    this.#makeCertificates()
    for (const machine of machines) mkdirSync(this.runOf(machine), { recursive: true, mode: 0o755 })
  }

  /** @param machine unset: the machine of the tests */
  start(
    kind: string,
    spec: Pick<ProcessSpec, 'command' | 'args' | 'cwd' | 'env'>,
    machine?: Machine,
  ): SupervisedProcess {
    const { command, args } = machine?.onMachine(spec) ?? spec
    const name = `${kind}-${machine?.name ?? 'tests'}`
    const started = supervise({
      name,
      command,
      args,
      cwd: spec.cwd ?? this.folder,
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...spec.env },
      logFile: join(this.folder, 'logs', `${name}.log`),
      stopTimeoutMs: 30_000,
    })
    this.#running.push({ kind, machine, process: started })
    return started
  }

  processOf(kind: string, machine: Machine): SupervisedProcess {
    const found = this.#running.find((each) => each.kind === kind && each.machine === machine)
    if (!found) throw new Error(`there is no ${kind} on ${machine.name}`)
    return found.process
  }

  /** Cuts a machine off at once: it sends nothing more, and its processes cannot finish anything. */
  async lose(machine: Machine): Promise<void> {
    machine.pullCable()
    for (const each of this.#running) if (each.machine === machine) each.process.kill()
    await killRest(machine)
    rmSync(this.runOf(machine), { recursive: true })
  }

  async bringBack(machine: Machine): Promise<void> {
    mkdirSync(this.runOf(machine))
    machine.plugCable()
    for (const each of this.#running) if (each.machine === machine) await each.process.restart()
  }

  /** Stops processes in reverse order of their start, and the same kind on several machines in parallel. */
  async stop(): Promise<void> {
    for (const kind of new Set(this.#running.map((each) => each.kind).reverse())) {
      const same = this.#running.filter((each) => each.kind === kind)
      await Promise.all(same.map((each) => each.process.stop()))
    }
    for (const machine of this.machines) await killRest(machine)
  }

  /**
   * Writes a file of ops/deploy/highly-available with its variables replaced.
   *
   * @param owner the user who reads it
   */
  configure(
    name: string,
    machine: Machine,
    secrets: Record<string, string> = {},
    owner?: ServerUser,
  ): string {
    const variables: Record<string, string> = { ...this.#variablesOf(machine), ...secrets }
    const filled = readFileSync(join(shipped, name), 'utf8').replace(
      /\$\{(\w+)\}/g,
      (_, variable: string) => {
        const value = variables[variable]
        if (value === undefined) throw new Error(`${name} has the unknown variable ${variable}`)
        return value
      },
    )
    return this.write(`${machine.name}/${name}`, filled, owner)
  }

  write(path: string, text: string, owner?: ServerUser): string {
    const file = join(this.folder, path)
    writeFileSync(file, text, { mode: 0o600 })
    if (owner) chownSync(file, owner.uid, owner.gid)
    return file
  }

  /** Makes a server's folder, which only its user can enter. */
  makeFolder(path: string, owner?: ServerUser): string {
    const made = join(this.folder, path)
    mkdirSync(made, { recursive: true, mode: 0o700 })
    if (owner) chownSync(made, owner.uid, owner.gid)
    return made
  }

  /** Returns the folder with the certificate of a machine, or of the tests. */
  tlsOf(name: string): string {
    return join(this.folder, 'tls', name)
  }

  /** Returns the folder of volatile data, which a machine loses when it is off. */
  runOf({ name }: Machine): string {
    return join(this.folder, name, 'run')
  }

  #variablesOf({ name, address }: Machine): Record<string, string> {
    const addresses = this.machines.map((each) => [`ADDRESS_${each.name.toUpperCase()}`, each.address])
    return {
      ...Object.fromEntries(addresses),
      NAME: name,
      ADDRESS: address,
      PEER_ADDRESS: this.machines.find((each) => each.name !== name)?.address ?? '',
      VIRTUAL_ADDRESS: network.virtual,
      NETWORK: network.all,
      PREFIX: network.prefix,
      INTERFACE: 'eth0',
      TLS: this.tlsOf(name),
      DATA: join(this.folder, name),
    }
  }

  #makeCertificates(): void {
    const folder = join(this.folder, 'tls')
    const machines = this.machines.map(({ name, address }) => `${name}=${address}`)
    const args = [folder, network.virtual, ...machines, `tests=${network.own}`]
    execFileSync(join(shipped, 'make-certificates.sh'), args, { stdio: 'pipe' })
    chmodSync(folder, 0o711)
    for (const { name } of this.machines) {
      chmodSync(this.tlsOf(name), 0o755)
      const { uid = 0, gid = 0 } = this.postgresUser ?? {}
      chownSync(join(this.tlsOf(name), 'machine.pem.key'), uid, gid)
    }
  }
}

/**
 * Kills processes that servers have started outside of their process groups, as Patroni starts PostgreSQL.
 */
async function killRest(machine: Machine): Promise<void> {
  await waitFor(
    () => {
      const pids = machine.processes()
      for (const pid of pids) killQuietly(pid)
      return pids.length === 0
    },
    { what: `every process of machine ${machine.name} to end`, intervalMs: 20 },
  )
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended.
  }
}
