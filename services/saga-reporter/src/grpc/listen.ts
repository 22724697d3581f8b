import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import {
  createSecureContext,
  createServer as createTlsServer,
  type SecureContextOptions,
  type TlsOptions,
  type Server as TlsServer,
} from 'node:tls'
import type { Logger } from '@switchyard/service-kit/observability'

export interface ListenOptions {
  /** A host name, which may have several addresses, or an address; an IPv6 address may be in brackets. */
  host: string
  /** 0: any free port. */
  port: number
  /** Certificates. Unset: connections are not encrypted. */
  tls?: TlsOptions
  /** Receives each connection; with certificates, each connection whose client chose HTTP/2. */
  onConnection: (socket: Socket) => void
}

export interface Listener {
  port: number
  /** Makes new connections use these certificates. */
  renew: (tls: TlsOptions) => void
  /** Refuses new connections; open ones stay. */
  close: () => void
}

/**
 * Listens on every address of a host.
 *
 * @throws Error when it can listen on none of them
 */
export async function listen({ host, port, tls, onConnection }: ListenOptions): Promise<Listener> {
  const addresses = await lookup(host.replace(/^\[(.*)\]$/, '$1'), { all: true })
  const servers: Server[] = []
  const failures: unknown[] = []
  let bound = port
  for (const { address } of addresses) {
    const server = tls === undefined ? createServer(onConnection) : createHttp2OverTls(tls, onConnection)
    try {
      server.listen(bound, address)
      await once(server, 'listening')
      servers.push(server)
      bound = (server.address() as AddressInfo).port
    } catch (error) {
      failures.push(error)
    }
  }
  if (servers.length === 0) throw failures[0]
  return {
    port: bound,
    renew: (context) => {
      for (const server of servers) (server as TlsServer).setSecureContext(context)
    },
    close: () => {
      for (const server of servers) server.close()
    },
  }
}

function createHttp2OverTls(tls: TlsOptions, onConnection: (socket: Socket) => void): TlsServer {
  const server = createTlsServer({ ...tls, ALPNProtocols: ['h2'] })
  server.on('secureConnection', (socket) => {
    if (socket.alpnProtocol === 'h2') onConnection(socket)
    else socket.destroy()
  })
  return server
}

/** PEM files. They are read again when they change, so certificates are renewed without a restart. */
export interface TlsFiles {
  certFile: string
  keyFile: string
  /**
   * Authorities that sign clients' certificates. When set, a client without such a certificate cannot
   * connect.
   */
  clientCaFile?: string
}

const refreshMs = 1000

/**
 * Reads the TLS options of a server.
 *
 * @throws Error when the files cannot be read or do not match
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
 * Reads files again when they change, until the returned function is called. Files are polled, not watched,
 * because mounted secrets are replaced by renaming folders, which file watchers miss. An invalid set (a new
 * certificate beside the old key, half a file) is logged and the last valid one stays in use; open
 * connections keep their certificate.
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
  // This throws when the key does not belong to the certificate, before a server uses it and refuses every
  // client.
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
