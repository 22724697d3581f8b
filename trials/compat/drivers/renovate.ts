import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import type { LabProject, Work } from '../work.js'

/**
 * Runs it with these rules on a project with an old dependency, until it has nothing to do.
 *
 * @returns its output
 */
async function update(work: Work, rules: object): Promise<{ project: LabProject; said: string }> {
  const manifest = { name: 'app', version: '1.0.0', private: true, dependencies: { 'is-odd': '2.0.0' } }
  const registry = (await work.run('npm', ['config', 'get', 'registry'])).trim()
  const project = await work.project({
    'package.json': JSON.stringify(manifest, null, 2),
    'renovate.json': JSON.stringify({ extends: [], npmrc: `registry=${registry}`, ...rules }),
  })
  const env = {
    RENOVATE_PLATFORM: 'gitlab',
    RENOVATE_ENDPOINT: `${work.url}/api/v4/`,
    RENOVATE_TOKEN: work.token,
    RENOVATE_BASE_DIR: work.folder,
    RENOVATE_GIT_AUTHOR: 'Renovate <renovate@example.com>',
    RENOVATE_ONBOARDING: 'false',
    RENOVATE_DEPENDENCY_DASHBOARD: 'false',
    LOG_LEVEL: 'info',
  }
  const run = () => work.runNode('renovate/dist/renovate.js', [project.path], { env })
  const pushed = await run()
  expect(pushed).toContain('Repository finished')
  return { project, said: `${pushed}\n${await run()}` }
}

export const renovate: Driver = {
  tool: 'renovate',
  npm: 'renovate',
  tasks: [
    {
      title: 'finds an update, pushes its branch, and merges that into `main`',
      setting: '`automergeType` is `branch`, because there are no merge requests',
      run: async (work) => {
        const rules = { automerge: true, automergeType: 'branch', ignoreTests: true }
        const { project, said } = await update(work, rules)
        const file = await work.api('GET', `/projects/${project.id}/repository/files/package.json?ref=main`)
        expect(Buffer.from(file.content, 'base64').toString(), said).not.toContain('"is-odd": "2.0.0"')
        const branches = await work.api('GET', `/projects/${project.id}/repository/branches`)
        expect(branches, said).toHaveLength(1)
      },
    },
    {
      title: 'opens a merge request for an update',
      fails: 'there are no merge requests',
      run: async (work) => {
        const { said } = await update(work, {})
        expect(said).toContain('PR created')
      },
    },
  ],
}
