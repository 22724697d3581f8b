// Backs up an installation that may run: `pnpm backup FOLDER`. DATABASE_URL and SWITCHYARD_STORAGE_ROOT choose one with
// servers of its own; without them it is that of `npm start`. `pnpm backup --check FOLDER` reads a backup and says whether it is
// undamaged.
import { resolve } from 'node:path'
import { bootstrap, exitWhenStopped, root, run, version } from './bootstrap.mjs'
import { withLock } from './lock.mjs'

const isCheck = process.argv[2] === '--check'
const name = process.argv[isCheck ? 3 : 2]
// pnpm changes the folder; paths are relative to that of the caller.
const folder = name && resolve(process.env.INIT_CWD ?? process.cwd(), name)

await run(async (stop) => {
  await bootstrap(stop)
  exitWhenStopped(stop)
  const { runBackup, runCheck } = await import('../packages/backup/dist/index.js')
  const wait = () => console.error('• another backup or restore uses this folder; waiting for it')
  return await withLock(folder ?? '', stop, wait, () =>
    isCheck ? runCheck({ folder }) : runBackup({ root, version, folder }),
  )
})
// A handle that a library keeps open must not keep this process running.
process.exit()
