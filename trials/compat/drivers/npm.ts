import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import type { Work } from '../work.js'

/** Installs a dependency from a project with two released versions, and expects this one. */
async function installed(work: Work, reference: string, wanted: string, suffix = '.git') {
  const project = await work.project(null)
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
    await work.commit(project, { 'package.json': JSON.stringify({ name: 'tried', version }) })
    await work.api('POST', `/projects/${project.id}/repository/tags`, {
      tag_name: `v${version}`,
      ref: 'main',
    })
  }
  const dependencies = { tried: `git+${project.remote.replace(/\.git$/, suffix)}#${reference}` }
  await work.write({ 'package.json': JSON.stringify({ private: true, dependencies }) })
  await work.run('npm', ['install', '--no-audit', '--no-fund'])
  const found = await readFile(join(work.folder, 'node_modules/tried/package.json'), 'utf8')
  expect(JSON.parse(found).version).toBe(wanted)
}

export const npm: Driver = {
  tool: 'npm',
  version: async () => (await execa('npm', ['--version'])).stdout,
  tasks: [
    { title: 'installs a git dependency by tag', run: (work) => installed(work, 'v1.0.0', '1.0.0') },
    {
      title: 'installs a git dependency by a range of versions',
      run: (work) => installed(work, 'semver:^1.0.0', '1.1.0', ''),
    },
  ],
}
