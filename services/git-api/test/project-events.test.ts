import { type ProjectNotice, projectEventsChannel, projectNotice } from '@switchyard/contracts/jobs'
import type { Project } from '@switchyard/db'
import { startTestRedis, type TestGitRepository, type TestRedis, waitFor } from '@switchyard/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from './git-harness.js'
import { outcome } from './harness.js'

/** Identity of the author of annotated tags. */
const tagger = ['-c', 'user.name=Tina Tagger', '-c', 'user.email=tina@example.com']

let redis: TestRedis
let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>

beforeAll(async () => {
  redis = await startTestRedis()
  harness = await startGitHarness({ redisUrl: redis.urlOf('git-api') })
  ;({ project, work, commits } = await pushSample(harness))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
  await redis?.stop()
})

const ask = (method: string, path: string, body?: unknown) =>
  outcome(harness.send('owner', method, path, body))
const deploymentOf = (sha: string, fields: object) => ({
  environment: 'review/hooks',
  sha,
  ref: 'main',
  tag: false,
  ...fields,
})

const postStatus = (sha: string, state: string) =>
  ask('POST', `/projects/${project.id}/statuses/${sha}`, { state, name: 'hooked', ref: 'main' })

test('subscribers of the channel receive pushes, comments, changed statuses, deployments and releases at once', async () => {
  const heard: ProjectNotice[] = []
  const listener = new Redis({ path: redis.path })
  await listener.subscribe(projectEventsChannel)
  listener.on('message', (_channel, text) => heard.push(projectNotice.parse(JSON.parse(text))))
  const about = { project_id: project.id }
  await work.git('push', '--quiet', harness.remote('developer', project), `${commits.first}:refs/heads/news`)
  await work.git(...tagger, 'tag', '--annotate', '--message', 'Heard', 'heard', commits.second)
  await work.git('push', '--quiet', harness.remote('owner', project), 'heard')
  const tag = (await work.git('rev-parse', 'heard')).trim()
  const { body: comment } = await ask(
    'POST',
    `/projects/${project.id}/repository/commits/${commits.third}/comments`,
    { note: 'n' },
  )
  const { body: status } = await postStatus(commits.third, 'running')
  await postStatus(commits.third, 'running')
  await postStatus(commits.third, 'success')
  const given = deploymentOf(commits.third, { status: 'failed', environment: 'heard' })
  const { body: deployment } = await ask('POST', `/projects/${project.id}/deployments`, given)
  const releases = `/projects/${project.id}/releases`
  await ask('POST', releases, { tag_name: 'v1.0' })
  await ask('PUT', `${releases}/v1.0`, { name: 'One' })
  await ask('DELETE', `${releases}/v1.0`)
  await waitFor(async () => heard.length >= 9, { what: 'nine notices' })
  listener.disconnect()
  const job = { ...about, event: 'job', sha: commits.third, ref: 'main', name: 'hooked', id: status?.id }
  expect(heard).toEqual([
    {
      ...about,
      event: 'push',
      ref: 'refs/heads/news',
      before: '0'.repeat(40),
      after: commits.first,
      checkout_sha: commits.first,
      message: null,
    },
    {
      ...about,
      event: 'tag_push',
      ref: 'refs/tags/heard',
      before: '0'.repeat(40),
      after: tag,
      checkout_sha: commits.second,
      message: 'Heard',
    },
    { ...about, event: 'note', sha: commits.third, id: comment?.id },
    { ...job, status: 'running' },
    { ...job, status: 'success' },
    {
      ...about,
      event: 'deployment',
      id: deployment?.id,
      sha: commits.third,
      environment: 'heard',
      status: 'failed',
    },
    ...['create', 'update', 'delete'].map((action) => ({
      ...about,
      event: 'releases',
      id: expect.any(Number),
      tag: 'v1.0',
      action,
    })),
  ])
})
