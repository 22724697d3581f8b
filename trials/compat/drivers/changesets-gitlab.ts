import { join } from 'node:path'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import type { LabProject, Work } from '../work.js'

/** Runs it as a CI job in the clone of a package with these files. */
async function runInJob(work: Work, files: { [path: string]: string }): Promise<LabProject> {
  const project = await work.project({
    'package.json': JSON.stringify({ name: 'app', version: '1.1.0', private: true }),
    // The library that finds packages needs a file that names the package manager.
    'package-lock.json': '{}',
    '.changeset/config.json': JSON.stringify({
      baseBranch: 'main',
      privatePackages: { version: true, tag: true },
    }),
    ...files,
  })
  const cwd = await work.clone(project)
  const changeset = work.module('@changesets/cli/bin.js')
  const env = {
    CI: 'true',
    CI_COMMIT_REF_NAME: 'main',
    CI_PROJECT_ID: String(project.id),
    CI_PROJECT_PATH: project.path,
    CI_SERVER_URL: work.url,
    GITLAB_TOKEN: work.token,
    GITLAB_CI_USER_NAME: 'Lab',
    INPUT_VERSION: `${process.execPath} ${changeset} version`,
    INPUT_PUBLISH: `${process.execPath} ${changeset} tag`,
    NPM_TOKEN: 'unused',
  }
  await work.runNode(join('changesets-gitlab', 'lib', 'cli.js'), [], { cwd, env })
  return project
}

export const changesetsGitlab: Driver = {
  tool: 'changesets-gitlab',
  npm: 'changesets-gitlab',
  tasks: [
    {
      title: 'tags and releases what has a new version',
      setting: 'version 2 of `@changesets/cli`, whose lines it reads',
      run: async (work) => {
        const { id } = await runInJob(work, { 'CHANGELOG.md': '# app\n\n## 1.1.0\n\n- Say hello\n' })
        const release = await work.api('GET', `/projects/${id}/releases/v1.1.0`)
        expect(release.description).toContain('Say hello')
      },
    },
    {
      title: 'opens a merge request with the next version',
      fails: 'there are no merge requests',
      run: (work) => runInJob(work, { '.changeset/hello.md': '---\n"app": minor\n---\n\nSay hello\n' }),
    },
  ],
}
