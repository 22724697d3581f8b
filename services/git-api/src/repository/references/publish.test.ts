import { zeroId } from '@switchyard/domain/access'
import { expect, it, vi } from 'vitest'
import { createBackgroundWork } from '../../background-work.js'
import { type ReferenceDependencies, referencesChanged } from './publish.js'

const about = { project: { id: 1 }, user: {}, baseUrl: 'http://localhost' } as Parameters<
  typeof referencesChanged
>[1]
const change = { ref: 'refs/tags/v1', before: zeroId, after: 'a'.repeat(40) }

it('an answer does not wait for ever for a tag that git does not read, and the event follows', async () => {
  let answerOfGit = (_answer: { bytes: Buffer; truncated: boolean }) => {}
  const asked = new Promise<{ bytes: Buffer; truncated: boolean }>((resolve) => {
    answerOfGit = resolve
  })
  const repository = {
    path: 'x',
    engine: { cache: { get: () => undefined }, children: { ask: () => asked } },
  }
  const announce = vi.fn()
  const backgroundWork = createBackgroundWork()
  const deps = {
    database: { pool: { query: async () => ({ rows: [] }) } },
    git: { open: () => repository },
    logger: { warn: vi.fn() },
    messages: { requestHousekeeping: vi.fn(), announce },
    backgroundWork,
  } as unknown as ReferenceDependencies
  vi.useFakeTimers()
  const answer = referencesChanged(deps, about, [change], { idOf: () => undefined, forget: async () => {} })
  await vi.advanceTimersByTimeAsync(60_000)
  vi.useRealTimers()
  await answer
  expect(announce).not.toHaveBeenCalled()
  answerOfGit({ bytes: Buffer.alloc(0), truncated: false })
  await backgroundWork.close()
  expect(announce).toHaveBeenCalledWith(expect.objectContaining({ event: 'tag_push', ref: change.ref }))
})
