import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from './postgres.js'
import { findDulwich, findJgit } from './tools/git-clients.js'
import { findRedisServer } from './tools/redis-server.js'
import { findSidekiqRuby } from './tools/sidekiq.js'

/**
 * Runs a command with what integration tests need and returns its exit code:
 * SWITCHYARD_TEST_DATABASE_URL, a PostgreSQL where databases may be created, thrown away afterwards;
 * SWITCHYARD_TEST_REDIS_SERVER, a program to start a Redis with;
 * SWITCHYARD_TEST_SIDEKIQ_RUBY, a Ruby that has Sidekiq, or empty;
 * SWITCHYARD_TEST_DULWICH and SWITCHYARD_TEST_JGIT, commands of clients of git as lists in JSON, or empty.
 * What is already set is left as it is.
 */
export async function withInfra(command: string[], toolsDir: string): Promise<number> {
  const env = { ...process.env }
  env.SWITCHYARD_TEST_REDIS_SERVER ||= await findRedisServer(toolsDir, console.error)
  env.SWITCHYARD_TEST_SIDEKIQ_RUBY ??= (await findSidekiqRuby(toolsDir, console.error)) ?? ''
  env.SWITCHYARD_TEST_DULWICH ??= commandText(await findDulwich(toolsDir, console.error))
  env.SWITCHYARD_TEST_JGIT ??= commandText(await findJgit(toolsDir, console.error))
  if (env.SWITCHYARD_TEST_DATABASE_URL) return await runCommand(command, env)

  const folder = mkdtempSync(join(tmpdir(), 'switchyard-test-'))
  const postgres = await startPostgres({
    dataDir: join(folder, 'postgres'),
    log: console.error,
    durable: false,
  })
  env.SWITCHYARD_TEST_DATABASE_URL = postgres.adminUrl
  try {
    return await runCommand(command, env)
  } finally {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const commandText = (command: string[] | null) => (command ? JSON.stringify(command) : '')

function runCommand([command = '', ...args]: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(command, args, { env, stdio: 'inherit' })
  // A terminal's Ctrl-C reaches the command by itself; a signal sent to us alone is passed on.
  const passOn = (signal: NodeJS.Signals) => child.kill(signal)
  const ignore = () => {}
  process.on('SIGTERM', passOn)
  process.on('SIGINT', ignore)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      process.off('SIGTERM', passOn)
      process.off('SIGINT', ignore)
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))
    })
  })
}
