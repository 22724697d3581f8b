import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SolvableProblem } from '@switchyard/terminal'
import { execa } from 'execa'
import { endProcess, findCommandLine } from '../process/find-process.js'
import type { ServerUser } from './server-user.js'

/**
 * Reads the password of the embedded server. The first start creates it and stores it beside the cluster
 * (mode 0600).
 */
export function loadPassword(file: string): string {
  if (!existsSync(file))
    writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' })
  return readFileSync(file, 'utf8').trim()
}

/**
 * Creates a missing cluster. initdb uses a temporary folder that is renamed when it is complete, so that an
 * interrupted start leaves no incomplete cluster.
 */
export async function ensureCluster(options: {
  clusterDir: string
  initdb: string
  password: string
  user: ServerUser | null
  durable: boolean
}): Promise<void> {
  const { clusterDir, user } = options
  if (existsSync(join(clusterDir, 'PG_VERSION'))) return
  const partialDir = `${clusterDir}.partial`
  rmSync(partialDir, { recursive: true, force: true })
  mkdirSync(partialDir, { mode: 0o700 })
  const passwordFile = `${clusterDir}.pwfile`
  writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o600 })
  if (user) for (const path of [partialDir, passwordFile]) chownSync(path, user.uid, user.gid)
  const initdb = {
    command: options.initdb,
    args: [
      `--pgdata=${partialDir}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(options.durable ? [] : ['--no-sync']),
    ],
  }
  const { command, args } = user ? user.asUser(initdb) : initdb
  const result = await execa(command, args, { all: true, reject: false, cwd: '/' })
  rmSync(passwordFile)
  if (result.failed)
    throw new SolvableProblem(`PostgreSQL could not create its data folder: ${lastLine(result.all)}`)
  renameSync(partialDir, clusterDir)
}

/**
 * Stops a server that a killed start left running. Process ids are reused, so the process must have this
 * folder in its command line.
 */
export async function clearOrphan(clusterDir: string): Promise<void> {
  const pidFile = join(clusterDir, 'postmaster.pid')
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  const commandLine = findCommandLine(pid)
  if (commandLine === null) return
  if (!commandLine.includes(clusterDir)) {
    rmSync(pidFile)
    return
  }
  if (await endProcess(pid, 'SIGINT', 10_000)) return
  if (await endProcess(pid, 'SIGQUIT', 5_000)) return
  throw new SolvableProblem(
    `PostgreSQL of an earlier start does not stop: end process ${pid} and start again`,
  )
}

/**
 * Finds the server that runs on a cluster; null when none does. PostgreSQL keeps its process id and its port
 * in a file.
 */
export function findServer(clusterDir: string): { port: number } | null {
  const pidFile = join(clusterDir, 'postmaster.pid')
  if (!existsSync(pidFile)) return null
  const [pid, , , port] = readFileSync(pidFile, 'utf8').split('\n')
  const runs = findCommandLine(Number(pid))?.includes(clusterDir) ?? false
  return runs ? { port: Number(port) } : null
}

function lastLine(output: string | undefined): string {
  return output?.trim().split('\n').at(-1) ?? 'no output'
}
