import { messageBytesMax } from './identified-event.js'

export type ReportResult =
  /**
   * The reporter has stored the event. `message` is `recorded`, `duplicate`, `late`, `parked` or `conflict
   * recorded`.
   */
  | { outcome: 'stored'; message: string }
  /** The event can never be valid. `reason` begins with the reporter's code, e.g. `SAGA_ID_REQUIRED`. */
  | { outcome: 'refused'; reason: string }
  /**
   * The event was not stored: the queue was full, retries took too long, the token is wrong, or the client
   * was closed.
   */
  | { outcome: 'lost'; reason: string }

export interface SagaClientOptions {
  /** `host:port` of the reporter. */
  address: string
  /** The service of the sagas; SagaStarted may name another service. */
  serviceName: string
  /**
   * TLS. `true`: the system's authorities; otherwise PEM, with certificate and key for a reporter that
   * requires them.
   */
  tls?: true | { ca?: Buffer; cert?: Buffer; key?: Buffer }
  /**
   * Token of scope `saga_report`, or a function that returns the current token or a promise of it. When the
   * function fails, the events are sent again as after any other failure that may pass.
   */
  token?: string | (() => string | Promise<string>)
  /** Unset: the default tenant of the reporter, or the tenant of the certificate. */
  tenant?: string
  /** Time after which a call without an answer fails. */
  deadlineMs?: number
  /** Time after which an event that is not stored is lost. */
  giveUpAfterMs?: number
  /** Wait before the first retry; it doubles up to `retryDelayMsMax`, with jitter. */
  retryDelayMs?: number
  retryDelayMsMax?: number
  /** Most events that wait or are being sent. A further event is lost at once, so that no method blocks. */
  queueMax?: number
  /** Most calls at the same time. The events of one saga are never in two of these calls. */
  concurrencyMax?: number
  /** Most events of one call, 1 to 1000. */
  batchEventsMax?: number
  /** Most bytes of one call, up to 4 MiB. A larger event is sent alone. */
  batchBytesMax?: number
  /** Longest time that an event waits for further events to be sent in the same call. */
  batchDelayMs?: number
  /** Called for every event that was refused or lost; for logs and metrics. */
  onNotStored?: (event: { operation: string; sagaId: string }, result: ReportResult) => void
  /** `true`: the methods reject with a SagaReportError instead of resolving with `refused` or `lost`. */
  throwWhenNotStored?: boolean
}

export interface Stats {
  /** Number of events that wait or are being sent. */
  pending: number
  stored: number
  refused: number
  lost: number
  /** Number of attempts beyond the first. */
  repeated: number
}

export const defaults = {
  deadlineMs: 3000,
  giveUpAfterMs: 300_000,
  retryDelayMs: 100,
  retryDelayMsMax: 5000,
  queueMax: 10_000,
  concurrencyMax: 20,
  batchEventsMax: 100,
  batchBytesMax: 1_048_576,
  batchDelayMs: 5,
} as const

/** Most events that the reporter accepts in one call. */
const batchEventsLimit = 1000

export type Settings = SagaClientOptions & { [Key in keyof typeof defaults]: number }

/**
 * Returns the settings of a client.
 *
 * @throws RangeError for a batch that the reporter would refuse, TypeError without an address
 */
export function settingsOf(options: SagaClientOptions): Settings {
  if (typeof options?.address !== 'string') throw new TypeError('address is not a text')
  const settings: Settings = { ...options, ...defaults }
  for (const name of Object.keys(defaults) as (keyof typeof defaults)[])
    settings[name] = options[name] ?? defaults[name]
  requireRange('batchEventsMax', settings.batchEventsMax, batchEventsLimit)
  requireRange('batchBytesMax', settings.batchBytesMax, messageBytesMax)
  return settings
}

export function requireRange(name: string, value: number, max: number): void {
  if (!(value >= 1 && value <= max)) throw new RangeError(`${name} must be from 1 to ${max}`)
}
