import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filterNames, filterOf, meaningsOf, type SagaSearch, sortQuery } from './saga-filter'

describe('a text in the search box', () => {
  it.each([
    ['order-17', ['search', 'id_prefix', 'errors_contains']],
    ['ab', ['search', 'id_prefix']],
    ['no room left', ['errors_contains', 'search', 'id_prefix']],
    ['order=42', ['tag', 'search', 'id_prefix', 'errors_contains']],
    ['a=', ['search', 'id_prefix']],
    [' a ', ['search', 'id_prefix']],
  ])('%j may mean %j, the likeliest first', (text, meanings) => {
    expect(meaningsOf(text)).toEqual(meanings)
  })
})

describe('the filter of the API', () => {
  it('has the values of the address under the names of the API', () => {
    const search: SagaSearch = {
      status: 'Error',
      outcome: 'compensated',
      service: 'booking',
      flag: 'stuck',
      fingerprint: '0123456789abcdef',
      parent: 'root',
      from: '2026-01-02T03:04:05+01:00',
      to: '2026-01-03',
      q: 'no room',
    }
    expect(filterOf(search, 'errors_contains')).toEqual({
      status: 'Error',
      outcome: 'compensated',
      service_name: 'booking',
      stuck: true,
      fingerprint: '0123456789abcdef',
      parent_saga_id: 'root',
      created_after: '2026-01-02T02:04:05.000Z',
      created_before: '2026-01-03T00:00:00.000Z',
      errors_contains: 'no room',
    })
  })

  it('excludes unknown values, and a text whose meaning is not decided yet', () => {
    const search = { status: 'Broken', outcome: 'good', flag: 'status', from: 'yesterday', q: 'text' }
    expect(filterOf(search, undefined)).toEqual({})
  })

  it('is never refused because of the address: every value is a text, a time or true', () => {
    const text = fc.option(fc.string(), { nil: undefined })
    const search = fc.record(Object.fromEntries(filterNames.map((name) => [name, text])))
    fc.assert(
      fc.property(search, (given) => {
        const filter = filterOf(given as SagaSearch, undefined)
        for (const [name, value] of Object.entries(filter)) {
          expect(value === true || typeof value === 'string').toBe(true)
          if (name.startsWith('created_')) expect(new Date(String(value)).toISOString()).toBe(value)
        }
        expect(filter).not.toHaveProperty('q')
      }),
    )
  })
})

it('an unknown order falls back to the default', () => {
  expect(sortQuery({ sort: 'stalest' })).toEqual({ order_by: 'updated_at', sort: 'asc' })
  expect(sortQuery({ sort: 'best' })).toEqual({})
})
