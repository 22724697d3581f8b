import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { targetPolicy } from '@switchyard/outbound-http'
import { afterEach, describe, expect, it } from 'vitest'
import { createSender, type Sender } from '../../src/webhooks/send.js'

const servers: Server[] = []
const senders: Sender[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  await Promise.all(senders.splice(0).map((sender) => sender.close()))
})

async function listen(answer: RequestListener, host = '127.0.0.1') {
  const server = createServer(answer)
  servers.push(server)
  await once(server.listen(0, host), 'listening')
  return (server.address() as AddressInfo).port
}

function senderFor(hosts?: string, timeoutMs = 5000) {
  const policy = targetPolicy({ WEBHOOK_ALLOWED_HOSTS: hosts, WEBHOOK_ALLOW_PRIVATE_NETWORKS: false })
  const sender = createSender({ policy, timeoutMs })
  senders.push(sender)
  return sender
}

const send = (sender: Sender, url: string) => sender.send({ url, headers: { 'X-A': 'b' }, body: 'text' })

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

describe('a request', () => {
  it('has method, headers and body, and its answer is kept without cookies', async () => {
    const port = await listen(async (request, response) => {
      const seen = [request.method, request.url, request.headers['x-a'], await bodyOf(request)]
      response.setHeader('Set-Cookie', 'session=1').setHeader('X-Seen', 'yes').end(JSON.stringify(seen))
    })
    const result = await send(senderFor('127.0.0.1'), `http://127.0.0.1:${port}/hook?x=1`)
    expect(result).toMatchObject({ status: 200, error: null, body: '["POST","/hook?x=1","b","text"]' })
    expect(result.headers).toMatchObject({ 'x-seen': 'yes' })
    expect(result.headers).not.toHaveProperty('set-cookie')
    expect(result.durationMs).toBeGreaterThanOrEqual(0)
  })

  it('is sent again after one that failed because the process had no file handles left', async () => {
    const port = await listen((_request, response) => response.end())
    const program = fileURLToPath(new URL('./send-without-handles.ts', import.meta.url))
    const node = [process.execPath, '--import', 'tsx', program]
    const limited = ['-c', 'ulimit -n 1024; exec "$@"', 'sh', ...node, `http://127.0.0.1:${port}/`]
    const { stdout } = await promisify(execFile)('sh', limited)
    expect(JSON.parse(stdout)).toEqual([expect.stringContaining('the request failed'), null])
  })

  it('does not follow a redirect', async () => {
    let inside = 0
    const secondPort = await listen((_request, response) => {
      inside += 1
      response.end()
    })
    const port = await listen((_request, response) => {
      response.writeHead(307, { Location: `http://127.0.0.1:${secondPort}/` }).end()
    })
    const result = await send(senderFor('127.0.0.1'), `http://127.0.0.1:${port}/`)
    expect(result).toMatchObject({
      status: 307,
      error: 'redirect: the target answered 307; redirects are not followed',
    })
    expect(inside).toBe(0)
  })

  it.each([404, 410, 500])('that is answered with %d has failed', async (status) => {
    const port = await listen((_request, response) => response.writeHead(status).end('why'))
    const result = await send(senderFor('127.0.0.1'), `http://127.0.0.1:${port}/`)
    expect(result).toMatchObject({ status, error: `the target answered ${status}`, body: 'why' })
  })

  it('ends in time without an answer', async () => {
    const port = await listen(() => {})
    const result = await send(senderFor('127.0.0.1', 300), `http://127.0.0.1:${port}/`)
    expect(result).toMatchObject({ status: null, error: 'timeout: no answer within 0.3 seconds' })
    expect(result.durationMs).toBeLessThan(3000)
  })

  it('ends in time when the answer trickles, and its status counts', async () => {
    const port = await listen((_request, response) => {
      response.write('a')
      const timer = setInterval(() => response.write('b'), 50)
      response.on('close', () => clearInterval(timer))
    })
    const result = await send(senderFor('127.0.0.1', 400), `http://127.0.0.1:${port}/`)
    expect(result).toMatchObject({ status: 200, error: null })
    expect(result.body).toMatch(/^ab*$/)
    expect(result.durationMs).toBeLessThan(3000)
  })

  it('reads no more than the first KiB of an endless answer', async () => {
    let written = 0
    const port = await listen((_request, response) => {
      const more = () => {
        while (!response.destroyed) {
          written += 65_536
          if (!response.write(Buffer.alloc(65_536, 'x'))) break
        }
      }
      response.on('drain', more)
      more()
    })
    const result = await send(senderFor('127.0.0.1'), `http://127.0.0.1:${port}/`)
    expect(result).toMatchObject({ status: 200, error: null, body: 'x'.repeat(1024) })
    expect(written).toBeLessThan(32 * 1024 * 1024)
  })

  it('keeps only text that PostgreSQL can store', async () => {
    const port = await listen((_request, response) => response.end(Buffer.from([0x61, 0, 0xff, 0x62])))
    const result = await send(senderFor('127.0.0.1'), `http://127.0.0.1:${port}/`)
    expect(result.body).toBe('a\uFFFD\uFFFDb')
  })

  it('names the problem when no server listens or the name is unknown', async () => {
    const port = await listen(() => {})
    servers.pop()?.close()
    const refused = await send(senderFor('127.0.0.1'), `http://127.0.0.1:${port}/`)
    expect(refused).toMatchObject({ status: null, error: 'the connection was refused' })
    const unknown = await send(senderFor(), 'http://no-such-host.invalid/')
    expect(unknown.error).toMatch(/^the name of the host (does not resolve|could not be resolved)$/)
  })
})

describe('a target that is not public', () => {
  let requests = 0
  const listenEverywhere = () =>
    listen((_request, response) => {
      requests += 1
      response.end()
    }, '::')

  it.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost', '0x7f.1', '0.0.0.0'])(
    'is refused as %s, and receives no request',
    async (host) => {
      requests = 0
      const port = await listenEverywhere()
      const result = await send(senderFor(), `http://${host}:${port}/`)
      expect(result.status).toBeNull()
      expect(result.error).toContain('is not a public address')
      expect(requests).toBe(0)
    },
  )

  it('is refused behind a name that resolves to it', async () => {
    requests = 0
    const port = await listenEverywhere()
    // The machine's own name resolves to one of its addresses, none of which is public here.
    const { hostname } = await import('node:os')
    const result = await send(senderFor(), `http://${hostname()}:${port}/`)
    expect(result).toMatchObject({ status: null })
    expect(result.error).toMatch(/the target is refused: .* is not a public address|does not resolve/)
    expect(requests).toBe(0)
  })

  it('receives the request when its name is allowed', async () => {
    requests = 0
    const port = await listenEverywhere()
    expect(await send(senderFor('localhost'), `http://localhost:${port}/`)).toMatchObject({ status: 200 })
    expect(requests).toBe(1)
  })
})
