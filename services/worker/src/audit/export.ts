import { auditEntryOf, type Database } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import { createOutageLog, type Logger, type OutageLog } from '@switchyard/service-kit/observability'
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
  logger: Logger
}

/**
 * Sends the audit log to the destinations, each from its own position. The position is stored once the
 * destination has the entries, so entries in transit are sent again after a worker dies. One worker at a time
 * serves a destination.
 */
export function auditExport({ database, audit, clock, logger }: Dependencies) {
  const targets = audit.destinations.map((destination) => ({
    destination,
    outage: outageOf(destination, logger),
  }))
  return jobType({
    queue: 'audit-export',
    concurrency: 1,
    timeoutMs: leaseMs,
    ...(targets.length > 0 && {
      schedule: { everyMs: 5000, atStart: true, attempts: 1, retryDelayMs: 1000 },
    }),
    async run(_payload, { signal }) {
      const all = targets.map((target) =>
        withSweepLease(database, `audit-export-${target.destination.name}`, leaseMs, () =>
          exportTo(target, { database, audit, clock, signal }),
        ),
      )
      // When one destination fails, the others are still awaited.
      for (const end of await Promise.allSettled(all)) if (end.status === 'rejected') throw end.reason
    },
  })
}

interface Target {
  destination: Destination
  outage: OutageLog
}

const outageOf = ({ name }: Destination, logger: Logger): OutageLog =>
  createOutageLog(logger.child({ destination: name }), {
    lost: 'could not export the audit log',
    back: 'the audit log is exported again',
  })

type Run = Omit<Dependencies, 'logger'> & Pick<JobContext, 'signal'>

async function exportTo({ destination, outage }: Target, run: Run): Promise<void> {
  const { database, clock, audit } = run
  const { position, retryAt, failures } = await checkAuditExport(database, destination.name, clock())
  // Another worker may have ended the outage.
  if (failures === 0) outage.worked()
  if (retryAt !== null && retryAt > clock()) return
  const horizon = await findAuditHorizon(database)
  if (horizon === null || BigInt(horizon) <= position) return
  try {
    await sendUpTo(destination, { after: position, upTo: BigInt(horizon) }, run)
    outage.worked()
  } catch (error) {
    if (!(error instanceof ExportError) || run.signal.aborted) throw error
    audit.count(destination.name, 0, 'failed')
    const failed = await noteAuditExportFailure(database, destination.name, error.message)
    outage.failed({ reason: error.message, failures: failed })
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
