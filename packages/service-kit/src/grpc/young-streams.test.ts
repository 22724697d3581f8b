import { once } from 'node:events'
import { connect, createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { keepStreamsYoung } from './young-streams.js'

const tableOf = (session: object) => {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'state')
  return (Reflect.get(session, symbol as symbol) as { streams: { size: number } }).streams
}

it('a session with another table of streams answers, counts, closes and is cut as before', async () => {
  const intercept = keepStreamsYoung()
  const open: ServerHttp2Stream[] = []
  const server = createServer().listen(0, '127.0.0.1')
  server.on('stream', (stream: ServerHttp2Stream) => {
    intercept({} as never, { stream } as never)
    open.push(stream)
  })
  await once(server, 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const ask = () => client.request({ ':path': '/' }).on('error', () => {})
  const asked = [ask(), ask(), ask()]
  await expect.poll(() => open.length).toBe(3)
  const session = open[0]?.session as ServerHttp2Session
  const table = tableOf(session)
  expect([Object.prototype.toString.call(table), table.size]).toEqual(['[object Object]', 3])

  const texts = asked.slice(0, 2).map(async (request) => String(await request.toArray()))
  for (const stream of open.slice(0, 2)) {
    stream.respond({ ':status': 200 })
    stream.end(`answer ${stream.id}`)
  }
  expect(await Promise.all(texts)).toEqual(['answer 1', 'answer 3'])
  await expect.poll(() => table.size).toBe(1)

  session.close()
  expect(session.destroyed).toBe(false)
  session.destroy()
  await expect.poll(() => open[2]?.destroyed).toBe(true)
  expect(table.size).toBe(0)
  client.destroy()
  server.close()
})
