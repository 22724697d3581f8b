import { once } from 'node:events'
import { createLogger } from '@switchyard/service-kit/observability'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serverStream, unary } from '../../src/grpc/grpc.js'
import { definition, startServer } from './grpc-harness.js'
import { connectRaw, frame } from './raw-calls.js'

const logger = createLogger('test', 'silent')
const health = '/grpc.health.v1.Health/Check'
const reflection = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
/** A ServerReflectionRequest for the list of services. */
const question = frame(Buffer.from([0x3a, 1, 0x2a]))
const victim = '192.0.2.200'
const closing: (() => unknown)[] = []
let port: number

beforeEach(async () => {
  const call = unary<Buffer, Buffer>(async (request) => request, logger)
  const watch = serverStream<Buffer, Buffer>(async function* () {}, logger)
  const services = [{ name: 'test.Test', definition, implementation: { call, watch }, admit: () => {} }]
  const server = await startServer(
    {},
    {
      services,
      addressOf: (metadata) => String(metadata.get('x-address')[0]),
      drainTimeoutMs: 100,
      probePeriodMs: 0,
    },
  )
  closing.push(server.close)
  port = server.port
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Opens a connection with one call, like a gateway for each call, and sends the start of a message. */
async function beginCall(address: string, path = '/test.Test/Call') {
  const raw = await connectRaw(port)
  closing.push(raw.close)
  const { stream, answer } = raw.open({ 'x-address': address, ':path': path })
  stream.write(frame('', 0, 1000))
  return { stream, answer, ping: raw.ping }
}

/** Begins calls of an address that send a byte now and then. */
async function dribble(address: string, calls: number, path?: string): Promise<void> {
  for (let index = 0; index < calls; index += 1) {
    const { stream, ping } = await beginCall(address, path)
    const dribbling = setInterval(() => stream.write(Buffer.alloc(1)), 100)
    closing.push(() => clearInterval(dribbling))
    await ping()
  }
}

/** Returns the status of a whole call of an address. */
async function statusOf(address: string, path = '/test.Test/Call') {
  const raw = await connectRaw(port)
  closing.push(raw.close)
  const { status } = await raw.call(frame(''), { 'x-address': address, ':path': path, 'grpc-timeout': '9S' })
  return Number(status)
}

describe('slow calls on connections of their own', () => {
  it('of one address keep no report of another address waiting', async () => {
    await dribble('192.0.2.1', 70)
    expect(await statusOf(victim)).toBe(0)
  })

  it('of one network of IPv6 keep no report of another address waiting', async () => {
    for (let index = 0; index < 70; index += 1) await dribble(`2001:db8::${index}`, 1)
    expect(await statusOf(victim)).toBe(0)
  })

  it('of addresses that hold every slot give way to the report of another address', async () => {
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) await dribble(address, 16)
    for (let index = 10; index < 26; index += 1) await dribble(`192.0.2.${index}`, 1)
    expect(await statusOf(victim)).toBe(0)
  })

  it('of health keep neither reports nor the health of another address waiting', async () => {
    await dribble('192.0.2.1', 70, health)
    expect(await statusOf(victim)).toBe(0)
    expect(await statusOf(victim, health)).toBe(0)
  })

  it('that send nothing more give way to another call of their address', async () => {
    for (let index = 0; index < 20; index += 1) await (await beginCall(victim)).ping()
    expect(await statusOf(victim)).toBe(0)
  })
})

describe('idle streams of reflection on connections of their own', () => {
  async function openStream(address: string) {
    const raw = await connectRaw(port)
    closing.push(raw.close)
    const { stream, answer } = raw.open({ 'x-address': address, ':path': reflection })
    /** Returns whether the stream answers a question. */
    const ask = () => {
      stream.write(question)
      return Promise.race([once(stream, 'data').then(() => true), answer.then(() => false)])
    }
    return { ask }
  }

  it('stay open, twelve of one address, and keep no call of their address waiting', async () => {
    const opened: Awaited<ReturnType<typeof openStream>>[] = []
    for (let index = 0; index < 12; index += 1) opened.push(await openStream(victim))
    for (const { ask } of opened) expect(await ask()).toBe(true)
    expect(await statusOf(victim, health)).toBe(0)
    // The report is answered after connections of its address have been ended, which must not be those of
    // the streams.
    for (let index = 0; index < 20; index += 1) await (await beginCall(victim)).ping()
    expect(await statusOf(victim)).toBe(0)
    for (const { ask } of opened) expect(await ask()).toBe(true)
  })
})
