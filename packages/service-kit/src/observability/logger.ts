import { type Logger, pino } from 'pino'
import { tracing } from './tracing.js'

export type { Logger }

/**
 * Names of fields that hold secrets. Requests are logged by method, route and outcome only; this list
 * protects against objects that reach a log line by mistake.
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

/**
 * Arguments of commands in errors of Redis, which contain the password of the connection or the payload of a
 * job.
 */
const redactedCommands = ['command.args', '*.command.args', '*.*.command.args']

/**
 * Size or time up to which lines are collected, because most of the cost of a line is the system call that
 * writes it.
 */
const bufferedBytes = 4096
const flushMs = 100
/**
 * Level from which a line is written at once (`warn`), because a problem may be the last line of a process.
 */
const urgentLevel = 40

let output: ReturnType<typeof pino.destination> | undefined

/** Returns the standard output, which all loggers of the process share. */
function standardOutput() {
  if (output) return output
  const opened = pino.destination({ dest: 1, sync: true, minLength: bufferedBytes, periodicFlush: flushMs })
  process.once('exit', () => opened.flushSync())
  output = opened
  return opened
}

/** Creates a logger that writes JSON lines to standard output. */
export function createLogger(service: string, level: string): Logger {
  const destination = standardOutput()
  return pino(
    {
      level,
      base: { service },
      mixin: () => tracing()?.logFields() ?? {},
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: [...redacted, ...redactedCommands], censor: '[secret]' },
      hooks: {
        logMethod(args, method, lineLevel) {
          method.apply(this, args)
          if (lineLevel >= urgentLevel) destination.flushSync()
        },
      },
    },
    destination,
  )
}
