import { readFileSync, statSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { ServerCredentials } from '@grpc/grpc-js'
import type { Logger } from '../observability/index.js'

/** Files in PEM. They are read again when they change, so certificates are renewed without a restart. */
export interface TlsFiles {
  certFile: string
  keyFile: string
  /** Authorities that sign clients' certificates; with it, a client without such a certificate cannot connect. */
  clientCaFile?: string
}

/** Credentials that follow their files; `close` ends the watching. */
export interface ReloadingCredentials {
  credentials: ServerCredentials
  close: () => void
}

const refreshMs = 1000

/**
 * Server credentials from files. Polling beats watching here: mounted secrets are replaced by renaming
 * folders, which file watchers miss. A set that does not fit (a new certificate beside the old key, half
 * a file) is logged and the last good one stays; connections that are open keep what they began with.
 *
 * @throws Error when the files cannot be read or do not fit at the start
 */
export function createReloadingCredentials(files: TlsFiles, logger: Logger): ReloadingCredentials {
  let seen = fingerprint(files)
  const credentials = new FileCredentials(files.clientCaFile !== undefined, readContext(files))
  const refresh = () => {
    try {
      const current = fingerprint(files)
      if (current === seen) return
      credentials.replace(readContext(files))
      seen = current
      logger.info('certificates loaded')
    } catch (error) {
      logger.error({ err: error }, 'certificates cannot be loaded, the last good ones stay')
    }
  }
  const timer = setInterval(refresh, refreshMs)
  timer.unref()
  return { credentials, close: () => clearInterval(timer) }
}

class FileCredentials extends ServerCredentials {
  constructor(requireClientCertificate: boolean, context: SecureContextOptions) {
    const options = { requestCert: requireClientCertificate, rejectUnauthorized: requireClientCertificate }
    super({ ...options, minVersion: 'TLSv1.2' }, context)
  }

  replace(context: SecureContextOptions): void {
    this.updateSecureContextOptions(context)
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other
  }
}

function readContext({ certFile, keyFile, clientCaFile }: TlsFiles): SecureContextOptions {
  const context: SecureContextOptions = {
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    ...(clientCaFile !== undefined && { ca: readFileSync(clientCaFile) }),
  }
  // Throws when the key is not the certificate's, before a listening server would refuse everybody.
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
