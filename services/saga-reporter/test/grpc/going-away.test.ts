import { setImmediate as turn } from 'node:timers/promises'
import { type ServiceError, status } from '@grpc/grpc-js'
import { createLogger } from '@switchyard/service-kit/observability'
import { waitFor } from '@switchyard/testing'
import { expect, it } from 'vitest'
import { serverStream, unary } from '../../src/grpc/grpc.js'
import { connect, startServer } from './grpc-harness.js'
import { callFields, connectFrames, dataOf, headersOf } from './http2-frames.js'
import { frame } from './raw-calls.js'

const logger = createLogger('test', 'silent')

/**
 * Sends calls one after the other on one connection, as a gateway does, until the server announces its end.
 */
async function callUntilSentAway(port: number) {
  const client = await connectFrames(port)
  let sent = 0
  const calling = (async () => {
    while (!client.isSentAway()) {
      const id = 2 * sent + 1
      sent += 1
      client.send(headersOf(id, callFields('/test.Test/Call')), dataOf(id, frame('x'), true))
      while (client.answers() < sent && !client.isClosed()) await turn()
    }
    client.close()
  })()
  return {
    answered: () => client.answers(),
    async unanswered() {
      await calling
      return sent - client.answers()
    },
  }
}

it('a connection with one call at a time loses no call when the server stops', async () => {
  const call = unary<Buffer, Buffer>(async (request) => request, logger)
  const server = await startServer({
    call,
    watch: serverStream<Buffer, Buffer>(async function* () {}, logger),
  })
  const connections = await Promise.all(Array.from({ length: 10 }, () => callUntilSentAway(server.port)))
  await waitFor(() => connections.every(({ answered }) => answered() > 2), {
    what: 'calls on every connection',
  })
  await server.close()
  expect(await Promise.all(connections.map(({ unanswered }) => unanswered()))).toEqual(Array(10).fill(0))
})

it('a sending stream ends with UNAVAILABLE when the server stops, and is not cut at the time limit', async () => {
  const endless = serverStream<Buffer, Buffer>(async function* (_request, _call, signal) {
    while (!signal.aborted) {
      for (let message = 0; message < 50; message += 1) yield Buffer.alloc(3000)
      await turn()
    }
  }, logger)
  const server = await startServer({ call: endless, watch: endless }, { drainTimeoutMs: 20_000 })
  const client = connect(server.port)
  const begun = new Set<number>()
  const codes = Array.from({ length: 10 }, (_, index) => {
    const stream = client.watch('/test.Test/Watch', 60_000)
    stream.on('data', () => begun.add(index))
    return new Promise<number>((resolve) => {
      stream.on('error', ({ code }: ServiceError) => resolve(code))
      stream.on('end', () => resolve(status.OK))
    })
  })
  await waitFor(() => begun.size === codes.length, { what: 'every stream to begin' })
  const beforeMs = performance.now()
  await server.close()
  expect(performance.now() - beforeMs).toBeLessThan(15_000)
  expect(await Promise.all(codes)).toEqual(codes.map(() => status.UNAVAILABLE))
  client.close()
})
