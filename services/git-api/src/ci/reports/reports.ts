import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Database, Rows } from '@switchyard/db'
import { notFound, tooLarge } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { type Call, inSlot } from '@switchyard/service-kit/http'
import type { Slots } from '@switchyard/service-kit/slots'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { createParserThreads, type ParserThreads } from '../../parser-threads.js'
import { createReadSlots } from '../../read-slots.js'
import { getCommitId } from '../../repository/commits/commits.js'
import { findQuotaRefusal } from '../../repository/lfs/lfs.js'
import type { StorageSpace } from '../../system/system.js'
import { listStatuses } from '../statuses/store.js'
import type { Finding, ParsedReport, ReportFormat, TestCase } from './entries.js'
import { flakyMarks } from './outcomes.js'
import type { StoredReport, WholeReport } from './store.js'
import * as store from './store.js'

export interface ReportDependencies extends ProjectResourceDependencies {
  reportThreads: ParserThreads<ParsedReport>
  reportReads: Slots
  storageSpace: StorageSpace
}

/**
 * Creates the threads that parse reports. A report is parsed within a second; a malicious report that takes
 * longer delays only other reports.
 */
export const createReportThreads = (): ParserThreads<ParsedReport> =>
  createParserThreads({
    worker: { file: 'parse-report', name: 'parseReport', from: import.meta.url },
    threadsMax: 1,
    heapMegabytesMax: 512,
  })

/**
 * Creates the slots for requests that read the tests or findings of reports. Each request holds one report at
 * a time in memory, which may be megabytes.
 */
export const createReportReads = (): Slots => createReadSlots(4, 'reports')

/** The status that a report belongs to. */
interface ReportedStatus {
  /** A hash, branch or tag. */
  revision: string
  name: string
  ref?: string | undefined
  pipelineId?: number | undefined
}

/**
 * Stores the report of a status.
 *
 * @throws DomainError not-found for a commit without such a status; unprocessable for too many reports;
 *   too-large beyond a quota
 */
export async function storeReport(
  { database, storageSpace }: Pick<ReportDependencies, 'database' | 'storageSpace'>,
  access: ProjectCall<Caller>,
  { revision, name, ref, pipelineId }: ReportedStatus,
  parsed: ParsedReport,
): Promise<StoredReport> {
  const { project, repository, caller } = access
  const sha = await getCommitId(repository, revision)
  const ofStatus = { projectId: project.id, sha, name }
  const filter = { ...ofStatus, ref, pipelineId: pipelineId === undefined ? undefined : BigInt(pipelineId) }
  const newest = { skip: 0, take: 1 }
  const [status] = await listStatuses(database, { ...filter, latest: true, newestFirst: true }, newest)
  if (!status) throw notFound('Status of this commit, name and ref')
  const refusal = await findQuotaRefusal(storageSpace, access, store.bytesOf(parsed))
  if (refusal !== null) throw tooLarge(refusal)
  const reported = { ...ofStatus, ref: status.ref, pipelineId: status.pipelineId, statusId: status.id }
  await store.replaceReport(database, reported, parsed, caller.user.id)
  const { reports } = await store.listReports(database, {
    ...ofStatus,
    format: parsed.format,
    pipelineId: status.pipelineId,
  })
  const [stored] = reports
  // Meanwhile, the report may have been removed with its project, or to make room for newer reports of the
  // project.
  if (!stored) throw notFound('Report')
  return stored
}

/** A selection of a commit's reports. */
interface ReportQuery {
  /** A hash, branch or tag. */
  revision: string
  name?: string | undefined
  ref?: string | undefined
  format?: ReportFormat | undefined
}

export async function listReports(
  database: Database,
  { project, repository }: ProjectCall,
  { revision, ...filter }: ReportQuery,
  rows: Rows,
) {
  const sha = await getCommitId(repository, revision)
  return store.listReports(database, { projectId: project.id, sha, ...filter }, rows)
}

/**
 * The contents of a report, in its order. Only test reports have tests, and only analysis reports have
 * findings.
 */
export interface ReportEntries {
  testCases: (TestCase & { flaky: boolean })[]
  findings: Finding[]
}

/** Returns the newest report of a name. @throws DomainError not-found */
export async function getReport(
  { database, reportReads }: Pick<ReportDependencies, 'database' | 'reportReads'>,
  { project, repository }: ProjectCall,
  { revision, ...filter }: ReportQuery & { name: string },
  call: Call,
): Promise<{ report: StoredReport; entries: ReportEntries }> {
  const sha = await getCommitId(repository, revision)
  return inSlot(reportReads, call, async () => {
    const report = await store.findReport(database, { projectId: project.id, sha, ...filter })
    if (!report) throw notFound('Report')
    return { report, entries: await readEntries(report) }
  })
}

const decompress = promisify(gunzip)

export async function readEntries({
  format,
  outcomes,
  entries,
}: Pick<WholeReport, 'format' | 'outcomes' | 'entries'>) {
  const read = JSON.parse((await decompress(entries)).toString()) as unknown[]
  if (format === 'sarif') return { testCases: [], findings: read as Finding[] }
  const flaky = flakyMarks(outcomes)
  const testCases = (read as TestCase[]).map((test, index) => ({ ...test, flaky: flaky[index] ?? false }))
  return { testCases, findings: [] }
}
