import autocannon from 'autocannon'
import pg from 'pg'
import type { GitApi } from './git-api.js'

/** The rows of writers: all write the same one, or each its own. */
export type Rows = 'one row' | 'own rows'

export const writers = 32

const nameOf = (rows: Rows, writer: number) => (rows === 'one row' ? 'shared' : `writer-${writer}`)
const states = ['pending', 'running']

/** Measures posts per second over HTTP. @param headers headers that identify the sender */
export async function postStatuses(
  { port, projectId, sha }: Pick<GitApi, 'port' | 'projectId' | 'sha'>,
  headers: Record<string, string>,
  rows: Rows,
  seconds: number,
): Promise<number> {
  let writer = 0
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: writers,
    duration: seconds,
    setupClient(client) {
      const name = nameOf(rows, writer++)
      client.setRequests(
        states.map((state) => ({
          method: 'POST',
          path: `/api/v4/projects/${projectId}/statuses/${sha}`,
          headers: { ...headers, 'Content-Type': 'application/json' },
          body: JSON.stringify({ state, ref: 'main', name, description: `It is ${state}` }),
        })),
      )
    },
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} wrong answers, ${result.errors} errors`)
  return result.requests.average
}

const upsert = {
  name: 'upsert',
  text: `INSERT INTO commit_statuses (project_id, sha, ref, pipeline_id, name, stage, status, description, author_id, created_at, updated_at)
    VALUES ($1, $2, 'main', 0, $3, 'external', $4, $5, $6, $7, $7)
    ON CONFLICT (project_id, sha, ref, name) WHERE NOT superseded
    DO UPDATE SET status = excluded.status, description = excluded.description, updated_at = excluded.updated_at
    RETURNING *`,
}

/** Writes the same rows with statements that each commit separately, with one connection for each writer. */
export async function createPlainWriter(databaseUrl: string) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: writers })
  const { rows } = await pool.query<{ project: number; author: number }>(
    `WITH author AS (
       INSERT INTO users (username, username_key, name, email, email_key) VALUES ('u', 'u', 'u', 'u', 'u') RETURNING id
     )
     INSERT INTO projects (owner_id, path, name, path_with_namespace, path_key, disk_path)
     SELECT id, 'p', 'p', 'u/p', 'u/p', 'p' FROM author RETURNING id AS project, owner_id AS author`,
  )
  const { project, author } = rows[0] ?? { project: 0, author: 0 }
  return {
    /** Measures statements per second. */
    async write(which: Rows, seconds: number): Promise<number> {
      const end = performance.now() + seconds * 1000
      let written = 0
      const write = async (_: unknown, writer: number) => {
        for (let step = 0; performance.now() < end; step += 1) {
          const state = states[step % states.length]
          await pool.query({
            ...upsert,
            values: [
              project,
              'f'.repeat(40),
              nameOf(which, writer),
              state,
              `It is ${state}`,
              author,
              new Date(),
            ],
          })
          written += 1
        }
      }
      await Promise.all(Array.from({ length: writers }, write))
      return written / seconds
    },
    close: () => pool.end(),
  }
}
