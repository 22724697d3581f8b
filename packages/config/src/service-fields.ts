import { z } from 'zod'
import { baseUrl, integer, millisecondsOrOff, origins, port } from './fields.js'

/** Variables that every service with an HTTP port reads. Spread into the service's own schema. */
export const httpServiceFields = {
  HOST: z.string().default('127.0.0.1').describe('Address to listen on. The images set `0.0.0.0`'),
  PORT: port().default(8080).describe('HTTP port; `0` lets the system choose'),
  EXTERNAL_URL: baseUrl('https://switchyard.example.com')
    .optional()
    .describe(
      'Base of links in answers, and the origin of pages that change something with a [session](users-and-tokens.md#sessions-of-browsers); the same in every service. Unset: what the client asked for',
    ),
  CORS_ALLOWED_ORIGINS: origins()
    .optional()
    .describe(
      '[Web pages](operations.md#calls-from-web-pages) of these origins, separated by commas, may call',
    ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be a URL such as http://127.0.0.1:4318' })
    .optional()
    .describe(
      'Base of the OTLP receiver (HTTP) that [traces](operations.md#traces) go to, such as `http://127.0.0.1:4318`. Unset: no traces',
    ),
  RATE_LIMIT_PER_MINUTE: integer(0, 10_000_000)
    .default(6000)
    .describe(
      'Requests per token, or per address when anonymous, at all replicas of a service together. `0`: no limit',
    ),
  SHUTDOWN_TIMEOUT_MS: integer(0, 600_000)
    .default(10_000)
    .describe('How long requests under way may take to finish after SIGTERM'),
  EVENT_LOOP_STALL_MS: millisecondsOrOff(1000, 3_600_000)
    .default(30_000)
    .describe(
      'How long the event loop may be blocked before the process [ends itself](operations.md#health). `0`: for ever',
    ),
}
