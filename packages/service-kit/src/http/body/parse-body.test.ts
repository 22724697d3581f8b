import { DomainError } from '@switchyard/domain'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonText } from './kept-texts.js'
import { parseBody } from './parse-body.js'

const bytesOf = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding)
const parse = (text: string, type?: string) => parseBody(bytesOf(text), type)
const refusal = async (text: string, type?: string) => {
  const error: unknown = await parse(text, type).catch((cause: unknown) => cause)
  return error instanceof DomainError ? [error.kind, error.detail] : error
}

const tooDeep = ['invalid-parameters', 'the parameters are nested too deeply']
const tooMany = ['too-large', '413 Request Entity Too Large']
const form = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data; boundary=b'
const part = (name: string, value: string, further = '') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${further}\r\n\r\n${value}\r\n`

describe('parseBody, JSON', () => {
  it('reads what JSON.parse reads', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 8 })), async (fields) => {
        const json = JSON.stringify(fields)
        expect(await parse(json)).toEqual(JSON.parse(json))
      }),
    )
  })

  it.each(['{', '{"a":"b}', '"\\"', '{"a":1}}', 'nul'])('refuses %j', async (json) => {
    expect(await refusal(json)).toEqual(['invalid-parameters', 'the body is not valid JSON'])
  })

  it.each(['1', '[1]', 'null', '"a"'])('reads no parameters from %s', async (json) => {
    expect(await parse(json)).toEqual({})
  })

  it('refuses deep nesting, in lists and objects, before it is parsed', async () => {
    expect(await refusal('['.repeat(1_000_000))).toEqual(tooDeep)
    expect(await refusal('{"a":'.repeat(1_000_000))).toEqual(tooDeep)
  })

  it('refuses too many values, and too many names', async () => {
    expect(await refusal(`{"actions":[${'0,'.repeat(8_000_000)}0]}`)).toEqual(tooMany)
    expect(await refusal(`{${Array.from({ length: 200_000 }, (_, n) => `"${n}":0`).join()}}`)).toEqual(
      tooMany,
    )
  })

  it('does not count characters within a text', async () => {
    const text = '[{,"\\'.repeat(200_000)
    expect(await parse(JSON.stringify({ text }))).toEqual({ text })
  })

  describe('with members that keep their original text', () => {
    const kept = { list: 'events', members: ['in', 'out'] }
    const itemsOf = async (json: string) =>
      (await parseBody(bytesOf(json), undefined, kept)).events as Record<string, unknown>[]
    const textsOf = async (json: string) =>
      (await itemsOf(json)).map((item) => (item.out instanceof JsonText ? item.out.text : item.out))

    it.each([
      '3544790567247868102',
      '1e400',
      '1.0',
      '-0',
      '{"10":1,"9":2}',
      '[1.0, {"a" : "]},\\""}]',
      'null',
      '{}',
    ])('keeps %s', async (value) => {
      expect(await textsOf(`{"a":[{"out":1}], "events" : [ {"b":{"out":2}, "out" : ${value} } ] }`)).toEqual([
        value,
      ])
    })

    it('leaves strings, other members and other items as they are', async () => {
      const json = '{"events":[7,{},[],{"in":"text","other":1.0},{"out":{"in":1.0}}]}'
      expect(await itemsOf(json)).toEqual([
        7,
        {},
        [],
        { in: 'text', other: 1 },
        { out: new JsonText('{"in":1.0}') },
      ])
    })

    it('takes the last of several members with one name, as for any other value', async () => {
      expect(await textsOf('{"events":[{"out":1.0}],"events":[{"out":2.0,"o\u0075t":3.0}]}')).toEqual(['3.0'])
    })

    it('preserves every value that JSON has', async () => {
      const items = fc.array(fc.dictionary(fc.constantFrom('in', 'out', 'x', '"'), fc.jsonValue()))
      await fc.assert(
        fc.asyncProperty(items, fc.constantFrom(undefined, 1, '\t'), async (events, indent) => {
          const read = await itemsOf(JSON.stringify({ x: [{ in: 1 }], events }, null, indent))
          const values = read.map((item) =>
            Object.fromEntries(
              Object.entries(item).map(([name, value]) => [
                name,
                value instanceof JsonText ? JSON.parse(value.text) : value,
              ]),
            ),
          )
          expect(values).toEqual(JSON.parse(JSON.stringify(events)))
        }),
      )
    })
  })

  it('keeps a name with a special meaning for prototypes as an ordinary name', async () => {
    const fields = await parse('{"__proto__":{"admin":true}}')
    expect(Object.keys(fields)).toEqual(['__proto__'])
    expect(fields.admin).toBeUndefined()
  })

  it('reads UTF-16 and removes a byte order mark; another charset is refused', async () => {
    expect(await parseBody(bytesOf('{"a":"é"}', 'utf16le'), 'application/json; charset=utf-16')).toEqual({
      a: 'é',
    })
    expect(await parse('\ufeff{"a":1}', 'application/problem+json; charset="UTF-8"')).toEqual({ a: 1 })
    const unknown = ['unsupported-media-type', 'the body could not be read']
    expect(await refusal('{}', 'application/json; charset=latin1')).toEqual(unknown)
    expect(await refusal('a=1', `${form}; charset=utf-7`)).toEqual(unknown)
  })
})

describe('parseBody, forms', () => {
  it('reads fields in the order sent, urlencoded and multipart alike', async () => {
    const fields = [
      ['actions[][action]', 'delete'],
      ['actions[][file_path]', 'a+b é'],
      ['actions[][action]', 'move'],
    ] satisfies [string, string][]
    const expected = { actions: [{ action: 'delete', file_path: 'a+b é' }, { action: 'move' }] }
    const urlencoded = String(new URLSearchParams(fields as [string, string][]))
    expect(await parse(urlencoded, form)).toEqual(expected)
    const parts = fields.map(([name, value]) => part(name, value)).join('')
    expect(await parse(`${parts}--b--\r\n`, multipart)).toEqual(expected)
  })

  it('reads ISO 8859-1 where the content type says so', async () => {
    const latin1 = `${form}; charset=ISO-8859-1`
    expect(await parseBody(bytesOf('a=%E9+=\xe9', 'latin1'), latin1)).toEqual({ a: 'é =é' })
  })

  it.each([
    ['without a name', 'Content-Disposition: form-data'],
    ['with an empty name', 'Content-Disposition: form-data; name=""'],
    ['with a name that is not UTF-8', "Content-Disposition: form-data; name*=utf-8''a%ff"],
    [
      'of an unknown charset',
      'Content-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=x',
    ],
    ['without a header', ''],
    [
      'with a header that does not end',
      `Content-Disposition: form-data; name="a"\r\nX: ${'y'.repeat(100_000)}`,
    ],
  ])('refuses a part %s', async (_what, header) => {
    const parts = `${part('b', 'x')}--b\r\n${header}\r\n\r\nv\r\n--b--\r\n`
    expect(await refusal(parts, multipart)).toEqual(['invalid-parameters', 'the form is invalid'])
  })

  it('reads long names completely', async () => {
    const name = 'a'.repeat(10_000)
    expect(await parse(`${part(name, 'x')}--b--\r\n`, multipart)).toEqual({ [name]: 'x' })
  })

  it('refuses file parts, broken forms, deep names and too many fields', async () => {
    const invalid = ['invalid-parameters', 'the form is invalid']
    const file = part('a', 'x', '; filename="x"')
    expect(await refusal(`${file}--b--\r\n`, multipart)).toEqual([
      'invalid-parameters',
      'file parts are not accepted',
    ])
    expect(await refusal('x', 'multipart/form-data')).toEqual(invalid)
    expect(await refusal(part('a', 'x'), multipart)).toEqual(invalid)
    expect(await refusal(`${part(`a${'[b]'.repeat(100)}`, 'x')}--b--\r\n`, multipart)).toEqual(tooDeep)
    expect(await refusal(`a${'[b]'.repeat(1_000_000)}=1`, form)).toEqual(tooDeep)
    expect(await refusal('&'.repeat(1_000_000), form)).toEqual(tooMany)
    expect(await refusal(`${part('a', '').repeat(100_001)}--b--\r\n`, multipart)).toEqual(tooMany)
  })
})
