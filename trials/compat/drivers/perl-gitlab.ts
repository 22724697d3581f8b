import { type Driver, programTasks } from '../driver.js'

export const perlGitlab: Driver = {
  tool: 'Perl GitLab::API::v4',
  debian: ['libgitlab-api-v4-perl'],
  tasks: programTasks(['/usr/bin/perl'], 'gitlab_api_v4.pl', {
    projects: 'makes, edits, finds and deletes projects',
    files: 'writes, reads and removes files, lists trees',
    commits: 'commits, comments, statuses, pipelines',
    references: 'branches and their protection, tags',
  }),
}
