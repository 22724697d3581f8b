import type { CountedStatus } from '@switchyard/domain/commit-status'
import type { Database, DatabaseOrTransaction } from '../../client.js'
import { type StatusRow, type StatusWithAuthor, statusColumns, statusOf } from './status-row.js'

export interface StatusFilter {
  projectId: number
  sha: string
  /** Undefined: of every ref. */
  ref?: string | undefined
  stage?: string | undefined
  name?: string | undefined
  /** Only the newest record of each ref and name. */
  latest: boolean
  newestFirst: boolean
}

/** One page of a commit's statuses by id, and how many there are. */
export async function listCommitStatuses(
  { pool }: Pick<Database, 'pool'>,
  filter: StatusFilter,
  { skip, take }: { skip: number; take: number },
): Promise<{ statuses: StatusWithAuthor[]; total: number }> {
  const { where, values } = conditionOf(filter)
  const order = `ORDER BY s.id ${filter.newestFirst ? 'DESC' : 'ASC'}`
  const count = `SELECT count(*)::int AS total FROM commit_statuses s WHERE ${where}`
  // The page is found by its ids first: the index has them, so rows that are skipped are not read.
  const page = `SELECT s.id FROM commit_statuses s WHERE ${where} ${order}
    LIMIT $${values.length + 1} OFFSET $${values.length + 2}`
  const { rows } = await pool.query<StatusRow & { total: number }>(
    `SELECT ${statusColumns}, (${count}) AS total
     FROM (${page}) page JOIN commit_statuses s ON s.project_id = $1 AND s.id = page.id
       LEFT JOIN users u ON u.id = s.author_id ${order}`,
    [...values, take, skip],
  )
  return {
    statuses: rows.map(statusOf),
    total: rows[0]?.total ?? (await totalBeyond(pool, count, values, skip)),
  }
}

/** No row comes with the number of rows when a page lies beyond the last one. */
async function totalBeyond(
  pool: Database['pool'],
  count: string,
  values: unknown[],
  skip: number,
): Promise<number> {
  if (skip === 0) return 0
  const { rows } = await pool.query<{ total: number }>(count, values)
  return rows[0]?.total ?? 0
}

/** Only what is asked for, so that each question gets the plan that suits it. */
function conditionOf({ projectId, sha, ref, stage, name, latest }: StatusFilter) {
  const values: (string | number)[] = [projectId, sha]
  const conditions = ['s.project_id = $1', 's.sha = $2']
  for (const [column, value] of Object.entries({ ref, stage, name })) {
    if (value !== undefined) conditions.push(`s.${column} = $${values.push(value)}`)
  }
  if (latest) conditions.push('NOT s.superseded')
  return { where: conditions.join(' AND '), values }
}

export const findNewestStatus = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<StatusWithAuthor | null> =>
  prisma.commitStatus.findFirst({ where: { projectId }, orderBy: { id: 'desc' }, include: { author: true } })

/** Whether anybody posted a status of this commit for this ref. */
export async function hasCommitStatus(
  { pool }: Pick<Database, 'pool'>,
  { projectId, sha, ref }: { projectId: number; sha: string; ref: string },
): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'has-commit-status',
    text: `SELECT FROM commit_statuses WHERE project_id = $1 AND sha = $2 AND ref = $3 AND NOT superseded LIMIT 1`,
    values: [projectId, sha, ref],
  })
  return rowCount === 1
}

/** The newest status of each ref and name of a commit, as far as its aggregated state needs them. */
export async function listCountedStatuses(
  { pool }: Pick<Database, 'pool'>,
  projectId: number,
  sha: string,
): Promise<CountedStatus[]> {
  const { rows } = await pool.query<CountedStatus>({
    name: 'counted-commit-statuses',
    text: `SELECT DISTINCT status, allow_failure AS "allowFailure"
      FROM commit_statuses WHERE project_id = $1 AND sha = $2 AND NOT superseded`,
    values: [projectId, sha],
  })
  return rows
}
