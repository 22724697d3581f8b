import { describe, expect, it } from 'vitest'
import { createField } from './hpack-field.js'
import { readRequestHeaders } from './request-headers.js'

type Pair = [name: string, value: string]

const read = (...pairs: Pair[]) => readRequestHeaders(pairs.map(([name, value]) => createField(name, value)))

const method: Pair = [':method', 'GET']
const scheme: Pair = [':scheme', 'http']
const path: Pair = [':path', '/']
const pseudo = [method, scheme, path]

describe('a request is read', () => {
  it('with its pseudo-header fields in any order', () => {
    const expected = {
      ':method': 'GET',
      ':scheme': 'http',
      ':path': '/',
      ':authority': 'host',
      accept: '*/*',
    }
    const authority: Pair = [':authority', 'host']
    expect(read(method, scheme, path, authority, ['accept', '*/*'])).toEqual(expected)
    expect(read(authority, path, scheme, method, ['accept', '*/*'])).toEqual(expected)
  })

  it('for all of a server', () => {
    expect(read([':method', 'OPTIONS'], scheme, [':path', '*'])).toMatchObject({ ':path': '*' })
  })

  it('with its cookies as one, joined as cookies are', () => {
    expect(
      read(...pseudo, ['cookie', 'a=1'], ['x', '1'], ['cookie', 'b=2'], ['cookie', 'c=3']),
    ).toMatchObject({
      cookie: 'a=1; b=2; c=3',
      x: '1',
    })
  })

  it('with the values of a repeated field as a list', () => {
    expect(read(...pseudo, ['x', '1'], ['y', '2'], ['x', ''], ['x', '3'])).toMatchObject({
      x: '1, , 3',
      y: '2',
    })
  })

  it.each(['__proto__', 'constructor', 'tostring'])('with a field named %s', (name) => {
    const headers = read(...pseudo, [name, '1'])
    expect(headers?.[name]).toBe('1')
  })

  it('with nothing that was not sent', () => {
    const headers = read(...pseudo)
    for (const name of ['constructor', 'hasOwnProperty', '__proto__', ':authority'])
      expect(headers?.[name]).toBeUndefined()
  })

  it.each([
    ['octets beyond ASCII', 'caf\xe9 \x80\xff'],
    ['a tab within', 'a\tb'],
    ['spaces within', 'a  b'],
    ['nothing', ''],
    // Malformed by RFC 9113, but clients of gRPC let such metadata pass.
    ['a space before and a tab after', ' a\t'],
  ])('with a value of %s', (_case, value) => {
    expect(read(...pseudo, ['x', value])).toMatchObject({ x: value })
  })

  it('with te when it is about trailers', () => {
    expect(read(...pseudo, ['te', 'trailers'])).toMatchObject({ te: 'trailers' })
  })

  it('with any characters that names may have', () => {
    const name = "!#$%&'*+-.^_`|~019az"
    expect(read(...pseudo, [name, '1'])).toMatchObject({ [name]: '1' })
  })
})

describe('a request is malformed', () => {
  it.each([
    ['no method', [scheme, path]],
    ['no scheme', [method, path]],
    ['no path', [method, scheme]],
    ['no fields', []],
    ['an empty method', [[':method', ''], scheme, path]],
    ['an empty path', [method, scheme, [':path', '']]],
    ['a path that does not begin with a slash', [method, scheme, [':path', 'a/b']]],
    ['a path of all that is not for OPTIONS', [method, scheme, [':path', '*']]],
    ['a repeated method', [...pseudo, method]],
    ['a repeated path, the first of which is empty', [[':path', ''], ...pseudo]],
    ['a repeated authority', [...pseudo, [':authority', 'a'], [':authority', 'a']]],
    ['a pseudo-header field of answers', [...pseudo, [':status', '200']]],
    ['an unknown pseudo-header field', [...pseudo, [':x', '1']]],
    ['a pseudo-header field without a name', [...pseudo, [':', '1']]],
    ['a pseudo-header field after others', [method, scheme, ['x', '1'], path]],
    ['authority after others', [...pseudo, ['x', '1'], [':authority', 'a']]],
  ] satisfies [string, Pair[]][])('with %s', (_case, pairs: Pair[]) => {
    expect(read(...pairs)).toBeNull()
  })

  it.each(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade'])(
    'with %s, which is of HTTP/1',
    (name) => {
      expect(read(...pseudo, [name, 'x'])).toBeNull()
      expect(read(...pseudo, [name, ''])).toBeNull()
    },
  )

  it.each(['gzip', '', 'trailers, gzip', 'trailers;q=0.5'])('with te: %s', (value) => {
    expect(read(...pseudo, ['te', value])).toBeNull()
  })

  it.each(['X-Upper', 'x-uppeR', '', 'a b', ' a', 'a:', 'a:b', 'a\n', 'a\0', 'a\x7f', '\xe9', 'x(y)'])(
    'with a name like %j',
    (name) => {
      expect(read(...pseudo, [name, '1'])).toBeNull()
    },
  )

  it.each(['\0', 'a\nb', 'a\rb', 'a\r\nb: c', 'a\x7f', '\x1f'])('with a value like %j', (value) => {
    expect(read(...pseudo, ['x', value])).toBeNull()
    expect(read(method, scheme, [':path', `/${value}`])).toBeNull()
  })
})
