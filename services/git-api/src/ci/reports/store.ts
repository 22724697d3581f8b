import { inPoolTransaction, type Pooled, type Rows } from '@switchyard/db'
import { lockName, SqlParameters } from '@switchyard/db/sql'
import { unprocessable } from '@switchyard/domain'
import { type AuthorRow, authorColumns, type StatusAuthor, withAuthor } from '../statuses/store.js'
import type { FindingCounts, ParsedReport, ReportFormat, TestCounts } from './entries.js'
import { markFlaky } from './outcomes.js'

/** A report without its entries. */
export interface StoredReport {
  id: string
  sha: string
  ref: string | null
  name: string
  format: ReportFormat
  pipelineId: string
  statusId: string
  tests: TestCounts | null
  findings: FindingCounts | null
  createdAt: Date
  author: StatusAuthor | null
}

/** The contents of a report, up to megabytes, which lists of reports do not read. */
export interface ReportContents {
  /** Outcomes in the format of `packOutcomes`. */
  outcomes: Buffer
  /** Entries as JSON, compressed with gzip. */
  entries: Buffer
}

export type WholeReport = StoredReport & ReportContents

/**
 * Most reports that are kept of a commit, and of a project. The oldest reports of a project are deleted for
 * new ones.
 */
const ofCommitMax = 100
/** Most refs whose newest reports are compared with a report to find flaky tests. */
const comparedMax = 5
const ofProjectMax = 5_000

const columns = `r.id, r.sha, r.ref, r.name, r.format, r.pipeline_id AS "pipelineId", r.status_id AS "statusId", r.tests, r.findings,
  r.created_at AS "createdAt", r.author_id AS "authorId", ${authorColumns}`
const fromReports = 'FROM status_reports r LEFT JOIN users u ON u.id = r.author_id'

type ReportRow = Omit<StoredReport, 'author'> & AuthorRow

/** The status that a report belongs to. */
export interface ReportedStatus {
  projectId: number
  sha: string
  ref: string | null
  name: string
  pipelineId: bigint
  statusId: bigint
}

/**
 * Stores a report in place of the earlier report of the same status and format. The new report takes over the
 * flaky marks of the replaced report, and of reports of the same commit and name with other refs.
 *
 * @throws DomainError unprocessable when the commit has too many reports
 */
export async function replaceReport(
  { pool }: Pooled,
  { projectId, sha, ref, name, pipelineId, statusId }: ReportedStatus,
  { format, tests, findings, outcomes, entries }: ParsedReport,
  authorId: number,
): Promise<void> {
  await inPoolTransaction(pool, async (client) => {
    // Posts to one commit run one by one, so that each sees the tests of the others and they cannot exceed
    // the limit together.
    await lockName(client, `switchyard.report ${projectId} ${sha}`)
    const { rows: stored } = await client.query<{
      ref: string | null
      isOne: boolean
      outcomes: Buffer | null
      bytes: number
    }>(
      `SELECT ref, name = $3 AND format = $4 AS "isOne", ${storedBytes} AS bytes,
         CASE WHEN name = $3 AND format = $4 AND (ref IS NOT DISTINCT FROM $5 OR age <= $6) THEN outcomes END AS outcomes
       FROM (SELECT *, row_number() OVER (PARTITION BY name, format ORDER BY id DESC) AS age
         FROM status_reports WHERE project_id = $1 AND sha = $2) AS reports`,
      [projectId, sha, name, format, ref, comparedMax],
    )
    const replaced = stored.find((each) => each.isOne && each.ref === ref)
    if (!replaced && stored.length >= ofCommitMax)
      throw unprocessable(`The commit has ${ofCommitMax} reports already`)
    const marked = markFlaky(
      outcomes,
      stored.flatMap((each) => each.outcomes ?? []),
    )
    await client.query(
      `INSERT INTO status_reports
         (project_id, sha, ref, name, format, pipeline_id, status_id, tests, findings, outcomes, entries, author_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
       ON CONFLICT (project_id, sha, name, format, ref) DO UPDATE SET
         id = EXCLUDED.id, pipeline_id = EXCLUDED.pipeline_id, status_id = EXCLUDED.status_id, tests = EXCLUDED.tests,
         findings = EXCLUDED.findings, outcomes = EXCLUDED.outcomes, entries = EXCLUDED.entries,
         author_id = EXCLUDED.author_id, created_at = EXCLUDED.created_at`,
      [
        projectId,
        sha,
        ref,
        name,
        format,
        pipelineId,
        statusId,
        tests,
        findings,
        bufferOf(marked),
        bufferOf(entries),
        authorId,
      ],
    )
    const { rows: removed } = await client.query<{ bytes: number }>(
      `DELETE FROM status_reports WHERE project_id = $1
         AND id <= (SELECT id FROM status_reports WHERE project_id = $1 ORDER BY id DESC OFFSET $2 LIMIT 1)
       RETURNING ${storedBytes} AS bytes`,
      [projectId, ofProjectMax],
    )
    const freed = removed.reduce((sum, { bytes }) => sum + bytes, replaced?.bytes ?? 0)
    await client.query(
      `INSERT INTO storage_uses (project_id, report_bytes) VALUES ($1, greatest(0, $2::bigint))
       ON CONFLICT (project_id) DO UPDATE SET report_bytes = greatest(0, storage_uses.report_bytes + $2)`,
      [projectId, bytesOf({ outcomes: marked, entries }) - freed],
    )
  })
}

