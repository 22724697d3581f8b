import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as others } from 'node:timers/promises'
import type { Response } from 'express'

/** Others get their turn after so much text: a millisecond or two of work. */
const sliceChars = 256 * 1024

/** A body written down as JSON, to be sent once or, by whoever keeps it, as often as it is asked for. */
export class WrittenJson {
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
 * Writes a body down. For a long list that takes as long as many requests do, so others get their turn between its
 * items.
 */
export async function writeJson(body: unknown): Promise<WrittenJson> {
  const slices = Array.isArray(body) ? await writeItems(body) : [Buffer.from(JSON.stringify(body))]
  const hash = createHash('sha1')
  let bytes = 0
  for (const [index, slice] of slices.entries()) {
    if (index > 0) await others()
    hash.update(slice)
    bytes += slice.length
  }
  return new WrittenJson(slices, bytes, hash.digest('base64'))
}

async function writeItems(items: readonly unknown[]): Promise<Buffer[]> {
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
  return slices
}

/** Sends a body, or 304 when the client has it. All headers are known here, so express need not look for them. */
export async function sendJson(response: Response, { slices, bytes, etag }: WrittenJson): Promise<void> {
  response.setHeader('ETag', etag)
  if (response.req.fresh) {
    response.status(304).end()
    return
  }
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Content-Length', bytes)
  if (response.req.method === 'HEAD') response.end()
  else if (slices.length === 1) response.end(slices[0])
  else {
    await pipeline(Readable.from(slices), response).catch((error: unknown) => {
      // A client that went away has nothing to be told.
      if (!response.destroyed) throw error
    })
  }
}
