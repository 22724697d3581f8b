import { type Driver, programTasks } from '../driver.js'

export const isomorphicGit: Driver = {
  tool: 'isomorphic-git',
  npm: 'isomorphic-git',
  tasks: programTasks([process.execPath], 'isomorphic-git.mjs', {
    push: 'clones, pushes a branch and deletes it',
    shallow: 'clones without history, and fetches',
  }),
}
