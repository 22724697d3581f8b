import { createConnection, createServer, type Socket } from 'node:net'

/**
 * Forwards bytes to a unix socket, in each direction after a delay: `delay-proxy.ts SOCKET DELAY_MS`, forked.
 */
const [target = '', delayMs = '1'] = process.argv.slice(2)

function pass(from: Socket, to: Socket): void {
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), Number(delayMs)))
  from.on('close', () => to.destroy())
  from.on('error', () => to.destroy())
}

const server = createServer((near) => {
  const far = createConnection(target)
  near.setNoDelay(true)
  pass(near, far)
  pass(far, near)
}).listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.send?.(address?.port)
})
process.once('disconnect', () => process.exit(0))
