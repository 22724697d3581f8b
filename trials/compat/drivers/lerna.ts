import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import { largeFileTask } from '../large-file.js'
import type { LabProject, Work } from '../work.js'

/** @returns the project of a workspace whose release it creates */
async function release(work: Work): Promise<LabProject> {
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
  const options = ['--conventional-commits', '--create-release', 'gitlab', '--yes', '--loglevel', 'info']
  await work.runNode('lerna/dist/cli.js', ['version', ...options], { cwd, env })
  return project
}

const setting = '`GL_API_URL` and `GL_TOKEN`'

export const lerna: Driver = {
  tool: 'lerna',
  npm: 'lerna',
  debian: ['curl'],
  tasks: [
    {
      title: 'versions, tags, pushes and releases (`--create-release gitlab`)',
      setting,
      run: async (work) => {
        const { id } = await release(work)
        const [made] = await work.api('GET', `/projects/${id}/releases`)
        expect(made).toMatchObject({ tag_name: 'v1.1.0', description: expect.stringContaining('add one') })
      },
    },
    {
      // Lerna itself uploads nothing; CI jobs do so after it.
      ...largeFileTask('its release takes, by curl, a generic package', async (work, { path, expectAt }) => {
        const { id } = await release(work)
        const project = `${work.url}/api/v4/projects/${id}`
        const url = `${project}/packages/generic/a/1.1.0/large.bin`
        const curl = (...args: string[]) =>
          work.run('/usr/bin/curl', ['--fail-with-body', '--header', `PRIVATE-TOKEN: ${work.token}`, ...args])
        await curl('--upload-file', path, url)
        const link = JSON.stringify({ name: 'large.bin', url, link_type: 'package' })
        await curl('--json', link, `${project}/releases/v1.1.0/assets/links`)
        const { assets } = await work.api('GET', `/projects/${id}/releases/v1.1.0`)
        await expectAt(assets.links[0].direct_asset_url)
      }),
      setting,
    },
  ],
}
