import { Agent } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Echo, startEcho, type Upstream } from './support/echo-server.js'
import { type Gateway, startGateway, type UpstreamName } from './support/gateway.js'
import { type RawOptions, rawRequest } from './support/raw-request.js'

const services: UpstreamName[] = [
  'git-api',
  'saga-reporter',
  'admin-broadcast',
  'jobqueue-metrics',
  'worker',
  'console',
]
let upstreams: Upstream[] = []
let gateway: Gateway

beforeAll(async () => {
  upstreams = await Promise.all(services.map((name) => startEcho(name)))
  gateway = await startGateway(Object.fromEntries(services.map((name, i) => [name, upstreams[i]?.port])))
})
afterAll(async () => {
  await gateway?.stop()
  await Promise.all(upstreams.map((upstream) => upstream.close()))
})

async function send(path: string, options?: RawOptions): Promise<Echo> {
  const answer = await rawRequest(gateway.httpPort, path, options)
  expect(answer.status, answer.body).toBe(200)
  return JSON.parse(answer.body) as Echo
}

describe('every path reaches its service', () => {
  it.each([
    ['/api/v4/sagas', 'saga-reporter'],
    ['/api/v4/sagas?page=2', 'saga-reporter'],
    ['/api/v4/sagas/7/events', 'saga-reporter'],
    ['/api/v4/sagas/stream', 'saga-reporter'],
    ['/api/v4/saga_events', 'saga-reporter'],
    ['/api/v4/sagasx', 'git-api'],
    ['/api/v4/broadcast_messages', 'admin-broadcast'],
    ['/api/v4/broadcast_messages/1', 'admin-broadcast'],
    ['/api/v4/broadcast_messages/stream', 'admin-broadcast'],
    ['/api/v4/jobqueue/queue_metrics', 'jobqueue-metrics'],
    ['/api/v4/jobqueue/stream', 'jobqueue-metrics'],
    ['/api/v4/sidekiq/compound_metrics', 'jobqueue-metrics'],
    ['/api/v4/projects', 'git-api'],
    ['/api/v4/projects/sagas', 'git-api'],
    ['/root/demo.git/info/refs?service=git-upload-pack', 'git-api'],
    ['/root/demo.git/git-receive-pack', 'git-api'],
    ['/root/demo/info/refs?service=git-upload-pack', 'git-api'],
    ['/root/demo/git-upload-pack', 'git-api'],
    ['/root/demo.git/info/lfs/objects/batch', 'git-api'],
    ['/root/demo.git/gitlab-lfs/objects/ab', 'git-api'],
    ['/api/v4/projects/root%2Fdemo/repository/commits', 'git-api'],
    ['/root/demo/-/raw/feature/x/a.txt', 'git-api'],
    ['/root/demo/-/raw/feature%2Fx/metrics', 'git-api'],
    ['/root/demo/-/archive/main/demo-main.tar.gz', 'git-api'],
    ['/root/demo/-/releases/v1/downloads/bin/tool', 'git-api'],
    ['/root/demo/uploads/0123/a%20b.png', 'git-api'],
    ['/-/project/1/uploads/0123/a.png', 'git-api'],
    ['/root/demo/sub/folder?go-get=1', 'git-api'],
    ['/oauth/authorize_device', 'git-api'],
    ['/oauth/token', 'git-api'],
    ['/', 'git-api'],
    ['/console', 'console'],
    ['/console/assets/index.js', 'console'],
    ['/console/projects/root/demo/files/feature%2Fx/a%20b?q=%2F', 'console'],
    ['/consoles/demo.git/info/refs?service=git-upload-pack', 'git-api'],
    ['/metricsx', 'git-api'],
    ['//api/v4/sagas?x=//', 'saga-reporter'],
    ['/api///v4/jobqueue//stream', 'jobqueue-metrics'],
    ['//root/demo.git/info/refs?service=git-upload-pack', 'git-api'],
  ])('%s → %s', async (path, name) => {
    expect(await send(path)).toMatchObject({ name, url: path })
  })

  it.each(services)("%s's liveness and readiness are served at its name", async (name) => {
    expect(await send(`/-/${name}/liveness`)).toMatchObject({ name, url: '/-/liveness' })
    expect(await send(`/-/${name}/readiness`)).toMatchObject({ name, url: '/-/readiness' })
  })

  it.each([
    '/metrics',
    '/metrics/',
    '/metrics?x=1',
    '/%6Detrics',
    '/a/../metrics',
    '/metrics/git-api',
    '//metrics',
    '/-/metrics',
    '//-//metrics/',
    '/-/storages/projects/1/lfs_objects',
  ])('internal paths are not served outside: %s', async (path) => {
    const answer = await rawRequest(gateway.httpPort, path)
    expect(answer.status).toBe(404)
    expect(JSON.parse(answer.body)).toEqual({
      error: '404 Not Found',
      request_id: answer.headers['x-request-id'],
    })
  })
})

describe('a path arrives byte for byte', () => {
  it.each([
    '/api/v4/projects/root%2Fdemo/repository/commits/feature%2Fa%2Eb/diff',
    '/api/v4/projects/root%2fdemo/repository/commits?path=a%2Fb%20c&ref_name=x%26y',
    '/api/v4/projects/1//repository///commits',
    '/api/v4/projects/1/repository/commits/%E2%82%AC%20%3F%23',
    '/api/v4/projects/1/./repository/files/a%252Fb',
    '/api/v4/projects/1;a=b/x+y~z,(1)!',
    '/api/v4/broadcast_messages/%2e%2E%2fx',
  ])('%s', async (path) => {
    expect((await send(path)).url).toBe(path)
  })
})

