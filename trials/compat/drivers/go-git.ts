import { readFile } from 'node:fs/promises'
import type { Driver } from '../driver.js'
import { goEnvironment } from './go-gitlab.js'

export const goGit: Driver = {
  tool: 'go-git',
  debian: ['golang-github-go-git-go-git-dev', 'golang-go'],
  tasks: [
    {
      title: 'clones, pushes branches and deletes one, fetches',
      run: async (work) => {
        const { path } = await work.project()
        // Go reads the version from the path of an import only where the importing package has a go.mod.
        const program = await readFile(work.program('go-git.go'), 'utf8')
        await work.write({ 'src/tried/go.mod': 'module tried\n', 'src/tried/main.go': program })
        const env = { ...goEnvironment, GOPATH: `${work.folder}:${goEnvironment.GOPATH}`, PROJECT_PATH: path }
        await work.run('/usr/bin/go', ['run', 'tried'], { env })
      },
    },
  ],
}
