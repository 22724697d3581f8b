import { DomainError } from '@switchyard/domain'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readForm } from './form.js'

const read = (query: string) => JSON.parse(JSON.stringify(readForm(new URLSearchParams(query))))

describe('readForm', () => {
  it.each([
    ['a=1&b=&c', { a: '1', b: '', c: '' }],
    ['a[b][c]=1&a[b][d]=2', { a: { b: { c: '1', d: '2' } } }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a=1&a=2&a=3', { a: ['1', '2', '3'] }],
    ['a[1]=y&a[0]=x&a[10]=z', { a: ['x', 'y', 'z'] }],
    ['a[][x]=1&a[][y]=2&a[][x]=3', { a: [{ x: '1', y: '2' }, { x: '3' }] }],
    ['a[][x][p]=1&a[][x][q]=2&a[][x][p]=3', { a: [{ x: { p: '1', q: '2' } }, { x: { p: '3' } }] }],
    ['a[][tags][]=1&a[][tags][]=2&a[][x]=3', { a: [{ tags: ['1', '2'], x: '3' }] }],
    ['a[]=&b[]=&b[]=1&c[d][]=', { a: [], b: ['', '1'], c: { d: [] } }],
    ['[a]=1&b]=2&c[=3&d[e=4', { '[a]': '1', 'b]': '2', 'c[': '3', 'd[e': '4' }],
    ['toString=1&a[constructor]=2', { toString: '1', a: { constructor: '2' } }],
  ])('reads %s', (query, expected) => {
    expect(read(query)).toEqual(expected)
  })

  it('begins the next action at a field that the current action already has, because the ruby gem sends actions so', () => {
    const update = 'actions[][action]=update&actions[][file_path]=a&actions[][content]=x'
    const move = 'actions[][action]=move&actions[][file_path]=c&actions[][previous_path]=b'
    expect(read(`${update}&${move}`)).toEqual({
      actions: [
        { action: 'update', file_path: 'a', content: 'x' },
        { action: 'move', file_path: 'c', previous_path: 'b' },
      ],
    })
  })

  it('treats names like `__proto__` as ordinary names', () => {
    const form = readForm(new URLSearchParams('__proto__[admin]=1&a[__proto__][b]=2'))
    expect(({} as { admin?: string }).admin).toBeUndefined()
    expect(Object.keys(form)).toEqual(['__proto__', 'a'])
  })

  it.each(['a=1&a[b]=2', 'a[b]=1&a=2', 'a[]=1&a[b]=2', 'a[b]=1&a[]=2', 'a[][]=1'])('refuses %s', (query) => {
    expect(() => read(query)).toThrow('a is invalid')
  })

  it('refuses names that are nested too deeply', () => {
    expect(() => read(`a${'[b]'.repeat(1_000_000)}=1`)).toThrow('nested too deeply')
  })

  it('reads every list of actions as it was sent', () => {
    const action = fc.record(
      { action: fc.string(), file_path: fc.string(), content: fc.string(), encoding: fc.string() },
      { requiredKeys: ['action'] },
    )
    fc.assert(
      fc.property(fc.array(action, { minLength: 1 }), (actions) => {
        const pairs = actions.flatMap((each) =>
          Object.entries(each).map(([name, value]): [string, string] => [`actions[][${name}]`, value]),
        )
        expect(readForm(pairs).actions).toEqual(actions)
      }),
    )
  })

  it('refuses or reads any pairs, and never fails otherwise', () => {
    const name = fc.array(fc.constantFrom('a', 'b', '0', '[', ']', '[]', '[a]', '__proto__'), {
      maxLength: 8,
    })
    const pair = fc.tuple(
      name.map((parts) => parts.join('')),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(pair), (pairs) => {
        try {
          expect(readForm(pairs)).toBeTypeOf('object')
        } catch (error) {
          expect(error).toBeInstanceOf(DomainError)
        }
      }),
      { numRuns: 300 },
    )
  })
})
