import { auditEntryOf, type Database } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import type { Logger } from '@switchyard/service-kit/observability'
import { type JobContext, jobType } from '../job-type.js'
import { withSweepLease } from '../sweeps.js'
import type { AuditTools } from './audit.js'
import { type Destination, ExportError } from './destination.js'
import {
  advanceAuditExport,
  checkAuditExport,
  findAuditHorizon,
  listAuditEventsAfter,
  noteAuditExportFailure,
} from './store.js'

/**
 * Time limit of a run. It ends before its lease does, even when its last batch takes the longest possible
 * time.
 */
const budgetMs = 20_000
const leaseMs = 60_000
const batchEntries = 500

interface Dependencies {
  database: Database
  audit: AuditTools
  clock: Clock
}

/**
 * Sends the audit log to the destinations, each from its own position. The position is stored once the
 * destination has the entries, so entries in transit are sent again after a worker dies. One worker at a time
 * serves a destination.
 */
export const auditExport = ({ database, audit, clock }: Dependencies) =>
  jobType({
    queue: 'audit-export',
    concurrency: 1,
    timeoutMs: leaseMs,
    ...(audit.destinations.length > 0 && {
      schedule: { everyMs: 5000, atStart: true, attempts: 1, retryDelayMs: 1000 },
    }),
    async run(_payload, context) {
      const all = audit.destinations.map((destination) =>
        withSweepLease(database, `audit-export-${destination.name}`, leaseMs, () =>
          exportTo(destination, { database, audit, clock, ...context }),
        ),
      )
      // When one destination fails, the others are still awaited.
      for (const end of await Promise.allSettled(all)) if (end.status === 'rejected') throw end.reason
    },
  })

type Run = Dependencies & JobContext

async function exportTo(destination: Destination, run: Run): Promise<void> {
  const { database, clock, audit, logger } = run
  const { position, retryAt, failures } = await checkAuditExport(database, destination.name, clock())
  if (retryAt !== null && retryAt > clock()) return
  const horizon = await findAuditHorizon(database)
  if (horizon === null || BigInt(horizon) <= position) return
  try {
    await sendUpTo(destination, { after: position, upTo: BigInt(horizon) }, run)
    if (failures > 0) logger.info({ destination: destination.name }, 'the audit log is exported again')
  } catch (error) {
    if (!(error instanceof ExportError) || run.signal.aborted) throw error
    audit.count(destination.name, 0, 'failed')
    const failed = await noteAuditExportFailure(database, destination.name, error.message)
    warn(logger, destination.name, error, failed)
  }
}

/** @throws ExportError */
async function sendUpTo(
  destination: Destination,
  { after, upTo }: { after: bigint; upTo: bigint },
  { database, audit, signal }: Run,
): Promise<void> {
  const untilMs = performance.now() + budgetMs
  let position = after
  while (position < upTo && performance.now() < untilMs && !signal.aborted) {
    const events = await listAuditEventsAfter(database, { after: position, upTo, take: batchEntries })
    if (events.length > 0) await destination.send(events.map(auditEntryOf), signal)
    position = events.length < batchEntries ? upTo : (events.at(-1)?.id ?? upTo)
    await advanceAuditExport(database, destination.name, { position, entries: events.length > 0 })
    audit.count(destination.name, events.length, 'sent')
  }
}

/**
 * Warns at the first failure in a row, and logs later ones at debug level, because an outage fails every few
 * seconds.
 */
function warn(logger: Logger, destination: string, error: ExportError, failures: number): void {
  const level = failures === 1 ? 'warn' : 'debug'
  logger[level]({ destination, reason: error.message, failures }, 'could not export the audit log')
}
