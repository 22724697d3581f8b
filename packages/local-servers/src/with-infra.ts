import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from './postgres.js'
import { findKubectl, findPromtool } from './tools/deploy-tools.js'
import { findDulwich, findGitLfs, findGitlabGo, findJgit } from './tools/git-clients.js'
import {
  findGitlabPython,
  findGitlabRuby,
  findGrpcPython,
  findGrpcRuby,
  findSidekiqRuby,
} from './tools/interpreters.js'
import { getRedisServer } from './tools/servers.js'

/**
 * Calls `work` with the environment variables of integration tests, and returns its result. A variable that
 * is already set keeps its value. An optional tool that is missing is an empty value.
 * - SWITCHYARD_TEST_DATABASE_URL: a temporary PostgreSQL server on which databases may be created
 * - SWITCHYARD_TEST_REDIS_SERVER: the program of Redis
 * - SWITCHYARD_TEST_SIDEKIQ_RUBY: a Ruby with Sidekiq; optional
 * - SWITCHYARD_TEST_GRPC_PYTHON and SWITCHYARD_TEST_GRPC_RUBY: interpreters with gRPC; optional
 * - SWITCHYARD_TEST_GITLAB_PYTHON and SWITCHYARD_TEST_GITLAB_RUBY: interpreters with GitLab's clients;
 *   optional
 * - SWITCHYARD_TEST_GITLAB_GO: a command, as a list in JSON, that runs a Go file with GitLab's client;
 *   optional
 * - SWITCHYARD_TEST_GIT_LFS, SWITCHYARD_TEST_KUBECTL and SWITCHYARD_TEST_PROMTOOL: the programs of these
 *   names; optional
 * - SWITCHYARD_TEST_DULWICH and SWITCHYARD_TEST_JGIT: commands of git clients, as lists in JSON; optional
 *
 * @param parentFolder contains the folder of the server while it runs
 */
export async function withInfra<T>(
  toolsDir: string,
  work: (env: NodeJS.ProcessEnv) => Promise<T>,
  parentFolder = tmpdir(),
): Promise<T> {
  return await withPostgres(work, parentFolder, await findTools(toolsDir))
}

async function findTools(toolsDir: string): Promise<NodeJS.ProcessEnv> {
  const env = { ...process.env }
  env.SWITCHYARD_TEST_REDIS_SERVER ||= await getRedisServer(toolsDir, console.error)
  env.SWITCHYARD_TEST_SIDEKIQ_RUBY ??= (await findSidekiqRuby(toolsDir, console.error)) ?? ''
  env.SWITCHYARD_TEST_GRPC_PYTHON ??= (await findGrpcPython(toolsDir, console.error)) ?? ''
  env.SWITCHYARD_TEST_GRPC_RUBY ??= (await findGrpcRuby(toolsDir, console.error)) ?? ''
  env.SWITCHYARD_TEST_GITLAB_PYTHON ??= (await findGitlabPython(toolsDir, console.error)) ?? ''
  env.SWITCHYARD_TEST_GITLAB_RUBY ??= (await findGitlabRuby(toolsDir, console.error)) ?? ''
  env.SWITCHYARD_TEST_GITLAB_GO ??= commandText(await findGitlabGo(toolsDir, console.error))
  env.SWITCHYARD_TEST_DULWICH ??= commandText(await findDulwich(toolsDir, console.error))
  env.SWITCHYARD_TEST_JGIT ??= commandText(await findJgit(toolsDir, console.error))
  env.SWITCHYARD_TEST_GIT_LFS ??= (await findGitLfs(toolsDir, console.error)) ?? ''
  env.SWITCHYARD_TEST_KUBECTL ??= (await findKubectl(toolsDir, console.error)) ?? ''
  env.SWITCHYARD_TEST_PROMTOOL ??= (await findPromtool(toolsDir, console.error)) ?? ''
  return env
}

/**
 * Calls `work` with SWITCHYARD_TEST_DATABASE_URL only, because finding the tools of the other variables takes
 * seconds.
 */
export async function withPostgres<T>(
  work: (env: NodeJS.ProcessEnv) => Promise<T>,
  parentFolder: string,
  given: NodeJS.ProcessEnv = process.env,
): Promise<T> {
  if (given.SWITCHYARD_TEST_DATABASE_URL) return await work(given)
  const folder = mkdtempSync(join(parentFolder, 'switchyard-test-'))
  const postgres = await startPostgres({
    dataDir: join(folder, 'postgres'),
    log: console.error,
    durable: false,
  })
  try {
    return await work({ ...given, SWITCHYARD_TEST_DATABASE_URL: postgres.adminUrl })
  } finally {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const commandText = (command: string[] | null) => (command ? JSON.stringify(command) : '')
