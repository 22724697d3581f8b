import { type Logger, pino } from 'pino'

export type { Logger }

/**
 * Names under which secrets travel. Requests are logged by method, route and outcome only; this is the
 * net beneath, for objects that reach a log line by mistake.
 */
const redacted = [
  'authorization',
  'password',
  'token',
  'secret',
  'cookie',
  '["private-token"]',
  'url',
].flatMap((name) => (name.startsWith('[') ? [name, `*${name}`] : [name, `*.${name}`]))

/** JSON lines on standard output, one object each. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: redacted, censor: '[secret]' },
  })
}
