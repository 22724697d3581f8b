import assert from 'node:assert/strict'
import { Gitlab } from '@gitbeaker/rest'

const { URL: host, TOKEN: token, ADMIN_TOKEN: adminToken, PROJECT: project } = process.env
const api = new Gitlab({ host, token })
const administrator = new Gitlab({ host, token: adminToken })

const tasks = {
  async projects() {
    const { id, name } = await api.Projects.show(project)
    assert.equal(id, Number(project))
    await api.Projects.edit(project, { description: 'Edited' })
    const found = await api.Projects.all({ search: name, membership: true })
    assert.equal(found.find((each) => each.id === id).description, 'Edited')
  },
  async commits() {
    const actions = [{ action: 'create', filePath: 'docs/a.txt', content: 'A\n' }]
    const { id } = await api.Commits.create(project, 'main', 'Add a file', actions)
    assert.equal((await api.Commits.all(project))[0].id, id)
    assert.equal((await api.Commits.showDiff(project, id))[0].new_path, 'docs/a.txt')
    await api.Commits.createComment(project, id, 'Well done')
    assert.equal((await api.CommitDiscussions.all(project, id)).length, 1)
  },
  async discussions() {
    const { id: sha } = await api.Commits.show(project, 'main')
    const { id } = await api.CommitDiscussions.create(project, sha, 'Well done')
    const note = await api.CommitDiscussions.addNote(project, sha, id, 'Thanks')
    await api.CommitDiscussions.editNote(project, sha, id, note.id, { body: 'Thank you' })
    const [{ notes }] = await api.CommitDiscussions.all(project, sha)
    assert.deepEqual(
      notes.map(({ body }) => body),
      ['Well done', 'Thank you'],
    )
    await api.CommitDiscussions.removeNote(project, sha, id, note.id)
    assert.equal((await api.CommitDiscussions.show(project, sha, id)).notes.length, 1)
  },
  async changelogs() {
    const actions = [{ action: 'create', filePath: 'a.txt', content: 'A\n' }]
    await api.Commits.create(project, 'main', 'Add a file\n\nChangelog: added', actions)
    const { notes } = await api.Repositories.showChangelog(project, '1.0.0')
    assert.match(notes, /### added \(1 change\)\n\n- \[Add a file\]/)
    await api.Repositories.editChangelog(project, '1.0.0', { branch: 'main' })
    assert.ok((await api.RepositoryFiles.showRaw(project, 'CHANGELOG.md', 'main')).includes(notes))
  },
  async submodules() {
    const { id } = await api.Commits.show(project, 'main')
    const made = await api.RepositorySubmodules.edit(project, 'lib', 'main', id, { commitMessage: 'Move' })
    assert.equal(made.message, 'Move')
    const tree = await api.Repositories.allRepositoryTrees(project)
    assert.equal(tree.find(({ path }) => path === 'lib').id, id)
  },
  async statuses() {
    const { id } = await api.Commits.show(project, 'main')
    await api.Commits.editStatus(project, id, 'running', { name: 'build' })
    await api.Commits.editStatus(project, id, 'success', { name: 'build', coverage: 98.5 })
    const [status, ...others] = await api.Commits.allStatuses(project, id)
    assert.deepEqual([status.status, others], ['success', []])
    const [pipeline] = await api.Pipelines.all(project)
    assert.equal(pipeline.status, 'success')
  },
  async files() {
    await api.RepositoryFiles.create(project, 'a.txt', 'main', 'one\n', 'Add')
    await api.RepositoryFiles.edit(project, 'a.txt', 'main', 'two\n', 'Edit')
    assert.equal(await api.RepositoryFiles.showRaw(project, 'a.txt', 'main'), 'two\n')
    assert.equal((await api.Repositories.allRepositoryTrees(project)).length, 2)
    await api.RepositoryFiles.remove(project, 'a.txt', 'main', 'Remove')
  },
  async references() {
    await api.Branches.create(project, 'topic', 'main')
    assert.equal((await api.Branches.all(project)).length, 2)
    await api.ProtectedBranches.create(project, 'release/*', { pushAccessLevel: 40 })
    assert.ok((await api.ProtectedBranches.all(project)).some(({ name }) => name === 'release/*'))
    await api.Tags.create(project, 'v1', 'main', { message: 'One' })
    await api.ProtectedTags.create(project, 'v*')
    assert.equal((await api.Tags.show(project, 'v1')).message, 'One')
    await api.Branches.remove(project, 'topic')
  },
  async releases() {
    await api.ProjectReleases.create(project, {
      tagName: 'v1',
      ref: 'main',
      description: 'First',
      assets: { links: [{ name: 'App', url: 'https://example.com/app.zip' }] },
    })
    const { assets } = await api.ProjectReleases.show(project, 'v1')
    assert.equal(assets.links[0].name, 'App')
    const link = await api.ReleaseLinks.create(project, 'v1', 'Notes', 'https://example.com/notes')
    assert.equal((await api.ReleaseLinks.all(project, 'v1')).length, 2)
    await api.ReleaseLinks.remove(project, 'v1', link.id)
  },
  async administration() {
    const person = {
      email: `p${project}@example.com`,
      username: `p${project}`,
      name: 'P',
      password: 'long enough 8',
    }
    const user = await administrator.Users.create(person)
    await api.ProjectMembers.add(project, 30, { userId: user.id })
    assert.equal((await api.ProjectMembers.all(project)).length, 2)
    const expiresAt = new Date(Date.now() + 86_400_000 * 30).toISOString().slice(0, 10)
    const made = await api.ProjectAccessTokens.create(project, 'ci', ['api'], expiresAt, { accessLevel: 30 })
    assert.ok(made.token)
    await api.ProjectAccessTokens.revoke(project, made.id)
    const hook = await api.ProjectHooks.add(project, 'http://127.0.0.1:1/', { pushEvents: true })
    assert.equal((await api.ProjectHooks.all(project))[0].id, hook.id)
  },
  async deployments() {
    const { id: sha } = await api.Commits.show(project, 'main')
    const environment = await api.Environments.create(project, 'production')
    const deployment = await api.Deployments.create(project, 'production', sha, 'main', false, {
      status: 'running',
    })
    await api.Deployments.edit(project, deployment.id, 'success')
    assert.equal((await api.Environments.show(project, environment.id)).last_deployment.id, deployment.id)
    const metric = await api.ProjectDORA4Metrics.all(project, 'deployment_frequency', { interval: 'all' })
    assert.deepEqual(metric, [{ date: null, value: 1 }])
    await api.FreezePeriods.create(project, '0 22 * * 5', '0 6 * * 1')
  },
  async banners() {
    const made = await administrator.BroadcastMessages.create({ message: 'Pause' })
    assert.equal((await administrator.BroadcastMessages.show(made.id)).message, 'Pause')
    await administrator.BroadcastMessages.remove(made.id)
  },
}
await tasks[process.argv[2]]()
