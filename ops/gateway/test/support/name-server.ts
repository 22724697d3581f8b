import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/**
 * Starts a name server on loopback, at a free port unless one is given. It answers each name in `addresses`
 * with its IPv4 address, and any other name with NXDOMAIN.
 */
export async function startNameServer(addresses: Map<string, string>, port = 0) {
  const socket = createSocket('udp4')
  socket.on('message', (query, sender) =>
    socket.send(answerTo(query, addresses), sender.port, sender.address),
  )
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  return { port: socket.address().port, close: () => socket.close() }
}

/**
 * Returns an answer by RFC 1035: a header of 12 bytes, the question, and one record that points to the name
 * of the question.
 */
function answerTo(query: Buffer, addresses: Map<string, string>): Buffer {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const question = query.subarray(12, at + 5)
  const found = addresses.get(labels.join('.'))
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(found ? 0x8180 : 0x8183, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(found ? 1 : 0, 6)
  if (!found) return Buffer.concat([header, question])
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...found.split('.').map(Number)])
  return Buffer.concat([header, question, record])
}
