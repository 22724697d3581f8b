import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { createMetrics } from '@switchyard/service-kit/observability'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { MessageStreams } from './live.js'
import { MessageBoard } from './message-board.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Records the data that a client receives, in order. */
function recorded() {
  const sent: string[] = []
  const connection = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      sent.push(String(chunk))
      done()
    },
  })
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  response.assignSocket(connection as Socket)
  return { sent, response }
}

it('a stream sends no heartbeat before its headers, however long the messages take to be read', async () => {
  let answer: (messages: []) => void = () => {}
  const board = new MessageBoard({
    load: () =>
      new Promise((resolve) => {
        answer = resolve
      }),
    clock: () => new Date(),
    logger: { warn: () => {} } as never,
  })
  const streams = new MessageStreams({ board, metrics: createMetrics('test') })
  const { sent, response } = recorded()
  const opening = streams.open(response, undefined)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(sent).toEqual([])
  answer([])
  await opening
  await vi.advanceTimersByTimeAsync(1)
  expect(sent.join('')).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nretry: \d+\n\nevent: snapshot\ndata: [^\n]*\n\n$/s)
  await vi.advanceTimersByTimeAsync(15_000)
  expect(sent.at(-1)).toMatch(/^:\nevent: ping\ndata: {"now":"[\dT:.-]+Z"}\n\n$/)
  streams.close()
  board.close()
})

it('a stream that begins during shutdown is a complete answer, because a browser reconnects only after one', async () => {
  const board = new MessageBoard({
    load: async () => [],
    clock: () => new Date(),
    logger: { warn: () => {} } as never,
  })
  const streams = new MessageStreams({ board, metrics: createMetrics('test') })
  streams.close()
  const { sent, response } = recorded()
  await streams.open(response, undefined)
  await vi.advanceTimersByTimeAsync(1)
  expect(sent.join('')).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nretry: \d+\n\nevent: snapshot\ndata: [^\n]*\n\n$/s)
  expect(response.writableFinished).toBe(true)
  board.close()
})
