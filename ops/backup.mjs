// Backs up a running installation, or checks a backup. DATABASE_URL and SWITCHYARD_STORAGE_ROOT choose an
// installation with its own servers; without them, it is the one of `npm start`.
import { resolve } from 'node:path'
import { readArguments } from './setup/arguments.mjs'
import { bootstrap, exitWhenStopped, root, run, version } from './setup/bootstrap.mjs'
import { commandOf } from './setup/installed.mjs'
import { withLock } from './setup/lock.mjs'

const usage = `${commandOf('backup', 'npm run backup --')} [--check] FOLDER
  Backs up the installation into FOLDER, which is new, empty, or has an earlier backup.
  --check  changes nothing: reads the backup in FOLDER and says whether it is undamaged`
const { values, operands } = readArguments(usage, { options: ['check'], operands: ['FOLDER'] })
// npm and pnpm change the folder; paths are relative to that of the caller.
const folder = resolve(process.env.INIT_CWD ?? process.cwd(), operands[0])

await run(async (stop) => {
  await bootstrap(stop, { names: ['packages/backup'] })
  exitWhenStopped(stop)
  const { runBackup, runCheck } = await import('../packages/backup/dist/bundle/index.js')
  const wait = () => console.error('• another backup or restore uses this folder; waiting for it')
  return await withLock(folder, stop, wait, () =>
    values.check ? runCheck({ folder }) : runBackup({ root, version, folder }),
  )
})
// A handle that a library keeps open must not keep this process running.
process.exit()
