import type { Project } from '@switchyard/db'
import { createProject, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'
import { outcome } from '../harness.js'

let harness: GitHarness
let project: Project
let close: () => Promise<void>
beforeAll(async () => {
  harness = await startGitHarness()
  const { project: pushed, work } = await pushSample(harness)
  project = pushed
  close = () => work.close()
})
afterAll(async () => {
  await close?.()
  await harness?.close()
})

type Who = Parameters<GitHarness['send']>[0]

const preview = (body: object, who: Who = 'owner', id = project.id) =>
  outcome(harness.send(who, 'POST', `/projects/${id}/hooks/preview`, body))

describe('POST /projects/:id/hooks/preview', () => {
  it('shows the request for the newest event, for each kind of body', async () => {
    const trigger = 'push_events'
    const event = await preview({ trigger })
    expect(event).toMatchObject({ status: 200, body: { event: 'push', content_type: 'application/json' } })
    expect(JSON.parse(String(event.body?.body))).toMatchObject({
      object_kind: 'push',
      ref: 'refs/heads/main',
    })
    const custom = await preview({
      trigger,
      custom_webhook_template: '{"titles": "{{#commits}}{{title}};{{/commits}}"}',
    })
    expect(JSON.parse(String(custom.body?.body))).toEqual({ titles: expect.stringMatching(/^.+;$/) })
    const plain = await preview({ trigger, message_format: 'plain' })
    expect(plain.body).toMatchObject({ content_type: 'text/plain; charset=utf-8' })
    expect(plain.body?.body).toMatch(/ pushed to refs\/heads\/main of .*, commits: \d+/)
  })

  it('refuses the templates that webhooks refuse, unknown formats and events, and an event that never happened', async () => {
    const trigger = 'push_events'
    expect(await preview({ trigger, custom_webhook_template: '{"a": "{{#b}}"}' })).toEqual({
      status: 400,
      body: { message: { custom_webhook_template: [expect.stringContaining('end of each')] } },
    })
    expect(await preview({ trigger, message_format: 'pigeon' })).toMatchObject({
      status: 400,
      body: { message: { message_format: ['must be among slack, teams, mattermost, plain'] } },
    })
    expect((await preview({ trigger: 'issues_events' })).status).toBe(400)
    expect((await preview({})).status).toBe(400)
    expect((await preview({ trigger, template: '[]' })).status).toBe(400)
    expect((await preview({ trigger: 'releases_events' })).status).toBe(400)
  })

  it('needs a maintainer of a project that is visible to them', async () => {
    const other = await createProject(harness.database, await createUser(harness.database))
    const trigger = 'push_events'
    expect((await preview({ trigger }, 'anonymous')).status).toBe(401)
    expect((await preview({ trigger }, 'developer')).status).toBe(403)
    expect((await preview({ trigger }, 'owner', other.id)).status).toBe(404)
  })
})
