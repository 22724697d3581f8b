// Runs a program of an operator after the setup, so that npm suffices: `node scripts/run-built.mjs NAME [ARGUMENT…]`.
import { join } from 'node:path'
import { refuseOptionsOfNpm } from './arguments.mjs'
import { bootstrap, root, run } from './bootstrap.mjs'
import { runGroup } from './child-group.mjs'
import { SetupProblem } from './setup-step.mjs'

const programs = {
  'db:migrate': { file: 'packages/db/dist/migrations/migrate.js', options: ['wait'] },
  'saga:rebuild': { file: 'services/saga-reporter/dist/rebuild/main.js', options: ['verify', 'tenant'] },
  'saga:move-tenant': { file: 'services/saga-reporter/dist/cells/move-tenant-main.js', options: [] },
}

await run(async (stop) => {
  const [name, ...args] = process.argv.slice(2)
  const { file, options } = programs[name]
  try {
    refuseOptionsOfNpm(options)
  } catch (error) {
    throw new SetupProblem(error.message)
  }
  await bootstrap(stop)
  return await runGroup([process.execPath, join(root, file), ...args], stop, { cwd: root })
})
