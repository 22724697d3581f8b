// `pnpm build`: builds the parts of `npm start` whose sources have changed, and starts nothing.
import { readArguments } from './setup/arguments.mjs'
import { bootstrap, root, run } from './setup/bootstrap.mjs'
import { partsOfStart } from './setup/setup-parts.mjs'

readArguments('pnpm build\n  Makes what "npm start" runs. It checks no types: "pnpm check" does.')

await run(async (stop) => {
  await bootstrap(stop, { names: partsOfStart(root) })
  return 0
})
