// `npm start`: sets up, then runs everything until a signal comes. `--watch` rebuilds and restarts changed
// services.
import { readArguments } from './setup/arguments.mjs'
import { bootstrap, root, run } from './setup/bootstrap.mjs'
import { commandOf, release } from './setup/installed.mjs'
import { partsOfStart } from './setup/setup-parts.mjs'

const { values } = readArguments(
  `${commandOf('start', 'npm start')}
  Sets up and runs everything until Ctrl-C. docs/configuration.md has its variables, such as PORT and SWITCHYARD_DATA.${
    release ? '' : '\n  --watch  rebuilds and restarts a service when its sources change; "pnpm dev" gives it'
  }`,
  { options: release ? [] : ['watch'] },
)

// `performance.now()` of the start of the process, so that loading modules counts.
const startedAt = 0

await run(async (stop) => {
  await bootstrap(stop, { names: partsOfStart(root) })
  const { runStart } = await import('../packages/local-servers/dist/bundle/index.js')
  return await runStart({ root, release, watch: values.watch === true, startedAt, stop })
})
// A handle that a library keeps open must not keep this process running.
process.exit()
