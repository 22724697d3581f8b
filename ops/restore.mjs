// Restores a backup into an empty installation, or one of its projects into a running installation.
// DATABASE_URL and SWITCHYARD_STORAGE_ROOT choose an installation with its own servers; without them, it is
// the one of `npm start`.
import { resolve } from 'node:path'
import { readArguments } from './setup/arguments.mjs'
import { bootstrap, exitWhenStopped, root, run, version } from './setup/bootstrap.mjs'
import { commandOf } from './setup/installed.mjs'
import { withLock } from './setup/lock.mjs'

const usage = `${commandOf('restore', 'npm run restore --')} [--project PATH [--as NEW_PATH]] FOLDER
  Restores the backup in FOLDER into an installation that has no data and does not run.
  --project PATH  restores this project only, such as alice/app, into an installation that runs
  --as NEW_PATH   gives it another path`
const { values, operands } = readArguments(usage, { settings: ['project', 'as'], operands: ['FOLDER'] })
if (values.as !== undefined && values.project === undefined) {
  console.error(`✗ --as needs --project\nUsage: ${usage}`)
  process.exit(2)
}
// npm and pnpm change the folder; paths are relative to that of the caller.
const folder = resolve(process.env.INIT_CWD ?? process.cwd(), operands[0])

await run(async (stop) => {
  await bootstrap(stop, { names: ['packages/backup'] })
  exitWhenStopped(stop)
  const { runRestore, runRestoreProject } = await import('../packages/backup/dist/bundle/index.js')
  const wait = () => console.error('• another backup or restore uses this folder; waiting for it')
  const options = { root, version, folder }
  return await withLock(folder, stop, wait, () =>
    values.project === undefined ? runRestore(options) : runRestoreProject(options, values),
  )
})
// A handle that a library keeps open must not keep this process running.
process.exit()
