import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { otlpDestination } from './otlp-destination.js'

const entry = {
  id: 1,
  author_id: 1,
  entity_id: '1',
  entity_type: 'User',
  event_name: 'user_created',
  details: { author_name: 'Ada', token_id: 1, ip_address: null },
  request_id: 'r',
  created_at: new Date(0),
}

test('a collector that starts an answer and never ends it is aborted', async () => {
  const collector = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void collector.close())
  await once(collector, 'listening')
  const { port } = collector.address() as AddressInfo
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const url = `http://127.0.0.1:${port}/v1/logs`
  const connected = once(collector, 'connection')
  const sending = otlpDestination({ url, headers: undefined }).send([entry], new AbortController().signal)
  const refused = expect(sending).rejects.toThrow('no answer within 10 seconds')
  const [socket] = await connected
  await vi.advanceTimersByTimeAsync(10_000)
  await refused
  socket.destroy()
})
