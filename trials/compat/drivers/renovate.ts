import { expect } from 'vitest'
import type { Driver } from '../driver.js'

export const renovate: Driver = {
  tool: 'renovate',
  npm: 'renovate',
  tasks: [
    {
      title: 'finds an update, pushes its branch, and merges that into `main`',
      setting: '`automergeType` is `branch`, because there are no merge requests',
      run: async (work) => {
        const manifest = { name: 'app', version: '1.0.0', private: true, dependencies: { 'is-odd': '2.0.0' } }
        const registry = (await work.run('npm', ['config', 'get', 'registry'])).trim()
        const rules = {
          extends: [],
          automerge: true,
          automergeType: 'branch',
          ignoreTests: true,
          rebaseWhen: 'auto',
        }
        const project = await work.project({
          'package.json': JSON.stringify(manifest, null, 2),
          'renovate.json': JSON.stringify({ ...rules, npmrc: `registry=${registry}` }),
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
        const merged = `${pushed}\n${await run()}`
        const file = await work.api('GET', `/projects/${project.id}/repository/files/package.json?ref=main`)
        const text = Buffer.from(file.content, 'base64').toString()
        expect(text, merged).not.toContain('"is-odd": "2.0.0"')
        const branches = await work.api('GET', `/projects/${project.id}/repository/branches`)
        expect(branches, merged).toHaveLength(1)
      },
    },
  ],
}
