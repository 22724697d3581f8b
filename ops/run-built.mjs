// Runs a program for operators after the setup, so that only npm is needed: `node ops/run-built.mjs NAME
// [ARGUMENT…]`.
import { join } from 'node:path'
import { refuseOptionsOfNpm } from './setup/arguments.mjs'
import { bootstrap, root, run } from './setup/bootstrap.mjs'
import { runGroup } from './setup/child-group.mjs'
import { SetupProblem } from './setup/setup-step.mjs'

const programs = {
  'db:migrate': { folder: 'packages/db', program: 'migrate', options: ['wait'] },
  'saga:rebuild': { folder: 'services/saga-reporter', program: 'rebuild', options: ['verify', 'tenant'] },
}

await run(async (stop) => {
  const [name, ...args] = process.argv.slice(2)
  const { folder, program, options } = programs[name]
  try {
    refuseOptionsOfNpm(options)
  } catch (error) {
    throw new SetupProblem(error.message)
  }
  await bootstrap(stop, { names: [folder] })
  return await runGroup([process.execPath, join(root, folder, `dist/bundle/${program}.js`), ...args], stop, {
    cwd: root,
  })
})
