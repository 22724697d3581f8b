import { type Driver, programTasks, submoduleTask } from '../driver.js'

export const pythonGitlab: Driver = {
  tool: 'python-gitlab',
  debian: ['python3-gitlab'],
  tasks: programTasks(['/usr/bin/python3'], 'python_gitlab.py', {
    projects: 'makes, edits, finds and deletes projects',
    files: 'writes, reads and removes files, trees, archives',
    commits: 'commits, comments, cherry-picks, compares',
    discussions: 'answers, edits and deletes comments of a commit',
    changelogs: 'shows the notes of a version, and commits them',
    submodules: submoduleTask,
    statuses: 'statuses of commits, pipelines and their jobs',
    references: 'branches, tags, and their protection',
    releases: 'releases with links, generic packages, uploads',
    administration: 'users, members, tokens',
    hooks: 'webhooks',
    deployments: 'environments and deployments',
    absent: 'lists what is not here: merge requests, issues, groups',
  }),
}
