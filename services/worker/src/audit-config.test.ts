import { loadConfig } from '@switchyard/config'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { auditFields } from './audit-config.js'

const read = (env: Record<string, string>) => loadConfig('worker', z.object(auditFields), env)

describe('settings of the audit log', () => {
  it.each([
    ['AUDIT_RETENTION_DAYS', '0', 'must be at least 1'],
    ['AUDIT_RETENTION_DAYS', 'a year', 'must be a whole number'],
    ['AUDIT_EXPORT_SYSLOG', 'udp://logs:514', 'must be tcp://host:port or tls://host:port'],
    ['AUDIT_EXPORT_SYSLOG', 'tcp://logs', 'must be tcp://host:port or tls://host:port'],
    ['AUDIT_EXPORT_SYSLOG', 'tcp://logs:70000', 'must be tcp://host:port or tls://host:port'],
    ['AUDIT_EXPORT_SYSLOG', 'tcp://me:pw@logs:514', 'must be tcp://host:port or tls://host:port'],
    ['AUDIT_EXPORT_SYSLOG_CA_FILE', '/nowhere/ca.pem', 'must be a readable file of certificates in PEM'],
    ['AUDIT_EXPORT_SYSLOG_CA_FILE', import.meta.filename, 'must be a readable file of certificates in PEM'],
    ['AUDIT_EXPORT_HTTP_URL', 'ftp://logs', 'must be an http or https URL without user name and password'],
    [
      'AUDIT_EXPORT_HTTP_URL',
      'https://me@logs',
      'must be an http or https URL without user name and password',
    ],
    ['AUDIT_EXPORT_HTTP_TOKEN', 'two words', 'must be printable ASCII characters without spaces'],
    ['AUDIT_EXPORT_HTTP_SECRET', 'short', 'must be at least 16 characters'],
    [
      'AUDIT_EXPORT_OTLP_URL',
      'collector:4317',
      'must be an http or https URL without user name and password',
    ],
    ['AUDIT_EXPORT_OTLP_HEADERS', 'no header', 'must be name=value, separated by commas'],
  ])('%s=%s is refused in one sentence that names it', (name, value, problem) => {
    expect(() => read({ [name]: value })).toThrow(
      `worker cannot start: its environment does not fit.\n  ${name}: ${problem}`,
    )
  })

  it('read the address of a syslog server, also by IPv6', () => {
    expect(read({ AUDIT_EXPORT_SYSLOG: 'TLS://[2001:db8::1]:6514' }).AUDIT_EXPORT_SYSLOG).toEqual({
      tls: true,
      host: '2001:db8::1',
      port: 6514,
    })
  })
})
