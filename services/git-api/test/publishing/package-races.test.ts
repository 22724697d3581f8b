import type { Project } from '@switchyard/db'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project

beforeAll(async () => {
  harness = await startGitHarness()
  project = await harness.project()
})
afterAll(() => harness?.close())

async function send(method: string, file: string, body?: string): Promise<number> {
  const { status } = await fetch(
    `${harness.baseUrl}/api/v4/projects/${project.id}/packages/generic/busy/1/${file}`,
    { method, headers: { 'PRIVATE-TOKEN': harness.tokens.owner }, ...(body !== undefined && { body }) },
  )
  return status
}

test('a package takes files while others of its files are deleted', async () => {
  await send('PUT', 'kept', 'kept')
  for (let round = 0; round < 10; round += 1) {
    await send('PUT', `old-${round}`, `old ${round}`)
    const statuses = [send('PUT', `new-${round}`, `new ${round}`), send('DELETE', `old-${round}`)]
    expect(await Promise.all(statuses)).toEqual([201, 204])
  }
})
