import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as others } from 'node:timers/promises'
import type { Response } from 'express'

/** Others get their turn after so much text: a millisecond or two of work. */
const sliceChars = 256 * 1024

/** A list written down as JSON, to be sent once or, by whoever keeps it, as often as it is asked for. */
export class WrittenList {
  readonly etag: string

  /** @param hash SHA-1 of all slices, base64 */
  constructor(
    readonly slices: readonly Buffer[],
    /** Of all slices together. */
    readonly bytes: number,
    hash: string,
  ) {
    this.etag = `W/"${bytes.toString(16)}-${hash.slice(0, 27)}"`
  }
}

/**
 * Writes a list down. For a long one that takes as long as many requests do, so others get their turn between its
 * items.
 */
export async function writeList(items: readonly unknown[]): Promise<WrittenList> {
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
  slices.push(Buffer.from(`${text}]`))
  const hash = createHash('sha1')
  let bytes = 0
  for (const [index, slice] of slices.entries()) {
    if (index > 0) await others()
    hash.update(slice)
    bytes += slice.length
  }
  return new WrittenList(slices, bytes, hash.digest('base64'))
}

export async function sendList(response: Response, { slices, bytes, etag }: WrittenList): Promise<void> {
  response.set('ETag', etag)
  const [first] = slices
  if (slices.length === 1) {
    response.type('json').send(first)
    return
  }
  if (response.req.fresh) {
    response.status(304).end()
    return
  }
  response.type('json').set('Content-Length', String(bytes))
  const sent = response.req.method === 'HEAD' ? [] : slices
  await pipeline(Readable.from(sent), response).catch((error: unknown) => {
    // A client that went away has nothing to be told.
    if (!response.destroyed) throw error
  })
}
