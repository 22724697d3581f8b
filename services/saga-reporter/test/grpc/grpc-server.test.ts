import { setTimeout as delay } from 'node:timers/promises'
import { type ServiceError, status } from '@grpc/grpc-js'
import { DomainError, rateLimited, tooLarge, unavailable } from '@switchyard/domain'
import { createLogger } from '@switchyard/service-kit/observability'
import { pino } from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { isAbandoned, serverStream, unary } from '../../src/grpc/grpc.js'
import { connect, startServer } from './grpc-harness.js'

/** A second is too short on a busy machine. */
const logger = createLogger('test', 'silent')
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(...args: Parameters<typeof startServer>) {
  const server = await startServer(...args)
  const client = connect(server.port)
  closing.push(server.close, client.close)
  return { server, client }
}

const echo = unary<Buffer, Buffer>(async (request) => request, logger)
const nothing = serverStream<Buffer, Buffer>(async function* () {}, logger)
const both = { call: echo, watch: nothing }

const collect = (stream: ReturnType<ReturnType<typeof connect>['watch']>) => {
  const messages: string[] = []
  stream.on('data', (bytes: Buffer) => messages.push(String(bytes)))
  const ended = new Promise<ServiceError | null>((resolve) => {
    stream.on('error', resolve)
    stream.on('end', () => resolve(null))
  })
  return { messages, ended }
}

describe('a failure that permits a retry', () => {
  const failing = (error: DomainError) => ({
    ...both,
    call: unary<Buffer, Buffer>(() => Promise.reject(error), logger),
  })
  const details = async (error: DomainError) => {
    const { client } = await start(failing(error))
    const failure = (await client.call().catch((caught: unknown) => caught)) as ServiceError
    const [encoded] = failure.metadata.get('grpc-status-details-bin')
    return { code: failure.code, encoded: encoded as Buffer | undefined }
  }

  it("contains the delay as google.rpc.RetryInfo: the failure's own delay, otherwise a second", async () => {
    const limited = await details(rateLimited('too many', 1500))
    expect(limited.code).toBe(status.RESOURCE_EXHAUSTED)
    // Encoded by hand after google/rpc/status.proto, error_details.proto and google/protobuf/duration.proto.
    const duration = Buffer.from([0x08, 1, 0x10, 0x80, 0xca, 0xb5, 0xee, 0x01])
    const retryInfo = Buffer.concat([Buffer.from([0x0a, duration.length]), duration])
    const type = Buffer.from('type.googleapis.com/google.rpc.RetryInfo')
    const any = Buffer.concat([
      Buffer.from([0x0a, type.length]),
      type,
      Buffer.from([0x12, retryInfo.length]),
      retryInfo,
    ])
    const message = Buffer.from('too many')
    expect(limited.encoded).toEqual(
      Buffer.concat([
        Buffer.from([0x08, 8, 0x12, message.length]),
        message,
        Buffer.from([0x1a, any.length]),
        any,
      ]),
    )
    const down = await details(unavailable('the database'))
    expect(down.code).toBe(status.UNAVAILABLE)
    // One second and no nanoseconds.
    expect(down.encoded?.subarray(-4)).toEqual(Buffer.from([0x0a, 2, 0x08, 1]))
  })

  it('contains none for a request that stays too large', async () => {
    expect(await details(tooLarge('4 MiB'))).toEqual({ code: status.RESOURCE_EXHAUSTED, encoded: undefined })
  })
})

