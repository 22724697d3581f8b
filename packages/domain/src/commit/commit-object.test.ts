import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signatureTime, titleOf, trailersOf } from './commit.js'
import { formatCommitObject, parseCommitObject } from './commit-object.js'
import { formatTreeObject, parseTreeObject } from './tree-object.js'

const id = 'a'.repeat(40)
const hash = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 40, maxLength: 40 })
const name = fc.stringMatching(/^[A-Za-zé][A-Za-zé @-]{0,20}[A-Za-z]$/)
const signature = fc.record({
  name,
  email: name,
  seconds: fc.integer({ min: 0, max: 4_000_000_000 }),
  offsetMinutes: fc.integer({ min: -14 * 60, max: 14 * 60 }),
})

test('a commit reads back as it was written', () => {
  const commit = fc.record({
    treeId: hash,
    parentIds: fc.array(hash, { maxLength: 3 }),
    author: signature,
    committer: signature,
    message: fc.string({ unit: 'grapheme' }),
  })
  fc.assert(
    fc.property(commit, (written) => {
      expect(parseCommitObject(id, formatCommitObject(written))).toEqual({ id, ...written })
    }),
  )
})

test('signed, encoded and damaged commits are read as far as possible', () => {
  const lines = [
    `tree ${id}`,
    'author Jos\xe9 <j@x> 1500000000 -0730',
    'committer <> nonsense',
    'gpgsig -----BEGIN',
    ' parent nothing',
    'encoding ISO-8859-1',
  ]
  const commit = parseCommitObject(id, Buffer.from(`${lines.join('\n')}\n\nna\xefve\n`, 'latin1'))
  expect(commit).toMatchObject({
    parentIds: [],
    author: { name: 'José', email: 'j@x', seconds: 1_500_000_000, offsetMinutes: -450 },
    committer: { name: '', email: '', seconds: 0, offsetMinutes: 0 },
    message: 'naïve\n',
  })
  expect(signatureTime(commit.author)).toBe('2017-07-13T19:10:00.000-07:30')
  expect(() => parseCommitObject(id, Buffer.from('tag x\n\n'))).toThrow('is not a commit')
})

test('texts that are not UTF-8, although the commit names no encoding, are read as Latin-1', () => {
  const headers = [
    `tree ${id}`,
    'author Ren\u00c3\u00a0 <r@x> 1 +0000',
    'committer caf\xe9 <c@x> 2 +0000',
    '',
    'na\xefve',
  ]
  expect(parseCommitObject(id, Buffer.from(headers.join('\n'), 'latin1'))).toMatchObject({
    author: { name: 'Renà' },
    committer: { name: 'café' },
    message: 'naïve',
  })
})

test('a name whose last character contains the byte of a blank is read completely', () => {
  const lines = [`tree ${id}`, 'author Renà <r@x> 1 +0000', 'committer  Àà  <à@x> 2 +0000', '', 'm']
  expect(parseCommitObject(id, Buffer.from(lines.join('\n')))).toMatchObject({
    author: { name: 'Renà' },
    committer: { name: 'Àà', email: 'à@x' },
  })
})

test('names cannot break out of their line', () => {
  const who = { name: ' Evil\n<x> ', email: 'a@b>\nparent 1', seconds: 1, offsetMinutes: 0 }
  const text = Buffer.from(
    formatCommitObject({ treeId: id, parentIds: [], author: who, committer: who, message: 'm' }),
  ).toString()
  expect(text).toBe(
    `tree ${id}\nauthor Evilx <a@bparent 1> 1 +0000\ncommitter Evilx <a@bparent 1> 1 +0000\n\nm`,
  )
})

test('titles and trailers', () => {
  expect(titleOf('\n\n  A title \nmore')).toBe('A title')
  expect(titleOf(' \n')).toBe('No commit message')
  expect(
    trailersOf('Title\n\nBody\n\nSigned-off-by: A\nCo-authored-by: B\n C\n(cherry picked from commit abc)\n'),
  ).toEqual({
    'Signed-off-by': 'A',
    'Co-authored-by': 'B C',
  })
  expect(trailersOf('Title\n\nKey: a\n b\n\n')).toEqual({ Key: 'a b' })
  expect(trailersOf('Key: value')).toEqual({})
  expect(trailersOf('Title\n\nKey: value\nand prose')).toEqual({})
})

test('a tree reads back sorted the way git sorts: folders as if they ended in a slash', () => {
  const entries = [
    { mode: '40000', name: 'a', id },
    { mode: '100644', name: 'a.b', id },
    { mode: '100644', name: 'a0', id },
    { mode: '100755', name: '\xff', id },
  ]
  const written = formatTreeObject([...entries].reverse())
  expect(parseTreeObject(written).map(({ name: file }) => file)).toEqual(['a.b', 'a', 'a0', '\xff'])
  expect(parseTreeObject(formatTreeObject([]))).toEqual([])
  expect(() => parseTreeObject(Buffer.from('100644 a'))).toThrow('malformed tree')
})
