import { expect } from 'vitest'
import type { Driver } from '../driver.js'

export const gitAnnex: Driver = {
  tool: 'git-annex',
  debian: ['git-annex'],
  tasks: [
    {
      title: 'synchronizes its branches',
      run: async (work) => {
        const project = await work.project()
        const cwd = await work.clone(project)
        const annex = (...args: string[]) => work.run('/usr/bin/git', ['annex', ...args], { cwd })
        await annex('init', 'lab')
        await work.write({ 'large.bin': 'bytes\n' }, cwd)
        await annex('add', 'large.bin')
        await annex('sync', '--message', 'Add a large file')
        const branches = await work.api('GET', `/projects/${project.id}/repository/branches`)
        const names = branches.map(({ name }: { name: string }) => name)
        expect(names).toEqual(expect.arrayContaining(['git-annex', 'main', 'synced/main']))
      },
    },
  ],
}
