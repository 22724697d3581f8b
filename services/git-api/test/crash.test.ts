import { isolatedGitEnv, waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from './git-harness.js'
import { startGitProcess } from './git-process.js'

let harness: GitHarness

beforeAll(async () => {
  harness = await startGitHarness()
})
afterAll(() => harness?.close())

async function postJson(
  baseUrl: string,
  path: string,
  body: object,
): Promise<{ id: string | number } | null> {
  try {
    const headers = { 'PRIVATE-TOKEN': harness.tokens.developer, 'Content-Type': 'application/json' }
    const response = await fetch(`${baseUrl}/api/v4${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return response.status === 201 ? ((await response.json()) as { id: string | number }) : null
  } catch {
    return null
  }
}

test('a service that is killed while it commits loses no acknowledged change, and leaves valid repositories', async () => {
  const { project, work, commits } = await pushSample(harness)
  const git = (...args: string[]) =>
    execa('git', ['--git-dir', harness.pathOf(project), ...args], { env: isolatedGitEnv(), extendEnv: false })
  const acknowledged: string[] = []
  const statuses: number[] = []
  let number = 0

  for (const acknowledgedFirst of [3, 7]) {
    const service = await startGitProcess(harness)
    const enough = acknowledged.length + acknowledgedFirst
    let running = true
    const writeOn = async () => {
      while (running) {
        number += 1
        const path = `/projects/${project.id}/repository/commits`
        const actions = [
          { action: 'create', file_path: `deep/${number % 3}/${number}.txt`, content: String(number) },
        ]
        const made = await postJson(service.baseUrl, path, {
          branch: 'main',
          commit_message: `Commit ${number}`,
          actions,
        })
        if (made) acknowledged.push(String(made.id))
        const status = { state: 'success', name: `s${number}`, ref: 'main' }
        const recorded = await postJson(
          service.baseUrl,
          `/projects/${project.id}/statuses/${commits.third}`,
          status,
        )
        if (recorded) statuses.push(Number(recorded.id))
      }
    }
    const writers = [writeOn(), writeOn(), writeOn()]
    await waitFor(() => acknowledged.length >= enough, { what: 'commits' })
    await service.kill()
    running = false
    await Promise.all(writers)
  }

  const { stdout, stderr } = await git('fsck', '--strict', '--no-dangling')
  expect(stdout + stderr).toBe('')
  const reachable = new Set((await git('rev-list', 'main')).stdout.split('\n'))
  expect(acknowledged.filter((id) => !reachable.has(id))).toEqual([])
  const rows = await harness.database.prisma.commitStatus.findMany({ where: { projectId: project.id } })
  const stored = new Set(rows.map(({ id }) => Number(id)))
  expect(statuses.filter((id) => !stored.has(id))).toEqual([])
  const after = await harness.send('developer', 'POST', `/projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'After the crash',
    actions: [{ action: 'create', file_path: 'after.txt', content: 'x' }],
  })
  expect(after.status).toBe(201)
  await work.close()
})
