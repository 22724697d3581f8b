import type { CountedStatus, StatusFields } from '@switchyard/domain/commit-status'
import type { Database, DatabaseOrTransaction } from '../client.js'
import type { CommitStatus, User } from '../generated/client.js'

export type StatusWithAuthor = CommitStatus & { author: User | null }

/** What a status is about: posts to the same label change one record as long as it is active. */
export interface StatusLabel {
  projectId: number
  sha: string
  ref: string | null
  name: string
}

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

const withAuthor = { author: true } as const

/** One page of a commit's statuses by id, and how many there are. */
export async function listCommitStatuses(
  { prisma, pool }: Database,
  filter: StatusFilter,
  { skip, take }: { skip: number; take: number },
): Promise<{ statuses: StatusWithAuthor[]; total: number }> {
  const { rows } = await pool.query<{ id: string }>({
    name: filter.latest ? 'latest-commit-statuses' : 'all-commit-statuses',
    text: `SELECT id FROM (
        SELECT ${filter.latest ? 'DISTINCT ON (ref, name)' : ''} id, ref, name, stage
        FROM commit_statuses WHERE project_id = $1 AND sha = $2 ORDER BY ref, name, id DESC
      ) chosen
      WHERE ($3::text IS NULL OR ref = $3) AND ($4::text IS NULL OR stage = $4) AND ($5::text IS NULL OR name = $5)
      ORDER BY id`,
    values: [filter.projectId, filter.sha, filter.ref ?? null, filter.stage ?? null, filter.name ?? null],
  })
  const ids = rows.map(({ id }) => BigInt(id))
  if (filter.newestFirst) ids.reverse()
  const statuses = await prisma.commitStatus.findMany({
    where: { projectId: filter.projectId, id: { in: ids.slice(skip, skip + take) } },
    orderBy: { id: filter.newestFirst ? 'desc' : 'asc' },
    include: withAuthor,
  })
  return { statuses, total: ids.length }
}

/** Whether anybody posted a status of this commit for this ref. */
export async function hasCommitStatus(
  { prisma }: DatabaseOrTransaction,
  where: { projectId: number; sha: string; ref: string },
): Promise<boolean> {
  return (await prisma.commitStatus.findFirst({ where, select: { id: true } })) !== null
}

/** The newest status of each ref and name of a commit, as far as its aggregated state needs them. */
export async function listCountedStatuses(
  { pool }: Pick<Database, 'pool'>,
  projectId: number,
  sha: string,
): Promise<CountedStatus[]> {
  const { rows } = await pool.query<CountedStatus>({
    name: 'counted-commit-statuses',
    text: `SELECT DISTINCT ON (ref, name) status, allow_failure AS "allowFailure"
      FROM commit_statuses WHERE project_id = $1 AND sha = $2 ORDER BY ref, name, id DESC`,
    values: [projectId, sha],
  })
  return rows
}

/**
 * Records a post: changes the label's active record, or makes a new one. Posts to one label queue up, so
 * that parallel ones neither fail nor make a second record.
 *
 * @param apply what the post makes of the active record, null when there is none
 */
export async function recordCommitStatus(
  database: Database,
  label: StatusLabel,
  authorId: number,
  apply: (current: StatusFields | null) => StatusFields,
  now: Date,
): Promise<StatusWithAuthor> {
  const { projectId, sha, ref, name } = label
  return database.prisma.$transaction(async (prisma) => {
    const lockName = JSON.stringify([projectId, sha, ref, name])
    await prisma.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${lockName}, 0))`
    const current = await prisma.commitStatus.findFirst({
      where: { projectId, sha, ref, name, status: { in: ['pending', 'running'] } },
      orderBy: { id: 'desc' },
    })
    const fields = apply(current as StatusFields | null)
    if (!current) {
      const data = { ...label, ...fields, authorId, createdAt: now, updatedAt: now }
      return prisma.commitStatus.create({ data, include: withAuthor })
    }
    return prisma.commitStatus.update({
      where: { projectId_id: { projectId, id: current.id } },
      data: { ...fields, updatedAt: now },
      include: withAuthor,
    })
  })
}
