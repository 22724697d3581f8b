import { once } from 'node:events'
import { constants } from 'node:http2'
import { type ServerUnaryCall, status } from '@grpc/grpc-js'
import { invalidParameters, notFound, unavailable } from '@switchyard/domain'
import { createLogger } from '@switchyard/service-kit/observability'
import { afterEach, describe, expect, it } from 'vitest'
import { isAbandoned, serverStream, unary } from '../../src/grpc/grpc.js'
import { handledOf, startServer } from './grpc-harness.js'
import { connectRaw, frame } from './raw-calls.js'

/** A second is too short on a busy machine. */
const logger = createLogger('test', 'silent')
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const watch = serverStream<Buffer, Buffer>(async function* () {}, logger)
type Call = Omit<ServerUnaryCall<unknown, unknown>, 'request'>

/** Returns a method whose calls wait until all are released; it refuses `bad`. */
function waiting() {
  const calls: Call[] = []
  let letGo: () => void = () => {}
  const free = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const call = unary<Buffer, Buffer>(async (request, current) => {
    calls.push(current)
    await free
    if (String(request) === 'bad') throw invalidParameters(['bad'])
    return request
  }, logger)
  return { calls, letGo, call }
}

async function connectTo(port: number) {
  const raw = await connectRaw(port)
  closing.push(raw.close)
  return raw
}

async function start({ call, calls, letGo } = waiting()) {
  const server = await startServer({ call, watch })
  closing.push(server.close)
  const raw = await connectTo(server.port)
  const arrived = (count = 1) => expect.poll(() => calls.length).toBe(count)
  return { server, raw, calls, letGo, arrived }
}

const ok = { status: '0', text: 'next' }
const late = { status: String(status.DEADLINE_EXCEEDED), details: 'Deadline exceeded', isHeadersOnly: true }
const statusDetails = 'grpc-status-details-bin'

describe('the deadline of a call', () => {
  it.each([
    ['3H', 3 * 3_600_000],
    ['90S', 90_000],
    ['1200000m', 1_200_000],
  ])('%s is so far away', async (timeout, timeoutMs) => {
    const { raw, calls, letGo, arrived } = await start()
    const sentMs = Date.now()
    const answer = raw.call(frame('next'), { 'grpc-timeout': timeout })
    await arrived()
    const deadlineMs = Number(calls[0]?.getDeadline())
    expect(deadlineMs).toBeGreaterThanOrEqual(sentMs + timeoutMs)
    expect(deadlineMs).toBeLessThan(sentMs + timeoutMs + 30_000)
    letGo()
    await answer
  })

  it.each(['0S', '0n', '0H'])('%s is answered without the method', async (timeout) => {
    const { raw, calls, server } = await start()
    const answer = await raw.call(frame('a'), { 'grpc-timeout': timeout })
    expect(answer).toMatchObject(late)
    expect(answer.headers).not.toHaveProperty(statusDetails)
    expect(calls).toEqual([])
    expect(await handledOf(server)).toEqual({ DEADLINE_EXCEEDED: 1 })
  })

  it.each(['', 'S', '-S'])('%j is refused', async (timeout) => {
    const { raw, calls } = await start()
    expect(await raw.call(frame('a'), { 'grpc-timeout': timeout })).toMatchObject({
      status: String(status.INTERNAL),
      details: `Invalid grpc-timeout value "${timeout}"`,
    })
    expect(calls).toEqual([])
  })

  it.each(['late', 'bad'])('that passes ends the call, and its answer is dropped (%s)', async (text) => {
    const { raw, server, calls, letGo, arrived } = await start()
    const answer = raw.call(frame(text), { 'grpc-timeout': '200m' })
    expect(await answer).toMatchObject(late)
    await arrived()
    await expect.poll(() => calls[0]?.cancelled).toBe(true)
    letGo()
    expect(await raw.call(frame('next'))).toMatchObject(ok)
    expect(await handledOf(server)).toEqual({ DEADLINE_EXCEEDED: 1, OK: 1 })
  })

  it.each([
    ['work was left because nobody waits', unavailable('the call ended before it was written')],
    [
      'a dependency is unreachable',
      unavailable('the database is unreachable', { cause: new Error('ECONNREFUSED') }),
    ],
    ['nothing was found', notFound('Saga')],
  ])('that passes is DEADLINE_EXCEEDED without RetryInfo, though %s', async (_why, error) => {
    const call = unary<Buffer, Buffer>(async (_request, current) => {
      // Fails in the turn in which the deadline passes, before the library's timer.
      while (!isAbandoned(current, Date.now())) {}
      throw error
    }, logger)
    const { raw } = await start({ calls: [], letGo: () => {}, call })
    const answer = await raw.call(frame('a'), { 'grpc-timeout': '50m' })
    expect(answer).toMatchObject(late)
    expect(answer.headers).not.toHaveProperty(statusDetails)
  })

  it('of a stream that passes is DEADLINE_EXCEEDED without RetryInfo, although its messages then fail', async () => {
    // biome-ignore lint/correctness/useYield: a stream that fails before its first message.
    const failing = serverStream<Buffer, Buffer>(async function* (_request, call) {
      while (Date.now() < Number(call.getDeadline())) {}
      throw unavailable('the database is unreachable')
    }, logger)
    const server = await startServer({ call: waiting().call, watch: failing })
    closing.push(server.close)
    const raw = await connectTo(server.port)
    const answer = await raw.call(frame('a'), { ':path': '/test.Test/Watch', 'grpc-timeout': '50m' })
    expect(answer).toMatchObject(late)
    expect(answer.headers).not.toHaveProperty(statusDetails)
  })

  it('that passes before the request is complete ends the call without the method', async () => {
    const { raw, server, calls } = await start()
    const { stream, answer } = raw.open({ 'grpc-timeout': '200m' })
    stream.write(frame('half', 0, 8))
    expect(await answer).toMatchObject({ status: String(status.DEADLINE_EXCEEDED) })
    stream.end('half')
    await once(stream, 'close')
    expect(calls).toEqual([])
    expect(await handledOf(server)).toEqual({ DEADLINE_EXCEEDED: 1 })
  })
})

