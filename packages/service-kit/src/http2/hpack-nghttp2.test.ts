import { once } from 'node:events'
import { connect, type OutgoingHttpHeaders, sensitiveHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameReader, type OnFrame } from './frame-reader.js'
import { FrameWriter } from './frame-writer.js'
import { frameFlags, frameTypes } from './frames.js'
import { HeaderBlocks } from './header-blocks.js'
import { HpackDecoder } from './hpack-decoder.js'
import { encodeFields } from './hpack-encoder.js'
import { staticTable } from './hpack-static-table.js'
import { ourSettings, readSettings } from './settings.js'

/** Each costs a connection, and a failure is to end within the time of a test. */
const shrinksMax = 100
/** More than is generated. */
const listBytesMax = 1024 * 1024

type Pair = [name: string, value: string]

/** The client of Node.js, which is nghttp2, with nothing but frames at the other end of its connection. */
function connectClient(onFrame: OnFrame, settings = {}) {
  const [ours, theirs] = duplexPair()
  const client = connect('http://host', { createConnection: () => theirs, settings })
  const writer = new FrameWriter(ours as Socket)
  const failure = new Promise<never>((_resolve, reject) => {
    const reader = new FrameReader((type, flags, id, payload) => {
      if (type === frameTypes.goAway)
        reject(new Error(`the client left with code ${payload.readUInt32BE(4)}`))
      onFrame(type, flags, id, payload)
    })
    ours.on('data', (chunk: Buffer) => {
      try {
        reader.read(chunk)
      } catch (error) {
        reject(error)
      }
    })
    client.on('error', reject)
  })
  writer.write(frameTypes.settings, frameFlags.none, 0, ourSettings)
  return { client, writer, failure }
}

/** Sends requests on one connection, and gives their header blocks and what we read of each. */
async function readRequests(requests: OutgoingHttpHeaders[]) {
  const parts = new HeaderBlocks()
  const decoder = new HpackDecoder(listBytesMax)
  const blocks: Buffer[] = []
  const lists: (Pair[] | undefined)[] = []
  let finish = () => {}
  const { client, failure } = connectClient((type, flags, id, payload) => {
    parts.expect(type, id)
    if (type !== frameTypes.headers && type !== frameTypes.continuation) return
    const whole = parts.add(type, flags, id, payload)
    if (whole === null) return
    blocks.push(whole.block)
    lists.push(decoder.decode(whole.block)?.map(({ name, value }) => [name, value]))
    if (lists.length === requests.length) finish()
  })
  const done = new Promise<void>((resolve, reject) => {
    finish = resolve
    for (const headers of requests) client.request(headers, { endStream: true }).on('error', reject)
  })
  await Promise.race([done, failure]).finally(() => client.destroy())
  return { blocks, lists }
}

/** Answers one request after another with these fields, and gives those that the client reads. */
async function readAnswers(answers: Pair[][], settings = {}): Promise<Pair[][]> {
  const { client, writer, failure } = connectClient((type, flags, id, payload) => {
    if (type === frameTypes.settings && flags !== frameFlags.ack) {
      if (readSettings(payload).hasOtherTable) writer.emptyTable()
      writer.write(frameTypes.settings, frameFlags.ack, 0, Buffer.alloc(0))
    }
    if (type === frameTypes.headers)
      writer.writeHeaders(id, encodeFields(answers[(id - 1) / 2] as Pair[]), true)
  }, settings)
  const read = answers.map(async () => {
    const [, , raw] = (await once(client.request({}), 'response')) as [unknown, unknown, string[]]
    return Array.from({ length: raw.length / 2 }, (_, at): Pair => [raw[2 * at] ?? '', raw[2 * at + 1] ?? ''])
  })
  return await Promise.race([Promise.all(read), failure]).finally(() => client.destroy())
}

