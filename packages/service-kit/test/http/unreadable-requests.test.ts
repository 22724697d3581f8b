import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { answerUnreadableRequests } from '../../src/http/listen.js'

let server: Server
const body = 'x'.repeat(1_000)

beforeEach(async () => {
  server = createServer({ maxHeaderSize: 64 * 1024 }, (_request, response) => {
    response.writeHead(200, { 'Content-Length': 2 * body.length })
    response.write(body)
    void setTimeout(200).then(() => response.end(body))
  }).listen(0, '127.0.0.1')
  answerUnreadableRequests(server)
  await once(server, 'listening')
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const open = () => connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })

test('a client that continues to send after an overlong request line still receives the answer', async () => {
  const socket = open().on('error', () => {})
  socket.write(`GET /?a=${'1'.repeat(70_000)}`)
  for (let part = 0; part < 10; part += 1) {
    await setTimeout(5)
    socket.write('1'.repeat(60_000))
  }
  expect(await text(socket)).toBe('HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n')
})

test('a client that never stops sending is disconnected', async () => {
  const socket = open().on('error', () => {})
  const sending = setInterval(() => socket.write('a'.repeat(1_000)), 20)
  socket.write(`GET /?a=${'1'.repeat(400_000)}`)
  socket.resume()
  await once(socket, 'close')
  clearInterval(sending)
  expect(socket.destroyed).toBe(true)
})

test('bytes that are not a request are answered with 400, but never within another answer', async () => {
  const one = open()
  one.write('nonsense\r\n\r\n')
  expect(await text(one)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  const two = open().on('error', () => {})
  two.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const received: Buffer[] = []
  two.on('data', (chunk: Buffer) => received.push(chunk))
  await once(two, 'data')
  two.write('nonsense\r\n\r\n')
  await once(two, 'close')
  expect(Buffer.concat(received).toString()).not.toContain('400 Bad Request')
})
