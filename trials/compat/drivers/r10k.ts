import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'

export const r10k: Driver = {
  tool: 'r10k',
  debian: ['r10k'],
  tasks: [
    {
      title: 'deploys an environment for each branch, with a module of another project',
      run: async (work) => {
        const module = await work.project({ 'manifests/init.pp': 'class tried {}\n' })
        const control = await work.project({
          Puppetfile: `mod 'tried', git: '${module.remote}', branch: 'main'\n`,
        })
        const given = { branch: 'production', ref: 'main' }
        await work.api('POST', `/projects/${control.id}/repository/branches`, given)
        const sources = { control: { remote: control.remote, basedir: join(work.folder, 'environments') } }
        await work.write({ 'r10k.yaml': JSON.stringify({ cachedir: join(work.folder, 'cache'), sources }) })
        const args = ['deploy', 'environment', '--modules', '--config', 'r10k.yaml']
        await work.run('/usr/bin/r10k', args)
        for (const environment of ['main', 'production']) {
          const file = join(work.folder, 'environments', environment, 'modules/tried/manifests/init.pp')
          expect(await readFile(file, 'utf8')).toBe('class tried {}\n')
        }
      },
    },
  ],
}
