import { connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import { setTimeout as delay } from 'node:timers/promises'
import type { Tree } from '../support/tree.js'
import { type Input, sideBySide } from './input.js'

const reportPath = '/svc.Sagas.Server.Grpc.Saga/SagaStarted'
const mebibyte = 1024 * 1024

/** Lets Node's client send more than it does by default: gigabytes, and headers of a megabyte. */
const options = { maxSessionMemory: 4000, maxSendHeaderBlockLength: mebibyte }

const session = (tree: Tree) => connect(`http://${tree.grpcAddress}`, options).on('error', () => {})

const headersOf = (token: string, further: OutgoingHttpHeaders = {}): OutgoingHttpHeaders => ({
  ':method': 'POST',
  ':path': reportPath,
  'content-type': 'application/grpc',
  te: 'trailers',
  ...(token === '' ? {} : { 'private-token': token }),
  ...further,
})

/** Returns the beginning of a message of 4 MiB that never ends. */
function unfinished(): Buffer {
  const message = Buffer.alloc(4 * mebibyte)
  message.writeUInt32BE(4 * mebibyte - 5, 1)
  return message.subarray(0, -1)
}

const calls = (name: string, tokenOf: (attacker: string) => string): Input => ({
  name,
  service: 'saga-reporter',
  async run({ tree, attacker }) {
    const sessions = [1, 2, 3].map(() => session(tree))
    let answered = 0
    for (let number = 0; number < 300; number += 1) {
      const call = sessions[number % 3]?.request(headersOf(tokenOf(attacker.token)))
      call?.on('error', () => {})
      call?.on('response', () => {
        answered += 1
      })
      call?.resume()
      call?.write(unfinished())
    }
    await delay(8_000)
    for (const each of sessions) each.destroy()
    return `${answered} of 300 answered`
  },
})

const resets: Input = {
  name: '900 gRPC calls reset at once; a call of the same connection continues',
  service: 'saga-reporter',
  async run({ tree, attacker }) {
    const one = session(tree)
    for (let number = 0; number < 900; number += 1) {
      const call = one.request(headersOf(attacker.token))
      call.on('error', () => {})
      call.close(constants.NGHTTP2_CANCEL)
    }
    const status = await statusOf(one, headersOf(attacker.token))
    one.destroy()
    return `then ${status}`
  },
}

const metadata: Input = {
  name: 'gRPC metadata of 200 KB; a call of the same connection continues',
  service: 'saga-reporter',
  async run({ tree, attacker }) {
    const one = session(tree)
    const refused = await statusOf(one, headersOf(attacker.token, { 'x-long': 'a'.repeat(200_000) }))
    const status = await statusOf(one, headersOf(attacker.token))
    one.destroy()
    return `${refused}, then ${status}`
  },
}

const streams: Input = {
  name: '1,200 live streams of one token; a neighbour opens one',
  service: 'saga-reporter',
  async run({ tree, attacker, neighbour }) {
    const leaving = new AbortController()
    // The answers are kept, because a stream whose answer is garbage-collected is closed.
    const answers: Response[] = []
    const open = async (token: string) => {
      const headers = { 'PRIVATE-TOKEN': token }
      const answer = await fetch(`${tree.url}/api/v4/sagas/stream`, { headers, signal: leaving.signal })
      answers.push(answer)
      return answer.status
    }
    const opened = await sideBySide(1200, () => open(attacker.token))
    const other = await open(neighbour.token)
    const held = opened.filter((status) => status === 200).length
    leaving.abort()
    return `${held} of ${answers.length - 1} opened; the neighbour's: ${other}`
  },
}

/** Returns the gRPC status of a call with an empty message, or how it ended. */
function statusOf(one: ReturnType<typeof session>, headers: OutgoingHttpHeaders): Promise<string> {
  return new Promise((resolve) => {
    if (one.destroyed) return resolve('the connection is gone')
    const call = one.request(headers)
    call.setTimeout(10_000, () => resolve('no answer'))
    call.on('error', (error) => resolve(error.message))
    for (const event of ['response', 'trailers'] as const) {
      call.on(event, (given: Record<string, unknown>) => {
        if (given['grpc-status'] !== undefined) resolve(`status ${given['grpc-status']}`)
        else if (given[':status'] !== undefined && given[':status'] !== 200)
          resolve(`HTTP ${given[':status']}`)
      })
    }
    call.resume()
    call.end(Buffer.alloc(5))
  })
}

export const grpcInputs = [
  calls('300 unfinished gRPC messages of 4 MiB, without a token', () => ''),
  calls('300 unfinished gRPC messages of 4 MiB, with a good token', (token) => token),
  resets,
  metadata,
  streams,
]
