import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { formatPackIndex } from '../writing/pack-index-file.js'
import { DamagedObject } from './fallbacks.js'
import { UnknownLayout } from './layout.js'
import { createBuckets, PackIndex } from './pack-index.js'

const folder = mkdtempSync(join(tmpdir(), 'switchyard-index-'))
afterAll(() => rmSync(folder, { recursive: true }))

const buckets = createBuckets(1024 * 1024)
const idOf = (index: number) => createHash('sha1').update(`${index}`).digest('hex')

/** @param offsetOf of each object, by its number */
function indexOf(name: string, count: number, offsetOf: (index: number) => number) {
  const places = Array.from({ length: count }, (_, index) => ({
    id: idOf(index),
    offset: offsetOf(index),
    crc: index,
  }))
  const file = join(folder, `${name}.idx`)
  writeFileSync(file, formatPackIndex(places, Buffer.alloc(20)))
  return { file, places }
}

it('finds every object where git finds it, beyond two gigabytes too, and no object that does not exist', async () => {
  const { file, places } = indexOf('whole', 3000, (index) => 12 + index * 1_234_567)
  const shown = execFileSync('git', ['show-index'], { input: readFileSync(file) })
  const git = new Map(
    shown
      .toString()
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([offset = '', id = '']) => [id, Number(offset)]),
  )
  const index = await PackIndex.open(file, buckets)
  expect(git.size).toBe(places.length)
  for (const { id, offset } of places) {
    expect(git.get(id)).toBe(offset)
    expect(await index.find(Buffer.from(id, 'hex'))).toBe(offset)
  }
  for (let absent = 3000; absent < 3500; absent += 1)
    expect(await index.find(Buffer.from(idOf(absent), 'hex'))).toBe(-1)
  await index.close()
})

it('reads only the parts of an index that are asked for', async () => {
  const { file, places } = indexOf('parts', 20_000, (index) => index)
  const index = await PackIndex.open(file, buckets)
  await index.find(Buffer.from(places[0]?.id ?? '', 'hex'))
  expect(buckets.calculatedSize).toBeGreaterThan(0)
  expect(buckets.calculatedSize).toBeLessThan((20_000 * 24) / 50)
  await index.close()
  expect(buckets.calculatedSize).toBe(0)
})

it('keeps the parts of all indexes within one bound, and tells the indexes apart', async () => {
  const few = createBuckets(30_000)
  const indexes = ['one', 'two'].map((name, which) =>
    indexOf(name, 3000, (index) => 12 + index * (which + 1)),
  )
  const opened = await Promise.all(indexes.map(({ file }) => PackIndex.open(file, few)))
  for (let number = 0; number < 3000; number += 1) {
    for (const [which, index] of opened.entries()) {
      const place = indexes[which]?.places[number]
      expect(await index.find(Buffer.from(place?.id ?? '', 'hex'))).toBe(place?.offset)
    }
    expect(few.calculatedSize).toBeLessThanOrEqual(30_000)
  }
  for (const index of opened) await index.close()
})

it('refuses an index that is too short, or of another version', async () => {
  const { file } = indexOf('short', 100, (index) => index)
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.subarray(0, bytes.length - 60))
  await expect(PackIndex.open(file, buckets)).rejects.toThrow(DamagedObject)
  writeFileSync(file, Buffer.concat([bytes.subarray(0, 7), Buffer.from([3]), bytes.subarray(8)]))
  await expect(PackIndex.open(file, buckets)).rejects.toThrow(UnknownLayout)
  writeFileSync(file, bytes.subarray(0, 20))
  await expect(PackIndex.open(file, buckets)).rejects.toThrow(DamagedObject)
})
