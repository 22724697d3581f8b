import { Gitlab } from '@gitbeaker/rest'
import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listCommitComments, listCommitDiscussions } from '../../src/repository/comments/store.js'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third', string>

beforeAll(async () => {
  harness = await startGitHarness({ env: { WEBHOOK_ALLOWED_HOSTS: 'hooks.example.com' } })
  ;({ project, work, commits } = await pushSample(harness))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

type Who = Parameters<GitHarness['ask']>[0]

const of = (sha: string) => `/projects/${project.id}/repository/commits/${sha}/discussions`
const ask = (who: Who, method: string, path: string, body?: unknown) => harness.ask(who, method, path, body)

async function begun(body: object = { body: 'What is this?' }, sha = commits.second, who: Who = 'reporter') {
  const answer = await ask(who, 'POST', of(sha), body)
  expect(answer.status).toBe(201)
  const { id, notes } = answer.body as { id: string; notes: { id: number }[] }
  return { answer: answer.body, notes: `${of(sha)}/${id}/notes`, id, first: notes[0]?.id ?? 0 }
}

test('a discussion is begun, answered and read back completely', async () => {
  const { answer, id, notes } = await begun({ body: 'Why?' }, 'v1.0')
  expect(answer).toMatchObject({
    individual_note: false,
    notes: [
      { body: 'Why?', type: 'DiscussionNote', author: { username: 'rita' }, commit_id: commits.second },
    ],
  })
  const reply = await ask('developer', 'POST', notes, { body: 'Because' })
  expect(reply).toMatchObject({ status: 201, body: { body: 'Because', author: { username: 'dora' } } })
  const whole = { ...answer, notes: [...answer.notes, reply.body] }
  expect((await ask('reporter', 'GET', `${of(commits.second)}/${id}`)).body).toEqual(whole)
  expect((await ask('reporter', 'GET', of(commits.second))).body).toContainEqual(whole)
  const page = await ask('reporter', 'GET', `${notes}?per_page=1&page=2`)
  expect([page.body, page.headers.get('x-total')]).toEqual([[reply.body], '2'])
  expect((await ask('reporter', 'GET', `${notes}/${reply.body.id}`)).body).toEqual(reply.body)
})

test('a position names a line of the diff, which its answers share', async () => {
  const position = { position_type: 'text', head_sha: commits.second, base_sha: commits.first }
  const at = { ...position, start_sha: commits.first, new_path: 'src/b c.txt', new_line: 6 }
  const { answer, notes } = await begun({ body: 'Here', position: at })
  const shown = { head_sha: commits.second, new_path: 'src/b c.txt', new_line: 6, old_line: null }
  expect(answer.notes).toMatchObject([{ type: 'DiffNote', position: shown }])
  const reply = await ask('reporter', 'POST', notes, { body: 'And here' })
  expect(reply.body).toMatchObject({ type: 'DiffNote', position: shown })
  const both = { ...position, old_path: 'src/a.txt', old_line: 1, new_path: 'src/b c.txt', new_line: 1 }
  expect((await begun({ body: 'Unchanged', position: both })).answer.notes[0].position.new_line).toBe(1)
  const old = await begun({ body: 'Old', position: { old_path: 'src/a.txt', old_line: 5 } })
  expect(old.answer.notes[0].position).toMatchObject({ old_line: 5, new_line: null })
})

test('an answer to a comment makes a discussion of both', async () => {
  const comments = of(commits.first).replace('discussions', 'comments')
  await ask('reporter', 'POST', comments, { note: 'Alone' })
  const [alone] = (await ask('reporter', 'GET', of(commits.first))).body
  expect(alone).toMatchObject({ individual_note: true, notes: [{ body: 'Alone', type: null }] })
  const reply = await ask('developer', 'POST', `${of(commits.first)}/${alone.id}/notes`, {
    body: 'Not any more',
  })
  expect(reply.status).toBe(201)
  const list = await ask('reporter', 'GET', of(commits.first))
  expect(list.body).toMatchObject([
    { id: alone.id, individual_note: false, notes: [{ body: 'Alone' }, { body: 'Not any more' }] },
  ])
  expect(list.headers.get('x-total')).toBe('1')
  expect((await ask('reporter', 'GET', comments)).body).toHaveLength(2)
})

test('the author edits and deletes a note, and the discussion stays while it has another one', async () => {
  const { id, notes, first } = await begun()
  const reply = (await ask('developer', 'POST', notes, { body: 'Reply' })).body
  const edited = await ask('reporter', 'PUT', `${notes}/${first}`, { body: 'What was this?' })
  expect(edited).toMatchObject({ status: 200, body: { id: first, body: 'What was this?' } })
  expect(edited.body.updated_at > edited.body.created_at).toBe(true)
  expect((await ask('reporter', 'GET', `${notes}/${first}`)).body).toEqual(edited.body)
  expect((await ask('reporter', 'DELETE', `${notes}/${first}`)).status).toBe(204)
  expect((await ask('reporter', 'DELETE', `${notes}/${first}`)).status).toBe(404)
  const left = (await ask('reporter', 'GET', `${of(commits.second)}/${id}`)).body
  expect(left).toMatchObject({ id, notes: [{ id: reply.id }] })
  expect((await ask('developer', 'DELETE', `${notes}/${reply.id}`)).status).toBe(204)
  expect((await ask('reporter', 'GET', `${of(commits.second)}/${id}`)).status).toBe(404)
})

test('maintainers change notes of others, which the audit log records; other users may not', async () => {
  const { notes, first } = await begun()
  const refused = { status: 403, body: { message: expect.stringContaining('Only the author') } }
  expect(await ask('developer', 'PUT', `${notes}/${first}`, { body: 'Mine' })).toMatchObject(refused)
  expect(await ask('developer', 'DELETE', `${notes}/${first}`)).toMatchObject(refused)
  expect((await ask('owner', 'PUT', `${notes}/${first}`, { body: 'Tidied' })).status).toBe(200)
  expect((await ask('owner', 'DELETE', `${notes}/${first}`)).status).toBe(204)
  const entries = await harness.database.prisma.auditEvent.findMany({
    where: { entityId: String(project.id), eventName: { startsWith: 'comment_' } },
    orderBy: { id: 'asc' },
  })
  expect(entries.map(({ eventName, details }) => [eventName, details])).toEqual(
    ['comment_changed', 'comment_removed'].map((name) => [
      name,
      expect.objectContaining({ comment_id: first, commit_id: commits.second }),
    ]),
  )
})

test('a webhook receives a note and its changed text', async () => {
  const given = { url: 'https://hooks.example.com/notes', note_events: true, push_events: false }
  const { body: hook } = await ask('owner', 'POST', `/projects/${project.id}/hooks`, given)
  const { notes, first } = await begun({ body: 'Told' })
  await ask('reporter', 'PUT', `${notes}/${first}`, { body: 'Told again' })
  const deliveries = await harness.database.prisma.webhookDelivery.findMany({
    where: { webhookId: hook.id },
    orderBy: { createdAt: 'asc' },
  })
  const told = deliveries.map(({ payload }) => JSON.parse(payload).object_attributes)
  expect(told.map(({ action, note }) => [action, note])).toEqual([
    ['create', 'Told'],
    ['update', 'Told again'],
  ])
  await ask('owner', 'DELETE', `/projects/${project.id}/hooks/${hook.id}`)
})

test('bad input is refused and stores nothing', async () => {
  const { notes, first } = await begun({ body: 'Kept' }, commits.third)
  const error = (text: string) => ({ status: 400, body: { error: text } })
  const message = (text: unknown) => ({ status: 400, body: { message: text } })
  const blank = message("400 Bad request - Note can't be blank")
  expect(await ask('reporter', 'POST', of(commits.third), {})).toMatchObject(error('body is missing'))
  expect(await ask('reporter', 'POST', of(commits.third), { body: ' \n' })).toMatchObject(blank)
  expect(await ask('reporter', 'POST', of(commits.third), { body: 'a\0' })).toMatchObject(
    error('body is invalid'),
  )
  expect(await ask('reporter', 'POST', notes, { body: '' })).toMatchObject(blank)
  expect(await ask('reporter', 'PUT', `${notes}/${first}`, { body: '\t' })).toMatchObject(blank)
  expect((await ask('reporter', 'PUT', `${notes}/${first}`, { body: 'x', resolved: true })).status).toBe(400)
  expect((await ask('reporter', 'POST', notes, { body: 'x', created_at: '2020-01-01' })).status).toBe(400)
  const at = (position: object) => ask('reporter', 'POST', of(commits.second), { body: 'x', position })
  const nowhere = message({ position: ['is no line of the commit'] })
  expect(await at({ new_path: 'src/b c.txt', new_line: 7 })).toMatchObject(nowhere)
  expect(await at({ new_path: '../../config', new_line: 1 })).toMatchObject(nowhere)
  expect(await at({ new_path: 'bin.dat', new_line: 0 })).toMatchObject(nowhere)
  expect(await at({ new_path: 'src/b c.txt' })).toMatchObject(error('position[new_line] is missing'))
  expect(await at({ new_line: 1 })).toMatchObject(error('position[new_path] is missing'))
  expect((await at({ position_type: 'image', new_path: 'bin.dat' })).status).toBe(400)
  const foreign = { new_path: 'src/b c.txt', new_line: 1, head_sha: commits.first }
  expect(await at(foreign)).toMatchObject(
    message({ position: ['is not of this commit and its first parent'] }),
  )
  expect((await ask('reporter', 'GET', of(commits.third))).body).toMatchObject([
    { notes: [{ body: 'Kept' }] },
  ])
})

test('a reply and an edit leave at most 2 MB of text in a discussion', async () => {
  const body = 'x'.repeat(1_048_000)
  const { notes, first } = await begun({ body })
  expect((await ask('developer', 'POST', notes, { body })).status).toBe(201)
  const full = { status: 400, body: { message: 'The notes of a discussion have 2 MB of text at most' } }
  expect(await ask('developer', 'POST', notes, { body: body.slice(-2000) })).toMatchObject(full)
  expect((await ask('reporter', 'PUT', `${notes}/${first}`, { body: 'short' })).status).toBe(200)
  const small = (await ask('developer', 'POST', notes, { body: 'y'.repeat(2000) })).body
  expect((await ask('developer', 'POST', notes, { body })).status).toBe(400)
  expect((await ask('reporter', 'PUT', `${notes}/${first}`, { body })).status).toBe(400)
  expect((await ask('reporter', 'GET', notes)).body).toMatchObject([
    { body: 'short' },
    { body },
    { id: small.id },
  ])
  expect((await ask('developer', 'DELETE', `${notes}/${small.id}`)).status).toBe(204)
})

test('a note of a discussion above its limit can be shortened, and not made longer', async () => {
  const { notes, first } = await begun({ body: 'x'.repeat(1000) })
  const note = 'x'.repeat(1_048_576)
  const known = { projectId: project.id, sha: commits.second, note, discussionId: BigInt(first) }
  await harness.database.prisma.commitComment.createMany({ data: [known, known, known] })
  const edited = async (body: string) => (await ask('reporter', 'PUT', `${notes}/${first}`, { body })).status
  expect([await edited('x'.repeat(1001)), await edited('[removed]')]).toEqual([400, 200])
})

test('replies at the same time leave at most 500 notes in a discussion', async () => {
  const { notes, first } = await begun()
  const known = { projectId: project.id, sha: commits.second, note: 'x', discussionId: BigInt(first) }
  await harness.database.prisma.commitComment.createMany({ data: Array.from({ length: 498 }, () => known) })
  const replies = await Promise.all([1, 2, 3].map(() => ask('developer', 'POST', notes, { body: 'x' })))
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 400, 400])
  const refused = replies.find(({ status }) => status === 400)
  expect(refused?.body.message).toBe('A discussion has 500 notes at most')
})