const octets = fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f)
const unit = fc.oneof(octets, fc.constant(0x09)).map((code) => String.fromCharCode(code))
const value = fc.oneof(
  fc.constantFrom('', '/', 'gzip, deflate', 'a', 'b'),
  fc.string({ unit }),
  // All fields of a request have less than the 64 KiB that the client sends at the most.
  fc.string({ unit, size: 'max', maxLength: 1200 }),
  fc.tuple(fc.string({ unit }), fc.nat(400)).map(([text, count]) => `${text}${'abc'.repeat(count)}`),
)
const letters = [..."abcdefghijklmnopqrstuvwxyz0123456789-_.~!#$%&*+^|`'"]
const newName = fc.string({ unit: fc.constantFrom(...letters), maxLength: 40 }).map((name) => `x${name}`)
const knownName = fc.constantFrom(
  ...staticTable.map(({ name }) => name).filter((name) => !/^:|^content-length$|^transfer-/.test(name)),
)

describe('what nghttp2 sends is read as it was sent', () => {
  const regular = fc.array(
    fc.oneof(
      fc.tuple(knownName, value),
      fc.tuple(
        fc.oneof(newName, fc.constantFrom('x-a', 'x-b')),
        fc.oneof(value, fc.array(value, { maxLength: 3 })),
      ),
    ),
    { maxLength: 12 },
  )
  const request = fc.tuple(value, regular, fc.integer({ min: 2, max: 4 })).map(([path, fields, every]) => {
    const headers: OutgoingHttpHeaders = {
      ':path': path,
      ':method': 'POST',
      ':scheme': 'http',
      ':authority': 'host',
      ...Object.fromEntries(fields),
    }
    const secret = Object.keys(headers).filter((_, place) => place >= 4 && place % every === 0)
    return { ...headers, [sensitiveHeaders]: secret }
  })
  const requestsOfOne = fc.array(request, { minLength: 1, maxLength: 40, size: 'max' })
  const pairsOf = (headers: OutgoingHttpHeaders) =>
    Object.entries(headers).flatMap(([name, values]) => [values].flat().map((each) => [name, each]))

  it('for any requests of one connection, whose table fills, changes and evicts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.limitShrink(requestsOfOne, shrinksMax), async (requests) => {
        expect((await readRequests(requests)).lists).toEqual(requests.map(pairsOf))
      }),
      { numRuns: 15 },
    )
  })

  it('for each octet but NUL, within a Huffman code', async () => {
    const all = Array.from({ length: 255 }, (_, place) => String.fromCharCode(place + 1))
    // It is the shorter form only when most octets have short codes.
    const requests = all.map((octet) => ({ 'x-octet': `${'a'.repeat(20)}${octet}` }))
    const { blocks, lists } = await readRequests(requests)
    expect(blocks.filter((block) => block.includes('aaaa'))).toEqual([])
    expect(lists.map((list) => list?.find(([name]) => name === 'x-octet')?.[1].slice(20))).toEqual(all)
  })

  it('for a block of several frames', async () => {
    const long = 'é'.repeat(40_000)
    const { lists } = await readRequests([{ 'x-long': long }])
    expect(lists[0]).toContainEqual(['x-long', long])
  })
})

describe('what we send is read by nghttp2 as it was sent', () => {
  // White space around a value is not part of it.
  const pair = fc.tuple(
    fc.oneof(knownName, newName),
    value.map((text) => text.replace(/^[\t ]+|[\t ]+$/g, '')),
  )
  const answer = fc
    .tuple(fc.integer({ min: 200, max: 599 }), fc.array(pair, { maxLength: 15 }))
    .map(([status, pairs]): Pair[] => [[':status', `${status}`], ...pairs])
  const answersOfOne = fc.array(answer, { minLength: 1, maxLength: 20 })

  it('for any answers of one connection', async () => {
    await fc.assert(
      fc.asyncProperty(fc.limitShrink(answersOfOne, shrinksMax), async (answers) => {
        expect(await readAnswers(answers)).toEqual(answers)
      }),
      { numRuns: 15 },
    )
  })

  it('for each length around which the form of a length changes', async () => {
    const lengths = [0, 1, 126, 127, 128, 254, 255, 256, 16_510, 16_511, 16_512, 40_000]
    const answers = lengths.map((length): Pair[] => [
      [':status', '200'],
      ['x', 'é'.repeat(length)],
      [`x${'y'.repeat(Math.min(length, 300))}`, ''],
    ])
    expect(await readAnswers(answers)).toEqual(answers)
  })

  it('for a client that allows no table', async () => {
    const answers: Pair[][] = [[[':status', '200']], [[':status', '404']]]
    expect(await readAnswers(answers, { headerTableSize: 0 })).toEqual(answers)
  })
})
