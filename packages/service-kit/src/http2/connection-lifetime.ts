import type { Connection } from './connection.js'

/** How long connections last, in milliseconds. */
export interface ConnectionLimits {
  /** How old one may get before its client is told to open another. */
  ageMsMax: number
  /** How long what is under way on an old one may take. */
  ageGraceMs: number
  /** How long one may be open without a stream. */
  idleMsMax: number
  /** How often a client is asked for a sign of life, and how long it may take to give one. */
  keepaliveMs: number
  keepaliveTimeoutMs: number
}

/** Connections of the same moment must not all end in one again. */
const ageSpread = 0.1

/** Ends a connection that is old, idle or dead. */
export function limitLifetime(connection: Connection, limits: ConnectionLimits): void {
  const timers = [
    endOnceOld(connection, limits),
    endOnceIdle(connection, limits.idleMsMax),
    endOnceDead(connection, limits),
  ]
  connection.socket.once('close', () => {
    for (const stop of timers) stop()
  })
}

function endOnceOld(connection: Connection, { ageMsMax, ageGraceMs }: ConnectionLimits): () => void {
  const ageMs = ageMsMax * (1 + ageSpread * (2 * Math.random() - 1))
  let timer = setTimeout(() => {
    connection.drain()
    timer = setTimeout(() => connection.destroy(), ageGraceMs).unref()
  }, ageMs).unref()
  return () => clearTimeout(timer)
}

function endOnceIdle(connection: Connection, idleMsMax: number): () => void {
  let timer: NodeJS.Timeout
  const check = () => {
    const idleMs = connection.idleSinceMs === null ? 0 : performance.now() - connection.idleSinceMs
    if (idleMs >= idleMsMax) connection.drain()
    else timer = setTimeout(check, idleMsMax - idleMs).unref()
  }
  check()
  return () => clearTimeout(timer)
}

function endOnceDead(connection: Connection, limits: ConnectionLimits): () => void {
  let answerTimer: NodeJS.Timeout | undefined
  const timer = setInterval(() => {
    const askedMs = performance.now()
    connection.ping()
    clearTimeout(answerTimer)
    answerTimer = setTimeout(() => {
      if (connection.heardMs < askedMs) connection.destroy()
    }, limits.keepaliveTimeoutMs).unref()
  }, limits.keepaliveMs).unref()
  return () => {
    clearInterval(timer)
    clearTimeout(answerTimer)
  }
}
