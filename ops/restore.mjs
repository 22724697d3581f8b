// Restores a backup into an empty installation. DATABASE_URL and SWITCHYARD_STORAGE_ROOT choose one with servers of its own; without them
// it is that of `npm start`.
import { resolve } from 'node:path'
import { readArguments } from './setup/arguments.mjs'
import { bootstrap, exitWhenStopped, root, run, version } from './setup/bootstrap.mjs'
import { withLock } from './setup/lock.mjs'
import { commandOf } from './setup/release.mjs'

const usage = `${commandOf('restore', 'npm run restore')} FOLDER
  Restores the backup in FOLDER into an installation that has no data and does not run.`
const { operands } = readArguments(usage, { operands: ['FOLDER'] })
// npm and pnpm change the folder; paths are relative to that of the caller.
const folder = resolve(process.env.INIT_CWD ?? process.cwd(), operands[0])

await run(async (stop) => {
  await bootstrap(stop, { names: ['packages/backup'] })
  exitWhenStopped(stop)
  const { runRestore } = await import('../packages/backup/dist/bundle/index.js')
  const wait = () => console.error('• another backup or restore uses this folder; waiting for it')
  return await withLock(folder, stop, wait, () => runRestore({ root, version, folder }))
})
// A handle that a library keeps open must not keep this process running.
process.exit()