describe('a stream', () => {
  it('sends the messages of the generator, and ends with it', async () => {
    const watch = serverStream<Buffer, Buffer>(async function* () {
      for (const text of ['a', 'b', 'c']) yield Buffer.from(text)
    }, logger)
    const { client } = await start({ ...both, watch })
    const { messages, ended } = collect(client.watch())
    expect(await ended).toBeNull()
    expect(messages).toEqual(['a', 'b', 'c'])
  })

  it('is answered by the error table when the generator throws, after its messages', async () => {
    const watch = serverStream<Buffer, Buffer>(async function* () {
      yield Buffer.from('a')
      throw new DomainError('not-found', 'Saga')
    }, logger)
    const { client } = await start({ ...both, watch })
    const { messages, ended } = collect(client.watch())
    expect(await ended).toMatchObject({ code: status.NOT_FOUND, details: 'Saga' })
    expect(messages).toEqual(['a'])
  })

  it.each(['cancels', 'lets its deadline pass'])('tells the generator when the client %s', async (how) => {
    const aborted = vi.fn()
    const watch = serverStream<Buffer, Buffer>(async function* (_request, _call, signal) {
      signal.addEventListener('abort', aborted)
      yield Buffer.from('a')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }, logger)
    const { client } = await start({ ...both, watch })
    // A call that is over before it arrives does not reach the generator.
    const stream = client.watch(undefined, how === 'cancels' ? 10_000 : 2_000)
    const { ended } = collect(stream)
    if (how === 'cancels') stream.once('data', () => stream.cancel())
    expect(await ended).toMatchObject({
      code: how === 'cancels' ? status.CANCELLED : status.DEADLINE_EXCEEDED,
    })
    await expect.poll(() => aborted.mock.calls.length).toBe(1)
  })

  it('requests from the generator no more than a slow reader reads', async () => {
    let given = 0
    const watch = serverStream<Buffer, Buffer>(async function* () {
      for (; given < 10_000; given++) yield Buffer.alloc(16_384)
    }, logger)
    const { client } = await start({ ...both, watch })
    const stream = client.watch()
    stream.once('data', () => stream.pause())
    stream.on('error', () => {})
    await expect.poll(() => given).toBeGreaterThan(0)
    await delay(300)
    const before = given
    await delay(300)
    expect(given).toBe(before)
    expect(given).toBeLessThan(200)
    stream.cancel()
  })
})

it('a handler can ask whether its caller still waits', async () => {
  const seen: boolean[] = []
  let finished: () => void = () => {}
  const done = new Promise<void>((resolve) => {
    finished = resolve
  })
  const slow = unary<Buffer, Buffer>(async (request, current) => {
    seen.push(isAbandoned(current, Date.now()))
    await delay(1000)
    seen.push(isAbandoned(current, Date.now()))
    finished()
    return request
  }, logger)
  const { client, server } = await start({ ...both, call: slow })
  // The connection is open already, because a call that is over before it arrives does not reach the handler.
  await collect(client.watch()).ended
  await expect(client.call('', 700)).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED })
  await done
  expect(seen).toEqual([false, true])
  expect(await server.metrics.registry.metrics()).toMatch(
    /grpc_server_handled_total\{method="\/test\.Test\/Call",code="(DEADLINE_EXCEEDED|CANCELLED)",service="test"\} 1/,
  )
})

describe('a call that fails after its caller has stopped waiting', () => {
  const ends = ['cancels', 'lets its deadline pass']
  const failAfterEnd = async (how: string, error: Error) => {
    const lines: { level: number; msg: string }[] = []
    const lineLogger = pino({ level: 'debug' }, { write: (line) => lines.push(JSON.parse(line)) })
    let cancel = () => {}
    const call = unary<Buffer, Buffer>(async (_request, current) => {
      if (how === 'cancels') cancel()
      await expect.poll(() => isAbandoned(current, Date.now())).toBe(true)
      throw error
    }, lineLogger)
    const { client } = await start({ ...both, call })
    // The connection is open already, because a call that is over before it arrives does not reach the
    // handler.
    await collect(client.watch()).ended
    const deadline = Date.now() + (how === 'cancels' ? 10_000 : 500)
    const bytes = (message: Buffer) => message
    const ended = new Promise((resolve) => {
      const request = client.client.makeUnaryRequest(
        '/test.Test/Call',
        bytes,
        bytes,
        Buffer.alloc(0),
        { deadline },
        resolve,
      )
      cancel = () => request.cancel()
    })
    expect(await ended).toMatchObject({
      code: how === 'cancels' ? status.CANCELLED : status.DEADLINE_EXCEEDED,
    })
    await expect.poll(() => lines.length).toBe(1)
    return lines[0]
  }

  it.each(ends)('is not logged as an error when the client %s and its work is abandoned', async (how) => {
    const line = await failAfterEnd(how, unavailable('the call ended before it was written'))
    expect(line).toMatchObject({
      level: 20,
      msg: 'the caller no longer waits',
      method: '/test.Test/Call',
      reason: 'the call ended before it was written',
    })
    expect(line).not.toHaveProperty('err')
  })

  it.each([
    ['a defect', new Error('defect')],
    ['a dependency', unavailable('the database is unreachable', { cause: new Error('ECONNREFUSED') })],
  ])('is an error when %s is the cause', async (_what, error) => {
    for (const how of ends)
      expect(await failAfterEnd(how, error)).toMatchObject({
        level: 50,
        msg: 'call failed',
        err: { stack: expect.stringContaining(error.message) },
      })
  })
})

