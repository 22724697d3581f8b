// Asks three questions of git while this process has too many open files, and again afterwards. Arguments: folder and name of
// a repository. Output: JSON.
import { closeSync, openSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { DomainError } from '@switchyard/domain'
import { objectChild } from '../src/children/child-kinds.js'
import { ChildPool } from '../src/children/child-pool.js'
import { advertiseRefs } from '../src/smart-http.js'
import { streamOutput } from '../src/stream-output.js'

const [folder = '', name = ''] = process.argv.slice(2)
const path = `${folder}/${name}`
const pool = new ChildPool()
const { signal } = new AbortController()

const questions = [
  () => streamOutput(path, { command: 'for-each-ref' }, new PassThrough().resume(), {}),
  () =>
    advertiseRefs(
      { path, protocol: 'version=2', idleMs: 10_000, signal },
      'git-upload-pack',
      new PassThrough().resume(),
    ),
  () => pool.ask(path, objectChild, { input: 'info HEAD\n', answerBytesMax: 1_000, timeoutMs: 10_000 }),
]

const refusals: string[] = []
const files: number[] = []
try {
  for (;;) files.push(openSync('/dev/null', 'r'))
} catch {
  // The limit of open files is reached.
}
for (const ask of questions) {
  await ask().catch((error: unknown) =>
    refusals.push(error instanceof DomainError ? error.kind : String(error)),
  )
}
for (const file of files) closeSync(file)
const served: boolean[] = []
for (const ask of questions) served.push(await ask().then(() => true))
pool.close()
console.log(JSON.stringify({ refusals, served }))
