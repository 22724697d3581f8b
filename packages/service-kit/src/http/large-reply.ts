import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as others } from 'node:timers/promises'
import type { Response } from 'express'

/** Others get their turn after so much text: a millisecond or two of work. */
const sliceChars = 256 * 1024

/**
 * Sends a list as JSON. Writing a long one down takes as long as many requests do, so others get their turn between
 * its items.
 */
export async function sendList(response: Response, items: readonly unknown[]): Promise<void> {
  const slices: Buffer[] = []
  let text = '['
  for (const [index, item] of items.entries()) {
    // What JSON cannot say is null in a list.
    text += `${index === 0 ? '' : ','}${JSON.stringify(item) ?? 'null'}`
    if (text.length < sliceChars) continue
    slices.push(Buffer.from(text))
    text = ''
    await others()
  }
  text += ']'
  if (slices.length === 0) response.type('json').send(text)
  else await sendSlices(response, [...slices, Buffer.from(text)])
}

async function sendSlices(response: Response, slices: readonly Buffer[]): Promise<void> {
  const length = slices.reduce((sum, slice) => sum + slice.length, 0)
  const hash = createHash('sha1')
  for (const slice of slices) {
    hash.update(slice)
    await others()
  }
  response.set('ETag', `W/"${length.toString(16)}-${hash.digest('base64').slice(0, 27)}"`)
  if (response.req.fresh) {
    response.status(304).end()
    return
  }
  response.type('json').set('Content-Length', String(length))
  const sent = response.req.method === 'HEAD' ? [] : slices
  await pipeline(Readable.from(sent), response).catch((error: unknown) => {
    // A client that went away has nothing to be told.
    if (!response.destroyed) throw error
  })
}