test('a list of comments above 64 MB is refused before it is read, and its parts are shown', async () => {
  const sha = commits.third
  const data = Array.from({ length: 65 }, () => ({ projectId: project.id, sha, note: 'x'.repeat(1_048_576) }))
  await harness.database.prisma.commitComment.createMany({ data })
  const comments = of(sha).replace('discussions', 'comments')
  for (const list of [of(sha), comments]) {
    expect(await ask('reporter', 'GET', `${list}?per_page=100`)).toMatchObject({
      status: 413,
      body: { message: 'These comments have more than 64 MB; ask for fewer with per_page' },
    })
    expect((await ask('reporter', 'GET', `${list}?per_page=3&page=2`)).body).toHaveLength(3)
  }
  const rows = { skip: 1, take: 5 }
  const held: number[] = []
  const call = { holdAnswer: async (bytes: number) => void held.push(bytes) }
  await listCommitComments(harness.database, { projectId: project.id, sha }, rows, call)
  await listCommitDiscussions(harness.database, { projectId: project.id, sha }, rows, call)
  expect(held).toEqual([5 * (1_048_576 + 1024), 5 * (1_048_576 + 1024)])
})

test('missing resources are 404, and callers who may not comment learn nothing more', async () => {
  const { notes, first, id } = await begun()
  const other = `${of(commits.first)}/${id}/notes/${first}`
  for (const path of [other, `${notes}/999999999`, `${of('nope')}/${id}/notes/${first}`]) {
    expect((await ask('reporter', 'GET', path)).status).toBe(404)
    expect((await ask('reporter', 'PUT', path, { body: 'x' })).status).toBe(404)
    expect((await ask('reporter', 'DELETE', path)).status).toBe(404)
  }
  expect(
    (await ask('reporter', 'POST', `${of(commits.second)}/${'f'.repeat(40)}/notes`, { body: 'x' })).status,
  ).toBe(404)
  expect((await ask('reporter', 'DELETE', `${notes}/x`)).status).toBe(400)
  const calls = [
    ['POST', of(commits.second)],
    ['POST', notes],
    ['PUT', `${notes}/${first}`],
    ['DELETE', `${notes}/${first}`],
  ] as const
  for (const [method, path] of calls) {
    const status = async (who: Who) => (await ask(who, method, path, { body: 'x' })).status
    expect([await status('anonymous'), await status('stranger'), await status('guest')]).toEqual([
      401, 404, 403,
    ])
    expect([await status('narrow'), await status('readsRepository')]).toEqual([403, 403])
  }
})

test('gitbeaker and the requests of infracost find, change and delete a note', async () => {
  const client = new Gitlab({ host: harness.baseUrl, token: harness.tokens.reporter })
  const { CommitDiscussions } = client
  const made = await CommitDiscussions.create(project.id, commits.second, '## Infracost: 10')
  const noteId = made.notes?.[0]?.id ?? 0
  await CommitDiscussions.addNote(project.id, commits.second, made.id, 'A reply')
  const all = await CommitDiscussions.all(project.id, commits.second)
  expect(all.find(({ id }) => id === made.id)?.notes).toMatchObject([{ id: noteId }, { body: 'A reply' }])
  await CommitDiscussions.editNote(project.id, commits.second, made.id, noteId, { body: '## Infracost: 12' })
  expect(await CommitDiscussions.show(project.id, commits.second, made.id)).toMatchObject({
    notes: [{ body: '## Infracost: 12' }, { body: 'A reply' }],
  })
  await CommitDiscussions.removeNote(project.id, commits.second, made.id, noteId)
  expect(await CommitDiscussions.show(project.id, commits.second, made.id)).toMatchObject({
    notes: [{ body: 'A reply' }],
  })
})
