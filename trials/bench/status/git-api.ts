import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getFreePort } from '@switchyard/local-servers/free-port'
import { startJobIssuer } from '@switchyard/testing'
import { apiOf } from '../../support/api.js'
import { startRedis } from '../../support/redis.js'
import { untilAnswers } from '../../support/until-answers.js'

/**
 * Starts the service in a separate process, with a public project that has one commit, and that trusts the CI
 * jobs of an issuer.
 */
export async function startGitApi(databaseUrl: string) {
  const issuer = await startJobIssuer()
  const storageRoot = mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
  const redis = await startRedis()
  const token = randomBytes(20).toString('hex')
  const port = await getFreePort()
  const child = fork(
    fileURLToPath(new URL('../../../services/git-api/dist/bundle/main.js', import.meta.url)),
    [],
    {
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        DATABASE_URL: databaseUrl,
        REDIS_URL: `unix://${redis.path}`,
        SWITCHYARD_STORAGE_ROOT: storageRoot,
        SWITCHYARD_ROOT_TOKEN: token,
        PORT: `${port}`,
        RATE_LIMIT_PER_MINUTE: '0',
        TRUSTED_ISSUER_HOSTS: issuer.url,
        WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
      },
      // Log lines go to the null device, as they go to a pipe in production.
      execArgv: [],
      stdio: ['ignore', openSync(devNull, 'w'), 'inherit', 'ipc'],
    },
  )
  await untilAnswers(child, port, '/-/readiness')
  const headers = { 'PRIVATE-TOKEN': token }
  const api = apiOf(`http://127.0.0.1:${port}`, token)
  const given = { path: 'built', visibility: 'public', initialize_with_readme: true }
  const project = await api<{ id: number }>('POST', '/projects', given)
  const commit = await api<{ id: string }>('GET', `/projects/${project.id}/repository/commits/main`)
  const job = { sub: 'repo:acme/engine', aud: 'switchyard', repository: 'acme/engine' }
  await api('POST', `/projects/${project.id}/trusted_issuers`, {
    name: 'bench',
    issuer: issuer.url,
    audience: job.aud,
    claims: { repository: job.repository },
    access_level: 30,
    scopes: ['api'],
  })
  let runs = 0
  return {
    port,
    pid: child.pid ?? 0,
    headers,
    /** Returns the headers of requests by a CI job with a new identity token. */
    async jobHeaders() {
      runs += 1
      return { Authorization: `Bearer ${await issuer.token({ ...job, run_id: runs })}` }
    },
    projectId: project.id,
    sha: commit.id,
    async stop() {
      child.kill()
      await once(child, 'exit')
      await redis.stop()
      await issuer.close()
      rmSync(storageRoot, { recursive: true, force: true })
    },
  }
}

export type GitApi = Awaited<ReturnType<typeof startGitApi>>
