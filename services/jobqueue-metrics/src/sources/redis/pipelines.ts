import type { Socket } from 'node:net'
import type { Redis } from 'ioredis'
import { createReplyDecoder, ErrorReply } from './resp.js'

/** Commands that were written together. */
interface Pipeline {
  missing: number
  replies: unknown[]
  failure: Error | null
  resolve(replies: unknown[]): void
  reject(error: Error): void
}

export interface Pipelines {
  /**
   * Sends commands, as RESP writes them, in one piece. Their replies in the order of the commands.
   *
   * @throws Error of the first command that failed, once all are answered; that the connection is not open, is lost,
   *   or is silent for too long
   */
  send(commands: readonly string[]): Promise<unknown[]>
}

/**
 * Pipelines over the socket of a client, which goes on connecting, authenticating and finding the master, and is not
 * to be given commands of its own. Its own pipelines make a promise and several objects of every command, and a
 * snapshot consists of thousands: there it would take most of the time.
 *
 * @param redis speaking RESP 2
 * @param timeoutMs how long the server may be silent while something is asked of it
 * @param onOpen called whenever pipelines can be sent
 */
export function createPipelines(redis: Redis, timeoutMs: number, onOpen: () => void): Pipelines {
  let socket: Socket | null = null
  let sent: Pipeline[] = []
  let silence: NodeJS.Timeout | undefined

  function take(opened: Socket): void {
    const decode = createReplyDecoder(receive)
    // The client's own decoder would look for commands that it has not sent.
    opened.removeAllListeners('data')
    opened.on('data', (piece: Buffer) => {
      silence?.refresh()
      try {
        decode(piece)
      } catch (error) {
        opened.destroy(error as Error)
      }
    })
    opened.once('close', () => {
      if (socket === opened) socket = null
      clearTimeout(silence)
      const lost = sent
      sent = []
      for (const pipeline of lost) pipeline.reject(new Error('the connection was lost'))
    })
    socket = opened
    onOpen()
  }

  function receive(reply: unknown): void {
    const [pipeline] = sent
    if (!pipeline) throw new Error('the server answers what was not asked')
    if (reply instanceof ErrorReply) pipeline.failure ??= new Error(reply.message)
    pipeline.replies.push(reply)
    pipeline.missing -= 1
    if (pipeline.missing > 0) return
    sent.shift()
    if (sent.length === 0) clearTimeout(silence)
    if (pipeline.failure) pipeline.reject(pipeline.failure)
    else pipeline.resolve(pipeline.replies)
  }

  redis.on('ready', () => {
    const opened = redis.stream as Socket
    // Whatever the client has to say on a new connection is answered before this is, if only by a refusal.
    const answered = redis.ping().catch(() => {})
    void answered.then(() => {
      if (!opened.destroyed) take(opened)
    })
  })

  return {
    send: (commands) =>
      new Promise((resolve, reject) => {
        if (commands.length === 0) return resolve([])
        if (!socket) return reject(new Error('the connection is not open'))
        if (sent.length === 0) {
          const asked = socket
          silence = setTimeout(() => asked.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
        }
        sent.push({ missing: commands.length, replies: [], failure: null, resolve, reject })
        socket.write(commands.join(''))
      }),
  }
}
