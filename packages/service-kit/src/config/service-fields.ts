import { z } from 'zod'
import { integer, millisecondsOrOff, origins, port } from './fields.js'

/** Variables that every service with an HTTP port reads. Spread into the service's own schema. */
export const httpServiceFields = {
  /** Address to listen on. Unset: loopback only. */
  HOST: z.string().default('127.0.0.1'),
  /** HTTP port. Unset: 8080. */
  PORT: port().default(8080),
  /** Base of links in answers, without a slash at the end. Unset: taken from the request's Host header. */
  EXTERNAL_URL: z.url('must be a URL such as https://switchyard.example.com').optional(),
  /** Web pages of these origins may call the service from a browser. Unset: none. */
  CORS_ALLOWED_ORIGINS: origins().optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** Requests per token, or per address when anonymous. 0: no limit. Unset: 6,000. */
  RATE_LIMIT_PER_MINUTE: integer(0, 10_000_000).default(6000),
  /** How long requests under way may take to finish after SIGTERM. Unset: 10,000 ms. */
  SHUTDOWN_TIMEOUT_MS: integer(0, 600_000).default(10_000),
  /** How long the event loop may stand still until the process ends itself. 0: for ever. Unset: 30,000 ms. */
  EVENT_LOOP_STALL_MS: millisecondsOrOff(1000, 3_600_000).default(30_000),
}
