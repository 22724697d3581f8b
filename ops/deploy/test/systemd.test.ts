import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'

const unit = resolve(import.meta.dirname, '../systemd/switchyard.service')
const analyze = '/usr/bin/systemd-analyze'
if (!existsSync(analyze))
  console.error('SKIPPED: the unit of systemd is not tested, because systemd is missing')

it.runIf(existsSync(analyze))(
  'systemd accepts every line of the unit, and rates it as hardened',
  async () => {
    expect((await execa(analyze, ['verify', unit], { all: true })).all).toBe('')
    await execa(analyze, ['security', '--offline=true', '--threshold=20', unit])
  },
)
