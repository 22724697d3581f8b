import { once } from 'node:events'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { connect as connectTls } from 'node:tls'
import type { AuditEntry } from '@switchyard/db'
import { connectionError, type Destination, ExportError } from './destination.js'

interface SyslogOptions {
  tls: boolean
  host: string
  port: number
  /** Authorities in PEM; undefined: Node's own. */
  ca: string | undefined
}

const timeoutMs = 10_000
const closedEarly = 'the connection was closed before everything was taken'

/**
 * Sends syslog (RFC 5424) over TCP (RFC 6587) or TLS (RFC 5425), each message with its length before it.
 * Syslog has no acknowledgements, so each batch has its own connection: when the server has closed it after
 * our end, its system has received every byte.
 */
export function syslogDestination(options: SyslogOptions): Destination {
  return {
    name: 'syslog',
    async send(entries, signal) {
      const socket = open(options)
      const timer = setTimeout(
        () => socket.destroy(new ExportError(`no end of the connection within ${timeoutMs / 1000} seconds`)),
        timeoutMs,
      )
      const stop = () => socket.destroy(new ExportError('the worker stops'))
      signal.addEventListener('abort', stop, { once: true })
      try {
        // Data from the server is ignored.
        socket.resume()
        socket.once('end', () => {
          if (!socket.writableFinished) socket.destroy(new ExportError(closedEarly))
        })
        await once(socket, options.tls ? 'secureConnect' : 'connect')
        const closed = once(socket, 'close')
        socket.end(entries.map(frame).join(''))
        await closed
        if (!socket.readableEnded) throw new ExportError(closedEarly)
      } catch (error) {
        throw connectionError(error)
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
        socket.destroy()
      }
    },
  }
}

function open({ tls, host, port, ca }: SyslogOptions): Socket {
  if (!tls) return connectTcp({ host, port })
  // The server name of TLS cannot be an address.
  const servername = isIP(host) === 0 ? { servername: host } : {}
  return connectTls({ host, port, ...servername, ...(ca === undefined ? {} : { ca }) })
}

/** Facility 13 (log audit) and severity 5 (notice). */
const priority = 13 * 8 + 5
const messageIdLengthMax = 32
const hostnameLengthMax = 255

export function frame(entry: AuditEntry): string {
  const message = messageOf(entry)
  return `${message.length} ${message}`
}

/**
 * Returns a message in ASCII, so that its length in characters equals its length in bytes, and its encoding
 * is unambiguous.
 */
function messageOf(entry: AuditEntry): string {
  const name = printable(entry.event_name, messageIdLengthMax)
  const host = printable(hostname(), hostnameLengthMax)
  const json = JSON.stringify(entry).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `<${priority}>1 ${entry.created_at.toISOString()} ${host} switchyard - ${name} - ${json}`
}

/** Returns a field of the header; `-` means that there is none. */
const printable = (text: string, lengthMax: number) =>
  text.replace(/[^\x21-\x7e]/g, '').slice(0, lengthMax) || '-'