describe('headers', () => {
  it('what a client claims about its origin is overwritten', async () => {
    const { headers } = await send('/api/v4/projects', {
      headers: {
        Host: 'switchyard.example.com:8443',
        'X-Forwarded-For': '6.6.6.6',
        'X-Real-IP': '6.6.6.6',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'evil.example.com',
        'X-Forwarded-Port': '1',
        Forwarded: 'for=6.6.6.6',
      },
    })
    expect(headers).toMatchObject({
      host: 'switchyard.example.com:8443',
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'switchyard.example.com:8443',
      'x-forwarded-port': String(gateway.httpPort),
    })
    expect(headers).not.toHaveProperty('forwarded')
  })

  it('tokens pass through', async () => {
    const { headers } = await send('/api/v4/user', {
      headers: { 'PRIVATE-TOKEN': 't', Authorization: 'Bearer u' },
    })
    expect(headers).toMatchObject({ 'private-token': 't', authorization: 'Bearer u' })
  })

  it('a sensible request id is kept, sent to the service and answered once', async () => {
    const answer = await rawRequest(gateway.httpPort, '/x', { headers: { 'X-Request-Id': 'ci-7:a/b' } })
    expect((JSON.parse(answer.body) as Echo).headers['x-request-id']).toBe('ci-7:a/b')
    expect(answer.headers['x-request-id']).toBe('ci-7:a/b')
  })

  it.each([undefined, 'a b', 'x'.repeat(129), '<script>'])('a bad request id is replaced: %s', async (id) => {
    const headers = id === undefined ? {} : { 'X-Request-Id': id }
    const answer = await rawRequest(gateway.httpPort, '/x', { headers })
    expect((JSON.parse(answer.body) as Echo).headers['x-request-id']).toBe(answer.headers['x-request-id'])
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/)
  })

  it('answers carry the security headers and no version', async () => {
    for (const path of ['/x', '/metrics']) {
      const { headers } = await rawRequest(gateway.httpPort, path)
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        server: 'nginx',
      })
      expect(headers).not.toHaveProperty('strict-transport-security')
    }
  })

  it('large JSON is compressed for clients that accept gzip', async () => {
    const path = `/api/v4/x?${'a'.repeat(4000)}`
    const packed = await rawRequest(gateway.httpPort, path, { headers: { 'Accept-Encoding': 'gzip' } })
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    const plain = await rawRequest(gateway.httpPort, path)
    expect(plain.headers).not.toHaveProperty('content-encoding')
  })

  it('connections to a service are reused', async () => {
    // One connection of the client stays with one worker of nginx, and each worker keeps its own connections.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ports = new Set<number>()
    for (let i = 0; i < 5; i += 1) ports.add((await send('/api/v4/x', { agent })).clientPort)
    agent.destroy()
    expect(ports.size).toBe(1)
  })
})

describe('bodies', () => {
  const body = Buffer.alloc(3 * 1024 * 1024, 120).toString()

  it.each([
    '/api/v4/projects/root%2Fdemo/repository/commits',
    '/api/v4/projects/1/repository/commits',
    '/root/demo.git/git-receive-pack',
    '//root/demo.git//git-receive-pack',
    '/root/demo/git-receive-pack',
    '/api/v4/projects/1/packages/generic/app/1.0/app.zip',
    '/api/v4/projects/root%2Fdemo/uploads',
  ])('large bodies reach git-api: %s', async (path) => {
    expect(await send(path, { method: 'POST', body })).toMatchObject({ bodyBytes: body.length, url: path })
  })

  it.each([
    '/api/v4/broadcast_messages',
    '/api/v4/projects',
    '/api/v4/projects/1/repository/commits/main/comments',
  ])('elsewhere a body over 1 MB is refused in the documented shape: %s', async (path) => {
    const answer = await rawRequest(gateway.httpPort, path, { method: 'POST', body })
    expect(answer.status).toBe(413)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(JSON.parse(answer.body)).toEqual({
      message: '413 Request Entity Too Large',
      request_id: answer.headers['x-request-id'],
    })
  })
})

describe('the access log', () => {
  it('has one JSON object for each request, without query, user name or token', async () => {
    const credentials = Buffer.from('user-name-or-token:hunter2').toString('base64')
    await send('/api/v4/logged%2Fpath?private_token=hunter2', {
      headers: {
        'PRIVATE-TOKEN': 'hunter2',
        Authorization: `Basic ${credentials}`,
        'X-Request-Id': 'find-me',
        Referer: 'http://x/?private_token=hunter2',
      },
    })
    const log = await gateway.logOnceItHas('find-me')
    const lines = log.split('\n').filter((line) => line.includes('find-me'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        service: 'gateway',
        method: 'GET',
        path: '/api/v4/logged%2Fpath',
        status: '200',
        request_id: 'find-me',
      },
    ])
    for (const secret of ['hunter2', credentials, 'user-name-or-token']) expect(log).not.toContain(secret)
  })
})
