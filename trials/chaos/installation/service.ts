import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { programEnvironment } from '@switchyard/testing'
import type { Command } from '../../../packages/local-servers/src/process/death-signal.js'
import { getFreePort } from '../../../packages/local-servers/src/process/free-port.js'
import {
  type SupervisedProcess,
  supervise,
} from '../../../packages/local-servers/src/process/supervised-process.js'

const services = resolve(import.meta.dirname, '../../../services')
const clock = resolve(import.meta.dirname, 'jumping-clock.mjs')

/** The place where services run: this machine, or one behind a cable. */
export interface Machine {
  number: number
  address: string
  onMachine(command: Command): Command
}

export interface ServiceSpec {
  name: string
  machine: Machine
  /** Environment in addition to its ports. */
  env: Record<string, string>
  /** Folder of its log and its clock file. */
  logs: string
  notice(line: string): void
}

export interface Service {
  name: string
  machine: number
  url: string
  /** `host:port`, only for a reporter. */
  grpcAddress: string
  /** File with the lead of its clock in seconds, which its next SIGUSR2 applies. */
  clockFile: string
  signal(signal: NodeJS.Signals): void
  isReady(): Promise<boolean>
  process: SupervisedProcess
}

/** Starts a service as `npm start` does: one that ends, or no longer answers, is started again. */
export async function startService({ name, machine, env, logs, notice }: ServiceSpec): Promise<Service> {
  const main = join(services, name, 'dist/bundle/main.js')
  if (!existsSync(main)) throw new Error(`${main} is missing: build first`)
  const [port, grpcPort] = [await getFreePort(), await getFreePort()]
  const url = `http://${machine.address}:${port}`
  const clockFile = join(logs, `${name}-${machine.number}.clock`)
  writeFileSync(clockFile, '0')
  const ask = async (path: string) => {
    const response = await fetch(`${url}/-/${path}`, { signal: AbortSignal.timeout(5000) })
    await response.body?.cancel()
    return response.ok
  }
  const child = supervise({
    ...machine.onMachine({ command: process.execPath, args: ['--import', clock, main] }),
    name: `${name} ${machine.number}`,
    cwd: join(services, name),
    env: {
      ...programEnvironment(),
      HOST: machine.address,
      PORT: String(port),
      GRPC_HOST: machine.address,
      GRPC_PORT: String(grpcPort),
      GRPC_TRUSTED_PROXIES: 'loopback',
      CLOCK_OFFSET_FILE: clockFile,
      ...env,
    },
    logFile: join(logs, `${name}-${machine.number}.log`),
    isAlive: () => ask('liveness'),
    notice,
  })
  return {
    name,
    machine: machine.number,
    url,
    clockFile,
    grpcAddress: `${machine.address}:${grpcPort}`,
    signal(signal) {
      const pid = child.pid()
      if (pid !== undefined) process.kill(pid, signal)
    },
    isReady: () => ask('readiness').catch(() => false),
    process: child,
  }
}
