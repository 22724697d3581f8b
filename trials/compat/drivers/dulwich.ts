import { type Driver, programTasks } from '../driver.js'

export const dulwich: Driver = {
  tool: 'dulwich',
  debian: ['python3-dulwich'],
  tasks: programTasks(['/usr/bin/python3'], 'dulwich_tasks.py', {
    push: 'clones, pushes a branch, fetches',
    shallow: 'clones without history',
  }),
}
