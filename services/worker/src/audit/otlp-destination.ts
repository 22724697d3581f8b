import { ExportResultCode } from '@opentelemetry/core'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { AuditEntry } from '@switchyard/db'
import pTimeout from 'p-timeout'
import { connectionError, type Destination, ExportError } from './destination.js'

interface OtlpOptions {
  url: string
  /** `name=value`, separated by commas. */
  headers: string | undefined
}

type LogRecord = Parameters<OTLPLogExporter['export']>[0][number]

const timeoutMs = 10_000
/** `SEVERITY_NUMBER_INFO` of OpenTelemetry. */
const info = 9
const resource = resourceFromAttributes({ 'service.name': 'switchyard', 'service.namespace': 'switchyard' })
const scope = { name: 'switchyard.audit' }

/** Sends log records of OpenTelemetry. The collector has them when it answers. */
export function otlpDestination({ url, headers }: OtlpOptions): Destination {
  const exporter = new OTLPLogExporter({ url, headers: headersOf(headers), timeoutMillis: timeoutMs })
  return { name: 'otlp', send: (entries) => exportAll(exporter, entries.map(recordOf)) }
}

/**
 * Exports with a total time limit, because the exporter's own limit applies to each pause of the answer, so
 * that a collector could delay it for ever byte by byte.
 */
async function exportAll(exporter: OTLPLogExporter, records: LogRecord[]): Promise<void> {
  const exported = new Promise<{ code: ExportResultCode; error?: Error }>((resolve) =>
    exporter.export(records, resolve),
  )
  const message = new ExportError(`no answer within ${timeoutMs / 1000} seconds`)
  const { code, error } = await pTimeout(exported, { milliseconds: timeoutMs, message })
  if (code === ExportResultCode.FAILED) throw reasonOf(error)
}

const headersOf = (text = ''): Record<string, string> =>
  Object.fromEntries(
    text
      .split(',')
      .filter((each) => each.includes('='))
      .map((each) => [each.slice(0, each.indexOf('=')).trim(), each.slice(each.indexOf('=') + 1).trim()]),
  )

/**
 * Returns the reason. The `code` of the library's errors is the status of an answer, or the code of a
 * connection error.
 */
function reasonOf(error: Error | undefined): ExportError {
  const { code } = (error ?? {}) as { code?: unknown }
  if (typeof code === 'number') return new ExportError(`the collector answered ${code}`, { cause: error })
  return connectionError(error)
}

function recordOf(entry: AuditEntry): LogRecord {
  const ms = entry.created_at.getTime()
  const time: LogRecord['hrTime'] = [Math.floor(ms / 1000), (ms % 1000) * 1_000_000]
  return {
    hrTime: time,
    hrTimeObserved: time,
    severityNumber: info,
    severityText: 'INFO',
    eventName: `switchyard.audit.${entry.event_name}`,
    body: JSON.stringify(entry),
    attributes: {
      'audit.id': entry.id,
      'audit.event_name': entry.event_name,
      'audit.entity_type': entry.entity_type,
      'audit.entity_id': entry.entity_id,
      'audit.author_name': entry.details.author_name,
    },
    droppedAttributesCount: 0,
    resource,
    instrumentationScope: scope,
  }
}
