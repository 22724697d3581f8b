import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '@switchyard/dev-env/free-port'
import { startJobIssuer } from '@switchyard/testing'
import { startRedis } from '../../support/redis.js'

/** The service in a separate process, with a public project that has one commit, and trusts CI jobs of an issuer. */
export async function startGitApi(databaseUrl: string) {
  const issuer = await startJobIssuer()
  const storageRoot = mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
  const redis = await startRedis()
  const token = randomBytes(20).toString('hex')
  const port = await findFreePort()
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
      // Log lines go to a file that nobody reads, as in production they go to a pipe.
      execArgv: [],
      stdio: ['ignore', openSync(devNull, 'w'), 'inherit', 'ipc'],
    },
  )
  const baseUrl = `http://127.0.0.1:${port}`
  const ready = () =>
    fetch(`${baseUrl}/-/readiness`).then(
      ({ ok }) => ok,
      () => false,
    )
  for (let left = 600; !(await ready()); left -= 1) {
    if (left === 0 || child.exitCode !== null) throw new Error('git-api did not start')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const headers = { 'PRIVATE-TOKEN': token }
  const asked = async <Answer>(path: string, fields?: object): Promise<Answer> => {
    const init = fields ? { method: 'POST', body: JSON.stringify(fields) } : {}
    const response = await fetch(`${baseUrl}/api/v4${path}`, {
      ...init,
      headers: { ...headers, 'Content-Type': 'application/json' },
    })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as Answer
  }
  const given = { path: 'built', visibility: 'public', initialize_with_readme: true }
  const project = await asked<{ id: number }>('/projects', given)
  const commit = await asked<{ id: string }>(`/projects/${project.id}/repository/commits/main`)
  const job = { sub: 'repo:acme/engine', aud: 'switchyard', repository: 'acme/engine' }
  await asked(`/projects/${project.id}/trusted_issuers`, {
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
    /** The headers of requests by a CI job with a new identity token. */
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
