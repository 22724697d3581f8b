import { join } from 'node:path'
import type { Driver } from '../driver.js'

export const breezy: Driver = {
  tool: 'Breezy',
  debian: ['brz'],
  tasks: [
    {
      title: 'branches from a project',
      run: async (work) => {
        const { remote } = await work.project()
        await work.run('/usr/bin/brz', ['branch', '--quiet', remote, 'copy'])
        await work.run('/usr/bin/brz', ['log', '--line'], { cwd: join(work.folder, 'copy') })
      },
    },
  ],
}
