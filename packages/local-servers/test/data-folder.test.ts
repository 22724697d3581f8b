import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { claimDataFolder } from '../src/start/data-folder.js'

const folder = mkdtempSync(join(tmpdir(), 'switchyard-claim-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('npm start refuses a data folder while a restore fills it, and takes it over after the restore has ended', async () => {
  // A process is recognized by its command line.
  const script = join(folder, 'restore.mjs')
  const dataDir = join(folder, 'data')
  const releaseFirst = await claimDataFolder(dataDir)
  releaseFirst()
  writeFileSync(script, "process.stdout.write('up'); setInterval(() => {}, 1000)")
  const restore = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(restore.stdout, 'data')
    writeFileSync(join(dataDir, 'start.pid'), String(restore.pid))
    await expect(claimDataFolder(dataDir)).rejects.toThrow(
      `already runs on ${dataDir} (process ${restore.pid})`,
    )
  } finally {
    restore.kill()
    await once(restore, 'exit')
  }
  const release = await claimDataFolder(dataDir)
  release()
  expect(existsSync(join(dataDir, 'start.pid'))).toBe(false)
})
