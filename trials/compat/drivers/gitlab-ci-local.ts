import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import type { LabProject, Work } from '../work.js'

const shared = { 'jobs.yml': 'hello:\n  script:\n    - echo from the other project\n' }

/** Lists the jobs of a clone whose CI file has these lines. */
async function listJobs(work: Work, of: (shared: LabProject) => string) {
  const other = await work.project(shared, { visibility: 'public' })
  const project = await work.project({ '.gitlab-ci.yml': of(other) })
  const cwd = await work.clone(project)
  expect(await work.runNode('gitlab-ci-local/dist/index.js', ['--list-csv'], { cwd })).toContain('hello')
}

export const gitlabCiLocal: Driver = {
  tool: 'gitlab-ci-local',
  npm: 'gitlab-ci-local',
  tasks: [
    {
      title: 'includes a file of another project',
      run: (work) =>
        listJobs(work, ({ path }) => `include:\n  - project: ${path}\n    file: jobs.yml\n    ref: main\n`),
    },
    {
      title: 'includes a file by its address',
      run: (work) =>
        listJobs(work, ({ path }) => `include:\n  - remote: ${work.url}/${path}/-/raw/main/jobs.yml\n`),
    },
  ],
}
