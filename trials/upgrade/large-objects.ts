import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Installation } from './installation.js'

const mib = 1024 * 1024
/**
 * More than the buffers of the connections between a client and the service, so that a slow client keeps the
 * service sending.
 */
const objectBytes = 48 * mib
const pieces = 48
/** A transfer takes about two seconds: as long as the service has to stop, and longer than without load. */
const pauseMs = 40

const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')

const headersOf = ({ rootToken }: Installation) => ({
  Authorization: `Basic ${Buffer.from(`root:${rootToken}`).toString('base64')}`,
})

const addressOf = ({ url }: Installation, oid: string) => `${url}/root/safe.git/gitlab-lfs/objects/${oid}`

/** Uploads an object of Git LFS, and returns a function that downloads it slowly and checks its bytes. */
export async function uploadLargeObject(installation: Installation) {
  const content = randomBytes(objectBytes)
  const oid = hashOf(content)
  await upload(installation, content, content)
  return {
    async download(): Promise<void> {
      const response = await fetch(addressOf(installation, oid), { headers: headersOf(installation) })
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
      const hash = createHash('sha256')
      let taken = 0
      for await (const chunk of response.body ?? []) {
        hash.update(chunk)
        if (Math.floor(taken / mib) < Math.floor((taken + chunk.length) / mib)) await delay(pauseMs)
        taken += chunk.length
      }
      if (hash.digest('hex') !== oid) throw new Error(`the object came with ${taken} of ${objectBytes} bytes`)
    },
  }
}

/** Uploads a new object of Git LFS slowly. */
export async function uploadSlowly(installation: Installation): Promise<void> {
  const content = randomBytes(mib)
  await upload(installation, content, slowly(content))
}

async function* slowly(content: Uint8Array) {
  const bytes = content.length / pieces
  for (let at = 0; at < content.length; at += bytes) {
    yield content.subarray(at, at + bytes)
    await delay(pauseMs)
  }
}

async function upload(installation: Installation, content: Buffer, body: Buffer | AsyncIterable<Uint8Array>) {
  const response = await fetch(`${addressOf(installation, hashOf(content))}/${content.length}`, {
    method: 'PUT',
    headers: { ...headersOf(installation), 'Content-Type': 'application/octet-stream' },
    body,
    duplex: 'half',
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
}
