import { type Driver, programTasks, submoduleTask } from '../driver.js'

export const rubyGitlab: Driver = {
  tool: 'Ruby gem gitlab',
  debian: ['ruby-gitlab'],
  tasks: programTasks(['/usr/bin/ruby'], 'ruby_gitlab.rb', {
    projects: 'makes, edits, finds and deletes projects',
    files: 'writes, reads and removes files, lists trees',
    commits: 'commits, comments, statuses, pipelines',
    references: 'branches and their protection, tags, releases',
    submodules: submoduleTask,
    administration: 'users, members, webhooks',
  }),
}
