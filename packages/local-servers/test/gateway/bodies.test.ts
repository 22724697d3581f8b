import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { beforeEach, describe, expect, it } from 'vitest'
import { echo, startGatewayForEach } from './gateway-harness.js'

const gateway = startGatewayForEach()

it.each([
  ['longer than', 'abcdef'],
  ['cut before', ''],
])('continues to serve after an answer that is %s its Content-Length', async (_what, sent) => {
  gateway.answer = ({ socket }) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${sent}`)
  for (let number = 0; number < 5; number += 1)
    await fetch(gateway.url('/x'))
      .then((got) => got.text())
      .catch(() => {})
  gateway.answer = echo
  expect((await fetch(gateway.url('/x'))).status).toBe(200)
})

it('streams both ways during a request', async () => {
  gateway.answer = (incoming, response) => incoming.pipe(response)
  const call = request(gateway.url('/'), { method: 'POST' })
  call.write('one')
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  expect(String((await once(response, 'data'))[0])).toBe('one')
  call.write('two')
  expect(String((await once(response, 'data'))[0])).toBe('two')
  call.end()
  await once(response.resume(), 'end')
})

it('passes on 300 MB completely, without holding them in memory', async () => {
  let received = 0
  gateway.answer = (incoming, response) => {
    incoming.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    incoming.once('end', () => response.end())
  }
  const before = process.memoryUsage.rss()
  const call = request(gateway.url('/'), { method: 'POST' })
  const chunk = Buffer.alloc(1024 * 1024)
  for (let sent = 0; sent < 300; sent++) if (!call.write(chunk)) await once(call, 'drain')
  call.end()
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  response.resume()
  expect(received).toBe(300 * chunk.length)
  expect(process.memoryUsage.rss() - before).toBeLessThan(200 * chunk.length)
})

it('a client that goes away ends the request at the service', async () => {
  const closed = new Promise((resolve) => {
    gateway.answer = (_incoming, response) => {
      response.write('data: 1\n\n')
      response.once('close', resolve)
    }
  })
  const call = request(gateway.url('/'))
  call.on('error', () => {})
  call.end()
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  await once(response, 'data')
  call.destroy()
  expect(await Promise.race([closed.then(() => 'closed'), delay(5000, 'open')])).toBe('closed')
})

it('an answer does not look complete when its service dies', async () => {
  gateway.answer = (_incoming, response) => {
    response.writeHead(200, { 'Content-Length': 1000 })
    response.write('part', () => response.destroy())
  }
  const response = await fetch(gateway.url('/'))
  await expect(response.text()).rejects.toThrow()
})

it('a client receives a refusal before it has sent its body', async () => {
  gateway.answer = (_incoming, response) => response.writeHead(413, { Connection: 'close' }).end('too much')
  const text = await gateway.sendBytes(
    'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 500000\r\n\r\npart',
  )
  expect(text).toMatch(/^HTTP\/1.1 413 /)
})

it('a client that sends everything before it reads receives the earlier answer', async () => {
  gateway.answer = (_incoming, response) => response.writeHead(413).end('too much')
  const bytes = 32 * 1024 * 1024
  const socket = connect(gateway.port, '127.0.0.1')
  socket.pause()
  socket.write(`POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`)
  for (let sent = 0; sent < bytes; sent += 1024 * 1024)
    await new Promise((resolve) => socket.write(Buffer.alloc(1024 * 1024), resolve))
  const [head] = await once(socket.setEncoding('utf8').resume(), 'data')
  expect(head).toMatch(/^HTTP\/1.1 413 /)
  socket.destroy()
})

describe('a service that refuses a body before it has read the body', () => {
  const bytes = 3 * 1024 * 1024
  /** Each program prints one line for an answer: its status, or the name of the error. */
  const urllib = `
import sys, urllib.request, urllib.error
for _ in range(40):
    try:
        print(urllib.request.urlopen(sys.argv[1], data=b'x' * ${bytes}).status)
    except urllib.error.HTTPError as answer: print(answer.code, answer.read().decode())
    except Exception as problem: print(repr(problem))
`
  const httpClient = `
import sys, http.client, urllib.parse
address = urllib.parse.urlsplit(sys.argv[1])
for _ in range(40):
    connection = http.client.HTTPConnection(address.netloc)
    try:
        connection.request('POST', address.path, b'x' * ${bytes}, {'Connection': 'close'})
        answer = connection.getresponse()
        print(answer.status, answer.read().decode())
    except Exception as problem: print(repr(problem))
    finally: connection.close()
`
  const curl = `head -c ${bytes} /dev/zero > "$2"; for i in $(seq 20); do
curl -sS -o - -w ' %{http_code}\\n' --data-binary @"$2" -H "$3" "$1" 2>&1; done`
  const answers = async (program: string, ...args: string[]) =>
    (await execa(program, args)).stdout.split('\n').map((line) => line.trim())

  beforeEach(() => {
    gateway.answer = (_incoming, response) =>
      response.writeHead(413, { 'Content-Type': 'text/plain', 'Content-Length': 8 }).end('too much')
  })

  it.each([
    ['urllib', urllib],
    ['http.client', httpClient],
  ])("reaches Python's %s, which closes its connections", async (_name, program) => {
    expect(await answers('python3', '-c', program, gateway.url('/x'))).toEqual(Array(40).fill('413 too much'))
  })

  it.each(['Connection: close', 'Connection: keep-alive', 'Expect:', 'Expect: 100-continue'])(
    'reaches curl with the header %s',
    async (header) => {
      const folder = await mkdtemp(join(tmpdir(), 'switchyard-body-'))
      const seen = await answers('sh', '-c', curl, 'sh', gateway.url('/x'), join(folder, 'body'), header)
      await rm(folder, { recursive: true })
      expect(seen).toEqual(Array(20).fill('too much 413'))
    },
  )

  it.each([
    ['/metrics', 404],
    ['/down/x', 502],
  ])('and so has the gateway: %s', async (path, status) => {
    const seen = await answers('python3', '-c', urllib, gateway.url(path))
    expect(seen.map((line) => line.slice(0, 3))).toEqual(Array(40).fill(String(status)))
  })
})

it('closes a connection after the body, if the client wants that', async () => {
  gateway.answer = (_incoming, response) => response.writeHead(413).end('too much')
  const socket = connect(gateway.port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n')
  const [head] = await once(socket.setEncoding('utf8'), 'data')
  expect(head).toMatch(/^HTTP\/1.1 413 /)
  socket.resume()
  const closed = once(socket, 'close')
  socket.write('x'.repeat(1000))
  await closed
})

it('a client that leaves with its answer before it has sent everything leaves no open request', async () => {
  const closed = new Promise((resolve) => {
    gateway.answer = (incoming, response) => {
      incoming.socket.once('close', resolve)
      incoming.resume()
      response.writeHead(400).end('no')
    }
  })
  const sent = request(gateway.url('/push'), { method: 'POST', headers: { 'Content-Length': '1000000' } })
  sent.on('error', () => {})
  sent.write('some')
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  expect(response.statusCode).toBe(400)
  sent.destroy()
  expect(await Promise.race([closed.then(() => 'closed'), delay(5000, 'open')])).toBe('closed')
})
