// `npm start`: sets up, then runs everything until a signal comes. `--watch` rebuilds and restarts changed services.
import { bootstrap, root, run } from './bootstrap.mjs'

// `performance.now()` of the start of the process, so that loading modules counts.
const startedAt = 0

await run(async (stop) => {
  await bootstrap(stop)
  const { runStart } = await import('../packages/dev-env/dist/index.js')
  return await runStart({ root, watch: process.argv.includes('--watch'), startedAt, stop })
})
// A handle that a library keeps open must not keep this process running.
process.exit()
