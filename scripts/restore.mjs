// Restores a backup into an empty place: `pnpm restore FOLDER`. DATABASE_URL and SWITCHYARD_STORAGE_ROOT choose one with
// servers of its own; without them it is that of `npm start`.
import { resolve } from 'node:path'
import { bootstrap, exitWhenStopped, root, run, version } from './bootstrap.mjs'
import { withLock } from './lock.mjs'

// pnpm changes the folder; paths are relative to that of the caller.
const folder = process.argv[2] && resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[2])

await run(async (stop) => {
  await bootstrap(stop)
  exitWhenStopped(stop)
  const { runRestore } = await import('../packages/backup/dist/index.js')
  const wait = () => console.error('• another backup or restore uses this folder; waiting for it')
  return await withLock(folder ?? '', stop, wait, () => runRestore({ root, version, folder }))
})
// A handle that a library keeps open must not keep this process running.
process.exit()
