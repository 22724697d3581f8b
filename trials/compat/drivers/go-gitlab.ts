import { type Driver, programTasks } from '../driver.js'

// No modules: the sources are Debian's, and nothing is downloaded.
const go = [
  '/usr/bin/env',
  'GO111MODULE=off',
  'GOPATH=/usr/share/gocode',
  'GOFLAGS=',
  'CGO_ENABLED=0',
  'GOCACHE=/tmp/switchyard-compat-go',
]

export const goGitlab: Driver = {
  tool: 'go-gitlab',
  debian: ['golang-github-xanzy-go-gitlab-dev', 'golang-go'],
  tasks: programTasks([...go, '/usr/bin/go', 'run'], 'go-gitlab.go', {
    projects: 'makes, edits, finds and deletes projects',
    files: 'writes and reads files, trees, archives',
    commits: 'commits, comments, statuses, pipelines',
    references: 'branches, tags, releases with links',
    administration: 'users, members, webhooks, tokens, environments',
  }),
}
