import { type Driver, programTasks } from '../driver.js'

export const libgit2: Driver = {
  tool: 'libgit2 by pygit2',
  debian: ['python3-pygit2'],
  tasks: programTasks(['/usr/bin/python3'], 'pygit2_tasks.py', {
    push: 'clones, pushes a branch and deletes it, fetches',
  }),
}
