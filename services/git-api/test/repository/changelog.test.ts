import type { Project } from '@switchyard/db'
import { createGitRepository, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

type Who = Parameters<GitHarness['ask']>[0]

let harness: GitHarness
let project: Project
let work: TestGitRepository
let shas: Record<'root' | 'fixed' | 'added' | 'side', string>

const config = 'categories:\n  fixed: Bugs\n  added: Features\n'

beforeAll(async () => {
  harness = await startGitHarness()
  project = await harness.project()
  work = await createGitRepository()
  const root = await work.commit({ files: { 'a.txt': '1' }, message: 'Begin\n\nChangelog: added\n' })
  await work.git('tag', 'v1.0.0')
  await work.git('tag', '2.0.0-rc.1')
  const fixed = await work.commit({ files: { 'a.txt': '2' }, message: 'Fix\n\nChangelog: fixed\nIssue: 7\n' })
  const added = await work.commit({ files: { 'a.txt': '3' }, message: 'Add\n\nChangelog: added\n' })
  await work.commit({ files: { '.gitlab/changelog_config.yml': config }, message: 'Say how' })
  const side = await work.commit({ branch: 'side', files: { s: '' }, message: 'Aside\n\nChangelog: other\n' })
  shas = { root, fixed, added, side }
  await work.git('push', '--quiet', harness.remote('owner', project), '--all')
  await work.git('push', '--quiet', harness.remote('owner', project), '--tags')
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const changelog = (id = project.id) => `/projects/${id}/repository/changelog`
const get = (query: Record<string, string>, who: Who = 'reporter', id = project.id) =>
  harness.ask(who, 'GET', `${changelog(id)}?${new URLSearchParams(query)}`)
const post = (body: object, who: Who = 'developer') => harness.ask(who, 'POST', changelog(), body)
const fileOf = async (path: string, ref = 'main') => {
  const file = `${encodeURIComponent(path)}/raw?ref=${encodeURIComponent(ref)}`
  return (await harness.send('reporter', 'GET', `/projects/${project.id}/repository/files/${file}`)).text()
}
const entry = (title: string, sha: string) =>
  `- [${title}](${harness.baseUrl}/${project.pathWithNamespace}/-/commit/${sha})\n`
const refused = (text: string) => ({ status: 422, body: { message: expect.stringContaining(text) } })

describe('notes', () => {
  it('begin after the last stable release below the version', async () => {
    const { status, body } = await get({ version: '2.0.0', date: '2026-03-01' })
    const bugs = `### Bugs (1 change)\n\n${entry('Fix', shas.fixed)}`
    const features = `### Features (1 change)\n\n${entry('Add', shas.added)}`
    expect({ status, body }).toEqual({
      status: 200,
      body: { notes: `## 2.0.0 (2026-03-01)\n\n${bugs}\n${features}` },
    })
  })

  it('use the given range, trailer and configuration', async () => {
    const all = await get({ version: '1.0.0', to: 'side', config_file_ref: 'v1.0.0' })
    expect(all.body.notes.match(/^(?:###|-) \[?[\w ()]+/gm)).toEqual([
      '### other (1 change)',
      '- [Aside',
      '### added (2 changes)',
      '- [Add',
      '- [Begin',
      '### fixed (1 change)',
      '- [Fix',
    ])
    const one = await get({ version: '1.1.0', from: shas.root, to: shas.fixed, trailer: 'Issue' })
    expect(one.body.notes).toContain(`### 7 (1 change)\n\n${entry('Fix', shas.fixed)}`)
    expect((await get({ version: '1.1.0', from: 'main' })).body.notes).toContain('No changes.')
  })

  const malformed: [query: Record<string, string>, error: string][] = [
    [{}, 'version is missing'],
    ...['latest', '1.0', '1.0.0\n', `1.0.0-${'a'.repeat(300)}`].map(
      (version): [{ version: string }, string] => [{ version }, 'version is'],
    ),
    [{ version: '1.0.0', trailer: 'a: b' }, 'trailer is invalid'],
    [{ version: '1.0.0', date: 'tomorrow' }, 'date is invalid'],
    [{ version: '1.0.0', from: 'a\0b' }, 'from is invalid'],
  ]

  it.each(malformed)('refuse %j', async (query, error) => {
    expect(await get(query)).toMatchObject({ status: 400, body: { error: expect.stringContaining(error) } })
  })

  it('use the date, the layout and the tags of the configuration', async () => {
    const layout = [
      '{% if categories %}',
      '{% each categories %}',
      '*{{ title }}* {{ count }}',
      '{% each entries %}',
      '- {{ title }} {{ commit.reference }}{% if commit.trailers.Issue %} #{{ commit.trailers.Issue }}{% end %}',
      '{% if author.credit %}never{% end %}{% if merge_request %}never{% end %}',
      '{% end %}',
      '{% end %}',
      '{% else %}',
      'Nothing.',
      '{% end %}',
    ]
    const own = {
      date_format: '%-d %B %Y',
      tag_regex: '^rel-(?P<major>\\d+)-(?P<minor>\\d+)-(?P<patch>\\d+)(?P<pre>-rc)?$',
      template: layout.join('\n'),
    }
    await work.git('tag', 'rel-1-0-9', shas.fixed)
    await work.git('tag', 'rel-1-1-0-rc', shas.added)
    const content = JSON.stringify(own)
    await work.commit({ branch: 'own', files: { 'own.yml': content, none: '' } })
    await work.git('switch', '--quiet', 'main')
    await work.git('push', '--quiet', harness.remote('owner', project), 'own')
    await work.git('push', '--quiet', harness.remote('owner', project), '--tags')
    const query = { config_file: 'own.yml', config_file_ref: 'own', date: '2026-03-01' }
    const reference = (sha: string) => `${project.pathWithNamespace}@${sha}`
    expect((await get({ ...query, version: '1.2.0' })).body.notes).toBe(
      `## 1.2.0 (1 March 2026)\n\n*added* 1\n- Add ${reference(shas.added)}\n`,
    )
    const fixed = await get({ ...query, version: '1.0.9', from: shas.root, to: shas.fixed })
    expect(fixed.body.notes).toContain(`- Fix ${reference(shas.fixed)} #7\n`)
    const empty = await get({ ...query, version: '1.2.0', from: 'main' })
    expect(empty.body.notes).toBe('## 1.2.0 (1 March 2026)\n\nNothing.\n')
  })

  it('use the last of equal keys of the configuration, as GitLab', async () => {
    const twice = 'categories:\n  fixed: First\n  fixed: Last\n'
    await work.commit({ branch: 'twice', files: { 'twice.yml': twice } })
    await work.git('switch', '--quiet', 'main')
    await work.git('push', '--quiet', harness.remote('owner', project), 'twice')
    const { body } = await get({ version: '1.0.0', config_file: 'twice.yml', config_file_ref: 'twice' })
    expect(body.notes).toContain('### Last')
    expect(body.notes).not.toContain('First')
  })

  it('treat a trailer as a name, whatever git would make of it', async () => {
    const { body } = await get({ version: '1.0.0', trailer: '--all' })
    expect(body.notes).toContain('No changes.')
  })

  it.each(['no-such-branch', '-f', '--all', '../main', '^main', 'main..side', '\u202emain', 'f'.repeat(40)])(
    'refuse the range that begins or ends at %j',
    async (revision) => {
      expect(await get({ version: '1.1.0', from: revision })).toMatchObject(refused('from names no commit'))
      expect(await get({ version: '1.1.0', to: revision })).toMatchObject(refused('to names no commit'))
    },
  )

  it('refuse a missing or unreadable configuration', async () => {
    const commit = (content: string) => work.commit({ branch: 'broken', files: { 'c.yml': content } })
    const aliases = [
      'a: &a [x, x]',
      ...'bcdefghi'.split('').map((name, index) => {
        const before = 'abcdefghi'[index]
        return `${name}: &${name} [${Array(10).fill(`*${before}`).join(', ')}]`
      }),
    ].join('\n')
    const contents = [
      'a: [',
      'categories: [a]',
      'categories: { a: 1 }',
      'date_format: [a]',
      `date_format: ${'%B'.repeat(60)}`,
      'template: "{% if a %}"',
      'template: [a]',
      'tag_regex: "("',
      `tag_regex: "${'a{900}'.repeat(9)}"`,
      aliases,
      '['.repeat(20_000),
      'x'.repeat(70_000),
    ]
    const broken: string[] = []
    for (const content of contents) broken.push(await commit(content))
    await work.git('switch', '--quiet', 'main')
    await work.git('push', '--quiet', harness.remote('owner', project), 'broken')
    for (const ref of broken) {
      const query = { version: '1.1.0', config_file: 'c.yml', config_file_ref: ref }
      expect(await get(query)).toMatchObject(refused('Failed to generate the changelog: '))
    }
    for (const config_file of ['none.yml', '../../etc/passwd', '.gitlab'])
      expect(await get({ version: '1.1.0', config_file })).toMatchObject(refused('there is no file'))
  })

  it('contain 10,000 changes at most', async () => {
    const large = await harness.project()
    const message = 'Change\n\nChangelog: changed\n'
    const commit = (index: number) =>
      `commit refs/heads/main\ncommitter A <a@example.com> ${1_700_000_000 + index} +0000\ndata ${message.length}\n${message}\n`
    const input = Array.from({ length: 10_001 }, (_, index) => commit(index)).join('')
    await execa('git', ['--git-dir', harness.pathOf(large), 'fast-import', '--quiet'], { input })
    const query = { version: '1.0.0' }
    expect(await get(query, 'reporter', large.id)).toMatchObject(refused('more than 10000 changes'))
    const { body } = await get({ ...query, to: 'main~1' }, 'reporter', large.id)
    expect(body.notes).toContain('### changed (10000 changes)')
  })

  it('are empty in a repository without commits', async () => {
    const empty = await harness.project()
    expect(await get({ version: '1.0.0' }, 'reporter', empty.id)).toMatchObject(refused('to names no commit'))
  })

  it('are visible to everybody who may read the code', async () => {
    const query = { version: '2.0.0' }
    expect((await get(query, 'readsRepository')).status).toBe(200)
    expect((await get(query, 'guest')).status).toBe(403)
    expect((await get(query, 'narrow')).status).toBe(403)
    expect((await get(query, 'stranger')).status).toBe(404)
    expect((await get(query, 'anonymous')).status).toBe(404)
    expect((await get(query, 'owner', 999_999)).status).toBe(404)
  })
})

describe('a commit of notes', () => {
  it('creates the file, and adds the next section above the first one', async () => {
    const first = await post({ version: '1.1.0', to: shas.fixed, date: '2026-02-01' })
    expect(first).toMatchObject({
      status: 200,
      body: { message: 'Add changelog for version 1.1.0', committer_name: 'Dora Developer' },
    })
    const body = { version: 'v1.2.0', from: shas.fixed, message: 'Release\n', date: '2026-02-02' }
    const second = await post(body)
    expect(second.body).toMatchObject({ title: 'Release', parent_ids: [first.body.id] })
    expect(await fileOf('CHANGELOG.md')).toBe(
      `## v1.2.0 (2026-02-02)\n\n### Features (1 change)\n\n${entry('Add', shas.added)}\n` +
        `## 1.1.0 (2026-02-01)\n\n### Bugs (1 change)\n\n${entry('Fix', shas.fixed)}`,
    )
    expect(await post(body)).toMatchObject(refused('a section for v1.2.0 already'))
    expect(await fileOf('CHANGELOG.md')).not.toContain('v1.2.0 (2026-02-03)')
  })

  it('goes to the given branch and file, with the commits of that branch', async () => {
    const made = await post({ version: '1.3.0', branch: 'side', file: 'docs/News.md', from: shas.added })
    expect(made).toMatchObject({ status: 200, body: { parent_ids: [shas.side] } })
    expect(await fileOf('docs/News.md', 'side')).toContain(
      `### other (1 change)\n\n${entry('Aside', shas.side)}`,
    )
  })

  it.each([
    { body: { version: '1.4.0', branch: 'none' }, status: 422 },
    { body: { version: '1.4.0', branch: 'none', to: 'main' }, status: 400 },
    { body: { version: '1.4.0', file: '../x' }, status: 400 },
    { body: { version: '1.4.0', file: '.git/config' }, status: 400 },
    { body: { version: '1.4.0', file: '.gitlab' }, status: 400 },
    { body: { version: '1.4.0', file: 'a.txt/b' }, status: 400 },
    { body: { version: '1.4.0', file: ['a'] }, status: 400 },
    { body: { version: '\ud800' }, status: 400 },
    { body: {}, status: 400 },
  ])('is refused for $body', async ({ body, status }) => {
    expect((await post(body)).status).toBe(status)
  })

  it('is refused for a file that is not a text, and for a protected branch', async () => {
    await work.commit({ branch: 'binary', files: { 'CHANGELOG.md': Buffer.from([0xff, 0xfe]) } })
    await work.git('switch', '--quiet', 'main')
    await work.git('push', '--quiet', harness.remote('owner', project), 'binary')
    expect(await post({ version: '1.4.0', branch: 'binary' })).toMatchObject(refused('is not a text'))
    const protections = `/projects/${project.id}/protected_branches`
    await harness.ask('owner', 'POST', protections, { name: 'binary', push_access_level: 40 })
    const body = { version: '1.4.0', branch: 'binary', file: 'x.md' }
    expect((await post(body)).status).toBe(403)
    expect((await post(body, 'owner')).status).toBe(200)
  })

  it('needs the right to push', async () => {
    const body = { version: '1.5.0' }
    expect((await post(body, 'reporter')).status).toBe(403)
    expect((await post(body, 'readsRepository')).status).toBe(403)
    expect((await post(body, 'stranger')).status).toBe(404)
    expect((await post(body, 'anonymous')).status).toBe(401)
  })

  it('loses no section when many are added at once', async () => {
    const versions = ['3.0.0', '3.1.0', '3.2.0', '3.3.0']
    const answers = await Promise.all(versions.map((version) => post({ version, file: 'many.md' })))
    const added = versions.filter((_, index) => answers[index]?.status === 200)
    const text = await fileOf('many.md')
    expect([...text.matchAll(/^## (\S+)/gm)].map(([, version]) => version).sort()).toEqual(added)
    expect(added.length).toBeGreaterThan(0)
    expect(answers.every(({ status }) => [200, 400, 409].includes(status))).toBe(true)
  })
})
