import { describe, expect, it } from 'vitest'
import { nowhere, placeOf, placesOf, setPlaces } from './places.js'

describe('places of rows', () => {
  it('are read as PostgreSQL writes them', () => {
    expect(placeOf('(4294967294,65535)')).toEqual({ block: 4294967294, line: 65535 })
    expect(placesOf('{"(0,1)","(12,34)"}')).toEqual([
      { block: 0, line: 1 },
      { block: 12, line: 34 },
    ])
    expect(placesOf('{}')).toEqual([])
    expect(() => placeOf('')).toThrow('a place that is none')
  })

  it('go to what was written in their order', () => {
    const entries = [{ place: nowhere }, { place: nowhere }]
    setPlaces(entries, '{"(7,8)","(9,10)"}')
    expect(entries).toEqual([{ place: { block: 7, line: 8 } }, { place: { block: 9, line: 10 } }])
  })
})
