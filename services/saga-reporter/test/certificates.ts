import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { credentials } from '@grpc/grpc-js'

const guide = fileURLToPath(new URL('../../../docs/operations.md', import.meta.url))

/**
 * Creates certificates with the commands of the guide, in a new folder: `ca.pem`, `server.pem`, `orders.pem`
 * (of `orders.internal`) and their keys.
 */
export function makeCertificates(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-certificates-'))
  const script = /### Certificates for saga orchestrators[\s\S]*?\n\n((?: {4}.*\n)+)/.exec(
    readFileSync(guide, 'utf8'),
  )
  if (!script?.[1]) throw new Error('the guide has no commands for certificates')
  execFileSync('sh', ['-ec', script[1]], { cwd: folder, stdio: 'pipe' })
  return folder
}

/** Signs another certificate with the authority in the folder. */
export function issue(folder: string, file: string, subject: string, subjectAltName?: string) {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const extension = subjectAltName ? ['-addext', `subjectAltName=${subjectAltName}`] : []
  openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    subject,
    ...extension,
    '-keyout',
    `${file}.key`,
    '-out',
    `${file}.csr`,
  )
  openssl(
    'x509',
    '-req',
    '-in',
    `${file}.csr`,
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-days',
    '30',
    '-copy_extensions',
    'copy',
    '-out',
    `${file}.pem`,
  )
}

const read = (folder: string, file: string) => readFileSync(join(folder, file))

/** Returns credentials that trust the folder's authority, with the certificate `name`, if any. */
export const clientCredentials = (folder: string, name?: string) =>
  name === undefined
    ? credentials.createSsl(read(folder, 'ca.pem'))
    : credentials.createSsl(read(folder, 'ca.pem'), read(folder, `${name}.key`), read(folder, `${name}.pem`))