describe('a caller that disconnects', () => {
  it.each([
    ['resets its stream', 'a', 'CANCEL'],
    ['resets its stream with an error', 'a', 'INTERNAL_ERROR'],
    ['resets its stream', 'bad', 'CANCEL'],
    ['cuts its connection', 'a', null],
    ['cuts its connection', 'bad', null],
  ] as const)('and %s is noticed, counted once and hinders nobody (%s, %s)', async (_how, text, code) => {
    const { raw, server, calls, letGo, arrived } = await start()
    const other = await connectTo(server.port)
    const { stream, answer } = raw.open()
    stream.end(frame(text))
    await arrived()
    expect(calls[0]?.cancelled).toBe(false)
    if (code === null) raw.cut()
    else stream.close(constants[`NGHTTP2_${code}`])
    await answer
    await expect.poll(() => calls[0]?.cancelled).toBe(true)
    expect(await handledOf(server)).toEqual({ CANCELLED: 1 })
    letGo()
    expect(await other.call(frame('next'))).toMatchObject(ok)
    if (code !== null) expect(await raw.call(frame('next'))).toMatchObject(ok)
    expect(await handledOf(server)).toEqual({ CANCELLED: 1, OK: code === null ? 1 : 2 })
  })

  it.each([
    ['before its message', Buffer.alloc(0), 'reset'],
    ['in the middle of its message', frame('half', 0, 8), 'reset'],
    ['in the middle of its message', frame('half', 0, 8), 'cut'],
  ] as const)('%s reaches no method and is counted once (%s, %s)', async (_when, sent, how) => {
    const { raw, server, calls, letGo } = await start()
    const other = await connectTo(server.port)
    const { stream } = raw.open()
    stream.write(sent)
    await raw.ping()
    if (how === 'cut') raw.cut()
    else raw.reset(stream)
    // The library treats a reset as the end of the request, and then misses the message.
    const codes = ['CANCELLED', 'UNIMPLEMENTED']
    const ended = async () => Object.entries(await handledOf(server)).filter(([code]) => codes.includes(code))
    await expect.poll(ended).toEqual([[expect.any(String), 1]])
    letGo()
    expect(await other.call(frame('next'))).toMatchObject(ok)
    expect(calls).toHaveLength(1)
    expect(await ended()).toEqual([[expect.any(String), 1]])
    expect(await handledOf(server)).toMatchObject({ OK: 1 })
  })

  it('does not end the other calls of its connection', async () => {
    const { raw, letGo, arrived } = await start()
    const stays = raw.call(frame('next'))
    const { stream } = raw.open()
    stream.end(frame('a'))
    await arrived(2)
    stream.close(constants.NGHTTP2_CANCEL)
    await once(stream, 'close')
    letGo()
    expect(await stays).toMatchObject(ok)
  })
})

describe('a call in progress', () => {
  it('is answered by a server that has begun to close', async () => {
    const { raw, server, letGo, arrived } = await start()
    const answer = raw.call(frame('next'))
    await arrived()
    const saidGoodbye = once(raw.session, 'goaway')
    const closed = server.close()
    await saidGoodbye
    letGo()
    expect(await answer).toMatchObject(ok)
    await closed
    expect(await handledOf(server)).toEqual({ OK: 1 })
  })

  it('prevents its connection from being idle, only as long as it lasts', async () => {
    const { call, calls, letGo } = waiting()
    const server = await startServer({ call, watch }, { connectionIdleMsMax: 300 })
    closing.push(server.close)
    const busy = await connectTo(server.port)
    let isSentAway = false
    busy.session.on('goaway', () => {
      isSentAway = true
    })
    const answer = busy.call(frame('next'))
    await expect.poll(() => calls.length).toBe(1)
    // This connection is younger, so when it has been idle for too long, the other one would have been as
    // well.
    const idle = await connectTo(server.port)
    await once(idle.session, 'goaway')
    expect(isSentAway).toBe(false)
    letGo()
    expect(await answer).toMatchObject(ok)
    await expect.poll(() => isSentAway).toBe(true)
  })
})
