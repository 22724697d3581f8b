import { createProject } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, outcome, startHarness } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

test('a project has 100 webhooks at most, also after parallel requests', async () => {
  const { database, users } = harness
  const project = await createProject(database, users.owner)
  const hook = { url: 'https://example.com/', host: 'example.com', events: ['push'] }
  const known = Array.from({ length: 99 }, () => ({
    ...hook,
    scope: 'project' as const,
    projectId: project.id,
  }))
  await database.prisma.webhook.createMany({ data: known })
  const add = () =>
    outcome(harness.send('owner', 'POST', `/projects/${project.id}/hooks`, json({ url: hook.url })))
  const answers = await Promise.all([add(), add(), add()])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422])
  expect(await add()).toEqual({
    status: 422,
    body: { message: 'Maximum number of project hooks (100) exceeded' },
  })
  const other = await createProject(database, users.owner)
  const added = harness.send('owner', 'POST', `/projects/${other.id}/hooks`, json({ url: hook.url }))
  expect((await added).status).toBe(201)
})
