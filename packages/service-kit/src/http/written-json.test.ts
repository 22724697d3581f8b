import { expect, it } from 'vitest'
import { writeJson } from './written-json.js'

it('a written body that is cached keeps only its own bytes in memory', async () => {
  for (const body of [{ id: 1 }, [{ id: 1 }, { id: 2 }]]) {
    const { slices, bytes } = await writeJson(body)
    expect(slices.map(({ buffer }) => buffer.byteLength)).toEqual([bytes])
  }
})
