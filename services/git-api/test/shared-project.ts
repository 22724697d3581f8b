import { addMember } from '@switchyard/testing'
import { expect } from 'vitest'
import { type Harness, json, outcome, startHarness } from './harness.js'

export const unauthorized = { status: 401, body: { message: '401 Unauthorized' } }
export const needs = (role: string) => ({
  status: 403,
  body: { message: `403 Forbidden - You need at least the role ${role} in this project` },
})
export const noProject = { status: 404, body: { message: '404 Project Not Found' } }
export const noRow = { status: 404, body: { message: '404 Not found' } }

/** A private project of `owner`, with the developer `user` and a maintainer. */
export interface SharedProject {
  harness: Harness
  project: { id: number }
  /** The token of the maintainer. */
  maintainer: string
  newUser: (username: string) => Promise<{ id: number }>
}

export async function startSharedProject(): Promise<SharedProject> {
  const harness = await startHarness()
  const { body } = await outcome(harness.send('owner', 'POST', '/projects', json({ path: 'shared' })))
  const project = { id: Number(body?.id) }
  await addMember(harness.database, project, harness.users.user, 30)
  async function newUser(username: string) {
    const given = { username, name: username, email: `${username}@example.com` }
    const created = await outcome(harness.send('admin', 'POST', '/users', json(given)))
    return { id: Number(created.body?.id) }
  }
  const { id } = await newUser('maintainer')
  await addMember(harness.database, project, { id }, 40)
  return { harness, project, maintainer: await harness.secretOf({ id }), newUser }
}

/** Expects that an endpoint of projects refuses everybody below a maintainer, whatever the request contains. */
export async function expectMaintainersOnly(
  { harness, project, newUser }: SharedProject,
  method: string,
  suffix: string,
): Promise<void> {
  const path = `/projects/${project.id}/${suffix}`
  expect(await outcome(harness.send('guest', method, path))).toEqual(unauthorized)
  expect(await outcome(harness.send('unknown', method, path))).toEqual(unauthorized)
  expect(await outcome(harness.send('user', method, path))).toEqual(needs('Maintainer'))
  const stranger = await harness.secretOf(await newUser(`stranger-${method}-${suffix.replaceAll('/', '-')}`))
  expect(await outcome(harness.send(stranger, method, path))).toEqual(noProject)
  expect(await outcome(harness.send('admin', method, `/projects/2000000000/${suffix}`))).toEqual(noProject)
  if (method !== 'GET') expect((await harness.send('ownerReading', method, path)).status).toBe(403)
}