const storedBytes = 'octet_length(outcomes) + octet_length(entries)'

/** Returns the bytes of a report that count towards the quota. */
export const bytesOf = ({ outcomes, entries }: { outcomes: Uint8Array; entries: Uint8Array }): number =>
  outcomes.length + entries.length

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength)

export interface ReportFilter {
  projectId: number
  /** The commit, and optionally one of its pipelines. */
  sha: string
  pipelineId?: bigint | undefined
  /** Conditions on reports. Undefined: any value. */
  name?: string | undefined
  ref?: string | undefined
  format?: ReportFormat | undefined
}

/** Lists the reports of a commit, newest first; a commit has at most 100. */
export async function listReports(
  { pool }: Pooled,
  filter: ReportFilter,
  { skip, take }: Rows = { skip: 0, take: ofCommitMax },
): Promise<{ reports: StoredReport[]; total: number }> {
  const { where, values } = conditionOf(filter)
  const { rows } = await pool.query<ReportRow & { total: number }>(
    `SELECT ${columns} ${fromReports} WHERE ${where} ORDER BY r.id DESC`,
    values,
  )
  return { reports: rows.slice(skip, skip + take).map(withAuthor), total: rows.length }
}

/** Returns the newest report that matches, with its contents. */
export async function findReport({ pool }: Pooled, filter: ReportFilter): Promise<WholeReport | null> {
  const { where, values } = conditionOf(filter)
  const { rows } = await pool.query<ReportRow & ReportContents>(
    `SELECT ${columns}, r.outcomes, r.entries ${fromReports} WHERE ${where} ORDER BY r.id DESC LIMIT 1`,
    values,
  )
  return rows[0] ? withAuthor(rows[0]) : null
}

function conditionOf({ projectId, sha, ref, name, format, pipelineId }: ReportFilter) {
  const parameters = new SqlParameters()
  const columns = { project_id: projectId, sha, ref, name, format, pipeline_id: pipelineId }
  const conditions = Object.entries(columns)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => `r.${column} = ${parameters.add(value)}`)
  return { where: conditions.join(' AND '), values: parameters.values }
}

/** Returns the contents of a report; null when it was replaced meanwhile. */
export async function findContents(
  { pool }: Pooled,
  projectId: number,
  id: string,
): Promise<ReportContents | null> {
  const { rows } = await pool.query<ReportContents>(
    'SELECT outcomes, entries FROM status_reports WHERE project_id = $1 AND id = $2',
    [projectId, id],
  )
  return rows[0] ?? null
}

/** Returns only the outcomes; null when the report was replaced meanwhile. */
export async function findOutcomes({ pool }: Pooled, projectId: number, id: string): Promise<Buffer | null> {
  const { rows } = await pool.query<Pick<ReportContents, 'outcomes'>>(
    'SELECT outcomes FROM status_reports WHERE project_id = $1 AND id = $2',
    [projectId, id],
  )
  return rows[0]?.outcomes ?? null
}
