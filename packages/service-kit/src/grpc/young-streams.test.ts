import type { ServerHttp2Session } from 'node:http2'
import { expect, it } from 'vitest'
import { startStreams } from '../../test/open-streams.js'
import { keepStreamsYoung } from './young-streams.js'

const tablesOf = (session: object) => {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'state')
  return Reflect.get(session, symbol as symbol) as Record<'streams' | 'pendingStreams', { size: number }>
}
const kindOf = (table: object) => Object.prototype.toString.call(table)

it('a session with other tables of streams answers, counts, closes and is cut as before', async () => {
  const { open, ask, close } = await startStreams(keepStreamsYoung)
  const asked = [ask(), ask(), ask()]
  await expect.poll(() => open.length).toBe(3)
  const session = open[0]?.session as ServerHttp2Session
  const { streams: table, pendingStreams } = tablesOf(session)
  expect([kindOf(table), table.size]).toEqual(['[object Object]', 3])
  expect([kindOf(pendingStreams), pendingStreams.size]).toEqual(['[object Object]', 0])

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
  close()
})
