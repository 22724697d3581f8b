import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LongText, parseLargeJson } from './large-json.js'

/** Every long text as the text it is. */
function plain(value: unknown): unknown {
  if (value instanceof LongText) return value.bytes.toString()
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
}

const attempt = async (parse: () => unknown) => {
  try {
    return { value: await parse() }
  } catch (error) {
    return { refused: (error as Error).name }
  }
}

const part = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('\\', '"', '\\"', '\n', '\u0001', '\u2028', '😀', 'é', '\\u0041', '/'),
)
const longText = fc.array(part, { maxLength: 12 }).map((parts) => parts.join('').repeat(60))
const body = fc.record({
  branch: fc.string(),
  commit_message: longText,
  actions: fc.array(fc.record({ content: fc.oneof(longText, fc.string()), file_path: fc.string() }), {
    maxLength: 4,
  }),
  more: fc.jsonValue(),
})
/** Other ways to write the same texts, and ways that are wrong. */
const respelled = (json: string, how: number) =>
  [
    json,
    json.replace(/[é😀]/gu, (found) => escapes(found)),
    json.replace(/\//g, '\\/'),
    json.slice(0, -how),
    json.replace('\\n', '\n'),
    json.replace(/\\"/, '\\q'),
  ][how % 6] ?? json
const escapes = (text: string) =>
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

test('a body reads as JSON.parse reads it, or is refused where that refuses it', async () => {
  await fc.assert(
    fc.asyncProperty(body, fc.nat(11), async (value, how) => {
      const json = respelled(JSON.stringify(value), how)
      const expected = await attempt(() => JSON.parse(json))
      const found = await attempt(async () => plain(await parseLargeJson(Buffer.from(json), 'content')))
      expect(found).toEqual(expected.value === undefined ? expected : { value: plain(expected.value) })
    }),
    { numRuns: 500 },
  )
})

test('long texts of the named key are parts of the body, those of other keys are texts', async () => {
  const long = 'x'.repeat(5000)
  const bytes = Buffer.from(JSON.stringify({ content: long, message: long, short: 'y' }))
  const read = (await parseLargeJson(bytes, 'content')) as { content: LongText; message: string }
  expect(read.content).toBeInstanceOf(LongText)
  expect(read.content.bytes.buffer).toBe(bytes.buffer)
  expect(read).toMatchObject({ message: long, short: 'y' })
})

test('a large body does not keep others waiting', async () => {
  const text = 'a "quoted" line\n'.repeat(100_000)
  const bytes = Buffer.from(JSON.stringify({ actions: Array.from({ length: 4 }, () => ({ content: text })) }))
  let turns = 0
  let done = false
  const counting = (async () => {
    while (!done) {
      turns += 1
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  const read = (await parseLargeJson(bytes, 'content')) as { actions: { content: LongText }[] }
  done = true
  await counting
  expect(read.actions.every(({ content }) => content.bytes.equals(Buffer.from(text)))).toBe(true)
  expect(turns).toBeGreaterThan(20)
})
