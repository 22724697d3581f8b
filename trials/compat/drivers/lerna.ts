import { expect } from 'vitest'
import type { Driver } from '../driver.js'

export const lerna: Driver = {
  tool: 'lerna',
  npm: 'lerna',
  tasks: [
    {
      title: 'versions, tags, pushes and releases (`--create-release gitlab`)',
      setting: '`GL_API_URL` and `GL_TOKEN`',
      run: async (work) => {
        const project = await work.project({
          'package.json': JSON.stringify({ name: 'root', private: true, workspaces: ['packages/*'] }),
          'lerna.json': JSON.stringify({ version: '1.0.0', packages: ['packages/*'] }),
          'packages/a/package.json': JSON.stringify({ name: 'a', version: '1.0.0' }),
          '.gitignore': 'node_modules\n.nx\n',
        })
        const cwd = await work.clone(project)
        await work.commit(project, { 'packages/a/index.js': '1\n' }, 'feat: add one')
        await work.run('git', ['pull', '--quiet'], { cwd })
        const env = { CI: 'true', GL_API_URL: `${work.url}/api/v4`, GL_TOKEN: work.token, NX_DAEMON: 'false' }
        const options = [
          '--conventional-commits',
          '--create-release',
          'gitlab',
          '--yes',
          '--loglevel',
          'info',
        ]
        await work.runNode('lerna/dist/cli.js', ['version', ...options], { cwd, env })
        const [release] = await work.api('GET', `/projects/${project.id}/releases`)
        expect(release).toMatchObject({ tag_name: 'v1.1.0', description: expect.stringContaining('add one') })
      },
    },
  ],
}