it('a call that a dependency fails is logged as an error when its caller waits', async () => {
  const lines: object[] = []
  const lineLogger = pino({ level: 'debug' }, { write: (line) => lines.push(JSON.parse(line)) })
  const call = unary<Buffer, Buffer>(() => Promise.reject(unavailable('too many events wait')), lineLogger)
  const { client } = await start({ ...both, call })
  await expect(client.call()).rejects.toMatchObject({ code: status.UNAVAILABLE })
  expect(lines).toMatchObject([{ level: 50, msg: 'call failed' }])
})

it('calls are counted and timed by method and code, except health', async () => {
  const call = unary<Buffer, Buffer>(async (request) => {
    if (String(request) === 'fail') throw new Error('defect')
    return request
  }, logger)
  const { client, server } = await start({ ...both, call })
  await client.call('a')
  await client.call('b')
  await client.call('fail').catch(() => {})
  await collect(client.watch()).ended
  const text = await server.metrics.registry.metrics()
  const counted = [...text.matchAll(/^grpc_server_handled_total\{(.*)\} (\d+)$/gm)].map(
    ([, labels, n]) => `${labels} ${n}`,
  )
  expect(counted.sort()).toEqual([
    'method="/test.Test/Call",code="INTERNAL",service="test" 1',
    'method="/test.Test/Call",code="OK",service="test" 2',
    'method="/test.Test/Watch",code="OK",service="test" 1',
  ])
  const timed = text.split('\n').filter((line) => line.startsWith('grpc_server_handling_seconds_count{'))
  expect(timed.find((line) => line.includes('/Call"') && line.includes('"OK"'))).toMatch(/ 2$/)
})

describe('stopping under load', () => {
  it('finishes the current calls, refuses new ones, and ends a health watch and an open stream', async () => {
    let running = 0
    const finished = new Set<string>()
    const call = unary<Buffer, Buffer>(async (request) => {
      running++
      await delay(30)
      finished.add(String(request))
      return request
    }, logger)
    const watch = serverStream<Buffer, Buffer>(async function* (_request, _call, signal) {
      yield Buffer.from('open')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }, logger)
    const server = await startServer({ call, watch }, { drainTimeoutMs: 8000 })
    const clients = Array.from({ length: 4 }, () => connect(server.port))
    closing.push(...clients.map(({ close }) => close))
    const [first] = clients
    if (!first) throw new Error('no client')
    const open = collect(first.watch())
    const health = collect(first.watch('/grpc.health.v1.Health/Watch'))
    await expect.poll(() => open.messages.length + health.messages.length).toBeGreaterThanOrEqual(2)

    let stopped = false
    const answered: string[] = []
    const refused: number[] = []
    const load = clients.flatMap(({ call: send }, client) =>
      Array.from({ length: 25 }, async (_value, worker) => {
        for (let count = 0; !stopped || count === 0; count++) {
          const name = `${client}-${worker}-${count}`
          const code = await send(name, 3000).then(
            () => null,
            (error: ServiceError) => error.code,
          )
          if (code === null) {
            answered.push(name)
            continue
          }
          refused.push(code)
          // A client without a connection refuses at once, and would leave no time for others.
          await delay(5)
        }
      }),
    )
    await expect.poll(() => answered.length).toBeGreaterThan(300)
    const before = performance.now()
    await server.close()
    const tookMs = performance.now() - before
    stopped = true
    await Promise.all(load)

    expect(tookMs).toBeLessThan(7000)
    // No caller lost the answer to finished work, and every other call was UNAVAILABLE.
    expect(finished.size).toBe(answered.length)
    expect(running).toBe(answered.length)
    expect(refused.length).toBeGreaterThan(0)
    expect(new Set(refused)).toEqual(new Set([status.UNAVAILABLE]))
    expect(await open.ended).toMatchObject({ code: status.UNAVAILABLE })
    expect(await health.ended).toMatchObject({ code: status.UNAVAILABLE })
  })

  it('cuts endless calls after the time limit', async () => {
    const server = await startServer(
      { ...both, call: unary<Buffer, Buffer>(() => new Promise(() => {}), logger) },
      { drainTimeoutMs: 300 },
    )
    const client = connect(server.port)
    closing.push(client.close)
    const answer = client.call().catch(({ code }: ServiceError) => code)
    await delay(100)
    await server.close()
    expect([status.UNAVAILABLE, status.CANCELLED, status.INTERNAL]).toContain(await answer)
  })
})

it('clients are asked to reconnect when a connection is old, without a failed call', async () => {
  const { client } = await start(both, { connectionAgeMsMax: 150, connectionAgeGraceMs: 1000 })
  const until = Date.now() + 1200
  let calls = 0
  for (; Date.now() < until; calls++) expect(await client.call(String(calls))).toBe(String(calls))
  expect(calls).toBeGreaterThan(20)
})
