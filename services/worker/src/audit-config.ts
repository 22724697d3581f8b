import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { integer, secretField } from '@switchyard/config'
import { z } from 'zod'

const webUrl = () =>
  z.string().refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : null
    return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  }, 'must be an http or https URL without user name and password')

/** Matches `tcp://host:port` or `tls://host:port` without a path. */
const syslogForm = /^(tcp|tls):\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})\/?$/i

const syslogTarget = () =>
  z.string().transform((text, context) => {
    const [, scheme = '', host = '', digits = ''] = syslogForm.exec(text) ?? []
    const port = Number(digits)
    if (port >= 1 && port <= 65_535)
      return { tls: scheme.toLowerCase() === 'tls', host: host.replace(/^\[|\]$/g, ''), port }
    context.addIssue({ code: 'custom', message: 'must be tcp://host:port or tls://host:port' })
    return z.NEVER
  })

/** Reads a file of certificates, whose path the setting contains. */
const certificates = () =>
  z.string().transform((path, context) => {
    try {
      const text = readFileSync(path, 'utf8')
      new X509Certificate(text)
      return text
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a readable file of certificates in PEM' })
      return z.NEVER
    }
  })

/** Matches a token that is valid in an HTTP header. */
const printable = /^[\x21-\x7e]{1,4096}$/
const header = /^[\w!#$%&'*+.^`|~-]+=[\x20-\x7e]*$/

export const auditFields = {
  AUDIT_RETENTION_DAYS: integer(1, 36_500)
    .optional()
    .describe(
      'Days after which entries of the [audit log](audit-log.md#how-long-entries-are-kept) are deleted. Unset: they are kept',
    ),
  AUDIT_EXPORT_SYSLOG: syslogTarget()
    .optional()
    .describe(
      '`tcp://host:port` or `tls://host:port`: a syslog server that gets the [audit log](audit-log.md#to-other-systems)',
    ),
  AUDIT_EXPORT_SYSLOG_CA_FILE: certificates()
    .optional()
    .describe(
      'File of the authorities, in PEM, that the certificate of the syslog server is checked by. Unset: those that Node knows',
    ),
  AUDIT_EXPORT_HTTP_URL: webUrl()
    .optional()
    .describe('A server that gets the [audit log](audit-log.md#to-other-systems) as lines of JSON by `POST`'),
  AUDIT_EXPORT_HTTP_TOKEN: secretField(
    z.string().regex(printable, 'must be printable ASCII characters without spaces'),
  )
    .optional()
    .describe('Sent to that server as `Authorization: Bearer`'),
  AUDIT_EXPORT_HTTP_SECRET: secretField(z.string().min(16, 'must be at least 16 characters'))
    .optional()
    .describe('Signs what that server gets, as [webhooks](webhooks.md#requests) are signed'),
  AUDIT_EXPORT_OTLP_URL: webUrl()
    .optional()
    .describe(
      'A collector of OpenTelemetry that gets the [audit log](audit-log.md#to-other-systems) as log records, such as `http://collector:4318/v1/logs`',
    ),
  AUDIT_EXPORT_OTLP_HEADERS: secretField(
    z.string().refine((text) => text.split(',').every((each) => header.test(each.trim())), {
      message: 'must be name=value, separated by commas',
    }),
  )
    .optional()
    .describe('Headers that the collector asks for, as `name=value`, separated by commas'),
}

export type AuditConfig = z.output<z.ZodObject<typeof auditFields>>
