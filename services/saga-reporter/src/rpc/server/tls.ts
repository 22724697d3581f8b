import { readFileSync, statSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions, type TlsOptions } from 'node:tls'
import type { Logger } from '@switchyard/service-kit/observability'

/** Files in PEM. They are read again when they change, so certificates are renewed without a restart. */
export interface TlsFiles {
  certFile: string
  keyFile: string
  /** Authorities that sign clients' certificates; with it, a client without such a certificate cannot connect. */
  clientCaFile?: string
}

const refreshMs = 1000

/**
 * What a server needs to use certificates.
 *
 * @throws Error when the files cannot be read or do not fit
 */
export function readTls(files: TlsFiles): TlsOptions {
  const hasClientCa = files.clientCaFile !== undefined
  return {
    ...readContext(files),
    minVersion: 'TLSv1.2',
    requestCert: hasClientCa,
    rejectUnauthorized: hasClientCa,
  }
}

/**
 * Reads files again when they change; the returned function stops that. Files are polled, not watched: mounted secrets are
 * replaced by renaming folders, which file watchers miss. A set that does not fit (a new certificate beside the old key, half a
 * file) is logged and the last valid one stays in use; open connections keep their certificate.
 */
export function followTls(files: TlsFiles, logger: Logger, renew: (tls: TlsOptions) => void): () => void {
  let seen = fingerprint(files)
  const refresh = () => {
    try {
      const current = fingerprint(files)
      if (current === seen) return
      renew(readTls(files))
      seen = current
      logger.info('certificates loaded')
    } catch (error) {
      logger.error({ err: error }, 'certificates cannot be loaded; the last valid ones stay in use')
    }
  }
  const timer = setInterval(refresh, refreshMs)
  timer.unref()
  return () => clearInterval(timer)
}

function readContext({ certFile, keyFile, clientCaFile }: TlsFiles): SecureContextOptions {
  const context: SecureContextOptions = {
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    ...(clientCaFile !== undefined && { ca: readFileSync(clientCaFile) }),
  }
  // Throws when the key does not belong to the certificate, before a server uses it and refuses every client.
  createSecureContext(context)
  return context
}

const fingerprint = ({ certFile, keyFile, clientCaFile }: TlsFiles): string =>
  [certFile, keyFile, clientCaFile]
    .map((path) => {
      if (path === undefined) return ''
      const { mtimeMs, ino, size } = statSync(path)
      return `${mtimeMs}/${ino}/${size}`
    })
    .join()
