import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { otherStorage } from '../../src/storages/other-storage.js'
import { secretHeader } from '../../src/storages/storages.js'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Opens an object of a storage that sends the given answer. */
async function openObject(answer: RequestListener) {
  const server = createServer(answer)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const storages = {
    own: 'default',
    others: new Map([['second', url]]),
    ofNewProjects: 'default',
    graceMs: 0,
    header: { name: secretHeader, value: 'secret' },
    isSecret: () => false,
  }
  const chunks = await otherStorage(storages, 'second').openLfsObject(1, 'oid', AbortSignal.timeout(100_000))
  return {
    chunks,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function countBytes(chunks: AsyncIterable<Buffer> | null): Promise<number> {
  let bytes = 0
  for await (const chunk of chunks ?? []) bytes += chunk.length
  return bytes
}

test('an object of another storage is complete, even when garbage is collected before it is read', async () => {
  const size = 300_000
  const { chunks, close } = await openObject((_request, response) => response.end(Buffer.alloc(size)))
  for (let round = 0; round < 10; round += 1) {
    await nextTurn()
    collectGarbage()
  }
  expect(await countBytes(chunks)).toBe(size)
  await close()
})

test.each(['with', 'without'])('an object that breaks off is an error, %s a length', async (length) => {
  const { chunks, close } = await openObject((_request, response) => {
    if (length === 'with') response.setHeader('Content-Length', '1000')
    response.write('the first bytes', () => response.destroy())
  })
  await expect(countBytes(chunks)).rejects.toThrow('terminated')
  await close()
})
