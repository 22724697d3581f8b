import { type Driver, programTasks } from '../driver.js'

export const backstage: Driver = {
  tool: 'Backstage catalog',
  npm: '@backstage/plugin-catalog-backend-module-gitlab',
  tasks: programTasks([process.execPath], 'backstage.mjs', {
    discovery: 'finds the projects that have a file',
  }),
}
