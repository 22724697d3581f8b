import { join } from 'node:path'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'

export const hgGit: Driver = {
  tool: 'Mercurial with hg-git',
  debian: ['mercurial-git', 'mercurial'],
  tasks: [
    {
      title: 'clones, pushes a bookmark',
      run: async (work) => {
        const project = await work.project()
        const { host } = new URL(work.url)
        const login = `lab.prefix = http://${host}\nlab.username = ${work.username}\nlab.password = ${work.token}`
        await work.write({
          '.hgrc': `[extensions]\nhggit =\n[ui]\nusername = Lab <lab@example.com>\n[auth]\n${login}\n`,
        })
        const hg = (cwd: string, ...args: string[]) => work.run('/usr/bin/hg', args, { cwd })
        await hg(work.folder, 'clone', `${work.url}/${project.path}.git`, 'clone')
        const clone = join(work.folder, 'clone')
        await work.write({ 'a.txt': 'a\n' }, clone)
        await hg(clone, 'add', 'a.txt')
        await hg(clone, 'commit', '--message', 'Add a file')
        await hg(clone, 'bookmark', 'topic')
        await hg(clone, 'push', '--bookmark', 'topic')
        const branch = await work.api('GET', `/projects/${project.id}/repository/branches/topic`)
        expect(branch.commit.title).toBe('Add a file')
      },
    },
  ],
}
