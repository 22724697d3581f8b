import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import { largeFileTask } from '../large-file.js'
import type { Work } from '../work.js'

async function release(work: Work, gitlab: object): Promise<{ links: { url: string }[] }> {
  const manifest = { name: 'app', version: '1.0.0', private: true }
  const settings = {
    npm: { publish: false },
    // The plugin cannot read the address of the remote, because it contains credentials.
    gitlab: { release: true, origin: work.url, ...gitlab },
  }
  const project = await work.project({
    'package.json': JSON.stringify(manifest),
    '.release-it.json': JSON.stringify(settings),
    'app.bin': 'bytes',
  })
  const folder = await work.clone(project)
  const env = { CI: 'true', GITLAB_TOKEN: work.token }
  await work.runNode('release-it/bin/release-it.js', ['minor', '--ci'], { cwd: folder, env })
  const made = await work.api('GET', `/projects/${project.id}/releases/1.1.0`)
  expect(made.name).toBe('Release 1.1.0')
  return made.assets
}

async function expectBytes(work: Work, url: string | undefined) {
  const answer = await fetch(String(url), { headers: { 'PRIVATE-TOKEN': work.token } })
  expect(await answer.text()).toBe('bytes')
}

export const releaseIt: Driver = {
  tool: 'release-it',
  npm: 'release-it',
  tasks: [
    {
      title: 'bumps the version, commits, tags, pushes, releases',
      run: (work) => release(work, {}),
    },
    {
      title: 'releases with an uploaded file',
      run: async (work) => {
        const { links } = await release(work, { assets: ['app.bin'] })
        await expectBytes(work, links[0]?.url)
      },
    },
    {
      title: 'releases with a file as a generic package',
      run: async (work) => {
        const { links } = await release(work, {
          assets: ['app.bin'],
          useGenericPackageRepositoryForAssets: true,
        })
        await expectBytes(work, links[0]?.url)
      },
    },
    ...[false, true].map((useGenericPackageRepositoryForAssets) =>
      largeFileTask(
        useGenericPackageRepositoryForAssets
          ? 'releases with a generic package'
          : 'releases with an uploaded file',
        async (work, { expectAt }) => {
          const assets = ['../large.bin']
          const { links } = await release(work, { assets, useGenericPackageRepositoryForAssets })
          await expectAt(links[0]?.url)
        },
      ),
    ),
  ],
}
