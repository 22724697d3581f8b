import { Agent, get } from 'node:http'
import pg from 'pg'
import type { GitApi } from './git-api.js'

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Returns milliseconds until the complete answer, one request after the other on one connection. */
export async function timed(url: string, headers: Record<string, string>): Promise<number> {
  const startedAt = performance.now()
  await new Promise<void>((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${response.statusCode} for ${url}`))
      response.resume().once('end', resolve)
    }).once('error', reject)
  })
  return performance.now() - startedAt
}

const statusCount = 10_000
const otherStatuses = 200_000

/** Gives a commit many statuses, half of them the newest of their name, among those of many other commits. */
export async function fillCommit(databaseUrl: string, { projectId, sha }: GitApi): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('DELETE FROM commit_statuses')
  await client.query(
    `INSERT INTO commit_statuses (project_id, sha, ref, pipeline_id, name, status, description, author_id, superseded)
     SELECT $1, $2, 'main', 0, 'job-' || n % ($3 / 2), 'success', 'It went well', (SELECT min(id) FROM users), n <= $3 / 2
     FROM generate_series(1, $3::int) n`,
    [projectId, sha, statusCount],
  )
  await client.query(
    `INSERT INTO commit_statuses (project_id, sha, ref, pipeline_id, name, status, description, author_id)
     SELECT $1, encode(sha256((n / 100)::text::bytea), 'hex'), 'main', 0, 'job-' || n % 100, 'success', 'It went well',
       (SELECT min(id) FROM users) FROM generate_series(1, $2::int) n`,
    [projectId, otherStatuses],
  )
  await client.query('VACUUM ANALYZE commit_statuses')
  await client.end()
}

/** Returns milliseconds of each kind of list, by query. */
export async function timeLists({ port, headers, projectId, sha }: GitApi, requests: number) {
  const path = `http://127.0.0.1:${port}/api/v4/projects/${projectId}/repository/commits/${sha}/statuses`
  const queries = [
    'per_page=100',
    'per_page=100&page=25',
    'per_page=100&all=true',
    'per_page=100&all=true&page=100',
  ]
  const times = new Map(queries.map((query) => [query, [] as number[]]))
  // Warm-up until the code is compiled.
  for (let warmUp = 0; warmUp < 200; warmUp += 1)
    for (const query of queries) await timed(`${path}?${query}`, headers)
  for (let count = 0; count < requests; count += 1) {
    for (const [query, list] of times) list.push(await timed(`${path}?${query}`, headers))
  }
  return times
}

/** Times the same public answer with a token and without one, in turns. */
export async function timeAuthentication({ port, headers, projectId, sha }: GitApi, requests: number) {
  const url = `http://127.0.0.1:${port}/api/v4/projects/${projectId}/repository/commits/${sha}`
  const times = { known: [] as number[], anonymous: [] as number[] }
  for (let count = 0; count < requests; count += 1) {
    const [known, anonymous] = [await timed(url, headers), await timed(url, {})]
    // The first rounds include compilation.
    if (count < 200) continue
    times.known.push(known)
    times.anonymous.push(anonymous)
  }
  return times
}

/** Times the same public answer with a used and with a new identity token, in turns. */
export async function timeJobTokens({ port, jobHeaders, projectId, sha }: GitApi, requests: number) {
  const url = `http://127.0.0.1:${port}/api/v4/projects/${projectId}/repository/commits/${sha}`
  const shown = await jobHeaders()
  const times = { shown: [] as number[], first: [] as number[] }
  for (let count = 0; count < requests + 200; count += 1) {
    const fresh = await jobHeaders()
    const [again, first] = [await timed(url, shown), await timed(url, fresh)]
    if (count < 200) continue
    times.shown.push(again)
    times.first.push(first)
  }
  return times
}

export const closeConnections = () => agent.destroy()
