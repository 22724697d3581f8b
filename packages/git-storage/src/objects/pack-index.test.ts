import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { formatPackIndex } from '../writing/pack-index-file.js'
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

it('finds every object where git finds it, beyond two gigabytes too, and none that is not there', () => {
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
  const index = new PackIndex(file, buckets)
  expect(git.size).toBe(places.length)
  for (const { id, offset } of places) {
    expect(git.get(id)).toBe(offset)
    expect(index.find(Buffer.from(id, 'hex'))).toBe(offset)
  }
  for (let absent = 3000; absent < 3500; absent += 1)
    expect(index.find(Buffer.from(idOf(absent), 'hex'))).toBe(-1)
  index.close()
})

it('reads only the parts of an index that are asked for', () => {
  const { file, places } = indexOf('parts', 20_000, (index) => index)
  const index = new PackIndex(file, buckets)
  index.find(Buffer.from(places[0]?.id ?? '', 'hex'))
  expect(buckets.calculatedSize).toBeGreaterThan(0)
  expect(buckets.calculatedSize).toBeLessThan((20_000 * 24) / 50)
  index.close()
  expect(buckets.calculatedSize).toBe(0)
})

it('keeps no more of all indexes together than it may, and tells them apart', () => {
  const few = createBuckets(30_000)
  const indexes = ['one', 'two'].map((name, which) =>
    indexOf(name, 3000, (index) => 12 + index * (which + 1)),
  )
  const opened = indexes.map(({ file }) => new PackIndex(file, few))
  for (let number = 0; number < 3000; number += 1) {
    for (const [which, index] of opened.entries()) {
      const place = indexes[which]?.places[number]
      expect(index.find(Buffer.from(place?.id ?? '', 'hex'))).toBe(place?.offset)
    }
    expect(few.calculatedSize).toBeLessThanOrEqual(30_000)
  }
  for (const index of opened) index.close()
})

it('leaves an index that is too short, or of another version, to git', () => {
  const { file } = indexOf('short', 100, (index) => index)
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.subarray(0, bytes.length - 60))
  expect(() => new PackIndex(file, buckets)).toThrow(UnknownLayout)
  writeFileSync(file, Buffer.concat([bytes.subarray(0, 7), Buffer.from([3]), bytes.subarray(8)]))
  expect(() => new PackIndex(file, buckets)).toThrow(UnknownLayout)
  writeFileSync(file, bytes.subarray(0, 20))
  expect(() => new PackIndex(file, buckets)).toThrow(UnknownLayout)
})
