import { link } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import { largeFileTask } from '../large-file.js'
import type { Work } from '../work.js'

const gitlab = '@semantic-release/gitlab'
const plugins = ['@semantic-release/commit-analyzer', '@semantic-release/release-notes-generator']

async function release(work: Work, assets: object[]): Promise<{ links: { url: string }[] }> {
  const project = await work.project()
  const folder = await work.clone(project)
  const configuration = {
    branches: ['main'],
    repositoryUrl: `${work.url}/${project.path}.git`,
    plugins: [...plugins, [work.module(join(gitlab, 'index.js')), { assets }]],
  }
  await work.write({ '.releaserc.json': JSON.stringify(configuration), 'app.bin': 'bytes' }, folder)
  await work.run('git', ['add', '.'], { cwd: folder })
  await work.run('git', ['commit', '--quiet', '--message', 'feat: say hello'], { cwd: folder })
  await work.run('git', ['push', '--quiet'], { cwd: folder })
  const env = { CI: 'true', GITLAB_URL: work.url, GL_TOKEN: work.token }
  const said = await work.runNode('semantic-release/bin/semantic-release.js', [], { cwd: folder, env })
  expect(said).toContain('Published GitLab release')
  const made = await work.api('GET', `/projects/${project.id}/releases/v1.0.0`)
  expect(made.description).toContain('say hello')
  return made.assets
}

async function expectBytes(work: Work, url: string | undefined) {
  const answer = await fetch(String(url), { headers: { 'PRIVATE-TOKEN': work.token } })
  expect(await answer.text()).toBe('bytes')
}

export const semanticRelease: Driver = {
  tool: 'semantic-release',
  npm: 'semantic-release',
  tasks: [
    {
      title: 'finds the version, tags, releases with notes and a link',
      run: async (work) => {
        const { links } = await release(work, [{ url: 'https://example.com/app.zip', label: 'App' }])
        expect(links).toMatchObject([{ url: 'https://example.com/app.zip' }])
      },
    },
    {
      title: 'releases with an uploaded file',
      run: async (work) => {
        const { links } = await release(work, [{ path: 'app.bin', label: 'App' }])
        await expectBytes(work, links[0]?.url)
      },
    },
    {
      title: 'releases with a file as a generic package',
      run: async (work) => {
        const { links } = await release(work, [{ path: 'app.bin', label: 'App', target: 'generic_package' }])
        await expectBytes(work, links[0]?.url)
      },
    },
    largeFileTask(
      'releases with an uploaded file and a generic package',
      async (work, { path, expectAt }) => {
        // It accepts each path once.
        await link(path, join(work.folder, 'packaged.bin'))
        const { links } = await release(work, [
          { path: '../large.bin', label: 'Uploaded' },
          { path: '../packaged.bin', target: 'generic_package' },
        ])
        expect(links).toHaveLength(2)
        for (const { url } of links) await expectAt(url)
      },
    ),
  ],
}
