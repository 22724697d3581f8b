import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Response } from 'express'

/** Length of text after which other requests get their turn: one or two milliseconds of work. */
const sliceChars = 256 * 1024

/**
 * Exactly this value, because clients such as python-gitlab up to 3.13 compare the whole header.
 * `response.json` adds a charset.
 */
const jsonType = 'application/json'

/**
 * An encoder whose results have memory of their own. A small Buffer is a part of 64 KB, and a cached body
 * would keep all of it.
 */
const encoder = new TextEncoder()

/** A body serialized as JSON, which can be sent any number of times. */
export class WrittenJson {
  readonly etag: string

  /**
   * Creates a body.
   *
   * @param hash SHA-1 of all slices, base64
   */
  constructor(
    readonly slices: readonly Uint8Array[],
    /** Bytes of all slices together. */
    readonly bytes: number,
    hash: string,
  ) {
    this.etag = `W/"${bytes.toString(16)}-${hash.slice(0, 27)}"`
  }
}

/**
 * Serializes a body. A long list takes as long as many requests, so other requests are served between its
 * items.
 */
export async function writeJson(body: unknown): Promise<WrittenJson> {
  const slices = Array.isArray(body) ? await writeItems(body) : [encoder.encode(JSON.stringify(body))]
  const hash = createHash('sha1')
  let bytes = 0
  for (const [index, slice] of slices.entries()) {
    if (index > 0) await yieldToEventLoop()
    hash.update(slice)
    bytes += slice.length
  }
  return new WrittenJson(slices, bytes, hash.digest('base64'))
}

async function writeItems(items: readonly unknown[]): Promise<Uint8Array[]> {
  const slices: Uint8Array[] = []
  let text = '['
  for (const [index, item] of items.entries()) {
    // JSON has no undefined; in a list it becomes null.
    text += `${index === 0 ? '' : ','}${JSON.stringify(item) ?? 'null'}`
    if (text.length < sliceChars) continue
    slices.push(encoder.encode(text))
    text = ''
    await yieldToEventLoop()
  }
  slices.push(encoder.encode(`${text}]`))
  return slices
}

/**
 * Sends a body, or 304 when the client has it.
 *
 * @param version of the resource, for its ETag
 */
export async function sendJson(
  response: Response,
  { slices, bytes, etag }: WrittenJson,
  { mediaType = jsonType, version }: { mediaType?: string | undefined; version?: string | undefined } = {},
): Promise<void> {
  response.setHeader('ETag', version === undefined ? etag : `${etag.slice(0, -1)}.${version}"`)
  if (response.req.fresh) {
    response.status(304).end()
    return
  }
  response.setHeader('Content-Type', mediaType)
  response.setHeader('Content-Length', bytes)
  if (response.req.method === 'HEAD') response.end()
  else if (slices.length === 1) response.end(slices[0])
  else {
    await pipeline(Readable.from(slices), response).catch((error: unknown) => {
      // A client that has gone away needs no answer.
      if (!response.destroyed) throw error
    })
  }
}

/** Sends a small body in one piece, such as an error. */
export function sendSmallJson(response: Response, status: number, body: object, mediaType = jsonType): void {
  response.status(status).setHeader('Content-Type', mediaType)
  response.end(Buffer.from(JSON.stringify(body)))
}
