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

/** One page of a commit's statuses by id, and how many there are; both are asked for at the same time. */
export async function listCommitStatuses(
  { pool }: Pick<Database, 'pool'>,
  filter: StatusFilter,
  { skip, take }: { skip: number; take: number },
): Promise<{ statuses: StatusWithAuthor[]; total: number }> {
  const { where, values, shape } = conditionOf(filter)
  const order = `ORDER BY s.id ${filter.newestFirst ? 'DESC' : 'ASC'}`
  // The page is found by its ids first: the index has them, so rows that are skipped are not read.
  const ids = `SELECT s.id FROM commit_statuses s WHERE ${where} ${order}
    LIMIT $${values.length + 1} OFFSET $${values.length + 2}`
  const [page, count] = await Promise.all([
    pool.query<StatusRow>({
      name: `commit-statuses ${shape} ${filter.newestFirst}`,
      text: `SELECT ${statusColumns} FROM (${ids}) page JOIN commit_statuses s ON s.project_id = $1 AND s.id = page.id
         LEFT JOIN users u ON u.id = s.author_id ${order}`,
      values: [...values, take, skip],
    }),
    pool.query<{ total: number }>({
      name: `commit-statuses total ${shape}`,
      text: `SELECT count(*)::int AS total FROM commit_statuses s WHERE ${where}`,
      values,
    }),
  ])
  return { statuses: page.rows.map(statusOf), total: count.rows[0]?.total ?? 0 }
}

/** Only what is asked for, so that each shape of question gets the plan that suits it, prepared once a connection. */
function conditionOf({ projectId, sha, ref, stage, name, latest }: StatusFilter) {
  const values: (string | number)[] = [projectId, sha]
  const conditions = ['s.project_id = $1', 's.sha = $2']
  const columns = Object.entries({ ref, stage, name }).filter(([, value]) => value !== undefined)
  for (const [column, value] of columns) conditions.push(`s.${column} = $${values.push(value ?? '')}`)
  if (latest) conditions.push('NOT s.superseded')
  const shape = [...columns.map(([column]) => column), latest ? 'latest' : 'all'].join(' ')
  return { where: conditions.join(' AND '), values, shape }
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
