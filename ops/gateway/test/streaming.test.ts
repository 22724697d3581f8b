import { EventEmitter, once } from 'node:events'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startUpstream, type Upstream } from './support/echo-server.js'
import { type Gateway, startGateway, type UpstreamName } from './support/gateway.js'

/** Events that tell the upstream to continue, and tell the test what has arrived there. */
const signals = new EventEmitter()
let upstream: Upstream
let gateway: Gateway

beforeAll(async () => {
  upstream = await startUpstream(async (incoming, response) => {
    if (incoming.method === 'POST' || incoming.method === 'PUT') {
      for await (const chunk of incoming) signals.emit('body', String(chunk))
      response.end('done')
      return
    }
    response.once('close', () => signals.emit('closed'))
    response.writeHead(200, { 'Content-Type': incoming.headers.accept ?? 'text/event-stream' })
    response.write('data: first\n\n')
    await once(signals, 'go on')
    response.end('data: second\n\n')
  })
  const services: UpstreamName[] = ['git-api', 'saga-reporter', 'admin-broadcast', 'jobqueue-metrics']
  gateway = await startGateway(Object.fromEntries(services.map((name) => [name, upstream.port])))
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.close()
})

const streams = ['sagas', 'broadcast_messages', 'jobqueue', 'sidekiq'].map((name) => `/api/v4/${name}/stream`)

describe('server-sent events', () => {
  it.each(streams)('%s: each event is sent when it occurs', async (path) => {
    const response = await fetch(gateway.url + path, { headers: { 'Accept-Encoding': 'gzip' } })
    const reader = (response.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream())
      .getReader()
    // The upstream does not continue before the first event has arrived here.
    expect((await reader.read()).value).toBe('data: first\n\n')
    signals.emit('go on')
    expect((await reader.read()).value).toBe('data: second\n\n')
    expect((await reader.read()).done).toBe(true)
  })

  it('the service notices a client that leaves', async () => {
    const client = new AbortController()
    const response = await fetch(gateway.url + streams[0], { signal: client.signal })
    await response.body?.getReader().read()
    const closed = once(signals, 'closed')
    client.abort()
    await closed
    expect(response.status).toBe(200)
  })
})

describe('git', () => {
  it('an answer is passed on while it is created', async () => {
    const response = await fetch(`${gateway.url}/root/demo.git/info/refs?service=git-upload-pack`, {
      headers: { Accept: 'application/x-git-upload-pack-advertisement' },
    })
    const reader = (response.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream())
      .getReader()
    expect((await reader.read()).value).toBe('data: first\n\n')
    signals.emit('go on')
    expect((await reader.read()).value).toBe('data: second\n\n')
  })

  it.each([
    '/root/demo/uploads/0123/app.zip',
    '/-/project/1/uploads/0123/app.zip',
    '/root/demo/-/releases/v1/downloads/app.zip',
    '/api/v4/projects/1/releases/v1/downloads/app.zip',
  ])('a file is passed on while it is read: %s', async (path) => {
    const response = await fetch(gateway.url + path, { headers: { Accept: 'application/octet-stream' } })
    const reader = (response.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream())
      .getReader()
    expect((await reader.read()).value).toBe('data: first\n\n')
    signals.emit('go on')
    expect((await reader.read()).value).toBe('data: second\n\n')
  })

  it.each([
    ['POST', '/root/demo.git/git-receive-pack'],
    ['POST', '/api/v4/projects/root%2Fdemo/repository/commits'],
    ['PUT', `/root/demo.git/gitlab-lfs/objects/${'ab'.repeat(32)}/11`],
    ['PUT', '/api/v4/projects/root%2Fdemo/packages/generic/app/1.0/linux/app.zip?select=package_file'],
    ['POST', '/api/v4/projects/1/uploads'],
  ])('a body is passed on while it is sent: %s %s', async (method, path) => {
    const outgoing = request(gateway.url + path, {
      method,
      headers: { 'Transfer-Encoding': 'chunked' },
    })
    const first = once(signals, 'body')
    outgoing.write('first')
    expect(await first).toEqual(['first'])
    const second = once(signals, 'body')
    outgoing.end('second')
    expect(await second).toEqual(['second'])
    const [response] = await once(outgoing, 'response')
    expect(response.statusCode).toBe(200)
    response.resume()
  })
})
