import { Gitlab } from '@gitbeaker/rest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

const clientOf = (who: 'admin' | 'user' | 'unknown') =>
  new Gitlab({ host: harness.baseUrl, token: harness.tokens[who] }).BroadcastMessages

it('a GitLab client manages messages unchanged', async () => {
  const messages = clientOf('admin')
  const created = await messages.create({
    message: 'Deploy',
    startsAt: '2026-01-01T10:00:00Z',
    endsAt: '2040-01-01T10:00:00Z',
    color: '#cecece',
    font: '#FFFFFF',
    targetPath: '*/welcome',
    broadcastType: 'notification',
    dismissable: true,
  })
  expect(created).toMatchObject({
    message: 'Deploy',
    starts_at: '2026-01-01T10:00:00.000Z',
    color: '#cecece',
    target_path: '*/welcome',
    broadcast_type: 'notification',
    dismissable: true,
    active: true,
  })
  const edited = await messages.edit(created.id, { message: 'Deployed' })
  expect(edited).toEqual({ ...created, message: 'Deployed' })
  expect(await messages.show(created.id)).toEqual(edited)
  for (const message of ['Second', 'Third']) await messages.create({ message })
  const all = await messages.all({ perPage: 1 })
  expect(all.map(({ message }) => message)).toEqual(['Third', 'Second', 'Deployed'])
  await messages.remove(created.id)
  await expect(messages.show(created.id)).rejects.toThrow('404 Not found')
})

it('a GitLab client receives the reason of a refusal', async () => {
  await expect(clientOf('user').all()).rejects.toThrow('403 Forbidden')
  await expect(clientOf('unknown').all()).rejects.toThrow('401 Unauthorized')
  await expect(clientOf('admin').create({ message: 'x', color: 'red' })).rejects.toThrow(
    'must be a valid color code',
  )
})
