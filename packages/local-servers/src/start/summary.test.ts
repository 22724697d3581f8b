import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readSettings } from './settings.js'
import { formatSummary } from './summary.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-summary-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.each(['plain', 'with a blank', "it's $HOME; (quoted)"])(
  'the commands of the summary read the token in a data folder named %s',
  (name) => {
    const dataDir = join(folder, name)
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, 'root-token'), 'token-of-the-root\n')
    const summary = formatSummary(readSettings('/checkout', { SWITCHYARD_DATA: dataDir }, false), 1000)
    const words = /git clone ("http:.*")/.exec(summary)?.[1] ?? ''
    expect(execFileSync('sh', ['-c', `printf %s ${words}`], { encoding: 'utf8' })).toBe(
      'http://root:token-of-the-root@localhost:8080/root/demo.git',
    )
  },
)
