import { type Database, findOldestWaiting, listAuditExports } from '@switchyard/db'
import { dayMs } from '@switchyard/domain'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Counter, Gauge } from 'prom-client'
import type { AuditConfig } from '../audit-config.js'
import type { Destination } from './destination.js'
import { httpDestination } from './http-destination.js'
import { syslogDestination } from './syslog-destination.js'

/** The tools of the audit log's jobs. */
export interface AuditTools {
  destinations: readonly Destination[]
  /** Time for which entries are kept; null: for ever. */
  keptMs: number | null
  /** Counts an attempt to send entries. */
  count(destination: string, entries: number, result: 'sent' | 'failed'): void
}

export async function createAuditTools(
  config: AuditConfig,
  metrics: Metrics,
  database: Database,
): Promise<AuditTools> {
  const destinations = await destinationsOf(config)
  const days = config.AUDIT_RETENTION_DAYS
  return {
    destinations,
    keptMs: days === undefined ? null : days * dayMs,
    count: exposeExports(metrics, database, destinations),
  }
}

/**
 * Returns the destinations of the settings. The packages of OpenTelemetry are loaded only for a collector.
 */
async function destinationsOf(config: AuditConfig): Promise<Destination[]> {
  const { AUDIT_EXPORT_SYSLOG: syslog, AUDIT_EXPORT_HTTP_URL: url, AUDIT_EXPORT_OTLP_URL: otlp } = config
  const token = config.AUDIT_EXPORT_HTTP_TOKEN?.reveal()
  const secret = config.AUDIT_EXPORT_HTTP_SECRET?.reveal()
  const headers = config.AUDIT_EXPORT_OTLP_HEADERS?.reveal()
  return [
    syslog && syslogDestination({ ...syslog, ca: config.AUDIT_EXPORT_SYSLOG_CA_FILE }),
    url && httpDestination({ url, token, secret }),
    otlp && (await import('./otlp-destination.js')).otlpDestination({ url: otlp, headers }),
  ].filter((destination) => typeof destination === 'object')
}

/** Exports the lag as a gauge. Every worker exports it, because it is read from the database. */
function exposeExports({ registry }: Metrics, database: Database, destinations: readonly Destination[]) {
  const registers = [registry]
  const sent = new Counter({
    name: 'audit_export_entries_total',
    help: 'Entries of the audit log that a destination has taken.',
    labelNames: ['destination'],
    registers,
  })
  const failed = new Counter({
    name: 'audit_export_failures_total',
    help: 'Attempts to send entries of the audit log that failed.',
    labelNames: ['destination'],
    registers,
  })
  for (const { name: destination } of destinations) {
    sent.inc({ destination }, 0)
    failed.inc({ destination }, 0)
  }
  new Gauge({
    name: 'audit_export_lag_seconds',
    help: 'Age of the oldest entry of the audit log that a destination does not have; 0: it has all.',
    labelNames: ['destination'],
    registers,
    async collect() {
      this.reset()
      if (destinations.length === 0) return
      const exports = await listAuditExports(database).catch(() => [])
      for (const { destination, position } of exports) {
        if (!destinations.some(({ name }) => name === destination)) continue
        const oldest = await findOldestWaiting(database, position).catch(() => undefined)
        if (oldest !== undefined)
          this.set({ destination }, oldest === null ? 0 : (Date.now() - oldest.getTime()) / 1000)
      }
    },
  })
  return (destination: string, entries: number, result: 'sent' | 'failed') =>
    result === 'sent' ? sent.inc({ destination }, entries) : failed.inc({ destination })
}
