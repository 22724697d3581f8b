import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { InnerSockets } from '../src/grpc/inner-sockets.js'
import { closers } from './http2-service.js'

const closing = closers()
afterEach(closing.run)

it('connects a process with itself, and lets nobody else in', async () => {
  const ends: Socket[] = []
  const inner = new InnerSockets((socket) => {
    ends.push(socket)
    socket.on('data', (part) => socket.write(`got ${part}`))
  })
  closing.add(() => inner.close())
  await inner.listen()
  const ours = inner.connect()
  closing.add(() => ours.destroy())
  ours.write('a')
  expect(String((await once(ours, 'data'))[0])).toBe('got a')

  const stranger = connect(ours.remotePort ?? 0, '127.0.0.1')
  stranger.on('error', () => {})
  await once(stranger, 'close')
  expect(ends).toHaveLength(1)
})
