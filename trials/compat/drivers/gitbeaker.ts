import { type Driver, programTasks, submoduleTask } from '../driver.js'

export const gitbeaker: Driver = {
  tool: 'gitbeaker',
  npm: '@gitbeaker/rest',
  tasks: programTasks([process.execPath], 'gitbeaker.mjs', {
    projects: 'shows, edits and searches projects',
    commits: 'commits files, reads diffs, comments on a commit',
    discussions: 'answers, edits and deletes comments of a commit',
    changelogs: 'shows the notes of a version, and commits them',
    submodules: submoduleTask,
    statuses: 'posts statuses of commits, lists pipelines',
    files: 'writes, reads and removes files, lists trees',
    references: 'branches, tags, and their protection',
    releases: 'releases with links',
    administration: 'users, members, tokens of a project, webhooks',
    deployments: 'environments, deployments, DORA metrics of projects, freeze periods',
    banners: 'broadcast messages',
  }),
}
