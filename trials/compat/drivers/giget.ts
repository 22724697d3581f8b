import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import type { LabProject, Work } from '../work.js'

const setting = '`GIGET_GITLAB_URL` has the address'

async function fetchTemplate(work: Work, { path }: LabProject, options: string[]) {
  const args = [`gitlab:${path}`, 'made', '--force', '--no-install', ...options]
  await work.runNode('giget/dist/cli.mjs', args, { env: { GIGET_GITLAB_URL: work.url } })
  expect(await readdir(join(work.folder, 'made'))).toEqual(['README.md'])
}

export const giget: Driver = {
  tool: 'giget',
  npm: 'giget',
  tasks: [
    {
      title: 'makes a folder of a public template',
      setting,
      run: async (work) => fetchTemplate(work, await work.project(undefined, { visibility: 'public' }), []),
    },
    {
      title: 'makes a folder of a private template, with a token',
      setting: `${setting}, and \`--auth\` the token`,
      run: async (work) => fetchTemplate(work, await work.project(), ['--auth', work.token]),
    },
  ],
}
