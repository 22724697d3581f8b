import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'

const configuration = `[changelog]
body = """{% for commit in commits %}- {{ commit.message }} by {{ commit.remote.username }}
{% endfor %}"""
`

export const gitCliff: Driver = {
  tool: 'git-cliff',
  npm: 'git-cliff',
  tasks: [
    {
      title: 'writes a changelog with what the API knows of each commit',
      setting: '`GITLAB_API_URL`, `GITLAB_REPO` and `GITLAB_TOKEN`',
      run: async (work) => {
        const project = await work.project()
        await work.commit(project, { 'a.txt': 'a' }, 'feat: say hello')
        const cwd = await work.clone(project)
        await work.write({ 'cliff.toml': configuration }, cwd)
        const env = {
          GITLAB_API_URL: `${work.url}/api/v4`,
          GITLAB_REPO: project.path,
          GITLAB_TOKEN: work.token,
        }
        const args = ['--config', 'cliff.toml', '--output', 'CHANGELOG.md']
        await work.runNode('git-cliff/lib/cli/cli.js', args, { cwd, env })
        expect(await readFile(join(cwd, 'CHANGELOG.md'), 'utf8')).toContain('say hello by Lab')
      },
    },
  ],
}
