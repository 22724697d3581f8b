import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from './git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: { first: string }

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work, commits } = await pushSample(harness))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

interface Attempt {
  token: string
  project: number
  body: string
  sha: string
}

test('a request that breaks several rules is refused by the first step of docs/one-request.md that it fails', async () => {
  let attempt: Attempt = {
    token: 'glpat-unknown',
    project: 999_999,
    body: '{"state":',
    sha: '0'.repeat(40),
  }
  const status = async (mended: Partial<Attempt>) => {
    attempt = { ...attempt, ...mended }
    const { token, body, sha } = attempt
    const headers = { 'Content-Type': 'application/json', 'PRIVATE-TOKEN': token }
    const url = `${harness.baseUrl}/api/v4/projects/${attempt.project}/statuses/${sha}`
    const response = await fetch(url, { method: 'POST', body, headers })
    return { status: response.status, text: await response.text() }
  }

  expect(await status({})).toMatchObject({ status: 401 })
  expect(await status({ token: harness.tokens.reporter })).toMatchObject({
    status: 404,
    text: expect.stringMatching(/Project/),
  })
  expect(await status({ project: project.id })).toMatchObject({ status: 403 })
  expect(await status({ token: harness.tokens.developer })).toMatchObject({
    status: 400,
    text: expect.stringMatching(/JSON/),
  })
  expect(await status({ body: '{"state":"odd"}' })).toMatchObject({
    status: 400,
    text: expect.stringMatching(/state/),
  })
  expect(await status({ body: '{"state":"success"}' })).toMatchObject({
    status: 404,
    text: expect.stringMatching(/Commit/),
  })
  expect(await status({ sha: commits.first })).toMatchObject({ status: 201 })
})
