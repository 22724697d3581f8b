import { expect, test } from 'vitest'
import { createReadAhead } from './read-ahead.js'

const reader = () => {
  const asked: string[][] = []
  const read = async (members: string[]) => {
    asked.push(members)
    return members.map((member) => member.toUpperCase())
  }
  return { asked, read }
}

test('who is known is read at once, who is new afterwards, and answers follow the members, whoever left', async () => {
  const readAhead = createReadAhead()
  const { asked, read } = reader()
  expect(await readAhead(Promise.resolve(['a', 'b']), read)).toEqual(['A', 'B'])
  expect(await readAhead(Promise.resolve(['a', 'b']), read)).toEqual(['A', 'B'])
  expect(await readAhead(Promise.resolve(['c', 'b']), read)).toEqual(['C', 'B'])
  expect(await readAhead(Promise.resolve([]), read)).toEqual([])
  expect(asked).toEqual([[], ['a', 'b'], ['a', 'b'], ['a', 'b'], ['c'], ['c', 'b'], []])
})

test('the members are read while they are asked for', async () => {
  const readAhead = createReadAhead()
  const { asked, read } = reader()
  await readAhead(Promise.resolve(['a']), read)
  let answer = (_: string[]) => {}
  const members = new Promise<string[]>((resolve) => {
    answer = resolve
  })
  const answers = readAhead(members, read)
  expect(asked.at(-1)).toEqual(['a'])
  answer(['a'])
  expect(await answers).toEqual(['A'])
})

test('a failure of either is told, and who is known stays known', async () => {
  const readAhead = createReadAhead()
  const { asked, read } = reader()
  await readAhead(Promise.resolve(['a']), read)
  await expect(readAhead(Promise.reject(new Error('away')), read)).rejects.toThrow('away')
  await expect(readAhead(Promise.resolve(['a']), () => Promise.reject(new Error('slow')))).rejects.toThrow(
    'slow',
  )
  expect(await readAhead(Promise.resolve(['a']), read)).toEqual(['A'])
  expect(asked.at(-1)).toEqual(['a'])
})
