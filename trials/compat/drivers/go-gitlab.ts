import { type Driver, programTasks, submoduleTask } from '../driver.js'

/** Go modules are off, because the sources are Debian's, and nothing is downloaded. */
export const goEnvironment = {
  GO111MODULE: 'off',
  GOPATH: '/usr/share/gocode',
  GOFLAGS: '',
  GOCACHE: '/tmp/switchyard-compat-go',
  CGO_ENABLED: '0',
}

export const goGitlab: Driver = {
  tool: 'go-gitlab',
  debian: ['golang-github-xanzy-go-gitlab-dev', 'golang-go'],
  tasks: programTasks(
    ['/usr/bin/go', 'run'],
    'go-gitlab.go',
    {
      projects: 'makes, edits, finds and deletes projects',
      files: 'writes and reads files, trees, archives',
      commits: 'commits, comments, statuses, pipelines',
      submodules: submoduleTask,
      references: 'branches, tags, releases with links',
      administration: 'users, members, webhooks, tokens, environments',
    },
    goEnvironment,
  ),
}
