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

/** Errors of Redis hold the command that failed, with the password of the connection or the payload of a job. */
const redactedCommands = ['command.args', '*.command.args', '*.*.command.args']

/** JSON lines on standard output, one object each. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: [...redacted, ...redactedCommands], censor: '[secret]' },
  })
}
